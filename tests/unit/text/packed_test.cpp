// Texts with many states, run by the register machine, against the same texts with few states,
// whose reactions come from the rules themselves; aggregates, and what is observed, against a
// recount.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using population::Agents;
using text::Compiled;
using text::StateIndex;
using Text8 = text::TextProtocol<std::uint8_t>;
using Text64 = text::TextProtocol<std::uint64_t>;

// The same text, with and without a field that makes it large and never changes.
struct Twins {
  std::shared_ptr<const Compiled> small, large;

  explicit Twins(const std::string& content, AgentCount n = 10)
      : small(compiled(content, n)), large(compiled("fields pad: 0..4095\n" + content, n)) {}

  StateIndex packed(StateIndex dense) const {
    StateIndex state = 0;
    for (std::size_t i = 0; i < small->space().fields().size(); ++i) {
      state = large->space().with(state, i + 1, small->space().value(i, dense));
    }
    return state;
  }
};

// How many interactions the machine carries out by itself; the others are left to the rules.
std::uint64_t expect_same_reactions(const Twins& twins) {
  std::uint64_t by_machine = 0;
  EXPECT_FALSE(twins.large->transitions().has_table());
  for (StateIndex u = 0; u < twins.small->space().size(); ++u) {
    for (StateIndex v = 0; v < twins.small->space().size(); ++v) {
      const text::Reaction wanted = twins.small->reaction(u, v);
      const text::Reaction found = twins.large->reaction(twins.packed(u), twins.packed(v));
      EXPECT_EQ(found.total, wanted.total);
      EXPECT_EQ(found.outcomes.size(), wanted.outcomes.size());
      StateIndex new_u = twins.packed(u), new_v = twins.packed(v);
      if (!twins.large->transitions().program().interact(new_u, new_v)) continue;
      ++by_machine;
      const bool is_null = wanted.is_null();
      EXPECT_TRUE(is_null || wanted.is_certain());
      EXPECT_EQ(new_u, twins.packed(is_null ? u : wanted.outcomes[0].u)) << u << ' ' << v;
      EXPECT_EQ(new_v, twins.packed(is_null ? v : wanted.outcomes[0].v)) << u << ' ' << v;
    }
  }
  return by_machine;
}

constexpr std::string_view head =
    "states P, Q, R\nfields x: -2..4, on: bool\nstart s: all of P\nlet far = (v.x - u.x) mod 5\n";

TEST(Machine, DoesWhatTheRulesSay) {
  const std::vector<std::string> certain{
      "u + v when u.x == v.x -> v.x = (v.x + 1) mod 5\n",
      "unordered P|Q{x > 0, not on} + R -> Q{x = x - 1} + *{on = u.on}\n",
      "u + v when 0 < far < 5/2 or far == 4 and v.on -> u.x = v.x, v.x = u.x, v.on = not u.on\n",
      "u + v when u.state != v.state -> v + u\nP + P -> u + u\n",
      "u + v when max(u.x, -v.x) - abs(u.x) * 2 >= 1/3 -> u.x = min(u.x + 1, 4)\n",
      "u + v -> u.x = if u.on and not v.on then floor(v.x/3) else floor(u.x/2), v.on = u.x < v.x\n",
      R"(step turn { x = if x == 4 then -2 else x + 1 }
u + v do {
  let before = u.x
  each { turn }
  if before > 1 { P + Q -> Q + R  unordered R + P -> P + P } else if u.on { v.x = before }
  Q + * when before == v.x do { u.on = not u.on; v.on = u.on } }
)",
      R"(fun same(a, b) = (a == b) == (u.on == v.on)
u + v when same(u.state, v.state) -> u.state = R, v.on = same(u.x, v.x)
)"};
  for (const std::string& rules : certain) {
    const Twins twins(std::string(head) + rules);
    EXPECT_EQ(expect_same_reactions(twins), std::uint64_t{42} * 42) << rules;
  }
}

