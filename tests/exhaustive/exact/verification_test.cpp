// The exact module against values computed independently (errata-*.md, closed forms), and
// against protocols that are broken on purpose.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/exact/verifier.hpp"
#include "conclave/protocols/population/lemmas/coalescence.hpp"
#include "conclave/protocols/population/lemmas/fratricide.hpp"
#include "conclave/protocols/population/lemmas/pll.hpp"
#include "conclave/protocols/population/lemmas/pll_sym.hpp"
#include "conclave/protocols/population/lemmas/ppl.hpp"
#include "conclave/protocols/population/lemmas/prl.hpp"

#include "tests/mutants/broken_prl.hpp"
#include "tests/support/fratricide_law.hpp"
#include "tests/support/state_table.hpp"
#include "tests/support/verified.hpp"

namespace conclave::exact {
namespace {

using protocols::Coalescence;
using protocols::Fratricide;
using protocols::Pll;
using protocols::PllSym;
using protocols::Ppl;
using protocols::Prl;
using tests::arbitrary_states;
using tests::BrokenPrl;
using tests::failing;
using tests::holds;
using tests::pll;
using tests::ppl;
using tests::prl;
using tests::PrlFlaw;
using tests::quotient_violation;
using tests::verified;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Verified, FratricideTakesTheSquareOfNMinusOneAndHasItsClosedLaw) {
  for (const AgentCount n : {2u, 5u, 30u}) {
    const VerifyOptions options{.distribution_steps = 400};
    const Report report = verified(Fratricide({}, n), Network::complete(n), options);
    EXPECT_TRUE(report.all_hold());
    EXPECT_EQ(report.classes, n);
    const auto root = static_cast<double>(n - 1);
    EXPECT_NEAR(report.start.mean, root * root, 1e-10);
    double variance = 0;
    for (AgentCount j = 2; j <= n; ++j) {
      const double p = static_cast<double>(j * (j - 1)) / static_cast<double>(n * (n - 1));
      variance += (1 - p) / (p * p);
    }
    EXPECT_NEAR(report.start.variance, variance, 1e-9 * std::max(1.0, variance));
    const std::vector<double> closed = tests::fratricide_distribution(n, 400);
    for (std::size_t t = 0; t <= 400; ++t) {  // the law ends where nothing is left
      const double now = t < report.distribution.size() ? report.distribution[t] : 1;
      ASSERT_NEAR(now, closed[t], 1e-12) << "n=" << n << " t=" << t;
    }
  }
}

TEST(Verified, CoalescenceOnRingsTakesNPlusOneOverThree) {
  for (const std::uint32_t n : {3u, 6u, 9u}) {
    std::vector<Digraph::Pair> arcs;
    for (std::uint32_t i = 0; i < n; ++i) {
      arcs.emplace_back(i, (i + 1) % n);
      arcs.emplace_back((i + 1) % n, i);
    }
    const double expected = static_cast<double>((n + 1) * n * (n - 1)) / 6;
    const Report undirected = verified(Coalescence({}, n), Network::of(Digraph(n, arcs)));
    EXPECT_TRUE(undirected.all_hold());
    EXPECT_EQ(undirected.symmetry, "rotation");
    EXPECT_NEAR(undirected.start.mean, expected, 1e-9);
    const Report directed = verified(Coalescence({}, n), Network::directed_ring(n));
    EXPECT_NEAR(directed.start.mean, expected, 1e-9);
    EXPECT_EQ(directed.safe_set->safe, 0);  // the leader walks on
  }
}

// A graph without symmetry, the path 0 - 1 - 2. Three leaders become two neighbours or two ends,
// with probability 1/2 each. Whoever passes on nothing changes nothing.
TEST(Verified, ChainsWithoutSymmetryAreExploredToo) {
  const Digraph path(3, {{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  const Network network = Network::of(path);
  EXPECT_EQ(network.symmetry(), Symmetry::none);
  const Report report = verified(Coalescence({}, 3), network);
  EXPECT_TRUE(report.all_hold());
  // ends = 1 + ends/2 + neighbours/2, neighbours = 1 + ends/4 + neighbours/4.
  const double ends = 5;
  const double neighbours = 3;
  EXPECT_NEAR(report.start.mean, 1 + (ends + neighbours) / 2, 1e-12);
}

TEST(Verified, PllTakesTheTimesOfTheIndependentModel) {
  const Report report = verified(pll<Pll>(5, 2, 1), Network::complete(5));
  EXPECT_TRUE(report.all_hold());
  EXPECT_NEAR(report.start.mean, 10.351425701963533, 1e-9);
  EXPECT_LT(report.relative_error, 1e-9);
  EXPECT_NEAR(verified(pll<Pll>(3, 6, 2), Network::complete(3)).start.mean, 2.5, 1e-12);
  EXPECT_NEAR(verified(pll<PllSym>(3, 3, 1), Network::complete(3)).start.mean, 4.5, 1e-12);
}

TEST(Verified, PllAsPrintedFailsWithAShortestTrace) {
  struct Known {
    std::uint64_t n, c_max, k;
    double probability;
    std::size_t lines;
  };
  // All agents X; two pairs get their statuses, and then timers tick twice.
  for (const Known& known :
       {Known{4, 3, 1, 0.904266, 7}, {5, 2, 1, 0.713751, 6}, {5, 1, 2, 0.637944, 4}}) {
    const Pll protocol = pll<Pll>(known.n, known.c_max, known.k, Pll::Reading::printed);
    const Report report = verified(protocol, Network::complete(known.n));
    EXPECT_EQ(report.start.mean, infinity);
    EXPECT_NEAR(report.start.probability, known.probability, 5e-7);
    const ClaimReport& claim = failing(report, "stabilization");
    EXPECT_EQ(claim.counterexample.size(), known.lines);
    EXPECT_EQ(claim.counterexample.front().interaction, "");
    EXPECT_EQ(claim.counterexample[1].interaction, "(0,1)");
    EXPECT_TRUE(holds(report, "Lemma 11"));
  }
}

// P9, P10, P12 of docs/explanation/errata-ppl.md.
TEST(Verified, PplConvergesAndHoldsAsTheIndependentModel) {
  const auto from = [](const Ppl& protocol, std::uint64_t n, std::size_t start) {
    return verified(protocol, Network::complete(n), {.extent = Extent::start}, start);
  };
  const Ppl toy = ppl(3, 6, 4, 2);
  EXPECT_NEAR(from(toy, 3, Ppl::all_leaders).start.mean, 11.879094, 5e-7);
  EXPECT_NEAR(from(toy, 3, Ppl::all_zero).start.mean, 9.509699, 5e-7);
  const Report safe = from(toy, 3, Ppl::safe);
  ASSERT_TRUE(safe.start_holding.has_value());
  EXPECT_NEAR(*safe.start_holding, 13.391531, 5e-7);
  EXPECT_NEAR(from(ppl(3, 4, 2, 3), 3, Ppl::leader_timer0).start.mean, 16.954824, 5e-7);
  const Report two = from(ppl(2, 20, 4, 3), 2, Ppl::all_leaders);
  EXPECT_NEAR(two.start.mean, 4, 1e-12);
  EXPECT_NEAR(two.start.variance, 0, 1e-9);
}

TEST(Verified, PplHoldsItsClaimsEverywhere) {
  const Report report = verified(ppl(3, 2, 2, 2), Network::complete(3));
  EXPECT_TRUE(report.all_hold());
  EXPECT_EQ(report.configurations, 108.0 * 108 * 108);
  ASSERT_TRUE(report.slowest && report.shortest_holding);
  EXPECT_GE(report.slowest->value, report.start.mean);
  EXPECT_TRUE(std::isfinite(report.slowest->value));
}

// Values of a program that knows the papers but none of this code: labelled agents, no symmetry.
TEST(Verified, PplHasTheBoundsOfTheLabelledModel) {
  struct Known {
    std::uint64_t t_max, t_virus, t_emit;
    double mean, variance, slowest, shortest_holding, converged, safe;
  };
  for (const Known& known :
       {Known{3, 3, 1, 6.34765625, 48.42161560058589, 11, 3, 608, 0},
        {5, 5, 3, 5.943689082054125, 19.36437441904582, 118.0 / 9, 6, 11232, 0},
        {7, 2, 4, 5.747357253089229, 27.5740561588017, 148.0 / 9, infinity, 10880, 79000}}) {
    const Report report =
        verified(ppl(2, known.t_max, known.t_virus, known.t_emit), Network::complete(2));
    EXPECT_NEAR(report.start.mean, known.mean, 1e-11);
    EXPECT_NEAR(report.start.variance, known.variance, 1e-9);
    ASSERT_TRUE(report.slowest.has_value());
    EXPECT_NEAR(report.slowest->value, known.slowest, 1e-11);
    ASSERT_EQ(report.shortest_holding.has_value(), std::isfinite(known.shortest_holding));
    if (report.shortest_holding) {
      EXPECT_NEAR(report.shortest_holding->value, known.shortest_holding, 1e-11);
    }
    EXPECT_EQ(report.safe_set->converged, known.converged);
    EXPECT_EQ(report.safe_set->safe, known.safe);
  }
}

TEST(Verified, PrlAndPllHaveTheTimesOfTheLabelledModel) {
  const Report ring = verified(prl(2, 5), Network::directed_ring(2));
  EXPECT_NEAR(ring.start.mean, 3.637731481481945, 1e-11);
  EXPECT_NEAR(ring.start.variance, 15.38843744641298, 1e-10);
  EXPECT_NEAR(ring.slowest->value, 12, 1e-11);
  EXPECT_EQ(ring.safe_set->converged, 744);
  EXPECT_EQ(ring.safe_set->safe, 6408);
  const Report timers = verified(pll<Pll>(4, 1, 1), Network::complete(4));
  EXPECT_NEAR(timers.start.mean, 5.25, 1e-11);
  EXPECT_NEAR(timers.start.variance, 12.3375, 1e-10);
  EXPECT_NEAR(timers.slowest->value, 7.5, 1e-11);
  const Report symmetric = verified(pll<PllSym>(4, 1, 1), Network::complete(4));
  EXPECT_NEAR(symmetric.start.mean, 8.45714285714273, 1e-9);
  EXPECT_NEAR(symmetric.start.variance, 55.32897959183238, 1e-8);
  EXPECT_NEAR(symmetric.slowest->value, 13.5, 1e-9);
}

// Line 7: after line 4 both viruses are equal, so that whoever has the stronger one has emitted it.
TEST(PplClaims, NobodyButAShieldedInitiatorEmits) {
  const Ppl protocol = ppl(2, 3, 3, 1);
  const auto claims = claims_of(protocol);
  const auto line = std::ranges::find(claims.claims, "line 7", &Claim<Ppl::State>::name);
  ASSERT_NE(line, claims.claims.end());
  const auto holds_after = [&](const Ppl::State& initiator, const Ppl::State& responder) {
    const std::vector<Ppl::State> agents{initiator, responder};
    return line->holds({.before = agents, .after = agents, .initiator = 0, .responder = 1});
  };
  const Ppl::State emitter{.leader = true, .shield = true, .virus = 3};
  const Ppl::State unshielded{.leader = true, .virus = 3};
  const Ppl::State follower{.shield = true, .virus = 3};
  const Ppl::State other{};
  EXPECT_TRUE(holds_after(other, other));
  EXPECT_TRUE(holds_after(emitter, other));
  EXPECT_FALSE(holds_after(other, emitter));
  EXPECT_FALSE(holds_after(unshielded, other));
  EXPECT_FALSE(holds_after(follower, other));
}

TEST(Verified, PrlHoldsLemmasOneToEight) {
  for (const auto& [n, bound, safe_only] :
       {std::tuple{2u, 2u, 1128.0}, {2u, 3u, 2248.0}, {3u, 3u, 62328.0}}) {
    const Report report = verified(prl(n, bound), Network::directed_ring(n));
    EXPECT_TRUE(report.all_hold());
    EXPECT_EQ(report.configurations, std::pow(24.0 * (bound + 1), n));
    EXPECT_EQ(report.safe_set->safe_only, safe_only);
    EXPECT_EQ(report.safe_set->converged_only, 0);
  }
}

// t_SRL from `one-leader-own-live` is a sum of N + 1 geometric variables; the largest expectation
// from modest bullets to C_NI is 2, 9/2 (docs/explanation/errata-prl.md).
TEST(Verified, PrlTakesTheTimesThatAreKnown) {
  for (const auto& [n, bound] : {std::pair{2u, 4u}, {3u, 3u}, {3u, 4u}}) {
    const VerifyOptions options{.target = "C_NI", .within = "C_M"};
    const Report report = verified(prl(n, bound), Network::directed_ring(n), options, 7);
    EXPECT_NEAR(report.start.mean, n * (bound + 1), 1e-9);
    EXPECT_NEAR(report.start.variance, (bound + 1) * n * (n - 1), 1e-8);
    ASSERT_TRUE(report.slowest.has_value());
    EXPECT_NEAR(report.slowest->value, n == 2 ? 2 : 4.5, 1e-9);
  }
}

TEST(Verified, TheCongruenceChangesNoNumber) {
  for (const auto& [n, bound] : {std::pair{2u, 3u}, {3u, 3u}}) {
    const Network ring = Network::directed_ring(n);
    const Report merged = verified(prl(n, bound), ring);
    const Report plain = verified(prl(n, bound), ring, {.congruence = false});
    EXPECT_LT(merged.classes, plain.classes);
    EXPECT_EQ(merged.configurations, plain.configurations);
    EXPECT_NEAR(merged.start.mean, plain.start.mean, 1e-11);
    EXPECT_NEAR(merged.slowest->value, plain.slowest->value, 1e-10);
    EXPECT_EQ(merged.safe_set->safe, plain.safe_set->safe);
    EXPECT_EQ(merged.safe_set->converged, plain.safe_set->converged);
  }
}

TEST(Congruence, OfAFollowersShieldHoldsAndOfALeadersDoesNot) {
  const Prl protocol = prl(3, 3);
  const auto states = arbitrary_states(protocol);
  EXPECT_EQ(states.size(), 96u);
  EXPECT_FALSE(quotient_violation(protocol, states, claims_of(protocol).normal_form).has_value());
  const auto without_shield = [](Prl::State s) {
    s.shield = false;
    return s;
  };
  EXPECT_TRUE(quotient_violation<Prl>(protocol, states, without_shield).has_value());
}

// The sets of prl do not look at a follower's shield either.
TEST(Congruence, KeepsTheSetsOfPrl) {
  const Prl protocol = prl(2, 3);
  const auto claims = claims_of(protocol);
  const auto states = arbitrary_states(protocol);
  for (const Prl::State& u : states) {
    for (const Prl::State& v : states) {
      const std::vector<Prl::State> plain{u, v};
      const std::vector<Prl::State> normal{claims.normal_form(u), claims.normal_form(v)};
      for (const auto& set : claims.sets) ASSERT_EQ(set.contains(plain), set.contains(normal));
    }
  }
}

Report broken(PrlFlaw flaw) {
  return verified(BrokenPrl(prl(3, 3), flaw), Network::directed_ring(3));
}

TEST(BrokenPrl, WithoutAFlawHoldsEverything) { EXPECT_TRUE(broken(PrlFlaw::none).all_hold()); }

TEST(BrokenPrl, FailsInTheLemmaThatItsFlawBreaks) {
  EXPECT_FALSE(holds(broken(PrlFlaw::distance_moves_under_bullets), "Lemma 1"));
  const Report unshielded = broken(PrlFlaw::live_without_shield);
  EXPECT_FALSE(holds(unshielded, "Lemma 4"));
  EXPECT_FALSE(holds(unshielded, "Lemma 2"));
  EXPECT_FALSE(holds(broken(PrlFlaw::bullets_pass_signals), "Lemma 3"));
  const Report barren = broken(PrlFlaw::never_creates);
  EXPECT_FALSE(holds(barren, "Theorem"));
  EXPECT_EQ(barren.slowest->value, infinity);
}

TEST(BrokenPrl, ShowsTheStepThatFails) {
  const Report report = broken(PrlFlaw::live_without_shield);
  const ClaimReport& claim = failing(report, "Lemma 4");
  ASSERT_EQ(claim.counterexample.size(), 2u);
  EXPECT_EQ(claim.counterexample[1].interaction[0], 'e');
  const ClaimReport& closure = failing(report, "Lemma 2");
  ASSERT_EQ(closure.counterexample.size(), 2u);
  EXPECT_NE(closure.counterexample[0].configuration, closure.counterexample[1].configuration);
}

TEST(Verification, RefusesWhatIsTooLargeWithItsSize) {
  VerifyOptions options;
  options.bounds.memory = 1'000'000;
  try {
    verified(prl(4, 4), Network::directed_ring(4), options);
    ADD_FAILURE() << "not refused";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("1.64e+07 configurations"), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(verified(pll<Pll>(5, 2, 1), Network::complete(5), options), Error);
  EXPECT_THROW(verified(prl(2, 2), Network::directed_ring(2), {.target = "C_PP"}), Error);
  EXPECT_THROW(Network::directed_ring(std::uint64_t{1} << 33), Error);
  EXPECT_THROW(Network::complete(1'000'000'000), Error);
}

TEST(Verification, StopsWhenAsked) {
  VerifyOptions options;
  options.bounds.progress = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  EXPECT_THROW(verified(Fratricide({}, 5), Network::complete(5), options), Interrupted);
}

}  // namespace
}  // namespace conclave::exact
