// P_PL with few agents and toy constants: every state, every pair, every configuration. The exact
// values come from an independent model (docs/explanation/errata-ppl.md).
#include "conclave/protocols/population/ppl.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/fields.hpp"
#include "conclave/base/random.hpp"

#include "tests/support/census_chain.hpp"

namespace conclave::tests {
namespace {

using protocols::Ppl;
using Agent = Ppl::State;

struct Constants {
  int t_max;
  int t_virus;
  int t_emit;
};

Ppl ppl_with(const Constants& constants, AgentCount n) {
  Ppl::Parameters parameters;
  parameters.t_max = static_cast<std::uint64_t>(constants.t_max);
  parameters.t_virus = static_cast<std::uint64_t>(constants.t_virus);
  parameters.t_emit = static_cast<std::uint64_t>(constants.t_emit);
  parameters.resolve(n);
  EXPECT_EQ(Ppl::objection(parameters, n), "");
  return Ppl(parameters, n);
}

std::string text_of(const Constants& constants) {
  return "t_max=" + std::to_string(constants.t_max) +
         " t_virus=" + std::to_string(constants.t_virus) +
         " t_emit=" + std::to_string(constants.t_emit);
}

// Algorithm 1 once more, one function per line, so that the lines can be put into any order.
class Lines {
 public:
  using Order = std::array<int, 9>;

  explicit Lines(const Constants& constants) : constants_(constants) {}

  void execute(const Order& order, Agent& a0, Agent& a1) const {
    for (const int line : order) execute(line, a0, a1);
  }

 private:
  void execute(int line, Agent& a0, Agent& a1) const {
    const bool found = timeout(line, a0, a1) || spread(line, a0, a1) || emit(line, a0, a1);
    EXPECT_TRUE(found) << "line " << line;
  }

  bool timeout(int line, Agent& a0, Agent& a1) const {
    if (line == 1) set_timers_l(a0, a1, max_of_three(a0.timer_l, a1.timer_l));
    if (line == 2 && a0.timer_l == 0) a0.leader = true;
    if (line == 2 && a1.timer_l == 0) a1.leader = true;
    if (line == 3 && (a0.leader || a1.leader)) set_timers_l(a0, a1, constants_.t_max);
    return line <= 3;
  }

  static bool spread(int line, Agent& a0, Agent& a1) {
    if (line == 4) {
      a0.virus = a1.virus = static_cast<std::uint16_t>(max_of_three(a0.virus, a1.virus));
    }
    if (line == 5 && !a0.shield && a0.virus > 0) a0.leader = false;
    if (line == 5 && !a1.shield && a1.virus > 0) a1.leader = false;
    return line == 4 || line == 5;
  }

  bool emit(int line, Agent& a0, Agent& a1) const {
    if (line == 6) {
      a0.timer_i = static_cast<std::uint32_t>(max_of_three(a0.timer_i, 0));
      a1.timer_i = static_cast<std::uint32_t>(max_of_three(a1.timer_i, 0));
    }
    if (line == 7 && a0.timer_i == 0 && a0.leader) {
      a0.virus = static_cast<std::uint16_t>(constants_.t_virus);
      a0.shield = true;
    }
    if (line == 8 && a1.timer_i == 0 && a1.leader) a1.shield = false;
    if (line == 9) {
      for (Agent* a : {&a0, &a1}) {
        if (a->timer_i == 0) a->timer_i = static_cast<std::uint32_t>(constants_.t_emit);
      }
    }
    return line >= 6 && line <= 9;
  }

  static void set_timers_l(Agent& a0, Agent& a1, int value) {
    a0.timer_l = a1.timer_l = static_cast<std::uint32_t>(value);
  }

  // max(x - 1, y - 1, 0)
  static int max_of_three(std::uint32_t x, std::uint32_t y) {
    return std::max({static_cast<int>(x) - 1, static_cast<int>(y) - 1, 0});
  }

