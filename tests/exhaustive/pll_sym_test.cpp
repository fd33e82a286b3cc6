// The symmetric variant of P_LL with few agents or toy constants: every state, every pair, every
// configuration. The exact values come from an independent model (errata-pll-sym.md).
#include "conclave/protocols/population/pll_sym.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/fields.hpp"

#include "tests/support/census_chain.hpp"
#include "tests/support/state_table.hpp"

namespace conclave::tests {
namespace {

using protocols::PllSym;
using State = PllSym::State;
using Coin = PllSym::Coin;

constexpr PllSym::Reading corrected = PllSym::Reading::corrected;
constexpr PllSym::Reading printed = PllSym::Reading::printed;

struct Constants {
  std::uint64_t c_max;
  std::uint64_t k;
  PllSym::Reading reading = corrected;

  PllSym protocol(AgentCount n = 3) const {
    PllSym::Parameters parameters;
    parameters.c_max = c_max;
    parameters.k = k;
    parameters.reading = reading;
    return PllSym(parameters, n);
  }

  std::string text() const {
    return "c_max=" + std::to_string(c_max) + " k=" + std::to_string(k) +
           (reading == printed ? " reading=printed" : "");
  }
};

const std::vector<Constants> constants_of_states{{2, 1}, {2, 4}, {3, 1}, {4, 3}, {7, 2}};

std::vector<Constants> constants_of_pairs() {
  std::vector<Constants> all{{1, 0}, {1, 2}, {2, 0}};
  all.insert(all.end(), constants_of_states.begin(), constants_of_states.end());
  const std::vector<Constants> as_corrected = all;
  for (const Constants& constants : as_corrected) {
    all.push_back({constants.c_max, constants.k, printed});
  }
  return all;
}

double expected_interactions(AgentCount n, const Constants& constants) {
  const CensusChain<PllSym> chain(constants.protocol(n), n, Extent::until_one_leader);
  return chain.chain().expected_steps(chain.one_leader());
}

double probability_of_stabilizing(AgentCount n, const Constants& constants) {
  const CensusChain<PllSym> chain(constants.protocol(n), n, Extent::until_one_leader);
  return chain.chain().probability_of_reaching(chain.one_leader());
}

// X,X,X -> X,Y,Y after one interaction. Then Y,Y (1/3) leads back to X,X,X, and X,Y (2/3) to A,B,Y,
// where the late agent meets one of the others with probability 2/3. So E = 1 + T and
// T = 1 + E/3 + 2/3 * 3/2, which is E = 9/2.
TEST(PllSymExactly, ThreeAgentsTakeNineHalves) {
  EXPECT_NEAR(expected_interactions(3, {41, 3}), 4.5, 1e-12);
  EXPECT_NEAR(expected_interactions(3, {1, 0}), 4.5, 1e-12);
}

TEST(PllSymExactly, TakesTheExpectedTimeOfTheIndependentModel) {
  EXPECT_NEAR(expected_interactions(5, {2, 1}), 12.698110, 5e-7);
}

TEST(PllSymExactly, AlwaysStabilizes) {
  EXPECT_NEAR(probability_of_stabilizing(4, {3, 1}), 1, 1e-12);
  EXPECT_NEAR(probability_of_stabilizing(5, {1, 2}), 1, 1e-12);
}

TEST(PllSymExactly, AsPrintedItMayNeverStabilize) {
  EXPECT_NEAR(probability_of_stabilizing(5, {2, 1, printed}), 0.790476, 5e-7);
  EXPECT_EQ(expected_interactions(5, {2, 1, printed}), std::numeric_limits<double>::infinity());
}

// S1: every interaction leaves both agents in the same state, so both stay leaders.
TEST(PllSymExactly, TwoAgentsNeverBreakTheirTie) {
  const Constants constants{2, 1};
  EXPECT_NE(PllSym::objection({}, 2), "");
  EXPECT_EQ(PllSym::objection({}, 3), "");
  const CensusChain<PllSym> chain(constants.protocol(2), 2);
  EXPECT_EQ(chain.size(), 2u);
  EXPECT_EQ(chain.chain().probability_of_reaching(chain.one_leader()), 0);
}

TEST(PllSymStates, AreAsManyAsTheFormulaSays) {
  for (const Constants& constants : constants_of_states) {
    SCOPED_TRACE(constants.text());
    const PllSym protocol = constants.protocol();
    const std::uint64_t formula = 50 * constants.c_max + 27 + 6 * (std::uint64_t{1} << constants.k);
    EXPECT_EQ(reachable_states(protocol).size(), formula);
    EXPECT_EQ(protocol.state_count(), Interactions(formula));
  }
}

// The domains of the variables in the corrected reading, and which group has which.
class Domains {
 public:
  explicit Domains(const Constants& constants) : c_max_(constants.c_max), k_(constants.k) {}

