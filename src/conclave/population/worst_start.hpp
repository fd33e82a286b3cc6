// Looks for an initial configuration with a long expected time, by local search: change some
// agents, simulate, keep the change if trials take longer. The result is a lower bound on the
// largest expected time, with an estimate from trials that took no part in the search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population {

template <class State>
struct WorstStart {
  std::vector<State> agents;
  // The interactions of fresh trials from there. If the search was interrupted, of the trials by
  // which the configuration was chosen, whose mean is biased upwards.
  std::vector<double> times;
  std::uint64_t candidates = 0;  // configurations tried
  std::uint64_t trials = 0;      // all that were run
  bool is_complete = true;       // false: interrupted
};

template <SelfStabilizing P>
class WorstStartSearch {
 public:
  using State = typename P::State;
  // Runs the trial of this number from a configuration and returns its interactions; infinite if it
  // never converges. Throws Interrupted to end the search.
  using Simulate = std::function<double(std::span<const State> agents, std::uint64_t trial)>;

  // `budget` is the number of trials, kept to within about an eighth. Keeps a reference to the
  // protocol.
  WorstStartSearch(const P& protocol, AgentCount n, Simulate simulate, std::uint64_t seed,
                   std::uint64_t budget)
      : protocol_(protocol),
        n_(n),
        simulate_(std::move(simulate)),
        choice_(StreamName{.seed = seed, .trial = 0, .purpose = Purpose::search}),
        budget_(budget) {}

  // `named` are configurations worth trying first. Called once. An interrupted search returns the
  // worst start so far; before there is one, it throws Interrupted.
  WorstStart<State> run(const std::vector<std::vector<State>>& named) {
    try {
      return search(named);
    } catch (const Interrupted&) {
      if (const Candidate* worst = worst_so_far()) {
        return {worst->agents, worst->times, candidates_, trials_, false};
      }
      throw;
    }
  }

 private:
  // The k-th trials of all candidates have the same name, hence the same schedule as far as their
  // engine draws one: differences between candidates then vary much less than their times.
  struct Candidate {
    std::vector<State> agents;
    std::vector<double> times{};

    double mean() const {
      return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    }
    bool may_never_converge() const { return std::isinf(mean()); }
  };

  WorstStart<State> search(const std::vector<std::vector<State>>& named) {
    for (const auto& agents : named) pool_.push_back({agents});
    while (pool_.size() < named.size() + random_starts()) pool_.push_back({random_agents()});
    halve(pool_);
    const Candidate unchanged = pool_.front();  // climbing may lead astray
    climb(pool_);
    pool_.push_back(unchanged);
    worst_ = *std::ranges::max_element(pool_, {}, &Candidate::mean);
    return judge(pool_);
  }

  // The candidate with the largest mean among those with enough trials; null if there is none.
  const Candidate* worst_so_far() const {
    if (worst_) return &*worst_;
    const Candidate* worst = nullptr;
    for (const Candidate& candidate : pool_) {
      if (candidate.times.size() < first_trials) continue;
      if (worst == nullptr || candidate.mean() > worst->mean()) worst = &candidate;
    }
    return worst;
  }

  // By how much one candidate takes longer than another, and the standard error of that.
  struct Lead {
    double mean;
    double error;

    bool is_beyond_doubt() const { return mean > 3 * error; }
    bool is_hopeless() const { return mean < -2 * error; }
    bool is_none() const { return mean == 0 && error == 0; }
  };

  static constexpr std::size_t first_trials = 8;
  static constexpr std::size_t trials_of_equals = 32;

