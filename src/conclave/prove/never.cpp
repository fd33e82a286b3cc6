// Transitions that never fire: the largest set D found such that the invariants of all others imply
// that none of D is enabled. By induction on the length of a run, none of D ever fires.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "conclave/prove/stages.hpp"

namespace conclave::prove {
namespace {

// Runs from a few initial configurations, each step by a transition that has not fired before where
// there is one: what fires here is certainly no member of D.
class Trials {
 public:
  explicit Trials(const Net& net) : net_(net), fired_(net.transitions.size()) {}

  // Repeats the run until several in a row find nothing new.
  void run(const Counts& first) {
    constexpr int most_runs_in_vain = 6;
    for (int in_vain = 0; in_vain < most_runs_in_vain && work_ < most_work;) {
      const std::size_t before = count_;
      once(first);
      in_vain = count_ > before ? 0 : in_vain + 1;
    }
  }
  const std::vector<bool>& fired() const { return fired_; }
  bool have_all_fired() const { return count_ == fired_.size(); }

 private:
  static constexpr std::uint64_t most_work = 100'000'000;  // transitions looked at

  void once(Counts counts) {
    const std::size_t most_in_vain = 4 * net_.states + 100;
    for (std::size_t in_vain = 0; in_vain < most_in_vain; ++in_vain) {
      const std::size_t t = chosen(counts);
      if (t == net_.transitions.size()) return;
      if (!fired_[t]) in_vain = 0;
      count_ += fired_[t] ? 0 : 1;
      fired_[t] = true;
      fire(counts, net_.transitions[t]);
    }
  }

  // Uniform among those enabled that have not fired, or else among those enabled.
  std::size_t chosen(const Counts& counts) {
    work_ += net_.transitions.size();
    std::size_t old = net_.transitions.size(), fresh = old;
    std::uint64_t old_ones = 0, fresh_ones = 0;
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      if (!is_enabled(counts, net_.transitions[t])) continue;
      if (next() % ++(fired_[t] ? old_ones : fresh_ones) == 0) (fired_[t] ? old : fresh) = t;
    }
    return fresh == net_.transitions.size() ? old : fresh;
  }
  // Any fixed sequence will do; the proof does not depend on it.
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

  const Net& net_;
  std::vector<bool> fired_;
  std::size_t count_ = 0;
  std::uint64_t work_ = 0;
  std::uint64_t state_ = 1;
};

std::vector<bool> seen_to_fire(const Net& net, Invariants& invariants) {
  Trials trials(net);
  const z3::expr n = invariants.population();
  for (const std::size_t least : {net.states, 4 * net.states, std::size_t{2}}) {
    const z3::expr is_large = invariants.named(n >= static_cast<int>(least));
    for (std::size_t state = 0; state < net.states && !trials.have_all_fired(); ++state) {
      const auto pair = invariants.find({is_large, invariants.named(invariants.first(state) >= 1)});
      if (pair) trials.run(pair->first);
    }
  }
  return trials.fired();
}

}  // namespace

std::vector<std::size_t> find_never(const Net& net, Invariants& invariants,
                                    const ProgressCallback& progress) {
  std::vector<bool> live = seen_to_fire(net, invariants);
  invariants.set_live(live);
  for (;;) {
    z3::expr_vector enabled(invariants.context());
    for (std::size_t t = 0; t < live.size(); ++t) {
      if (!live[t]) enabled.push_back(invariants.is_enabled(net.transitions[t]));
    }
    if (enabled.empty()) break;
    report_progress(progress, "transitions that never fire", enabled.size(), 0);
    const auto pair = invariants.refute({invariants.named(mk_or(enabled))});
    if (!pair && !invariants.gave_up()) break;
    for (std::size_t t = 0; t < live.size(); ++t) {
      live[t] = live[t] || !pair || is_enabled(pair->now, net.transitions[t]);
    }
    invariants.set_live(live);
  }
  std::vector<std::size_t> never;
  for (std::size_t t = 0; t < live.size(); ++t) {
    if (!live[t]) never.push_back(t);
  }
  return never;
}

}  // namespace conclave::prove