  bool hold(const State& s) const {
    return s.epoch >= 1 && s.epoch <= 3 && s.color < 3 && has_coin(s) && has_backup(s) &&
           has_variable(s);
  }

  // The k-th change of colour begins epoch k+1, until epoch 3, which sees all colours.
  static bool has_color_of_epoch(const State& s) { return s.epoch == 3 || s.color + 1 == s.epoch; }

 private:
  static bool has_coin(const State& s) { return !s.leader || s.coin == Coin::j; }
  static bool has_backup(const State& s) {
    return (s.leader && s.is_a() && s.epoch == 3) ? s.status_l <= 1 : !s.ready && s.status_l == 0;
  }
  bool has_variable(const State& s) const {
    if (s.is_new()) return s.leader && !s.done && s.variable == 0;
    if (s.is_b()) return !s.leader && !s.done && s.variable < c_max_;
    if (s.epoch == 2) return s.done && s.variable >= 1 && s.variable >> (k_ + 1) == 0;
    return (s.epoch == 1 || s.done) && s.variable <= c_max_;
  }

  std::uint64_t c_max_;
  std::uint64_t k_;
};

TEST(PllSymStates, LieInTheirDomains) {
  for (const Constants& constants : constants_of_states) {
    const StateTable<PllSym> table = reachable_states(constants.protocol());
    for (const State& state : table.states()) {
      const bool is_fine = Domains(constants).hold(state) && Domains::has_color_of_epoch(state);
      EXPECT_TRUE(is_fine) << constants.text() << ": " << to_text(state);
    }
  }
}

TEST(PllSymStates, SurviveBeingPacked) {
  for (const Constants& constants : constants_of_pairs()) {
    const StateTable<PllSym> table = reachable_states(constants.protocol());
    for (const State& state : table.states()) {
      EXPECT_EQ(table.protocol().unpack(table.protocol().pack(state)), state) << to_text(state);
    }
  }
}

// T(q, p) is T(p, q) with the two agents swapped; in particular, equal states stay equal.
void expect_symmetry(const PllSym& protocol, const State& p, const State& q) {
  exact::EveryWeightedChoice choice;
  State p_first = p, q_second = q, q_first = q, p_second = p;
  protocol.interact(p_first, q_second, choice);
  protocol.interact(q_first, p_second, choice);
  EXPECT_TRUE(p_first == p_second && q_first == q_second)
      << "(" << to_text(p) << ") and (" << to_text(q) << ")";
  EXPECT_FALSE(choice.next()) << "a symmetric protocol makes no other choice";
}

TEST(PllSymTransition, IsSymmetricOnEveryPairOfReachableStates) {
  for (const Constants& constants : constants_of_pairs()) {
    SCOPED_TRACE(constants.text());
    const StateTable<PllSym> table = reachable_states(constants.protocol());
    for (const State& p : table.states()) {
      for (const State& q : table.states()) expect_symmetry(table.protocol(), p, q);
    }
  }
}

// From a state of the domains, whichever it is, the protocol stays in them and stays symmetric.
TEST(PllSymTransition, IsSymmetricAndStaysInTheDomainsFromArbitraryStates) {
  for (const PllSym::Reading reading : {corrected, printed}) {
    const Constants constants{2, 1, reading};
    const PllSym protocol = constants.protocol();
    const std::vector<State> states = arbitrary_states(protocol);
    for (const State& p : states) {
      EXPECT_TRUE(Domains(constants).hold(p)) << to_text(p);
      for (const State& q : states) {
        expect_symmetry(protocol, p, q);
        State u = p, v = q;
        exact::EveryWeightedChoice choice;
        protocol.interact(u, v, choice);
        EXPECT_LE(u.leader + v.leader, p.leader + q.leader);
        if (reading == printed) continue;  // leaves the domain of epoch (L1)
        EXPECT_TRUE(Domains(constants).hold(u) && Domains(constants).hold(v))
            << "(" << to_text(p) << ") and (" << to_text(q) << ")";
      }
    }
  }
}

TEST(PllSymTransition, HasEveryReachableStateAmongTheArbitraryOnes) {
  const PllSym protocol = Constants{3, 2}.protocol();
  const std::vector<State> arbitrary = arbitrary_states(protocol);
  const StateTable<PllSym> table = reachable_states(protocol);
  for (const State& state : table.states()) {
    EXPECT_EQ(std::ranges::count(arbitrary, state), 1) << to_text(state);
  }
}

// How many agents of a configuration are what.
struct Census {
  std::size_t leaders = 0;
  std::size_t followers = 0;
  std::size_t f0 = 0;
  std::size_t f1 = 0;

