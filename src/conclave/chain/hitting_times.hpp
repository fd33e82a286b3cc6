// How long a chain takes to reach a target: expectation and variance from every state, with an
// error bound that is proved and not estimated, and the distribution from one start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/method.hpp"

namespace conclave::chain {

struct HittingOptions {
  bool variance = false;
  double tolerance = 1e-9;  // the relative error to be certified
  // The cost of a step from each state; empty for 1 everywhere. The expectation is then that of the
  // sum of costs. Costs may not be negative; those of target states do not matter.
  std::span<const double> costs = {};
  // One of numerical_methods().
  Method method = Method::automatic;
};

struct HittingTimes {
  // Per state, in steps or in units of the costs; 0 in the target, infinite where the target may be
  // missed.
  std::vector<double> mean;
  std::vector<double> variance;  // per state, in squares of these units; empty unless requested
  // Certified: |mean - exact| <= relative_error * exact for every state, rounding included. The
  // exact value is that of the chain whose transitions to other states have the probabilities given
  // and whose self-loops have the rest.
  double relative_error = 0;
  double residual = 0;  // largest |cost - (I - Q) mean| over the states with finite mean
  // Certified: |variance - exact| <= variance_error * (exact second moment).
  double variance_error = 0;
  std::uint64_t infinite = 0;      // states whose mean is infinite
  std::vector<MethodUse> methods;  // that found the means; empty if there was nothing to solve

  // The state with the largest finite mean, the first of several. O(states).
  StateIndex slowest() const;
};

// Solves for all states at once; which method does it, and so the time, depends on the chain (see
// method.hpp). Deterministic and single-threaded; several calls may run at the same time. Throws
// std::runtime_error if the tolerance cannot be certified for the means, Error if the given method
// does not apply. Variances come with whatever error they have; they take the cost of a step from a
// state to be fixed.
HittingTimes hitting_times(const MarkovChain& chain, const StateSet& target,
                           const HittingOptions& options = {});

// P(T = t) for t = 0, ..., last_step, where T is the first time in the target of a walk that starts
// in `from`.
std::vector<double> hitting_distribution(const MarkovChain& chain, const StateSet& target,
                                         StateIndex from, std::size_t last_step);

struct LawLimits {
  std::uint64_t last_step = 0;
  // Ends earlier once P(t < T < infinity) is at most this; 0 for never. Where the target may be
  // missed, a law has 1000 steps at least.
  double tail = 0;
};

// P(T <= t) for t = 0, 1, ... where `start` is the law of the first state. Calls before_step(t)
// before each step; what it throws ends the computation.
std::vector<double> hitting_law(const MarkovChain& chain, const StateSet& target,
                                std::vector<double> start, const LawLimits& limits,
                                const std::function<void(std::uint64_t step)>& before_step);

}  // namespace conclave::chain
