// P_LL with few agents or toy constants: every state, every pair, every configuration. The exact
// values come from an independent model (docs/explanation/errata-pll.md).
#include "conclave/protocols/population/pll.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/choice.hpp"
#include "conclave/base/fields.hpp"

#include "tests/support/census_chain.hpp"
#include "tests/support/naive_pll.hpp"
#include "tests/support/pll_cases.hpp"
#include "tests/support/state_table.hpp"

namespace conclave::tests {
namespace {

constexpr Pll::Reading corrected = Pll::Reading::corrected;
constexpr Pll::Reading printed = Pll::Reading::printed;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Toy {
  AgentCount n;
  PllConstants constants;
};

std::string text_of(const Toy& toy) {
  return "n=" + std::to_string(toy.n) + " " + text_of(toy.constants);
}

double expected_interactions(const Toy& toy) {
  const CensusChain<Pll> chain(pll_with(toy.constants, toy.n), toy.n, Extent::until_one_leader);
  return chain.chain().expected_steps(chain.one_leader());
}

double probability_of_stabilizing(const Toy& toy) {
  const CensusChain<Pll> chain(pll_with(toy.constants, toy.n), toy.n, Extent::until_one_leader);
  return chain.chain().probability_of_reaching(chain.one_leader());
}

TEST(PllExactly, TakesTheExpectedTimeOfTheIndependentModel) {
  EXPECT_NEAR(expected_interactions({5, {2, 1, corrected}}), 10.351425701963535, 1e-11);
}

// The first interaction makes a leader and a timer; each later one brings in the third agent with
// probability 2/3, and X is a leader until then (L7).
TEST(PllExactly, ThreeAgentsTakeFiveHalves) {
  EXPECT_NEAR(expected_interactions({3, {}}), 2.5, 1e-12);
  EXPECT_NEAR(expected_interactions({3, {1, 0, corrected}}), 2.5, 1e-12);
}

TEST(PllExactly, TwoAgentsTakeOneInteraction) {
  EXPECT_NEAR(expected_interactions({2, {}}), 1, 1e-14);
}

struct Chance {
  Toy toy;
  double as_printed;
};

const std::vector<Chance> chances{{{4, {3, 1, printed}}, 0.904266},
                                  {{5, {2, 1, printed}}, 0.713751},
                                  {{5, {1, 2, printed}}, 0.637944}};

TEST(PllExactly, AsPrintedItMayNeverStabilize) {
  for (const Chance& chance : chances) {
    SCOPED_TRACE(text_of(chance.toy));
    EXPECT_NEAR(probability_of_stabilizing(chance.toy), chance.as_printed, 5e-7);
    EXPECT_EQ(expected_interactions(chance.toy), infinity);
  }
}

TEST(PllExactly, AsCorrectedItAlwaysStabilizes) {
  for (Chance chance : chances) {
    chance.toy.constants.reading = corrected;
    SCOPED_TRACE(text_of(chance.toy));
    EXPECT_NEAR(probability_of_stabilizing(chance.toy), 1, 1e-12);
    EXPECT_LT(expected_interactions(chance.toy), 100);
  }
}

const std::vector<PllConstants> constants_of_states{{2, 1}, {2, 5},  {3, 1}, {4, 3},
                                                    {7, 2}, {20, 4}, {41, 3}};

// The proof of Lemma 13 says that half of the leaders that flip their coin with a leader (its L_2)
// survive. Here L_2 is `late`, which meets the first leader v_l after that has seen its head: as
// initiator it survives, and v_l does not.
TEST(PllErrata, LateLeaderWithHeadOutlivesTheFirstOne) {
  const Pll protocol = pll_with({8, 1}, 3);
  const Pll::State first{true, Pll::Status::a, 3, 0, true, 1};
  const Pll::State late{true, Pll::Status::a, 3, 2, true, 0};
  AnyChoice unused;
  Pll::State initiator = late;
  Pll::State responder = first;
  protocol.interact(initiator, responder, unused);
  EXPECT_TRUE(initiator.leader && initiator.variable == 1 && initiator.color == 0);
  EXPECT_FALSE(responder.leader);
}

TEST(PllStates, AreAsManyAsTheFormulaSays) {
  for (const PllConstants& constants : constants_of_states) {
    SCOPED_TRACE(text_of(constants));
    const Pll protocol = pll_with(constants, 2);
    const std::uint64_t formula = 14 * constants.c_max + 7 + 3 * (std::uint64_t{1} << constants.k);
    EXPECT_EQ(reachable_states(protocol).size(), formula);
    EXPECT_EQ(protocol.state_count(), Interactions(formula));
  }
}

// The formula needs k >= 1, so that a leader's nonce can be incomplete, and c_max >= 2, so that a
// timer can meet anybody without a tick.
TEST(PllStates, AreFewerWithDegenerateConstants) {
  EXPECT_EQ(reachable_states(pll_with({2, 0}, 2)).size(), 14u * 2 + 7 + 3 - 1);
  EXPECT_EQ(reachable_states(pll_with({3, 0}, 2)).size(), 14u * 3 + 7 + 3 - 1);
  EXPECT_EQ(reachable_states(pll_with({1, 0}, 2)).size(), 19u);
  EXPECT_EQ(reachable_states(pll_with({1, 2}, 2)).size(), 22u);
}

TEST(PllStates, LieInTheDomainsOfTable3) {
  for (const PllConstants& constants : constants_of_states) {
    const StateTable<Pll> table = reachable_states(pll_with(constants, 2));
    const PllDomains domains{constants.c_max, constants.k};
    for (const Pll::State& state : table.states()) {
      EXPECT_TRUE(domains.holds(state)) << text_of(constants) << ": " << to_text(state);
    }
  }
}

// All (c_max, k) above and some degenerate ones, in both readings.
std::vector<PllConstants> constants_of_pairs() {
  std::vector<PllConstants> all = constants_of_states;
  for (const PllConstants degenerate : {PllConstants{1, 0}, {1, 2}, {2, 0}, {3, 0}}) {
    all.push_back(degenerate);
  }
  const std::vector<PllConstants> as_corrected = all;
  for (PllConstants constants : as_corrected) {
    constants.reading = printed;
    all.push_back(constants);
  }
  return all;
}

TEST(PllStates, SurviveBeingPacked) {
  for (const PllConstants& constants : constants_of_pairs()) {
    const StateTable<Pll> table = reachable_states(pll_with(constants, 2));
    const Pll& protocol = table.protocol();
    for (const Pll::State& state : table.states()) {
      SCOPED_TRACE(text_of(constants) + ": " + to_text(state));
      EXPECT_EQ(protocol.unpack(protocol.pack(state)), state);
      EXPECT_EQ(protocol.pack(protocol.unpack(protocol.pack(state))), protocol.pack(state));
    }
  }
}

// The state with all the variables of Table 3; those that its group does not have are arbitrary.
NaivePll::Agent to_naive(const Pll::State& s) {
  NaivePll::Agent agent;
  agent.leader = s.leader;
  agent.status = static_cast<NaivePll::Status>(s.status);
  agent.epoch = agent.init = s.epoch;
  agent.color = s.color;
  agent.done = s.is_a() && s.epoch == 1 && s.done;
  agent.count = agent.level_q = agent.rand = agent.level_b = 12'345;
  if (s.is_b()) agent.count = s.variable;
  if (s.is_a() && s.epoch == 1) agent.level_q = s.variable;
  if (s.is_a() && s.epoch == 2) agent.rand = s.variable;
  if (s.is_a() && s.epoch == 3) agent.level_b = s.variable;
  return agent;
}

Pll::State from_naive(const NaivePll::Agent& agent) {
  Pll::State s;
  s.leader = agent.leader;
  s.status = static_cast<Pll::Status>(agent.status);
  s.epoch = static_cast<std::uint8_t>(std::min(agent.epoch, 4));
  s.color = static_cast<std::uint8_t>(agent.color);
  s.done = s.is_a() && (s.epoch > 1 || agent.done);
  int variable = 0;
  if (s.is_b()) variable = agent.count;
  if (s.is_a() && s.epoch == 1) variable = agent.level_q;
  if (s.is_a() && s.epoch == 2) variable = agent.rand;
  if (s.is_a() && s.epoch == 3) variable = agent.level_b;
  s.variable = static_cast<std::uint16_t>(variable);
  return s;
}

void expect_naive_transitions(const PllConstants& constants) {
  const NaivePll naive(2,
                       {.m = 1,
                        .c_max = static_cast<int>(constants.c_max),
                        .k = static_cast<int>(constants.k),
                        .printed = constants.reading == printed},
                       0);
  StateTable<Pll> table = reachable_states(pll_with(constants, 2));
  for (std::uint32_t u = 0; u < table.size(); ++u) {
    for (std::uint32_t v = 0; v < table.size(); ++v) {
      NaivePll::Agent a0 = to_naive(table.state(u));
      NaivePll::Agent a1 = to_naive(table.state(v));
      naive.interact(a0, a1);
      const auto& result = table.outcomes(u, v).front();
      const bool is_same = from_naive(a0) == table.state(result.u) &&
                           from_naive(a1) == table.state(result.v) && a0.init == a0.epoch &&
                           a1.init == a1.epoch;
      EXPECT_TRUE(is_same) << text_of(constants) << ": (" << to_text(table.state(u)) << ") meets ("
                           << to_text(table.state(v)) << ")";
    }
  }
}

TEST(PllTransition, EqualsTheNaiveOneOnEveryPair) {
  for (const PllConstants& constants : constants_of_pairs()) expect_naive_transitions(constants);
}

// The line that a step is about, among those that the naive one tells.
int line_of(std::string_view step) {
  constexpr std::array<std::pair<std::string_view, int>, 20> lines{
      {{"1-3", 2},    {"4-5", 5},    {"7-8", 7},    {"9", 9},       {"10", 10},
       {"11-14", 14}, {"16-17", 17}, {"18-19", 19}, {"20-21", 21},  {"23-24", 24},
       {"25-27", 26}, {"30-33", 31}, {"35-36", 36}, {"35, 37", 37}, {"39-41", 40},
       {"43-44", 44}, {"46-48", 47}, {"50-51", 51}, {"53-55", 54},  {"57", 57}}};
  const auto found = std::ranges::find(lines, step, &std::pair<std::string_view, int>::first);
  return found == lines.end() ? 0 : found->second;
}

// Notes steps as bits of their lines; nothing is drawn.
struct LineNotes : AnyChoice {
  std::uint64_t lines = 0;
  void note(std::string_view step) { lines |= std::uint64_t{1} << line_of(step); }
};

TEST(PllSteps, AreThoseOfTheNaiveOneForEveryPair) {
  std::uint64_t all = 0;
  for (const PllConstants constants : {PllConstants{3, 1}, {4, 3}, {7, 2}, {4, 3, printed}}) {
    NaivePll naive(2,
                   {.c_max = static_cast<int>(constants.c_max),
                    .k = static_cast<int>(constants.k),
                    .printed = constants.reading == printed},
                   0);
    std::uint64_t lines = 0;
    naive.tell(&lines);
    const StateTable<Pll> table = reachable_states(pll_with(constants, 2));
    for (Pll::State u : table.states()) {
      for (Pll::State v : table.states()) {
        if (std::max(u.epoch, v.epoch) == 4)
          continue;  // stands for all later ones: none is entered
        lines = 0;
        NaivePll::Agent a0 = to_naive(u);
        NaivePll::Agent a1 = to_naive(v);
        naive.interact(a0, a1);
        LineNotes notes;
        Pll::State new_u = u;
        Pll::State new_v = v;
        table.protocol().interact(new_u, new_v, notes);
        ASSERT_EQ(notes.lines, lines)
            << text_of(constants) << ": (" << to_text(u) << ") meets (" << to_text(v) << ")";
        all |= lines;
      }
    }
  }
  for (const PseudocodeStep& step : Pll::info.steps) {
    EXPECT_TRUE((all >> line_of(step.line) & 1) != 0 && line_of(step.line) > 0) << step.line;
  }
}

// Lemmas 4, 5 and 11 in every configuration, and that leaders only resign, along every arc.
class PllConfigurations : public testing::Test {
 protected:
  static void check_all(const Toy& toy) {
    SCOPED_TRACE(text_of(toy));
    const CensusChain<Pll> chain(pll_with(toy.constants, toy.n), toy.n);
    for (std::size_t index = 0; index < chain.size(); ++index) check(chain, index);
  }

 private:
  static void check(const CensusChain<Pll>& chain, std::size_t index) {
    const PllCensus census = census_of(chain.states(index));
    ASSERT_TRUE(census.has_leader()) << "configuration " << index;
    ASSERT_TRUE(census.is_balanced()) << "configuration " << index;
    ASSERT_TRUE(census.has_timer() || index == 0) << "configuration " << index;
    for (const MarkovChain::Arc& arc : chain.chain().row(index)) {
      ASSERT_LE(chain.leaders(arc.to), census.leaders) << "configuration " << index;
      ASSERT_NE(arc.to, 0u) << "the start is left for ever";
    }
  }
};

TEST_F(PllConfigurations, AlwaysHaveALeaderATimerAndTheBalanceOfLemma5) {
  for (const Pll::Reading reading : {corrected, printed}) {
    check_all({3, {4, 2, reading}});
    check_all({4, {1, 0, reading}});
    check_all({4, {3, 1, reading}});
    check_all({5, {1, 2, reading}});
    check_all({5, {2, 1, reading}});
  }
  check_all({3, {9, 1, corrected}});
}

}  // namespace
}  // namespace conclave::tests
