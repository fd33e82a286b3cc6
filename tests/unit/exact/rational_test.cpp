#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/exact/hitting_times.hpp"
#include "conclave/exact/rational_hitting_times.hpp"

#include "tests/support/known_chains.hpp"

namespace conclave::exact {
namespace {

using tests::KnownChain;
using tests::ratio;

Rational solve(const KnownChain& known) {
  return rational_hitting_times(known.chain, known.target_set(), {known.from}).front();
}

TEST(Rational, IsReadAsWritten) {
  EXPECT_EQ(parse_rational("0.125"), ratio(1, 8));
  EXPECT_EQ(parse_rational("1/3"), ratio(1, 3));
  EXPECT_EQ(parse_rational("2.5e-3"), ratio(1, 400));
  EXPECT_EQ(parse_rational("1E+2"), ratio(100, 1));
  EXPECT_EQ(parse_rational("0.1"), ratio(1, 10));  // not the double nearest to it
  EXPECT_EQ(parse_rational("010"), ratio(10, 1));
  for (const char* text : {"", "x", "1/0", "1/", "0x10", "-1", "1e", "1.2.3", "1e99999"}) {
    EXPECT_THROW(parse_rational(text), Error) << text;
  }
}

TEST(RationalHittingTimes, AreTheKnownFractions) {
  EXPECT_EQ(solve(tests::fratricide(60)), 59 * 59);
  EXPECT_EQ(solve(tests::coalescence(10, false)), 165);
  EXPECT_EQ(solve(tests::coalescence(9, true)), 120);
  EXPECT_EQ(solve(tests::itai_rodeh(3, 8)), ratio(64, 63));
  EXPECT_EQ(solve(tests::itai_rodeh(4, 4)), ratio(32, 27));
}

TEST(RationalHittingTimes, SatisfyTheEquationsExactly) {
  const KnownChain known = tests::random_chain(80, 4, 3);
  std::vector<StateIndex> all(80);
  for (StateIndex state = 0; state < 80; ++state) all[state] = state;
  const auto x = rational_hitting_times(known.chain, known.target_set(), all);
  EXPECT_EQ(x[79], 0);
  for (StateIndex state = 0; state < 79; ++state) {
    Rational next = 1;
    for (const auto& [to, probability] : known.chain.row(state)) next += probability * x[to];
    EXPECT_EQ(next, x[state]) << state;
  }
}

// Probabilities with many digits have coefficients beyond 64 bits.
TEST(RationalHittingTimes, TakeProbabilitiesWithAnyNumberOfDigits) {
  RationalChain chain;
  chain.add(1, parse_rational("1.2345678901234567e-25"));
  chain.add(0, 1 - parse_rational("1.2345678901234567e-25"));
  chain.end_row();
  chain.add(1, 1);
  chain.end_row();
  const auto x = rational_hitting_times(chain, set_of(std::vector<StateIndex>{1}, 2), {0});
  EXPECT_EQ(x.front() * parse_rational("1.2345678901234567e-25"), 1);
}

TEST(RationalHittingTimes, AgreeWithTheNumericalOnes) {
  const KnownChain known = tests::random_chain(400, 5, 8);
  const HittingTimes times = hitting_times(known.chain.rounded(), known.target_set());
  EXPECT_NEAR(solve(known).get_d(), times.mean[0], 1e-9 * times.mean[0]);
}

TEST(RationalHittingTimes, RefuseAnInfiniteExpectation) {
  RationalChain chain;
  chain.add(0, ratio(1, 2)), chain.add(1, ratio(1, 4)), chain.add(2, ratio(1, 4));
  chain.end_row();
  chain.add(1, 1), chain.end_row();
  chain.add(2, 1), chain.end_row();
  EXPECT_THROW(rational_hitting_times(chain, set_of(std::vector<StateIndex>{1}, 3), {0}), Error);
}

}  // namespace
}  // namespace conclave::exact
