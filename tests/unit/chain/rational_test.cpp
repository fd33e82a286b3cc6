#include <cmath>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/lifting.hpp"
#include "conclave/chain/detail/refinement.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/rational_hitting_times.hpp"

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

// Plain Euclid, one step after the other.
mpz_class slow_convergent(mpz_class numerator, mpz_class denominator, const mpz_class& most) {
  mpz_class before = 0;
  mpz_class now = 1;
  while (numerator != 0) {
    const mpz_class next = before + denominator / numerator * now;
    if (next > most) break;
    before = now;
    now = next;
    const mpz_class rest = denominator % numerator;
    denominator = numerator;
    numerator = rest;
  }
  return now;
}

TEST(Fractions, ConvergentsAreThoseOfEuclid) {
  gmp_randclass random(gmp_randinit_default);
  for (unsigned long bits = 1; bits < 2000; bits = bits * 3 / 2 + 1) {
    const mpz_class denominator = random.get_z_bits(bits) + 1;
    const mpz_class numerator = random.get_z_range(denominator);
    for (unsigned long half = 1; half <= bits + 1; half = half * 3 / 2 + 1) {
      const mpz_class most = random.get_z_bits(half) + 1;
      EXPECT_EQ(convergent_denominator(numerator, denominator, most),
                slow_convergent(numerator, denominator, most))
          << numerator << " / " << denominator << ", at most " << most;
    }
  }
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

// Digits from the left and digits from the right give the same fractions.
TEST(Fractions, RefinementAgreesWithLifting) {
  for (const unsigned long bits : {3UL, 50UL, 75UL, 200UL}) {
    const IntegerEquations equations = random_equations(60, bits);
    mpz_class determinant = 1;
    for (const mpz_class& value : equations.diagonal) determinant *= value;
    const std::vector<std::uint32_t> unknowns{0, 17, 59};
    const double largest = 1e4;
    const auto lifted = lift(equations, unknowns, 20000 * determinant * determinant, 1e9);
    const auto refined =
        refine(equations, unknowns,
               {.largest = largest, .bits = 2 * mpz_sizeinbase(determinant.get_mpz_t(), 2) + 1});
    ASSERT_TRUE(lifted && refined) << bits;
    const auto fractions = reconstruct(*refined, determinant);
    EXPECT_EQ(fractions, reconstruct(*lifted, determinant)) << bits;
    EXPECT_LT(fractions[1], largest);
    EXPECT_GT(fractions[1].get_den(), 1);
  }
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

// Elimination would fill in too much, so this goes by refinement.
TEST(RationalHittingTimes, ThousandsOfWellMixedStatesAreQuick) {
  const KnownChain known = tests::random_chain(2000, 5, 8);
  const HittingTimes times = hitting_times(known.chain.rounded(), known.target_set());
  const Rational x = exact_time(known);
  EXPECT_NEAR(x.get_d(), times.mean[0], 1e-9 * times.mean[0]);
  EXPECT_GT(mpz_sizeinbase(x.get_den_mpz_t(), 2), 4000);
}

TEST(RationalHittingTimes, AreTheSameByBothMethods) {
  const KnownChain known = tests::random_chain(300, 5, 8);
  const auto solved_by = [&](Method method) {
    return rational_hitting_times(known.chain, known.target_set(), {0}, method);
  };
  const auto lifted = solved_by(Method::lifting);
  const auto refined = solved_by(Method::refinement);
  EXPECT_EQ(lifted.mean, refined.mean);
  EXPECT_EQ(lifted.method.method, Method::lifting);
  EXPECT_EQ(refined.method.method, Method::refinement);
  EXPECT_EQ(solved_by(Method::automatic).method.reason, "elimination fills in little");
}

// Preconditioning solves such a small chain at once, which leaves nothing to iterate on.
TEST(RationalHittingTimes, OfTheSmallestChainsComeFromRefinementToo) {
  const KnownChain known = tests::fratricide(3);
  const auto times =
      rational_hitting_times(known.chain, known.target_set(), {known.from}, Method::refinement);
  EXPECT_EQ(times.mean.front(), 4);
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
