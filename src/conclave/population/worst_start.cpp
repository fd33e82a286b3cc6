#include "conclave/population/worst_start.hpp"

#include <cmath>
#include <numeric>
#include <optional>

namespace conclave::population {
namespace {

class WorstStartSearch {
 public:
  WorstStartSearch(StartSpace& space, std::uint64_t seed, std::uint64_t budget)
      : space_(space),
        choice_(StreamName{.seed = seed, .trial = 0, .purpose = Purpose::search}),
        budget_(budget) {}

  WorstStart run(const std::vector<AnyStart>& named) {
    try {
      return search(named);
    } catch (const Interrupted&) {
      if (const Candidate* worst = worst_so_far()) {
        return {worst->start, worst->times, candidates_, trials_, false};
      }
      throw;
    }
  }

 private:
  // The k-th trials of all candidates have the same name, hence the same schedule as far as their
  // engine draws one: differences between candidates then vary much less than their times.
  struct Candidate {
    AnyStart start;
    std::vector<double> times{};

    double mean() const {
      return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    }
    bool may_never_converge() const { return std::isinf(mean()); }
  };

  WorstStart search(const std::vector<AnyStart>& named) {
    for (const AnyStart& start : named) pool_.push_back({start});
    while (pool_.size() < named.size() + random_starts()) pool_.push_back({space_.random(choice_)});
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
      candidate.times.push_back(space_.simulate(candidate.start, candidate.times.size()));
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
        Candidate child{space_.changed(parent.start, choice_)};
        if (choice_.chance(1, 4)) child.start = space_.changed(child.start, choice_);
        if (space_.are_equal(child.start, parent.start)) continue;
        if (is_slower(child, parent)) parent = std::move(child);
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
  WorstStart judge(std::vector<Candidate>& pool) {
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
    Candidate fresh{worst_->start};
    add_times(fresh, next, std::max<std::uint64_t>(2, budget_ / 8));
    return {fresh.start, fresh.times, candidates_, trials_, true};
  }

  // Runs the trials with the numbers from `first` on.
  void add_times(Candidate& candidate, std::uint64_t first, std::uint64_t trials) {
    for (std::uint64_t i = 0; i < trials; ++i) {
      candidate.times.push_back(space_.simulate(candidate.start, first + i));
    }
    trials_ += trials;
  }

  StartSpace& space_;
  Stream choice_;
  std::uint64_t budget_;
  std::vector<Candidate> pool_;
  std::optional<Candidate> worst_;  // once the climbing is over
  std::uint64_t trials_ = 0;
  std::uint64_t candidates_ = 0;
};

}  // namespace

WorstStart search_worst_start(StartSpace& space, const std::vector<AnyStart>& named,
                              std::uint64_t seed, std::uint64_t budget) {
  return WorstStartSearch(space, seed, budget).run(named);
}

}  // namespace conclave::population