// Fields at both ends of the word, wide and narrow, with bounds that need large constants.
TEST(Machine, KnowsWideFieldsAndLargeConstants) {
  const auto protocol = compiled(
      "fields low: 0..4095, wide: -5000000000..5000000000, flag: bool, top: 0..99999\n"
      "start s: all of {low = 0}\n"
      "u + v when u.wide <= v.wide and not (u.flag and v.flag) do {\n"
      "  let sum = u.wide + v.low * 3\n  u.wide = max(min(sum, 5000000000), v.wide - u.low)\n"
      "  v.top = (u.top * 7 + sum) mod 100000, v.flag = not u.flag, u.low = (u.low + 1) mod 4096\n"
      "  u.top = max(0, min(floor((sum - 4000000000) / 70000) + 60000, 99999))\n}\n"
      "u + v when u.top > v.top -> v + u\n",
      10);
  const text::Program& program = protocol->transitions().program();
  const Text64 rules(*protocol);
  Stream stream({.seed = 3, .trial = 0, .purpose = Purpose::test});
  std::uint64_t known = 0;
  for (int i = 0; i < 2000; ++i) {
    StateIndex u = rules.arbitrary(stream).index, v = rules.arbitrary(stream).index;
    const text::Reaction wanted = protocol->reaction(u, v);
    EXPECT_TRUE(program.interact(u, v));
    if (wanted.outcomes.empty()) continue;
    EXPECT_EQ(u, wanted.outcomes[0].u);
    EXPECT_EQ(v, wanted.outcomes[0].v);
    ++known;
  }
  EXPECT_GT(known, 500u);
}

TEST(Machine, LeavesChanceAndFractionsToTheRules) {
  const std::vector<std::string> rules{
      "u + v when u.on -> P + Q with 1/3 or Q + P with 1/4\n",
      "u + v do { if u.x == v.x { choose k in 0..3  u.x = k } else { u.on = true } }\n",
      "u + v do { let half = u.x / 2  if half > 1 { v.on = false } }\n",
      "u + v when u.x / 2 > v.x and u.x ^ 2 == 4 -> u.on = v.on\n"};
  for (const std::string& each : rules) {
    EXPECT_LT(expect_same_reactions(Twins(std::string(head) + each)), std::uint64_t{42} * 42);
  }
}

TEST(Machine, LeavesAFieldThatWouldLeaveItsDomainToTheRulesWhichSaySo) {
  const auto protocol = compiled("fields pad: 0..4095, x: 0..3\nstart s: all of {x = 0}\n"
                                 "u + v -> u.x = u.x + v.x\n",
                                 10);
  StateIndex u = 2, v = 2;
  EXPECT_FALSE(protocol->transitions().program().interact(u, v));
  EXPECT_THROW(protocol->reaction(2, 2), Error);
}

// Five fields of a hundred values: 10^10 states, of which few occur.
constexpr std::string_view five_fields =
    "fields a: 0..99, b: 0..99, c: 0..99, d: 0..99, lead: bool, e: 0..99\nleader = lead\n"
    "start clean: all of {lead = true}\n"
    "u + v do {\n"
    "  u.a = (u.a + 1) mod 7\n"
    "  if u.lead and v.lead { v.lead = false, v.e = u.a }\n"
    "}\n"
    "observe largest = max(e)\nobserve mean_a = mean(a)\nobserve leaders = count(lead)\n";

