// The arbitrary states of P_LL and Fratricide, which faults put in place of an agent's state: all
// outcomes of the choices are walked through. Those of the symmetric variant: pll_sym_test.cpp.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/fields.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll.hpp"

#include "tests/support/state_table.hpp"

namespace conclave::tests {
namespace {

using protocols::Fratricide;
using protocols::Pll;
using State = Pll::State;

Pll pll_with(std::uint64_t c_max, std::uint64_t k, Pll::Reading reading) {
  Pll::Parameters parameters;
  parameters.c_max = c_max;
  parameters.k = k;
  parameters.reading = reading;
  return Pll(parameters, 2);
}

TEST(ArbitraryStates, OfFratricideAreBoth) {
  const auto states = arbitrary_states(Fratricide({}, 2));
  ASSERT_EQ(states.size(), 2u);
  EXPECT_NE(states[0].leader, states[1].leader);
}

// X: epoch and colour. B: those and count. A: those, leader, and level_Q with done, rand or
// level_B. No state comes twice.
TEST(ArbitraryStates, OfPllAreTheDomainsOfTable3) {
  const std::size_t c_max = 3;
  const std::size_t k = 2;
  const auto states = arbitrary_states(pll_with(c_max, k, Pll::Reading::corrected));
  const std::size_t a = 6 * (2 * (c_max + 1) + ((std::size_t{2} << k) - 1) + (c_max + 1));
  EXPECT_EQ(states.size(), 9 + 9 * c_max + a);
  for (const State& state : states) {
    EXPECT_EQ(std::ranges::count(states, state), 1) << to_text(state);
  }
}

TEST(ArbitraryStates, OfPllHoldTheReachableOnes) {
  const Pll protocol = pll_with(3, 2, Pll::Reading::corrected);
  const auto arbitrary = arbitrary_states(protocol);
  const StateTable<Pll> reachable = reachable_states(protocol);
  for (const State& state : reachable.states()) {
    EXPECT_EQ(std::ranges::count(arbitrary, state), 1) << to_text(state);
  }
}

TEST(ArbitraryStates, OfPllLeadToNoOthers) {
  StateTable<Pll> table(pll_with(3, 2, Pll::Reading::corrected));
  for (const State& state : arbitrary_states(table.protocol())) table.number(state);
  const std::size_t before = table.size();
  table.close([] {});
  EXPECT_EQ(table.size(), before);
}

}  // namespace
}  // namespace conclave::tests
