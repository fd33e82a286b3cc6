// Brief words: they say what they should, all loops agree, what is heard is recalled from the last
// meetings, and ppl and timers by brief words are what they are by states.
#include "conclave/population/detail/brief_agents.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/detail/brief_loops.hpp"
#include "conclave/population/meeting_pipeline.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/timers.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using population::PairPipeline;
using population::detail::BriefLoop;
using population::detail::HeardOfLeaders;
using population::detail::largest_low_half;
using population::detail::meet_each;
using population::detail::meet_in_words;
using protocols::Ppl;
using protocols::Timers;
using Words = std::vector<std::uint32_t>;

constexpr BriefLoop levels{.has_levels = true, .looks = false};
constexpr BriefLoop levels_looking{.has_levels = true, .looks = true};
constexpr BriefLoop counts_looking{.has_levels = false, .looks = true};

constexpr std::uint64_t meeting(std::uint32_t u, std::uint32_t v) {
  return u | std::uint64_t{v} << 32;
}

TEST(BriefWords, FallTogetherAndCount) {
  Words words{BriefWord::of(7, 10).word(), BriefWord::of(3, 5).word(), BriefWord::of(0, 5).word()};
  const std::vector<std::uint64_t> meetings{meeting(0, 1), meeting(1, 2), meeting(2, 1)};
  EXPECT_EQ(meet_in_words<levels_looking>(words, meetings), 3U);
  EXPECT_EQ(BriefWord(words[0]).level(), 6U);
  EXPECT_EQ(BriefWord(words[1]).level(), 4U);
  EXPECT_EQ(BriefWord(words[2]).level(), 4U);
  EXPECT_EQ(BriefWord(words[0]).interactions(10), 1U);
  EXPECT_EQ(BriefWord(words[1]).interactions(5), 3U);
  EXPECT_EQ(BriefWord(words[2]).interactions(5), 2U);
}

TEST(BriefWords, LevelsEndAtZero) {
  Words words{BriefWord::of(2, 100).word(), BriefWord::of(0, 100).word()};
  const std::vector<std::uint64_t> meetings(5, meeting(0, 1));
  meet_in_words<levels>(words, meetings);
  EXPECT_EQ(BriefWord(words[0]).level(), 0U);
  EXPECT_EQ(BriefWord(words[1]).level(), 0U);
}

TEST(BriefWords, WaitForALookWhenPatienceIsOver) {
  Words words{BriefWord::of(0, 2).word(), BriefWord::of(0, 100).word()};
  const std::vector<std::uint64_t> meetings(5, meeting(1, 0));
  EXPECT_EQ(meet_in_words<levels_looking>(words, meetings), 2U);
  EXPECT_EQ(BriefWord(words[1]).interactions(100), 2U);
  EXPECT_EQ(meet_in_words<counts_looking>(words, meetings), 0U);
}

// Random words, a few of them soon to be looked at, and the meetings of a population.
struct Crowd {
  Words words;
  std::vector<std::uint64_t> meetings;

  Crowd(std::uint32_t n, std::uint32_t least_patience, std::uint64_t seed) : words(n) {
    Stream choice({.seed = seed});
    for (std::uint32_t& each : words) {
      each = BriefWord::of(choice.below(500), least_patience + choice.below(1000)).word();
    }
    PairPipeline pairs({.seed = seed, .purpose = Purpose::schedule}, n);
    const auto upcoming = pairs.upcoming();
    meetings.assign(upcoming.begin(), upcoming.end());
  }
};

TEST(BriefWords, AreTheSameByEveryLoop) {
  bool has_stopped = false;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const Crowd crowd(seed % 3 == 0 ? 20 : 3000, seed % 2 == 0 ? 1 : 600, seed);
    Words chosen = crowd.words;
    Words plain = crowd.words;
    const std::size_t done = meet_in_words<levels_looking>(chosen, crowd.meetings);
    EXPECT_EQ(done, meet_each<levels_looking>(plain, crowd.meetings));
    EXPECT_EQ(chosen, plain) << seed;
    Words unasked = crowd.words;
    meet_in_words<levels>(unasked, std::span(crowd.meetings).first(done));
    EXPECT_EQ(unasked, plain) << seed;
    has_stopped |= done < crowd.meetings.size();

    std::uint32_t largest = 0;
    for (const std::uint32_t word : plain) largest = std::max(largest, word & BriefWord::low_half);
    EXPECT_EQ(largest_low_half(plain), largest);
  }
  EXPECT_TRUE(has_stopped);
}

