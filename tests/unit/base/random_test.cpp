#include "conclave/base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/choice.hpp"

#include "tests/unit/uniformity.hpp"

namespace conclave {
namespace {

__extension__ using Wide = unsigned __int128;
using Counts = std::vector<double>;
using Words = std::vector<std::uint64_t>;
using tests::p_value;
using tests::reject;
using tests::uniform_p_value;

static_assert(Choice<Stream>);

constexpr std::size_t draws = 1'000'000;
constexpr StreamName some_name{.seed = 7, .trial = 3, .purpose = Purpose::test};
constexpr std::uint64_t three_quarters = std::uint64_t{3} << 62;

// The broken version of below64: a quarter of the numbers below 3/4 of 2^64 come twice as often.
struct StreamWithoutRejection {
  Stream stream{some_name};
  std::uint64_t below64(std::uint64_t bound) {
    return static_cast<std::uint64_t>(static_cast<Wide>(stream.word()) * bound >> 64);
  }
};

Counts counts_modulo(auto& stream, std::uint64_t bound, std::uint64_t buckets) {
  Counts counts(buckets);
  for (std::size_t i = 0; i < draws; ++i) ++counts[stream.below64(bound) % buckets];
  return counts;
}

Counts counts_by_size(Stream& stream, std::uint64_t bound, std::uint64_t buckets) {
  Counts counts(buckets);
  for (std::size_t i = 0; i < draws; ++i) {
    ++counts[static_cast<std::size_t>(static_cast<Wide>(stream.below64(bound)) * buckets / bound)];
  }
  return counts;
}

TEST(Stream, IsUniformBelowSmallBounds) {
  Stream stream(some_name);
  for (const std::uint64_t bound : {2u, 3u, 5u, 6u, 7u, 100u}) {
    EXPECT_GT(uniform_p_value(counts_modulo(stream, bound, bound)), reject) << "bound " << bound;
  }
}

TEST(Stream, IsUniformBelowLargeBounds) {
  Stream stream(some_name);
  // Chosen as multiples of 3 so that the low buckets are of equal size.
  for (const std::uint64_t bound :
       {std::uint64_t{0xffffffff}, three_quarters, ~std::uint64_t{0}, std::uint64_t{3} << 31}) {
    EXPECT_GT(uniform_p_value(counts_modulo(stream, bound, 3)), reject) << "bound " << bound;
    EXPECT_GT(uniform_p_value(counts_by_size(stream, bound, 1000)), reject) << "bound " << bound;
  }
}

TEST(Stream, WithoutRejectionIsRejected) {
  StreamWithoutRejection broken;
  EXPECT_LT(uniform_p_value(counts_modulo(broken, three_quarters, 3)), reject);
}

TEST(Stream, StaysBelowTheBound) {
  Stream stream(some_name);
  for (std::uint64_t bound = 1; bound < 2000; ++bound) {
    ASSERT_LT(stream.below64(bound), bound);
    ASSERT_LT(stream.below(static_cast<std::uint32_t>(bound)), bound);
    ASSERT_LT(stream.below64(0 - bound), 0 - bound);
  }
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(stream.below64(1), 0u);
}

TEST(Stream, GivesChancesTheirProbability) {
  Stream stream(some_name);
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> chances{
      {1, 2}, {1, 3}, {2, 3}, {1, 1000}, {999, 1000}, {1'000'000'000, 4'294'967'295}};
  for (const auto& [p, q] : chances) {
    Counts counts(2);
    for (std::size_t i = 0; i < draws; ++i) ++counts[stream.chance(p, q) ? 1 : 0];
    const double odds = static_cast<double>(p) / q;
    EXPECT_GT(p_value(counts, {1 - odds, odds}), reject) << p << " / " << q;
  }
}

TEST(Stream, KnowsTheImpossibleAndTheCertain) {
  Stream stream(some_name);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(stream.chance(0, 3));
    ASSERT_TRUE(stream.chance(3, 3));
    ASSERT_TRUE(stream.chance(1, 1));
  }
}

Words words_of(const StreamName& name, std::size_t count) {
  Words words(count);
  Lanes(name).fill(words);
  return words;
}

// Are the low four bits of one sequence independent of those of the other? So is each uniform.
double joint_p_value(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  Counts counts(256);
  for (std::size_t i = 0; i < a.size(); ++i) ++counts[a[i] % 16 * 16 + b[i] % 16];
  return uniform_p_value(counts);
}

TEST(Stream, IsIndependentOfStreamsWithOtherNames) {
  const StreamName base{.seed = 1, .trial = 2, .purpose = Purpose::schedule};
  const std::vector<StreamName> others{
      {.seed = 2, .trial = 2, .purpose = Purpose::schedule},
      {.seed = 1, .trial = 3, .purpose = Purpose::schedule},
      {.seed = 1, .trial = 2, .purpose = Purpose::transition},
      {.seed = 2, .trial = 1, .purpose = Purpose::schedule},
      {.seed = 1 + (std::uint64_t{1} << 63), .trial = 2, .purpose = Purpose::schedule},
  };
  const Words words = words_of(base, draws);
  for (const StreamName& other : others) {
    const Words other_words = words_of(other, draws);
    EXPECT_NE(words[0], other_words[0]);
    EXPECT_GT(joint_p_value(words, other_words), reject)
        << "seed " << other.seed << " trial " << other.trial;
  }
  EXPECT_LT(joint_p_value(words, words_of(base, draws)), reject) << "a shared stream must show";
}

TEST(Stream, HasIndependentLanesAndWords) {
  const Words words = words_of(some_name, 2 * draws);
  for (const std::size_t distance : {1u, 2u, 7u, 8u}) {  // 8: the same lane again
    Words earlier;
    Words later;
    for (std::size_t i = 0; i + 2 * distance <= words.size(); i += 2 * distance) {
      earlier.insert(earlier.end(), &words[i], &words[i] + distance);
      later.insert(later.end(), &words[i] + distance, &words[i] + 2 * distance);
    }
    EXPECT_GT(joint_p_value(earlier, later), reject) << "distance " << distance;
  }
}

TEST(Stream, HasFairBits) {
  Counts ones(64);
  for (const std::uint64_t word : words_of(some_name, draws)) {
    for (std::size_t bit = 0; bit < 64; ++bit) ones[bit] += static_cast<double>(word >> bit & 1);
  }
  for (const double count : ones) {
    EXPECT_GT(uniform_p_value({count, static_cast<double>(draws) - count}), reject);
  }
}

TEST(Stream, GivesTheWordsOfItsLanesInOrder) {
  Stream stream(some_name);
  for (const std::uint64_t word : words_of(some_name, 1000)) ASSERT_EQ(stream.word(), word);
}

TEST(Lanes, FillInPiecesAsAtOnce) {
  const Words at_once = words_of(some_name, std::size_t{8} * (1 + 2 + 3 + 16 + 64));
  Lanes lanes(some_name);
  Words in_pieces(at_once.size());
  std::span<std::uint64_t> rest = in_pieces;
  for (const std::size_t steps : {1u, 2u, 0u, 3u, 16u, 64u}) {
    lanes.fill(rest.first(8 * steps));
    rest = rest.subspan(8 * steps);
  }
  EXPECT_EQ(in_pieces, at_once);
}

TEST(Lanes, CopyTheirState) {
  Lanes lanes(some_name);
  Words skipped(64);
  lanes.fill(skipped);
  Lanes copy = lanes;
  Words words(64);
  Words again(64);
  lanes.fill(words);
  copy.fill(again);
  EXPECT_EQ(words, again);
  EXPECT_NE(words, skipped);
}

TEST(LanesDeathTest, RefuseAPartOfAStep) {
  Lanes lanes(some_name);
  Words words(12);
  EXPECT_DEATH(lanes.fill(words), "words.size\\(\\) % count == 0");
}

}  // namespace
}  // namespace conclave
