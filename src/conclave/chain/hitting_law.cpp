#include "conclave/chain/hitting_law.hpp"

#include <algorithm>
#include <utility>

#include "conclave/chain/components.hpp"

namespace conclave::chain {
namespace {

// Where a target may never be reached, a law is followed so far at least, to show that nothing more
// arrives.
constexpr std::uint64_t least_law_steps = 1000;

// `next` becomes the law after one step of the part of `now` whose states satisfy goes_on(state).
void walk_one_step(const MarkovChain& chain, std::span<const double> now, std::span<double> next,
                   const auto& goes_on) {
  std::ranges::fill(next, 0.0);
  const auto size = static_cast<StateIndex>(chain.size());
  for (StateIndex from = 0; from < size; ++from) {
    if (now[from] == 0 || !goes_on(from)) continue;
    const auto successors = chain.successors(from);
    const auto probabilities = chain.probabilities(from);
    for (std::size_t k = 0; k < successors.size(); ++k) {
      next[successors[k]] += now[from] * probabilities[k];
    }
  }
}

}  // namespace

std::vector<double> hitting_distribution(const MarkovChain& chain, const StateSet& target,
                                         StateIndex from, std::size_t last_step) {
  std::vector<double> law(last_step + 1, 0.0);
  std::vector<double> now(chain.size(), 0.0);
  std::vector<double> next(chain.size());
  now[from] = 1;
  for (std::size_t step = 0; step <= last_step; ++step) {
    walk_one_step(chain, now, next, [&](StateIndex state) {
      const bool is_there = target.contains(state);
      if (is_there) law[step] += now[state];
      return !is_there;
    });
    now.swap(next);
  }
  return law;
}

std::vector<double> hitting_law(const MarkovChain& chain, const StateSet& target,
                                std::vector<double> start, const LawLimits& limits,
                                const std::function<void(std::uint64_t step)>& before_step) {
  const StateSet coming = can_reach(chain, target);
  std::vector<double> now = std::move(start);
  std::vector<double> next(chain.size());
  std::vector<double> law;
  double arrived = 0;
  for (std::uint64_t step = 0; step <= limits.last_step; ++step) {
    before_step(step);
    double still_coming = 0;
    walk_one_step(chain, now, next, [&](StateIndex from) {
      if (!coming.contains(from)) return false;
      const bool is_there = target.contains(from);
      (is_there ? arrived : still_coming) += now[from];
      return !is_there;
    });
    law.push_back(std::min(arrived, 1.0));
    if (1 - arrived <= limits.tail) break;
    if (still_coming <= limits.tail && limits.tail > 0 && step >= least_law_steps) break;
    std::swap(now, next);
  }
  return law;
}

}  // namespace conclave::chain