TEST(ManyStates, CostNothingUnlessTheyOccur) {
  const auto protocol = compiled(five_fields, 400);
  EXPECT_EQ(protocol->space().size(), 20'000'000'000u);
  const Text64 text(*protocol);
  AgentMemory memory;
  Agents<Text64> engine(text, 400, 0, {.seed = 3}, memory);
  engine.advance(Interactions::max());
  EXPECT_TRUE(engine.converged());
  EXPECT_EQ(engine.leaders(), 1u);
  population::CensusEvents<Text64> events(text, 400, 0, {.seed = 3});
  events.advance(Interactions(200u));
  EXPECT_GE(events.leaders(), 1u);
  EXPECT_EQ(
      protocol->space().name(*protocol->space().state_named("{a = 3, b = 0, c = 0, d = 99, lead = "
                                                            "true, e = 7}")),
      "{a = 3, b = 0, c = 0, d = 99, lead = true, e = 7}");
  EXPECT_FALSE(protocol->space().state_named("{a = 3, b = 0, c = 0, d = 100, lead = true, e = 7}"));
}

TEST(ManyStates, AreTheSameTrialAsFew) {
  for (const std::string_view stop : {"silent", "count(P) == 1", "max(x) == 4 and none(on)"}) {
    const Twins twins(std::string(head) +
                          "P + P -> P{x = min(x + 1, 4)} + Q{on = true}\nQ + * -> R + *\n"
                          "R + Q|R when u.on -> *{on = false} + *{x = u.x}\nstop when " +
                          std::string(stop) + "\n",
                      40);
    for (std::uint64_t trial = 0; trial < 10; ++trial) {
      AgentMemory memory, other;
      Agents<Text8> few(Text8(*twins.small), 40, 0, {.seed = 5, .trial = trial}, memory);
      Agents<Text64> many(Text64(*twins.large), 40, 0, {.seed = 5, .trial = trial}, other);
      few.advance(Interactions(20'000u));
      many.advance(Interactions(20'000u));
      EXPECT_EQ(few.now(), many.now()) << stop;
      EXPECT_EQ(few.converged(), many.converged());
      for (AgentCount i = 0; i < 40; ++i) {
        EXPECT_EQ(many.state(i).index, twins.packed(few.state(i).index));
      }
    }
  }
}

// Three aggregates and a stop condition over them are recomputed from the agents themselves.
TEST(Aggregates, AreFollowedExactlyAndStopAtTheRightInteraction) {
  const std::string content =
      "fields x: 0..20\nstart s: n/2 of {x = 20}, rest of {x = 3}\n"
      "u + v when u.x > v.x -> u.x = u.x - 1, v.x = v.x + (if v.x < 10 then 1 else 0)\n"
      "observe s = sum(x)\nobserve low = min(x)\nobserve high = max(2 * x)\nobserve m = "
      "mean(x/3)\n";
  for (const std::string& text :
       {content + "stop when max(x) - min(x) <= 3 or sum(x) == 100\n",
        "fields pad: 0..4095\n" + content + "stop when max(x) - min(x) <= 3 or sum(x) == 100\n"}) {
    const auto protocol = compiled(text, 20);
    const Text64 rules(*protocol);
    AgentMemory memory;
    Agents<Text64> engine(rules, 20, 0, {.seed = 2}, memory);
    for (int step = 0; step < 5000; ++step) {
      std::int64_t sum = 0, low = 99, high = 0;
      for (AgentCount i = 0; i < 20; ++i) {
        const auto& space = protocol->space();
        const std::int64_t x = space.value(space.fields().size() - 1, engine.state(i).index);
        sum += x;
        low = std::min(low, x);
        high = std::max(high, x);
      }
      const auto seen = engine.observations();
      EXPECT_EQ(std::get<std::uint64_t>(seen[0].value), static_cast<std::uint64_t>(sum));
      EXPECT_EQ(std::get<std::uint64_t>(seen[1].value), static_cast<std::uint64_t>(low));
      EXPECT_EQ(std::get<std::uint64_t>(seen[2].value), static_cast<std::uint64_t>(2 * high));
      ASSERT_EQ(engine.converged(), high - low <= 3 || sum == 100) << step;
      if (engine.converged()) break;
      engine.advance(Interactions(1u));
    }
    EXPECT_TRUE(engine.converged());
  }
}

TEST(Aggregates, AreAboutPopulationsAndExactNumbers) {
  const std::string two = "fields x: 0..3\nstart s: all of {x = 0}\n";
  EXPECT_EQ(objection(two + "u + v when sum(u.x) > 1 -> u.x = 0\n"),
            "my.pp:3:12: sum(...) of one expression is about the whole population and has no "
            "meaning here");
  EXPECT_EQ(objection(two + "observe a = sum(x, x)\n"), "my.pp:3:13: sum takes 1 argument, not 2");
  EXPECT_EQ(objection(two + "observe a = min(x, 1)\n"),
            "my.pp:3:17: unknown name 'x' (did you mean 'n'?); known: n, "
            "silent");
  const auto rooted = compiled(two + "stop when max(sqrt(x + 1)) > 2\n", 10);
  EXPECT_THROW(text::ConditionTally(*rooted).add(1, 10), Error);
}

TEST(Horizons, StandBesideTheStopCondition) {
  const std::string two = "states A, B\nstart s: all of A\nA + A -> A + B\n";
  const auto both = compiled(two + "stop when count(A) == 1 or time >= n/4\n", 10);
  EXPECT_EQ(to_string(*both->horizon()), "5/2");
  EXPECT_EQ(both->stop().operation, text::Operator::equal);
  const auto alone = compiled(two + "stop when time >= 10\n", 10);
  EXPECT_EQ(to_string(*alone->horizon()), "10");
  EXPECT_FALSE(holds(alone->stop(), {}));
  EXPECT_FALSE(compiled(two, 10)->horizon());
  EXPECT_EQ(objection(two + "stop when time >= 1 or time >= 2\n"),
            "my.pp:4:29: there are two times to stop at");
  EXPECT_EQ(objection(two + "stop when time >= 0 - 1\n"), "my.pp:4:21: -1 is no time");
  EXPECT_EQ(objection(two + "stop when time <= 1\n"), "my.pp:4:11: unknown name 'time'; known: n, "
                                                      "silent");
}

}  // namespace
}  // namespace conclave::tests
