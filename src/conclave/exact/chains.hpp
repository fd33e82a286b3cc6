// The names of module chain that this module uses: the number of a configuration is a state of a
// chain.
#pragma once

#include "conclave/chain/components.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/markov_chain.hpp"
#include "conclave/chain/rational_chain.hpp"

namespace conclave::exact {

using chain::can_reach;
using chain::ChainBuilder;
using chain::HittingTimes;
using chain::MarkovChain;
using chain::Rational;
using chain::RationalChain;
using chain::StateIndex;
using chain::StateSet;

}  // namespace conclave::exact
