#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/rational_chain.hpp"

#include "tests/support/known_chains.hpp"

namespace conclave::chain {
namespace {

using namespace detail;

using tests::KnownChain;
using tests::ratio;

Rational exact_time(const KnownChain& known) {
  return rational_hitting_times(known.chain, known.target_set(), {known.from}).mean.front();
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

TEST(RationalChain, MergesTransitionsToTheSameState) {
  RationalChain chain;
  chain.add(1, ratio(1, 4)), chain.add(0, ratio(1, 2)), chain.add(1, ratio(1, 4));
  chain.end_row();
  ASSERT_EQ(chain.row(0).size(), 2);
  EXPECT_EQ(chain.row(0)[1].to, 1);
  EXPECT_EQ(chain.row(0)[1].probability, ratio(1, 2));
}

// Sparse rows with a surplus on the diagonal, as those of a chain; coefficients of many bits.
IntegerEquations random_equations(std::uint32_t size, unsigned long bits) {
  gmp_randclass random(gmp_randinit_default);
  IntegerEquations equations;
  for (std::uint32_t i = 0; i < size; ++i) {
    mpz_class diagonal = random.get_z_bits(bits) + 1;
    equations.right.emplace_back(diagonal + random.get_z_bits(bits));
    for (std::uint32_t j = i % 7; j < size; j += 1 + (i * j) % 11 + size / 5) {
      if (j == i) continue;
      equations.pattern.columns.push_back(j);
      equations.values.emplace_back(random.get_z_bits(bits) + 1);
      diagonal += equations.values.back();
    }
    equations.pattern.starts.push_back(equations.pattern.columns.size());
    equations.diagonal.push_back(diagonal);
  }
  return equations;
}

// Coefficients within 64 bits and beyond; every equation is checked with the fractions.
TEST(Lifting, SatisfiesTheEquationsExactly) {
  for (const unsigned long bits : {3UL, 50UL, 75UL, 200UL}) {
    const IntegerEquations equations = random_equations(60, bits);
    std::vector<std::uint32_t> unknowns(equations.size());
    std::iota(unknowns.begin(), unknowns.end(), 0u);
    const auto x = lift(equations, unknowns, 1e4, 1e9);
    ASSERT_TRUE(x) << bits;
    EXPECT_GT((*x)[1].get_den(), 1);
    for (std::size_t i = 0; i < equations.size(); ++i) {
      Rational left = equations.diagonal[i] * (*x)[i];
      for (std::uint64_t k = equations.pattern.starts[i]; k < equations.pattern.starts[i + 1];
           ++k) {
        left -= equations.values[k] * (*x)[equations.pattern.columns[k]];
      }
      EXPECT_EQ(left, equations.right[i]) << bits << ' ' << i;
    }
  }
}

TEST(Lifting, GivesUpWhereTheFactorsAreTooMuchWork) {
  EXPECT_FALSE(lift(random_equations(60, 3), std::vector<std::uint32_t>{0}, 1e4, 10));
}

TEST(RationalHittingTimes, AreTheKnownFractions) {
  EXPECT_EQ(exact_time(tests::fratricide(60)), 59 * 59);
  EXPECT_EQ(exact_time(tests::coalescence(10, false)), 165);
  EXPECT_EQ(exact_time(tests::coalescence(9, true)), 120);
  EXPECT_EQ(exact_time(tests::itai_rodeh(3, 8)), ratio(64, 63));
  EXPECT_EQ(exact_time(tests::itai_rodeh(4, 4)), ratio(32, 27));
}

TEST(RationalHittingTimes, SatisfyTheEquationsExactly) {
  const KnownChain known = tests::random_chain(80, 4, 3);
  std::vector<StateIndex> all(80);
  for (StateIndex state = 0; state < 80; ++state) all[state] = state;
  const auto x = rational_hitting_times(known.chain, known.target_set(), all).mean;
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
  const auto x = rational_hitting_times(chain, set_of(std::vector<StateIndex>{1}, 2), {0}).mean;
  EXPECT_EQ(x.front() * parse_rational("1.2345678901234567e-25"), 1);
}

TEST(RationalHittingTimes, AgreeWithTheNumericalOnes) {
  const KnownChain known = tests::random_chain(400, 5, 8);
  const HittingTimes times = hitting_times(known.chain.rounded(), known.target_set());
  EXPECT_NEAR(exact_time(known).get_d(), times.mean[0], 1e-9 * times.mean[0]);
}

// Chains of six states whose probabilities lie far apart, so that times reach 10^100: every error
// that is certified is held to the fractions.
TEST(HittingTimes, NeverErrByMoreThanTheyCertify) {
  Stream stream({.seed = 11});
  for (std::uint32_t trial = 0; trial < 300; ++trial) {
    RationalChain chain;
    for (StateIndex state = 0; state < 6; ++state) {
      const StateIndex step = 1 + stream.below(2);  // so that no two successors are the same
      for (StateIndex k = 1; k <= 3; ++k) {
        const int exponent = -static_cast<int>(stream.below(trial % 60 + 1));
        const double weight = 0.01 + 0.3 * stream.below(1000) / 1000;
        chain.add((state + k * step) % 6, std::ldexp(weight, exponent));
      }
      chain.end_row();
    }
    const StateSet target = set_of(std::vector<StateIndex>{5}, 6);
    const HittingTimes times = hitting_times(chain.rounded(), target);
    for (StateIndex state = 0; state < 6; ++state) {
      if (std::isinf(times.mean[state])) continue;
      const Rational exact = rational_hitting_times(chain, target, {state}).mean.front();
      EXPECT_LE(abs(times.mean[state] - exact), times.relative_error * exact) << trial;
    }
  }
}

// Six hundred states of which nearly all are joined by elimination.
TEST(RationalHittingTimes, OfWellMixedStatesHaveManyDigits) {
  const KnownChain known = tests::random_chain(600, 5, 8);
  const HittingTimes times = hitting_times(known.chain.rounded(), known.target_set());
  const auto exact = rational_hitting_times(known.chain, known.target_set(), {known.from});
  const Rational& x = exact.mean.front();
  EXPECT_NEAR(x.get_d(), times.mean[0], 1e-9 * times.mean[0]);
  EXPECT_GT(mpz_sizeinbase(x.get_den_mpz_t(), 2), 1000);
  EXPECT_EQ(exact.method.method, Method::lifting);
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
}  // namespace conclave::chain
