// The distribution of the time at which a walk first enters a target, step by step. Every step
// costs one pass over the chain, O(transitions). The probabilities are sums of products of doubles
// that are not negative: after t steps of at most k successors each, every one has a relative error
// of about (t + k) 10^-16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain {

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