  Constants constants_;
};

constexpr Lines::Order printed{1, 2, 3, 4, 5, 6, 7, 8, 9};
constexpr Lines::Order emit_before_spread{1, 2, 3, 6, 7, 8, 9, 4, 5};
constexpr Lines::Order kill_before_spread{1, 2, 3, 5, 4, 6, 7, 8, 9};
constexpr Lines::Order reset_before_timeout{1, 3, 2, 4, 5, 6, 7, 8, 9};

// A question: how long does it take from a start to S, or until some output changes?
struct Question {
  AgentCount n;
  Constants constants;
  Ppl::StartIndex start;
  Lines::Order order = printed;
  bool swapped = false;  // the responder initiates
};

// The protocol of a question. A state also says whether the agent's output has ever changed.
struct Variant {
  struct State : Agent {
    bool changed = false;
    [[maybe_unused]] friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields =
        std::tuple_cat(Agent::fields, std::tuple{Field{"changed", &State::changed}});
  };
  Variant(const Question& asked, bool watched)
      : ppl(ppl_with(asked.constants, asked.n)), question(asked), watches_outputs(watched) {}

  State initial(std::size_t, AgentCount agent, Choice auto& choice) const {
    return {ppl.initial(question.start, agent, choice)};
  }

  void interact(State& u, State& v, Choice auto& choice) const {
    const std::array before{u, v};
    if (question.order != printed) {
      Lines(question.constants).execute(question.order, u, v);
    } else if (question.swapped) {
      ppl.interact(v, u, choice);
    } else {
      ppl.interact(u, v, choice);
    }
    if (!watches_outputs) return;
    u.changed = u.changed || u.leader != before[0].leader;
    v.changed = v.changed || v.leader != before[1].leader;
  }

  Role role(const State& s) const { return ppl.role(s); }

  Ppl ppl;
  Question question{};
  bool watches_outputs = false;
};
static_assert(PopulationProtocol<Variant>);

// The definition of S, word for word, scanning all agents.
template <class State>
bool is_safe(std::span<const State> agents, const Constants& constants) {
  const auto leads = [](const Agent& v) { return v.leader; };
  const auto has_time = [&](const Agent& v) { return v.timer_l >= constants.t_max / 2.0; };
  const auto is_sheltered = [&](const Agent& v) {
    return v.leader && v.shield && v.timer_i >= constants.t_emit / 2.0;
  };
  const auto is_clean = [](const Agent& v) { return v.virus == 0; };
  return std::ranges::count_if(agents, leads) == 1 && std::ranges::all_of(agents, has_time) &&
         (std::ranges::any_of(agents, is_sheltered) || std::ranges::all_of(agents, is_clean));
}

// The chain of a question until a set of configurations, which is given by their agents' states.
template <class Predicate>
MarkovChain::Target target_of(const CensusChain<Variant>& chain, Predicate predicate) {
  MarkovChain::Target target;
  for (std::size_t index = 0; index < chain.size(); ++index) {
    target.push_back(predicate(chain.states(index)));
  }
  return target;
}

double expected_convergence(const Question& question) {
  const CensusChain<Variant> chain(Variant(question, false), question.n);
  return chain.chain().expected_steps(
      target_of(chain, [&](const std::vector<Variant::State>& states) {
        return is_safe<Variant::State>(states, question.constants);
      }));
}

double expected_holding(const Question& question) {
  const CensusChain<Variant> chain(Variant(question, true), question.n);
  return chain.chain().expected_steps(
      target_of(chain, [&](const std::vector<Variant::State>& states) {
        return std::ranges::any_of(states, &Variant::State::changed);
      }));
}

constexpr Constants toy{.t_max = 6, .t_virus = 4, .t_emit = 2};
constexpr double digits = 5e-7;  // the values are quoted with six decimals
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(PplExactly, ConvergesAndHoldsAsTheIndependentModel) {
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_leaders}), 11.879094, digits);
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_zero}), 9.509699, digits);
  EXPECT_NEAR(expected_holding({3, toy, Ppl::safe}), 13.391531, digits);
  EXPECT_NEAR(expected_convergence({3, {4, 2, 3}, Ppl::leader_timer0}), 16.954824, digits);
}

// P9: every wrong order of lines is seen by one of the values above.
TEST(PplExactly, OtherOrdersOfTheLinesGiveOtherValues) {
  const Lines::Order emit = emit_before_spread;
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_leaders, emit}), 5.052656, digits);
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_zero, emit}), 4.117399, digits);
  EXPECT_NEAR(expected_holding({3, toy, Ppl::safe, emit}), 11.909926, digits);
  const Lines::Order kill = kill_before_spread;
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_leaders, kill}), 16.730805, digits);
  EXPECT_NEAR(expected_convergence({3, toy, Ppl::all_zero, kill}), 14.716766, digits);
  EXPECT_NEAR(expected_holding({3, toy, Ppl::safe, kill}), 13.391531, digits);
  const Lines::Order reset = reset_before_timeout;
  EXPECT_NEAR(expected_convergence({3, {4, 2, 3}, Ppl::leader_timer0, reset}), 8.760933, digits);
}