  std::size_t random_starts() const { return std::clamp<std::size_t>(budget_ / 400, 48, 1000); }
  std::size_t elite() const { return std::clamp<std::size_t>(budget_ / 25'000, 4, 16); }

  bool has_left(double share) const {
    return static_cast<double>(trials_) < share * static_cast<double>(budget_);
  }

  // Runs trials until the candidate has had this many in all.
  void simulate(Candidate& candidate, std::size_t trials) {
    if (candidate.times.empty()) ++candidates_;
    while (candidate.times.size() < trials) {
      candidate.times.push_back(simulate_(candidate.agents, candidate.times.size()));
      ++trials_;
    }
  }

  // The better half of the candidates gets twice the trials, until few are left.
  void halve(std::vector<Candidate>& pool) {
    for (std::size_t trials = first_trials;; trials *= 2) {
      for (Candidate& candidate : pool) simulate(candidate, trials);
      std::ranges::sort(pool, std::greater{}, &Candidate::mean);
      if (pool.size() <= elite() || !has_left(0.25)) break;
      pool.resize(std::max(elite(), pool.size() / 2));
    }
    pool.resize(std::min(elite(), pool.size()));
  }

  // A changed copy of one of the best replaces it if it is slower beyond doubt, or seems slower
  // after many trials, or takes exactly as long. Towards the end, fewer candidates go on.
  void climb(std::vector<Candidate>& pool) {
    for (std::size_t left = pool.size(); left > 0; --left) {
      const double share =
          0.75 - 0.5 * static_cast<double>(left - 1) / static_cast<double>(pool.size());
      while (has_left(share) && !pool.front().may_never_converge()) {
        Candidate& parent = pool[choice_.below(static_cast<std::uint32_t>(left))];
        Candidate child{changed(parent.agents)};
        if (choice_.chance(1, 4)) child.agents = changed(child.agents);
        if (child.agents != parent.agents && is_slower(child, parent)) parent = std::move(child);
      }
      std::ranges::sort(pool, std::greater{}, &Candidate::mean);
    }
  }

  bool is_slower(Candidate& child, Candidate& parent) {
    for (std::size_t trials = first_trials;; trials *= 2) {
      simulate(child, trials);
      simulate(parent, trials);
      const Lead lead = lead_of(child, parent);
      if (lead.is_hopeless()) return false;
      if (lead.is_beyond_doubt()) return true;
      if (lead.is_none() && trials >= trials_of_equals) return true;
      if (2 * trials > most_duel_trials()) return lead.mean > 2 * lead.error;
    }
  }

  static Lead lead_of(const Candidate& child, const Candidate& parent) {
    if (parent.may_never_converge()) return {-1, 0};
    if (child.may_never_converge()) return {1, 0};
    const auto trials = static_cast<double>(child.times.size());
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < child.times.size(); ++i) {
      const double difference = child.times[i] - parent.times[i];
      sum += difference;
      squares += difference * difference;
    }
    const double mean = sum / trials;
    return {mean, std::sqrt(std::max(0.0, squares / trials - mean * mean) / trials)};
  }

  std::uint64_t most_duel_trials() const {
    return std::max<std::uint64_t>(first_trials, budget_ / 64);
  }

  // Chooses the winner by trials that no candidate has had before, most of them for the two best;
  // then runs fresh trials for the winner alone, since the time of a winner is biased upwards.
  WorstStart<State> judge(std::vector<Candidate>& pool) {
    for (Candidate& candidate : pool) candidate.times.clear();
    std::uint64_t next = budget_;  // no candidate has had that many
    for (const std::size_t finalists : {pool.size(), std::size_t{2}}) {
      pool.resize(finalists);
      const std::uint64_t share = std::max<std::uint64_t>(1, budget_ / 16 / finalists);
      for (Candidate& candidate : pool) add_times(candidate, next, share);
      next += share;
      std::ranges::sort(pool, std::greater{}, &Candidate::mean);
    }
    worst_ = pool.front();
    Candidate fresh{worst_->agents};
    add_times(fresh, next, std::max<std::uint64_t>(2, budget_ / 8));
    return {fresh.agents, fresh.times, candidates_, trials_, true};
  }

  // Runs the trials with the numbers from `first` on.
  void add_times(Candidate& candidate, std::uint64_t first, std::uint64_t trials) {
    for (std::uint64_t i = 0; i < trials; ++i) {
      candidate.times.push_back(simulate_(candidate.agents, first + i));
    }
    trials_ += trials;
  }

  // Agents in arbitrary states: each in its own, all in the same, or each in one of two.
  std::vector<State> random_agents() {
    const std::uint32_t kind = choice_.below(3);
    const State one = protocol_.arbitrary(choice_);
    const State other = protocol_.arbitrary(choice_);
    std::vector<State> agents(n_, one);
    for (State& agent : agents) {
      if (kind == 1) agent = protocol_.arbitrary(choice_);
      if (kind == 2 && choice_.chance(1, 2)) agent = other;
    }
    return agents;
  }

  std::vector<State> changed(std::vector<State> agents) {
    const auto n = static_cast<std::uint32_t>(std::min<AgentCount>(n_, 0xffffffffu));
    const std::uint32_t place = choice_.below(n);
    const State from = agents[place];
    State to = choice_.chance(1, 4) ? agents[choice_.below(n)] : near(from);
    const std::uint32_t kind = choice_.below(4);
    if (kind == 0) {  // all agents in this state
      std::ranges::replace(agents, from, to);
    } else if (kind == 1) {  // a stretch of agents, of any length
      const std::uint32_t length = 1 + choice_.below(n);
      for (std::uint32_t i = 0; i < length; ++i) agents[(place + i) % n] = to;
    } else {
      agents[place] = to;
    }
    return agents;
  }

  // A state that differs from this one in few variables, mostly one: the nearest of some arbitrary
  // states, which all belong to the declared domain.
  State near(const State& state) {
    State best = protocol_.arbitrary(choice_);
    for (std::uint32_t tries = 1 + choice_.below(24); tries > 0; --tries) {
      const State next = protocol_.arbitrary(choice_);
      if (next != state && (best == state || distance(next, state) < distance(best, state))) {
        best = next;
      }
    }
    return best;
  }

  static int distance(const State& a, const State& b) {
    return std::apply(
        [&](const auto&... field) { return (0 + ... + (a.*field.member != b.*field.member)); },
        State::fields);
  }

  const P& protocol_;
  AgentCount n_;
  Simulate simulate_;
  Stream choice_;
  std::uint64_t budget_;
  std::vector<Candidate> pool_;
  std::optional<Candidate> worst_;  // once the climbing is over
  std::uint64_t trials_ = 0;
  std::uint64_t candidates_ = 0;
};

}  // namespace conclave::population
