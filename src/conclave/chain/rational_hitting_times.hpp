// Expected hitting times as exact fractions.
#pragma once

#include <vector>

#include "conclave/chain/rational_chain.hpp"

namespace conclave::chain {

// The expected number of steps until the target, from each of the given states. As everywhere,
// self-loops take what the transitions to other states leave of 1. Throws Error where it is
// infinite or the chain is too large.
std::vector<Rational> rational_hitting_times(const RationalChain& chain, const StateSet& target,
                                             const std::vector<StateIndex>& from);

}  // namespace conclave::chain