TEST(PplExactly, DoesNotDependOnWhoInitiates) {
  const Question question{3, toy, Ppl::all_leaders};
  Question swapped = question;
  swapped.swapped = true;
  EXPECT_NEAR(expected_convergence(swapped), expected_convergence(question), 1e-9);
  EXPECT_NEAR(expected_holding(swapped), expected_holding(question), 1e-9);
}

// P10: a timeout makes two leaders.
TEST(PplExactly, TwoFollowersBothLeadAfterExactlyTMaxSteps) {
  for (const int t_max : {4, 5, 9}) {
    const Question question{2, {t_max, 2, 3}, Ppl::no_leader};
    const CensusChain<Variant> chain(Variant(question, false), question.n);
    MarkovChain::Target any;
    MarkovChain::Target both;
    for (std::size_t index = 0; index < chain.size(); ++index) {
      any.push_back(chain.leaders(index) > 0);
      both.push_back(chain.leaders(index) == 2);
    }
    const auto steps = static_cast<std::size_t>(t_max);
    EXPECT_EQ(chain.chain().distribution(any, steps)[steps - 1], 0);
    EXPECT_NEAR(chain.chain().distribution(both, steps)[steps], 1, 1e-12);
  }
}

// P12: both timers fire together, the virus kills one interaction later.
TEST(PplExactly, TwoLeadersTakeExactlyTEmitPlusOneSteps) {
  for (const int t_emit : {2, 3, 8}) {
    const Question question{2, {20, 4, t_emit}, Ppl::all_leaders};
    const CensusChain<Variant> chain(Variant(question, false), question.n);
    const auto target = target_of(chain, [&](const std::vector<Variant::State>& states) {
      return is_safe<Variant::State>(states, question.constants);
    });
    const auto steps = static_cast<std::size_t>(t_emit) + 1;
    const std::vector<double> cdf = chain.chain().distribution(target, steps);
    EXPECT_EQ(cdf[steps - 1], 0);
    EXPECT_NEAR(cdf[steps], 1, 1e-12);
  }
}

// P15: two agents can lose their leader only if the virus outlives the next emission.
TEST(PplExactly, TwoAgentsHoldForEverUnlessTheVirusLivesLonger) {
  EXPECT_EQ(expected_holding({2, {9, 5, 4}, Ppl::safe}), infinity);
  EXPECT_LT(expected_holding({2, {9, 6, 4}, Ppl::safe}), 1e6);
}

// P11: a leader that has not met anybody yet may have a small timer_L, and then promotes.
TEST(PplInteraction, WithTwoSmallTimersMakesTheFollowerALeader) {
  const Ppl protocol = ppl_with(toy, 2);
  exact::EveryWeightedChoice choice;
  Agent leader{.leader = true, .timer_l = 1, .timer_i = 2};
  Agent follower{.timer_l = 1, .timer_i = 2};
  protocol.interact(leader, follower, choice);
  EXPECT_TRUE(leader.leader && follower.leader);
  EXPECT_EQ(follower.timer_l, protocol.t_max());
}

// P13: line 2 promotes both, line 5 kills the one without a shield; only the other has changed.
TEST(PplInteraction, MayMakeAndKillALeader) {
  const Ppl protocol = ppl_with(toy, 2);
  exact::EveryWeightedChoice choice;
  Agent u{.shield = false, .virus = 3, .timer_l = 1, .timer_i = 2};
  Agent v{.shield = true, .virus = 0, .timer_l = 0, .timer_i = 2};
  protocol.interact(u, v, choice);
  EXPECT_FALSE(u.leader);
  EXPECT_TRUE(v.leader);
}

std::vector<Agent> all_states(const Ppl& protocol) {
  std::vector<Agent> all;
  exact::EveryWeightedChoice choice;
  do {
    all.push_back(protocol.arbitrary(choice));
  } while (choice.next());
  return all;
}

// Even and odd halves.
const std::vector<Constants> small_constants{{6, 4, 2}, {4, 2, 3}, {5, 3, 5},
                                             {2, 2, 1}, {2, 4, 2}, {3, 1, 2}};

