// Looks for a bad initial configuration by local search: change some agents, simulate, keep what
// takes longer. What it finds is a lower bound of the largest expected time, with a confidence
// interval from trials that took no part in the search.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population {

template <class State>
struct WorstStart {
  std::vector<State> agents;
  std::vector<double> times;     // of the fresh trials
  std::uint64_t candidates = 0;  // configurations tried
  std::uint64_t trials = 0;      // all that were run
};

template <SelfStabilizing P>
class WorstStartSearch {
 public:
  using State = typename P::State;
  // The interactions that one trial takes from a configuration; infinite if it never converges.
  using Simulate = std::function<double(std::span<const State> agents, std::uint64_t trial)>;

  // `budget` is the number of trials; `named` are configurations worth trying.
  WorstStartSearch(const P& protocol, AgentCount n, Simulate simulate, std::uint64_t seed,
                   std::uint64_t budget)
      : protocol_(protocol),
        n_(n),
        simulate_(std::move(simulate)),
        choice_(StreamName{.seed = seed, .trial = 0, .purpose = Purpose::search}),
        budget_(budget) {}

  WorstStart<State> run(const std::vector<std::vector<State>>& named) {
    std::vector<Candidate> pool;
    for (const auto& agents : named) pool.push_back({agents});
    while (pool.size() < named.size() + random_starts) pool.push_back({random_agents()});
    halve(pool);
    climb(pool);
    return judge(pool);
  }

 private:
  struct Candidate {
    std::vector<State> agents;
    double sum = 0;
    double squares = 0;
    double trials = 0;

    double mean() const { return sum / trials; }
    double error() const {  // of the mean
      return std::sqrt(std::max(0.0, squares / trials - mean() * mean()) / trials);
    }
  };

  static constexpr std::size_t random_starts = 48;
  static constexpr std::size_t elite = 4;
  static constexpr std::uint64_t first_trials = 8;

  // The search may use half of the budget to sift and climb, and 1/4 for each of the last two
  // steps.
  bool has_left(double share) const {
    return static_cast<double>(trials_) < share * static_cast<double>(budget_);
  }

  void simulate(Candidate& candidate, std::uint64_t trials) {
    if (candidate.trials == 0) ++candidates_;
    for (std::uint64_t i = 0; i < trials; ++i) {
      const double time = simulate_(candidate.agents, trials_++);
      candidate.sum += time;
      candidate.squares += time * time;
      ++candidate.trials;
    }
  }

  // Half of the candidates get twice the trials, until few are left.
  void halve(std::vector<Candidate>& pool) {
    for (std::uint64_t trials = first_trials;; trials *= 2) {
      for (Candidate& candidate : pool) simulate(candidate, trials);
      std::ranges::sort(pool, std::greater{}, &Candidate::mean);
      if (pool.size() <= elite || !has_left(0.25)) break;
      pool.resize(std::max(elite, pool.size() / 2));
    }
    pool.resize(std::min(elite, pool.size()));
  }

  // A changed copy of one of the best takes its place if it is slower beyond doubt, or seems slower
  // after as many trials.
  void climb(std::vector<Candidate>& pool) {
    while (has_left(0.75)) {
      Candidate& parent = pool[choice_.below(static_cast<std::uint32_t>(pool.size()))];
      Candidate child{changed(parent.agents)};
      double lead = 0;
      double error = 0;
      for (std::uint64_t trials = first_trials; child.trials < most_duel_trials(); trials *= 2) {
        simulate(child, trials);
        if (parent.trials < child.trials) simulate(parent, trials);
        lead = child.mean() - parent.mean();
        error = std::hypot(child.error(), parent.error());
        if (lead < -2 * error || lead > 3 * error) break;
      }
      const bool is_level = 2 * child.trials >= parent.trials;
      if (lead > 3 * error || (lead > 0 && is_level)) parent = std::move(child);
    }
  }

  double most_duel_trials() const {
    return static_cast<double>(std::max(first_trials, budget_ / 256));
  }

  // The winner among the elite, by more trials; then fresh trials for it alone, for the time of a
  // winner is biased upwards.
  WorstStart<State> judge(std::vector<Candidate>& pool) {
    const std::uint64_t share = std::max<std::uint64_t>(1, budget_ / 8 / pool.size());
    for (Candidate& candidate : pool) {
      candidate.sum = candidate.squares = candidate.trials = 0;
      simulate(candidate, share);
    }
    candidates_ -= pool.size();  // they had been counted
    const auto best = std::ranges::max_element(pool, {}, &Candidate::mean);
    WorstStart<State> worst{.agents = best->agents, .times = {}};
    const std::uint64_t fresh = std::max<std::uint64_t>(2, budget_ / 8);
    for (std::uint64_t i = 0; i < fresh; ++i) {
      worst.times.push_back(simulate_(worst.agents, trials_++));
    }
    worst.candidates = candidates_;
    worst.trials = trials_;
    return worst;
  }

  // All agents arbitrary, or all in one arbitrary state, or in two.
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
    if (kind == 0) {  // everybody who is in this state
      std::ranges::replace(agents, from, to);
    } else if (kind == 1) {  // a stretch of agents, of any length
      const std::uint32_t length = 1 + choice_.below(n);
      for (std::uint32_t i = 0; i < length; ++i) agents[(place + i) % n] = to;
    } else {
      agents[place] = to;
    }
    return agents;
  }

  // Of some arbitrary states, the one most like this one: mostly a single variable differs, and it
  // is a state of the domain whatever that is.
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
  std::uint64_t trials_ = 0;
  std::uint64_t candidates_ = 0;
};

}  // namespace conclave::population