TEST(HeardOfLeaders, OfTheLastMeetingsIsThatOfAll) {
  constexpr std::uint32_t n = 200;
  constexpr std::uint32_t most = 1000;
  HeardOfLeaders all(most);
  HeardOfLeaders last(most);
  all.begin(n);
  Stream choice({.seed = 5});
  for (std::uint32_t agent = 0; agent < n; ++agent) all.set(agent, 900 + choice.below(100));
  all.lead(3);
  PairPipeline pairs({.seed = 5, .purpose = Purpose::schedule}, n);
  const auto meet = [&](const std::vector<HeardOfLeaders*>& those, std::uint64_t meetings) {
    while (meetings > 0) {
      const auto upcoming = pairs.upcoming();
      const std::size_t some = std::min<std::uint64_t>(upcoming.size(), meetings);
      for (HeardOfLeaders* each : those) each->meet(upcoming.first(some));
      pairs.drop(some);
      meetings -= some;
    }
  };
  meet({&all}, std::uint64_t{50} * n);
  last.begin(n);
  last.lead(3);
  meet({&all, &last}, std::uint64_t{2} * n);
  EXPECT_FALSE(last.is_true());  // too few meetings to tell
  meet({&all, &last}, std::uint64_t{150} * n);
  ASSERT_TRUE(last.is_true());
  for (std::uint32_t agent = 0; agent < n; ++agent) {
    EXPECT_EQ(last.number(agent), all.number(agent));
  }
}

Ppl small_timers(std::uint64_t t_max, std::uint64_t t_emit) {
  Ppl::Parameters parameters;
  parameters.t_max = t_max;
  parameters.t_emit = t_emit;
  return Ppl(parameters, 100);
}

TEST(PplBrief, CountsTimersDownAsInteractionsDo) {
  const Ppl ppl = small_timers(1000, 3);
  const Ppl::Brief brief(ppl);
  Stream choice({.seed = 1});
  for (std::uint32_t timer = 0; timer <= 3; ++timer) {
    Ppl::State u{.timer_l = 1000, .timer_i = timer};
    Ppl::State v{.timer_l = 1000};
    const std::uint64_t first = ppl.pack(u);
    for (std::uint32_t interactions = 0; interactions < 10; ++interactions) {
      EXPECT_EQ(ppl.unpack(brief.later(first, interactions, 0)).timer_i, u.timer_i);
      ppl.interact(u, v, choice);
    }
  }
}

TEST(PplBrief, IsPatientWhileNothingCanHappen) {
  const Ppl ppl = small_timers(1000, 500);
  const Ppl::Brief brief(ppl);
  const auto patience = [&](const Ppl::State& state, bool are_healthy) {
    return brief.patience(ppl.pack(state), are_healthy);
  };
  const auto fits = [&](const Ppl::State& state) { return brief.fits(ppl.pack(state)); };
  EXPECT_EQ(patience({.timer_l = 800, .timer_i = 1}, false), 300U);  // up to t_max/2
  const Ppl::State shielded{.leader = true, .shield = true, .timer_l = 1000, .timer_i = 7};
  const Ppl::State exposed{.leader = true, .timer_l = 1000, .timer_i = 7};
  EXPECT_EQ(patience(shielded, false), 6U);
  EXPECT_EQ(patience(exposed, true), 6U);
  EXPECT_EQ(patience(exposed, false), 0U);
  EXPECT_TRUE(fits(exposed));
  EXPECT_FALSE(fits({.leader = true, .timer_l = 999}));
  EXPECT_TRUE(fits({.timer_l = 750}));
  EXPECT_FALSE(fits({.timer_l = 749}));
}

// The last two meetings per agent do not reach everybody, so those before are drawn again, too.
TEST(BriefAgents, RecallFurtherBackWhereTheLastMeetingsDoNotTell) {
  constexpr std::uint32_t n = 100;
  const Ppl ppl = small_timers(70000, 70000);
  Stream choice({.seed = 3});
  std::vector<Ppl::State> states(n, Ppl::State{.timer_l = 70000, .timer_i = 70000});
  states[7].leader = states[7].shield = true;
  std::vector<Ppl::Packed> agents;
  Ppl::Tally tally(ppl);
  for (const Ppl::State& state : states) {
    agents.push_back(ppl.pack(state));
    tally.add(state);
  }
  PairPipeline pairs({.seed = 3, .purpose = Purpose::schedule}, n);
  population::detail::BriefAgents<Ppl, PairPipeline> brief(ppl, 1);
  ASSERT_TRUE(brief.begin(agents));
  for (std::uint64_t left = std::uint64_t{12 * 40 + 2} * n; left > 0;) {
    brief.look_around(pairs, tally, agents);
    const auto some =
        pairs.upcoming().first(std::min<std::uint64_t>({pairs.upcoming().size(), left, n}));
    for (const std::uint64_t word : some) {
      const population::Meeting meeting{word};
      ppl.interact(states[meeting.initiator()], states[meeting.responder()], choice);
    }
    ASSERT_EQ(brief.meet(some, tally, agents, choice, Watch::nothing), some.size());
    left -= some.size();
    pairs.drop(some.size());
  }
  brief.end(tally, agents);
  for (std::uint32_t agent = 0; agent < n; ++agent) {
    EXPECT_EQ(agents[agent], ppl.pack(states[agent])) << agent;
  }
}

// Advances by pieces up to an end of the trial, and writes down all there is to see.
struct Telling {
  std::uint32_t n;
  std::size_t start;
  std::uint64_t seed;
  Watch watch;
  std::uint64_t interactions;

