// Brief words: the fields do what they say, and eight meetings at once are eight in turn.
#include "conclave/population/detail/brief_agents.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/population/pair_pipeline.hpp"

namespace conclave::tests {
namespace {

using population::Meeting;
using population::detail::meet_each;

constexpr BriefFields fields{.low_mask = 0xfff, .top = 1000};
constexpr std::uint32_t word(std::uint32_t high, std::uint32_t low) {
  return high * fields.one() + low;
}

TEST(BriefFields, CountDownAndFallTogetherExceptAtTheTop) {
  const auto met = [](std::uint32_t u, std::uint32_t v) {
    return fields.meet(u, v) ? std::vector<std::uint32_t>{u, v} : std::vector<std::uint32_t>{};
  };
  EXPECT_EQ(met(word(7, 10), word(9, 20)), (std::vector{word(6, 19), word(8, 19)}));
  EXPECT_EQ(met(word(7, 20), word(9, 20)), (std::vector{word(6, 19), word(8, 19)}));
  EXPECT_EQ(met(word(7, 1000), word(9, 20)), (std::vector{word(6, 1000), word(8, 999)}));
  EXPECT_EQ(met(word(2, 1000), word(2, 1000)), (std::vector{word(1, 1000), word(1, 1000)}));
  EXPECT_EQ(met(word(2, 0), word(2, 1)), (std::vector{word(1, 0), word(1, 0)}));
  EXPECT_TRUE(met(word(1, 10), word(9, 20)).empty());
  EXPECT_TRUE(met(word(9, 10), word(0, 20)).empty());
  EXPECT_TRUE(met(word(9, 0), word(9, 0)).empty());
}

// Random words, a few of them soon at an end, and the meetings of a population.
struct Crowd {
  std::vector<std::uint32_t> words;
  std::vector<std::uint64_t> meetings;

  Crowd(std::uint32_t n, std::uint32_t least_high, std::uint64_t seed) : words(n) {
    Stream choice({.seed = seed});
    for (std::uint32_t& each : words) {
      const std::uint32_t low = choice.chance(1, 4) ? fields.top : 200 + choice.below(800);
      each = word(least_high + choice.below(1000), low);
    }
    population::PairPipeline pairs({.seed = seed, .purpose = Purpose::schedule}, n);
    const auto upcoming = pairs.upcoming();
    meetings.assign(upcoming.begin(), upcoming.end());
  }
};

// How many meetings `meet` carries out; -1 if words differ from those of meeting by meeting.
template <class Meet>
std::int64_t meetings_of(const Crowd& crowd, Meet meet) {
  Crowd at_once = crowd;
  Crowd in_turn = crowd;
  const std::size_t done = meet(fields, at_once.words.data(), std::span(crowd.meetings));
  const std::size_t expected = meet_each(fields, in_turn.words.data(), std::span(crowd.meetings));
  if (done != expected || at_once.words != in_turn.words) return -1;
  return static_cast<std::int64_t>(done);
}

TEST(BriefAgents, MeetAtOnceAsInTurn) {
  bool has_stopped = false;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Crowd crowd(seed % 3 == 0 ? 20 : 3000, seed % 2 == 0 ? 1 : 300, seed);
    const std::int64_t done = meetings_of(crowd, population::detail::meet_in_words);
    EXPECT_GE(done, 0) << seed;
    has_stopped |= done < static_cast<std::int64_t>(crowd.meetings.size());
  }
  EXPECT_TRUE(has_stopped);
}

// Mutant: overlooks that agents are shared.
std::size_t meet_overlooking(const BriefFields& given, std::uint32_t* words,
                             std::span<const std::uint64_t> meetings) {
  for (std::size_t k = 0; k + 1 < meetings.size(); k += 2) {
    const Meeting one{meetings[k]};
    const Meeting two{meetings[k + 1]};
    std::uint32_t states[4] = {words[one.initiator()], words[one.responder()],
                               words[two.initiator()], words[two.responder()]};
    if (!given.meet(states[0], states[1]) || !given.meet(states[2], states[3])) return k;
    words[one.initiator()] = states[0];
    words[one.responder()] = states[1];
    words[two.initiator()] = states[2];
    words[two.responder()] = states[3];
  }
  return meetings.size() & ~std::size_t{1};
}

TEST(BriefAgents, ThatOverlookSharedAgentsAreFoundOut) {
  bool is_found = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    is_found |= meetings_of(Crowd(20, 300, seed), meet_overlooking) < 0;
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace conclave::tests
