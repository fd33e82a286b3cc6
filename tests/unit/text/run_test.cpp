// Protocol texts at work: against the same protocols written in C++, against exact chains, and
// against a recount after every interaction.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/mutants/broken_texts.hpp"
#include "tests/support/census_chain.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/samplers.hpp"
#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using population::Agents;
using population::CensusEvents;
using protocols::Fratricide;
using text::Compiled;
using text::StateIndex;
using text::TextProtocol;

template <class P>
Interactions agents_time(const P& protocol, AgentCount n, std::uint64_t trial) {
  AgentMemory memory;
  Agents<P> engine(protocol, n, 0, {.seed = 9, .trial = trial}, memory);
  engine.advance(Interactions(n) * Interactions(n) * Interactions(100u));
  return engine.now();
}

template <class P>
Interactions events_time(const P& protocol, AgentCount n, std::uint64_t trial) {
  CensusEvents<P> engine(protocol, n, 0, {.seed = 9, .trial = trial});
  engine.advance(Interactions::max());
  return engine.now();
}

// Whether trials of a protocol take exactly as long as those of Fratricide with the same seeds.
template <class P>
bool is_fratricide(const P& protocol, AgentCount n) {
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    if (agents_time(protocol, n, trial) != agents_time(Fratricide({}, n), n, trial)) return false;
  }
  return true;
}

TEST(Text, OfFratricideTakesExactlyAsLongAsTheOneInCpp) {
  for (const AgentCount n : {2u, 3u, 10u, 65u, 300u}) {
    const auto protocol = Compiled::make(example("fratricide"), {}, n);
    EXPECT_TRUE(is_fratricide(Text8(*protocol), n)) << "n=" << n;
    EXPECT_TRUE(is_fratricide(TextProtocol<std::uint16_t>(*protocol), n)) << "n=" << n;
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      EXPECT_EQ(events_time(Text8(*protocol), n, trial), events_time(Fratricide({}, n), n, trial));
    }
  }
}

TEST(Text, OfFratricideHeardOfTooLateIsNoticed) {
  const auto protocol = Compiled::make(example("fratricide"), {}, 300);
  EXPECT_FALSE(is_fratricide(HearsLate(*protocol), 300));
}

// The phase clock of the examples, by hand.
struct Clock {
  std::int64_t q;
  void interact(std::int64_t& u, std::int64_t v) const {
    const std::int64_t ahead = (v / 2 - u / 2 + q) % q;
    if ((ahead > 0 && 2 * ahead < q) || (ahead == 0 && v % 2 == 1)) {
      u = (u / 2 + 1) % q * 2 + u % 2;
    }
  }
};

// Whether after so many interactions every agent shows what it shows in a plain simulation.
template <class P>
bool is_phase_clock(const P& protocol, std::int64_t q, AgentCount n, std::uint64_t interactions) {
  AgentMemory memory;
  const StreamName name{.seed = 2};
  Agents<P> engine(protocol, n, 0, name, memory);
  engine.watch(Watch::nothing);
  engine.advance(interactions);
  population::PairPipeline pairs(name.with(Purpose::schedule), n);
  std::vector<std::int64_t> agents(n, 0);
  AgentCount marked = 0;
  while (marked * marked <= n) ++marked;
  for (AgentCount i = 0; i < marked; ++i) agents[i] = 1;
  for (std::uint64_t step = 0; step < interactions; ++step) {
    const population::Meeting meeting{pairs.upcoming().front()};
    Clock{q}.interact(agents[meeting.initiator()], agents[meeting.responder()]);
    pairs.drop(1);
  }
  for (AgentCount i = 0; i < n; ++i) {
    if (engine.state(i).index != static_cast<StateIndex>(agents[i])) return false;
  }
  return true;
}