TEST(PplStates, AreAsManyAsTheFormulaSaysAndSurviveBeingPacked) {
  for (const Constants& constants : small_constants) {
    SCOPED_TRACE(text_of(constants));
    const Ppl protocol = ppl_with(constants, 2);
    std::vector<Ppl::Packed> words;
    for (const Agent& state : all_states(protocol)) {
      EXPECT_EQ(protocol.unpack(protocol.pack(state)), state) << to_text(state);
      words.push_back(protocol.pack(state));
    }
    std::ranges::sort(words);
    EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
    EXPECT_EQ(protocol.state_count(), Interactions(words.size()));
  }
}

TEST(PplStates, OfTheLargestConstantsSurviveBeingPacked) {
  const auto most_timer = static_cast<std::uint32_t>(Ppl::most_timer);
  const Ppl protocol =
      ppl_with({static_cast<int>(Ppl::most_timer), static_cast<int>(Ppl::most_virus),
                static_cast<int>(Ppl::most_timer)},
               2);
  const Agent state{.leader = true,
                    .shield = true,
                    .virus = static_cast<std::uint16_t>(Ppl::most_virus),
                    .timer_l = most_timer,
                    .timer_i = most_timer};
  EXPECT_EQ(protocol.unpack(protocol.pack(state)), state);
}

Ppl::Tally tally_of(const Ppl& protocol, std::span<const Agent> agents) {
  Ppl::Tally tally(protocol);
  for (const Agent& agent : agents) tally.add(agent);
  return tally;
}

// Calls visit(u, v) for all pairs of states.
template <class Visit>
void for_all_pairs(const Ppl& protocol, Visit visit) {
  const std::vector<Agent> all = all_states(protocol);
  for (const Agent& u : all) {
    for (const Agent& v : all) visit(u, v);
  }
}

TEST(PplPairs, FollowTheLinesOneByOne) {
  for (const Constants& constants : small_constants) {
    SCOPED_TRACE(text_of(constants));
    const Ppl protocol = ppl_with(constants, 2);
    const Lines lines(constants);
    std::uint64_t differences = 0;
    for_all_pairs(protocol, [&](const Agent& u, const Agent& v) {
      std::array<Agent, 2> expected{u, v};
      lines.execute(printed, expected[0], expected[1]);
      std::array<Agent, 2> found{u, v};
      exact::EveryWeightedChoice choice;
      protocol.interact(found[0], found[1], choice);
      differences += found == expected ? 0 : 1;
    });
    EXPECT_EQ(differences, 0u);
  }
}