  template <class P>
  std::string story(const P& protocol, std::uint64_t piece) const {
    AgentMemory memory;
    population::Agents<P> agents(protocol, n, StartingPoint<typename P::State>{start},
                                 {.seed = seed}, memory);
    agents.watch(watch);
    if (watch == Watch::violation) agents.hold();
    while (agents.now() < interactions && !agents.has_stopped()) {
      agents.advance(std::min<Interactions>(piece, Interactions(interactions) - agents.now()));
    }
    std::string result = to_string(agents.now()) + " " + std::to_string(agents.leaders()) +
                         (agents.converged() ? " converged" : "") +
                         (agents.has_stopped() ? " stopped" : "");
    for (AgentCount agent = 0; agent < agents.size(); ++agent) {
      result += " " + std::to_string(agents.protocol().pack(agents.state(agent)));
    }
    return result;
  }
};

// Pieces of less than brief_interactions_per_agent are carried out by states.
template <class P>
void expect_same_briefly(const P& protocol, std::uint32_t n, std::size_t start) {
  for (const Watch watch : {Watch::convergence, Watch::violation, Watch::nothing}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const std::uint64_t interactions = n * (2000 + 3777 * seed) + seed;
      const Telling telling{n, start, seed, watch, interactions};
      const std::string by_states = telling.story(protocol, std::uint64_t{60} * n);
      EXPECT_EQ(telling.story(protocol, interactions), by_states) << seed;
      EXPECT_EQ(telling.story(protocol, std::uint64_t{100} * n + 13), by_states) << seed;
    }
  }
}

struct Situation {
  std::uint32_t n;
  std::uint64_t t_virus;
  std::uint64_t t_max;
  std::uint64_t t_emit;
  std::size_t start;
};

class PplBriefly : public testing::TestWithParam<Situation> {
 protected:
  static Ppl protocol() {
    Ppl::Parameters parameters;
    parameters.t_virus = GetParam().t_virus;
    parameters.t_max = GetParam().t_max;
    parameters.t_emit = GetParam().t_emit;
    return Ppl(parameters, GetParam().n);
  }
};

TEST_P(PplBriefly, IsPplByStates) {
  expect_same_briefly(protocol(), GetParam().n, GetParam().start);
}

// Few agents and short timers, so that everything happens: leaders that fire, are killed, time out.
INSTANTIATE_TEST_SUITE_P(Small, PplBriefly,
                         testing::Values(Situation{100, 20, 400, 300, Ppl::random},
                                         Situation{100, 60, 1000, 700, Ppl::random},
                                         Situation{100, 60, 1000, 5000, Ppl::all_leaders_shielded},
                                         Situation{100, 1, 300, 40000, Ppl::all_leaders},
                                         Situation{70, 40, 70000, 2000, Ppl::all_leaders},
                                         Situation{70, 100, 70000, 70000, Ppl::safe},
                                         Situation{300, 100, 3000, 3000, Ppl::virus_everywhere},
                                         Situation{300, 100, 260, 1, Ppl::all_leaders_shielded},
                                         Situation{300, 300, 3000, 2, Ppl::random},
                                         Situation{300, 80, 3000, 900, Ppl::all_zero},
                                         Situation{64, 30, 500, 1500, Ppl::leader_timer0}));

TEST(TimersPairs, AreTheSameByTheShortcut) {
  for (const std::uint64_t t_max : {1u, 2u, 5u, 8u}) {
    Timers::Parameters parameters;
    parameters.t_max = t_max;
    const Timers protocol(parameters, 2);
    Stream choice({.seed = 1});
    std::uint64_t applied = 0;
    for (std::uint32_t pair = 0; pair < 4 * (t_max + 1) * (t_max + 1); ++pair) {
      const auto timers = static_cast<std::uint32_t>(t_max + 1);
      Timers::State u{.leader = pair % 2 == 1, .timer = pair / 4 % timers};
      Timers::State v{.leader = pair / 2 % 2 == 1, .timer = pair / 4 / timers};
      const auto next = protocol.shortcut(protocol.pack(u), protocol.pack(v));
      if (next.applies == 0) continue;
      ++applied;
      const std::array before{u, v};
      protocol.interact(u, v, choice);
      EXPECT_EQ(next.u, protocol.pack(u));
      EXPECT_EQ(next.v, protocol.pack(v));
      EXPECT_FALSE(Timers::Tally(protocol).is_counted(before[0], before[1], u, v));
    }
    EXPECT_EQ(applied > 0, t_max > 1) << t_max;
  }
}

// Leaders that meet, followers whose timers get low, and timeouts of a population without a leader.
TEST(TimersBriefly, IsTimersByStates) {
  for (const Timers::Reading reading : {Timers::Reading::first, Timers::Reading::ppl}) {
    for (const std::uint64_t t_max : {300u, 1000u, 60'000u}) {
      Timers::Parameters parameters;
      parameters.t_max = t_max;
      parameters.reading = reading;
      for (const std::size_t start : {Timers::random, Timers::no_leader, Timers::safe}) {
        SCOPED_TRACE(t_max);
        expect_same_briefly(Timers(parameters, 100), 100, start);
      }
    }
  }
}

}  // namespace
}  // namespace conclave::tests
