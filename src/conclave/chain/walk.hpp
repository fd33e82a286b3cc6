// One step of a walk whose place is known by its law.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain {

// `next` becomes the law after the step of those whose state goes_on(state).
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

}  // namespace conclave::chain