  explicit Census(const std::vector<State>& states) {
    for (const State& s : states) {
      leaders += s.leader ? 1 : 0;
      followers += s.leader ? 0 : 1;
      f0 += s.coin == Coin::f0 ? 1 : 0;
      f1 += s.coin == Coin::f1 ? 1 : 0;
    }
  }
};

void check_configurations(AgentCount n, const Constants& constants) {
  SCOPED_TRACE("n=" + std::to_string(n) + " " + constants.text());
  const CensusChain<PllSym> chain(constants.protocol(n), n);
  for (std::size_t index = 0; index < chain.size(); ++index) {
    const Census census(chain.states(index));
    ASSERT_GE(census.leaders, 1u) << "configuration " << index;
    ASSERT_EQ(census.f0, census.f1) << "configuration " << index;
    // S2: two followers alone never have coins; a third is needed, and it remains.
    ASSERT_TRUE(census.followers > 2 || census.f0 == 0) << "configuration " << index;
    for (const MarkovChain::Arc& arc : chain.chain().row(index)) {
      ASSERT_LE(chain.leaders(arc.to), census.leaders) << "configuration " << index;
    }
  }
}

TEST(PllSymConfigurations, AlwaysHaveALeaderAndAsManyHeadsAsTails) {
  for (const PllSym::Reading reading : {corrected, printed}) {
    check_configurations(3, {4, 2, reading});
    check_configurations(4, {1, 0, reading});
    check_configurations(4, {2, 1, reading});
    check_configurations(5, {1, 1, reading});
  }
}

// S2: with n = 4, two leaders are decided by BackUp alone: no leader ever flips a coin.
TEST(PllSymConfigurations, OfFourAgentsWithTwoLeadersHaveNoCoins) {
  const CensusChain<PllSym> chain(Constants{3, 1}.protocol(4), 4);
  std::size_t with_two_leaders = 0;
  for (std::size_t index = 0; index < chain.size(); ++index) {
    if (chain.leaders(index) != 2) continue;
    ++with_two_leaders;
    for (const State& s : chain.states(index)) {
      ASSERT_TRUE(s.coin == Coin::j || s.coin == Coin::k);
      ASSERT_TRUE(!s.leader || s.epoch == 2 || s.variable == 0) << to_text(s);
    }
  }
  EXPECT_GT(with_two_leaders, 100u);
}

}  // namespace
}  // namespace conclave::tests
