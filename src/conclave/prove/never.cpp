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

  void run(Counts counts) {
    const std::size_t most_in_vain = 40 * net_.states + 200;
    for (std::size_t in_vain = 0; in_vain < most_in_vain;) {
      const std::size_t t = chosen(counts);
      if (t == net_.transitions.size()) return;
      in_vain = fired_[t] ? in_vain + 1 : 0;
      fired_[t] = true;
      fire(counts, net_.transitions[t]);
    }
  }
  const std::vector<bool>& fired() const { return fired_; }

 private:
  std::size_t chosen(const Counts& counts) {
    std::size_t any = net_.transitions.size();
    std::uint64_t enabled = 0;
    for (std::size_t t = 0; t < net_.transitions.size(); ++t) {
      if (!is_enabled(counts, net_.transitions[t])) continue;
      if (!fired_[t]) return t;
      if (next() % ++enabled == 0) any = t;
    }
    return any;
  }
  // Any fixed sequence will do; the proof does not depend on it.
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

  const Net& net_;
  std::vector<bool> fired_;
  std::uint64_t state_ = 1;
};

std::vector<bool> seen_to_fire(const Net& net, Invariants& invariants) {
  Trials trials(net);
  const z3::expr n = invariants.population();
  for (const int least : {2, static_cast<int>(3 * net.states)}) {
    for (std::size_t state = 0; state < net.states; ++state) {
      const auto pair = invariants.find(
          {invariants.named(n >= least), invariants.named(invariants.first(state) >= 1)});
      if (pair) trials.run(pair->first);
      if (least == 2 && state > 3) break;
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