// The shortcut is the transition function wherever it applies, and there the tally
// cannot change.
TEST(PplPairs, AreTheSameByTheShortcut) {
  for (const Constants& constants :
       {Constants{6, 4, 2}, {5, 3, 5}, {7, 2, 6}, {2, 5, 3}, {4, 1, 3}}) {
    SCOPED_TRACE(text_of(constants));
    const Ppl protocol = ppl_with(constants, 2);
    std::uint64_t applied = 0;
    std::uint64_t wrong = 0;
    for_all_pairs(protocol, [&](const Agent& u, const Agent& v) {
      const auto next = protocol.shortcut(protocol.pack(u), protocol.pack(v));
      if (next.applies == 0) return;
      ++applied;
      std::array<Agent, 2> found{u, v};
      exact::EveryWeightedChoice choice;
      protocol.interact(found[0], found[1], choice);
      const bool same = next.u == protocol.pack(found[0]) && next.v == protocol.pack(found[1]);
      Ppl::Tally tally = tally_of(protocol, std::array{u, v});
      const Ppl::Tally before = tally;
      tally.replace(u, v, found[0], found[1]);
      wrong += same && tally == before ? 0 : 1;
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(applied, 0u);
  }
}

// P16: every configuration of two agents.
TEST(PplTally, HasConvergedExactlyInTheSafeSet) {
  for (const Constants& constants : small_constants) {
    SCOPED_TRACE(text_of(constants));
    const Ppl protocol = ppl_with(constants, 2);
    std::uint64_t differences = 0;
    for_all_pairs(protocol, [&](const Agent& u, const Agent& v) {
      const std::array agents{u, v};
      differences += tally_of(protocol, agents).converged() != is_safe<Agent>(agents, constants);
    });
    EXPECT_EQ(differences, 0u);
  }
}

TEST(PplTally, EqualsAScanAfterEveryInteraction) {
  for (const Constants& constants : small_constants) {
    for (AgentCount n = 2; n <= 6; ++n) {
      for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
        SCOPED_TRACE(text_of(constants) + " n=" + std::to_string(n) + " " +
                     std::string(Ppl::starts[start].name));
        const Ppl protocol = ppl_with(constants, n);
        Stream stream({.seed = n, .trial = start});
        std::vector<Agent> agents;
        for (AgentCount i = 0; i < n; ++i) agents.push_back(protocol.initial(start, i, stream));
        Ppl::Tally tally = tally_of(protocol, agents);
        for (int step = 0; step < 500 && !HasFailure(); ++step) {
          const auto u = stream.below(static_cast<std::uint32_t>(n));
          const auto v = (u + 1 + stream.below(static_cast<std::uint32_t>(n - 1))) % n;
          const Agent old_u = agents[u];
          const Agent old_v = agents[v];
          protocol.interact(agents[u], agents[v], stream);
          tally.hold();
          tally.replace(old_u, old_v, agents[u], agents[v]);
          EXPECT_EQ(tally.converged(), is_safe<Agent>(agents, constants));
          EXPECT_EQ(tally.violated(),
                    old_u.leader != agents[u].leader || old_v.leader != agents[v].leader);
          tally.hold();
          EXPECT_EQ(tally, tally_of(protocol, agents));
        }
      }
    }
  }
}

TEST(PplStarts, AreInTheSafeSetIfTheyAreMeantToBe) {
  for (const Constants& constants : small_constants) {
    const Ppl protocol = ppl_with(constants, 5);
    for (std::size_t start = 1; start < Ppl::starts.size(); ++start) {
      exact::EveryWeightedChoice choice;
      std::vector<Agent> agents;
      for (AgentCount i = 0; i < 5; ++i) agents.push_back(protocol.initial(start, i, choice));
      EXPECT_EQ(is_safe<Agent>(agents, constants), start == Ppl::safe || start == Ppl::half_timers)
          << Ppl::starts[start].name;
    }
  }
}

// P14. No power of e up to 2^40 is nearer to an integer than 1/30, so the long double knows.
TEST(PplConstants, UseTheExactLogarithm) {
  EXPECT_EQ(Ppl::ceil_ln(1), 0u);
  for (std::uint64_t k = 1; k <= 27; ++k) {
    const auto below = static_cast<std::uint64_t>(std::exp(static_cast<long double>(k)));
    EXPECT_EQ(Ppl::ceil_ln(below), k);
    EXPECT_EQ(Ppl::ceil_ln(below + 1), k + 1);
  }
  EXPECT_EQ(Ppl::ceil_ln(Ppl::most_size), 28u);
  for (std::uint64_t number = 2; number <= 100'000; ++number) {
    const auto log = std::ceil(std::log(static_cast<long double>(number)));
    ASSERT_EQ(Ppl::ceil_ln(number), static_cast<std::uint64_t>(log)) << number;
  }
}

Ppl::Parameters bound_and_c(std::uint64_t upper_bound, std::uint64_t c) {
  Ppl::Parameters parameters;
  parameters.upper_bound = upper_bound;
  parameters.c = c;
  return parameters;
}

TEST(PplConstants, AreThoseOfThePaper) {
  const Ppl small(bound_and_c(64, 1), 8);
  EXPECT_EQ(small.t_virus(), 300u);
  EXPECT_EQ(small.t_max(), 18000u);
  EXPECT_EQ(small.t_emit(), 18000u);
  const Ppl large(bound_and_c(Ppl::most_size, 10), 8);
  EXPECT_EQ(large.t_virus(), 1680u);
  EXPECT_EQ(large.t_max(), 5'644'800u);
  EXPECT_EQ(Ppl({}, 2).t_max(), 720u);
}

TEST(PplParameters, ThatDoNotFitAreRefused) {
  const auto objects = [](const Ppl::Parameters& parameters, AgentCount n, const char* words) {
    return Ppl::objection(parameters, n).find(words) != std::string::npos;
  };
  EXPECT_TRUE(objects(bound_and_c(7, 1), 8, "N = 7 is smaller than n = 8"));
  EXPECT_TRUE(objects(bound_and_c(Ppl::most_size, 30), 8, "t_max = 12 c t_virus ceil(ln N)"));
  EXPECT_TRUE(objects({}, Ppl::most_size + 1, "too large"));
  Ppl::Parameters parameters;
  parameters.t_max = 1;  // shorter than a virus: odd, but a protocol all the same
  EXPECT_EQ(Ppl::objection(parameters, 2), "");
  EXPECT_EQ(Ppl::objection(bound_and_c(Ppl::most_size, 29), 8), "");
}

}  // namespace
}  // namespace conclave::tests