TEST(Text, OfThePhaseClockDoesWhatTheOneInCppDoes) {
  for (const std::int64_t q : {3, 4, 7, 100}) {
    const auto protocol = Compiled::make(example("phase_clock"), {{"q", std::to_string(q)}}, 200);
    EXPECT_TRUE(is_phase_clock(Text8(*protocol), q, 200, 30'000)) << "q=" << q;
    EXPECT_FALSE(is_phase_clock(SwapsRoles(*protocol), q, 200, 30'000)) << "q=" << q;
  }
}

// 2200 states are too many for a table; 1000 are stored in two bytes.
TEST(Text, WithAndWithoutATableIsTheSameProtocol) {
  const auto large = Compiled::make(example("phase_clock"), {{"q", "1100"}}, 50);
  EXPECT_FALSE(large->transitions().has_table());
  EXPECT_TRUE(is_phase_clock(TextProtocol<std::uint64_t>(*large), 1100, 50, 20'000));
  const auto medium = Compiled::make(example("phase_clock"), {{"q", "500"}}, 50);
  EXPECT_TRUE(medium->transitions().has_table());
  EXPECT_TRUE(is_phase_clock(TextProtocol<std::uint16_t>(*medium), 500, 50, 20'000));
}

TEST(Text, WithoutATableTellsOfMistakesWhenTheyHappen) {
  const auto protocol = compiled(
      "fields x: 0..2999\nstart s: all of {x = 2990}\nu + v -> u.x = u.x + 1\nstop when silent\n",
      10);
  EXPECT_THROW(agents_time(TextProtocol<std::uint64_t>(*protocol), 10, 0), Error);
}

// With probability 1/3 the responder resigns, with 1/6 the initiator, else nothing happens: twice
// as slow as fratricide.
constexpr std::string_view lazy_duel = "states L, F\nleader = L\nstart clean: all of L\n"
                                       "L + L -> L + F with 1/3 or F + L with 1/6\n";

TEST(RandomRules, HaveTheExpectedTimeOfTheExactChain) {
  for (AgentCount n = 2; n <= 6; ++n) {
    const auto protocol = compiled(lazy_duel, n);
    const CensusChain<Text8> chain(Text8(*protocol), n);
    const auto root = static_cast<double>(n - 1);
    EXPECT_NEAR(chain.chain().expected_steps(chain.one_leader()), 2 * root * root, 1e-10);
  }
}

template <class P>
TestResult fit_of_duel(const Compiled& protocol, AgentCount n, bool jumping) {
  const CensusChain<Text8> chain(Text8(protocol), n, Extent::until_one_leader);
  const std::vector<double> cdf = chain.chain().distribution(chain.one_leader(), 400);
  const P simulated(protocol);
  AgentMemory memory;
  const auto sampler = [&](std::uint64_t trial) -> std::uint64_t {
    const StreamName name{.seed = 4, .trial = trial};
    if (jumping) {
      CensusEvents<P> engine(simulated, n, 0, name);
      engine.advance(Interactions(400u));
      return engine.converged() ? *engine.now().as_uint64() : 401;
    }
    Agents<P> engine(simulated, n, 0, name, memory);
    engine.advance(Interactions(400u));
    return engine.converged() ? *engine.now().as_uint64() : 401;
  };
  return fit_of(sorted_sample(sampler, 100'000), cdf);
}

TEST(RandomRuleLaws, AreThoseOfTheExactChain) {
  const auto protocol = compiled(lazy_duel, 5);
  EXPECT_GE(fit_of_duel<Text8>(*protocol, 5, false).p_value, rejected_below);
  EXPECT_GE(fit_of_duel<Text8>(*protocol, 5, true).p_value, rejected_below);
  EXPECT_LT(fit_of_duel<ForgetsTheRest>(*protocol, 5, false).p_value, rejected_below);
  EXPECT_LT(fit_of_duel<HearsLate>(*protocol, 5, false).p_value, rejected_below);
}

// The stop conditions below, decided by counting all agents after every interaction.
using Counts = std::array<std::int64_t, 4>;
struct StopCase {
  std::string condition;
  std::function<bool(const Counts&)> holds;
};

// Rock, paper, scissors with a spoiler: counts go up and down, and it can end.
constexpr std::string_view four_states =
    "states A, B, C, D\n"
    "start s: n/3 of A, n/3 of B, rest of C\n"
    "A + B -> A + A\nB + C -> B + B with 2/3\nC + A -> C + C with 1/2 or D + C with 1/4\n"
    "D + C -> D + A\nunordered D + B -> B + C with 1/10\n";

bool is_silent(const Counts& c) {
  const bool ab = c[0] && c[1];
  const bool bc = c[1] && c[2];
  const bool ca = c[2] && c[0];
  return !(ab || bc || ca || (c[3] && c[2]) || (c[3] && c[1]));
}

std::uint64_t plain_time(const Compiled& protocol, const StopCase& stop, AgentCount n,
                         std::uint64_t trial, std::uint64_t limit) {
  const Text8 rules(protocol);
  const StreamName name{.seed = 6, .trial = trial};
  population::PairPipeline pairs(name.with(Purpose::schedule), n);
  Stream choice(name.with(Purpose::transition));
  std::vector<Text8::State> agents;
  Counts counts{};
  for (AgentCount i = 0; i < n; ++i) {
    agents.push_back(rules.initial(0, i, choice));
    ++counts[agents.back().index];
  }
  std::uint64_t time = 0;
  for (; time < limit && !stop.holds(counts); ++time) {
    const population::Meeting meeting{pairs.upcoming().front()};
    pairs.drop(1);
    Text8::State& u = agents[meeting.initiator()];
    Text8::State& v = agents[meeting.responder()];
    --counts[u.index];
    --counts[v.index];
    rules.interact(u, v, choice);
    ++counts[u.index];
    ++counts[v.index];
  }
  return time;
}

TEST(StopConditions, AreMetAtTheExactInteraction) {
  const std::int64_t n = 90;
  const std::vector<StopCase> cases{
      {"silent", is_silent},
      {"count(A) == 42", [](const Counts& c) { return c[0] == 42; }},
      {"all(A) or all(B) or none(C)",
       [&](const Counts& c) { return c[0] == n || c[1] == n || c[2] == 0; }},
      {"2*count(A) > 3*count(B) + count(C)/2 + 7",
       [](const Counts& c) { return 4 * c[0] > 6 * c[1] + c[2] + 14; }},
      {"count(A) * count(B) == 899", [](const Counts& c) { return c[0] * c[1] == 899; }},
      {"count(A) * count(B) >= 1150 or count(C) ^ 2 > 1600",
       [](const Counts& c) { return c[0] * c[1] >= 1150 || c[2] * c[2] > 1600; }},
      {"count(A) >= 4.5 * sqrt(n)",  // 42.69...
       [](const Counts& c) { return c[0] >= 43; }},
      {"count(A) / (count(B) + 1) >= 5/2",
       [](const Counts& c) { return 2 * c[0] >= 5 * (c[1] + 1); }},
      {"floor(count(A) / 3) == ceil(count(B) * 2/3) + round(count(D) / 2)",
       [](const Counts& c) { return c[0] / 3 == (2 * c[1] + 2) / 3 + (c[3] + 1) / 2; }},
      {"min(2 * count(A), abs(count(B) - 40) * count(C)) > 70",
       [](const Counts& c) { return std::min(2 * c[0], std::abs(c[1] - 40) * c[2]) > 70; }},
      {"count(A | B) mod 7 == 3 and not count(D) < 2",
       [](const Counts& c) { return (c[0] + c[1]) % 7 == 3 && c[3] >= 2; }},
      {"abs(count(A) - count(B)) >= 25 or max(count(C), count(D)) >= 50",
       [](const Counts& c) { return std::abs(c[0] - c[1]) >= 25 || std::max(c[2], c[3]) >= 50; }},
      {"count(A)+count(B or C)+count(C or D)+count(A or C)+count(A or D)+count(B or D)"
       "+count(A or B or C)+count(B)+count(C)+count(D) == 4*n + count(A) - 40",
       [&](const Counts& c) {
         const std::int64_t sum = c[0] + (c[1] + c[2]) + (c[2] + c[3]) + (c[0] + c[2]) +
                                  (c[0] + c[3]) + (c[1] + c[3]) + (c[0] + c[1] + c[2]) + c[1] +
                                  c[2] + c[3];
         return sum == 4 * n + c[0] - 40;
       }},
  };
  for (const StopCase& stop : cases) {
    const auto protocol =
        compiled(std::string(four_states) + "stop when " + stop.condition + "\n", 90);
    std::uint64_t stopped = 0;
    for (std::uint64_t trial = 0; trial < 30; ++trial) {
      AgentMemory memory;
      Agents<Text8> engine(Text8(*protocol), 90, 0, {.seed = 6, .trial = trial}, memory);
      engine.advance(20'000u);
      EXPECT_EQ(engine.now(), plain_time(*protocol, stop, 90, trial, 20'000)) << stop.condition;
      stopped += engine.converged() ? 1 : 0;
    }
    EXPECT_GT(stopped, 0u) << stop.condition;
  }
}

// Engines that work in batches need to know how far away it is.
TEST(StopConditions, AreSeenFromAfar) {
  constexpr AgentCount n = 3'000'000'000'000;
  for (const std::string_view stop :
       {"count(A) > n/2", "count(A) * count(B) < n", "count(A) ^ 2 > n * count(B) * 3",
        "count(D) > sqrt(n)", "count(A) / count(B) > 1.5", "max(count(D), 5) ^ 2 > n"}) {
    const auto protocol =
        compiled(std::string(four_states) + "stop when " + std::string(stop) + "\n", n);
    Text8::Tally tally{Text8(*protocol)};
    for (std::uint8_t s = 0; s < 3; ++s) tally.add(s, n / 3);
    EXPECT_FALSE(tally.converged()) << stop;
    EXPECT_GT(tally.changes_to_stop(), 200'000u) << stop;
  }
}

// As many interactions as are said to be harmless, all of them to the same end.
TEST(StopConditions, AreNotMetSoonerThanTheTallySays) {
  constexpr AgentCount third = 1000;
  for (const std::string_view stop :
       {"count(A) > 1500", "count(A) * count(B) < 500000", "count(A) ^ 2 > 2000000",
        "count(D) > 10 * sqrt(n)", "2 * count(A) > 3 * count(C)", "count(A) / count(C) > 3/2"}) {
    const auto protocol =
        compiled(std::string(four_states) + "stop when " + std::string(stop) + "\n", 3 * third);
    Text8::Tally tally{Text8(*protocol)};
    for (std::uint8_t s = 0; s < 3; ++s) tally.add(s, third);
    const AgentCount steps = (tally.changes_to_stop() - 1) / 2;
    EXPECT_GT(steps, 50u) << stop;
    for (std::uint8_t u = 0; u < 3; ++u) {
      for (std::uint8_t v = 0; v < 3; ++v) {
        for (std::uint8_t to = 0; to < 4; ++to) {
          Text8::Tally moved = tally;
          moved.remove(u, steps);
          moved.remove(v, steps);
          moved.add(to, 2 * steps);
          EXPECT_FALSE(moved.converged()) << stop;
        }
      }
    }
  }
}

TEST(ConditionTally, AgreesWithARecountThroughChangesOfAllKinds) {
  for (const std::string_view stop : {"count(A) == 1000000", "silent and count(A) < 0"}) {
    const auto protocol = compiled(std::string(four_states) +
                                       "leader = A or B\nobserve c = count(C)\n"
                                       "observe quiet = silent and true\nstop when " +
                                       std::string(stop) + "\n",
                                   300);
    const Text8 rules(*protocol);
    Text8::Tally tally(rules);
    Stream stream({.seed = 8, .trial = 0, .purpose = Purpose::test});
    Counts counts{100, 100, 100, 0};
    for (std::uint8_t s = 0; s < 3; ++s) tally.add(s, 100);
    for (int step = 0; step < 5000; ++step) {
      std::array<std::uint8_t, 4> s{};
      for (auto& each : s) each = static_cast<std::uint8_t>(stream.below(4));
      if (stream.chance(1, 50)) {
        tally.add(s[0], 17);
        counts[s[0]] += 17;
      } else if (stream.chance(1, 50) && counts[s[0]] >= 11) {
        tally.remove(s[0], 11);
        counts[s[0]] -= 11;
      } else if (counts[s[0]] > 0 && counts[s[1]] > (s[0] == s[1] ? 1 : 0)) {
        tally.replace(s[0], s[1], s[2], s[3]);
        --counts[s[0]];
        --counts[s[1]];
        ++counts[s[2]];
        ++counts[s[3]];
      }
      ASSERT_EQ(tally.leaders(), static_cast<AgentCount>(counts[0] + counts[1]));
      Census<Text8::State> census;
      for (std::uint8_t state = 0; state < 4; ++state) {
        census.emplace_back(Text8::State{state}, static_cast<AgentCount>(counts[state]));
      }
      std::erase_if(census, [](const auto& each) { return each.second == 0; });
      const auto seen = tally.needs_census() ? tally.observations(census) : tally.observations();
      ASSERT_EQ(std::get<std::uint64_t>(seen[0].value), static_cast<std::uint64_t>(counts[2]));
      ASSERT_EQ(std::get<bool>(seen[1].value), is_silent(counts));
      ASSERT_FALSE(tally.converged());
    }
  }
}

// Texts that stop alike: the second also observes what takes a whole census.
const std::string plain_clock =
    "fields d: 0..19, marked: bool\nstart s: 9 of {marked = true}, rest of {marked = false}\n"
    "u + v when 0 < (v.d - u.d) mod 20 < 10 or u.d == v.d and v.marked -> u.d = (u.d + 1) mod 20\n"
    "stop when all(d >= 10)\n";
const std::string observed_clock = plain_clock +
                                   "observe s = sum(d)\nobserve low = min(d)\n"
                                   "observe quiet = silent\nobserve marks = count(marked)\n";

template <class Engine>
void expect_observations_of_census(const Engine& engine) {
  std::uint64_t sum = 0, low = 99;
  for (const auto& [state, count] : engine.census()) {
    sum += std::uint64_t{state.index} / 2 * count;
    low = std::min(low, std::uint64_t{state.index} / 2);
  }
  const auto seen = engine.observations();
  EXPECT_EQ(std::get<std::uint64_t>(seen[0].value), sum);
  EXPECT_EQ(std::get<std::uint64_t>(seen[1].value), low);
  EXPECT_FALSE(std::get<bool>(seen[2].value));
  EXPECT_EQ(std::get<std::uint64_t>(seen[3].value), 9u);
}

template <class Engine>
void expect_same_trial(Engine& plain, Engine& observed) {
  for (int step = 0; step < 40; ++step) {
    plain.advance(Interactions(2500u));
    observed.advance(Interactions(2500u));
    expect_observations_of_census(observed);
    ASSERT_EQ(plain.now(), observed.now());
    ASSERT_EQ(plain.census(), observed.census());
  }
  plain.advance(Interactions(100'000'000u));
  observed.advance(Interactions(100'000'000u));
  EXPECT_TRUE(plain.converged());
  EXPECT_EQ(plain.now(), observed.now());
}

// Looking has no consequences: neither for what happens nor for what it costs.
TEST(Observables, OfTheWholeCensusAreExactAndLeaveTheTrialAsItIs) {
  const auto plain = compiled(plain_clock, 1000), observed = compiled(observed_clock, 1000);
  EXPECT_FALSE(observed->follows_states());
  const Text8 without(*plain), with(*observed);
  const StreamName name{.seed = 4};
  AgentMemory memory, other;
  Agents<Text8> agents(without, 1000, 0, name, memory), seen_agents(with, 1000, 0, name, other);
  expect_same_trial(agents, seen_agents);
  CensusEvents<Text8> events(without, 1000, 0, name), seen_events(with, 1000, 0, name);
  expect_same_trial(events, seen_events);
  population::Counts<Text8> counts(without, 1000, 0, name), seen_counts(with, 1000, 0, name);
  expect_same_trial(counts, seen_counts);
}

TEST(Observables, WithoutAValueAreNotANumberAndStopConditionsWithoutOneAreAnError) {
  const std::string content = "states A, B\nstart s: all of A\nA + A -> A + B\n";
  const auto ratio = compiled(content + "observe r = count(A)/count(B)\nstop when any(B)\n", 10);
  const Text8 rules(*ratio);
  Text8::Tally tally(rules);
  tally.add(0, 10);
  EXPECT_TRUE(std::isnan(std::get<double>(tally.observations()[0].value)));
  tally.replace(0, 0, 0, 1);
  EXPECT_EQ(std::get<std::uint64_t>(tally.observations()[0].value), 9u);
  EXPECT_TRUE(tally.converged());
  const auto wrong = compiled(content + "stop when count(A)/count(B) == 9\n", 10);
  EXPECT_THROW(agents_time(Text8(*wrong), 10, 0), Error);
}

TEST(Faults, GoToTheNearestStateOfTheOtherRole) {
  const auto protocol = compiled("fields rank: 0..3, lead: bool\nleader = lead and rank > 0\n"
                                 "start s: all of {rank = 2, lead = true}\n",
                                 10);
  const Text8 rules(*protocol);
  Text8::State state{5};  // rank 2, leading
  rules.set_role(state, Role::follower);
  EXPECT_EQ(rules.name_of(state), "{rank = 0, lead = true}");
  state = {0};
  rules.set_role(state, Role::leader);
  EXPECT_EQ(rules.name_of(state), "{rank = 1, lead = true}");
  EXPECT_EQ(rules.objection_to(FaultKind::kill_leaders), "");
}

}  // namespace
}  // namespace conclave::tests
