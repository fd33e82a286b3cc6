// Numbers for keys, against a map, also with hashes as bad as can be.
#include "conclave/base/key_index.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

namespace conclave::tests {
namespace {

using Hash = std::function<std::uint64_t(std::uint64_t)>;

// Keys kept as a caller keeps them.
template <class Slot>
struct NumberedKeys {
  Hash hash;
  KeyIndex<Slot> index;
  std::vector<std::uint64_t> keys{};

  typename KeyIndex<Slot>::Found number(std::uint64_t key) {
    const auto found = index.find_or_add(
        hash(key), [&](std::uint32_t other) { return keys[other] == key; },
        [this](std::uint32_t other) { return hash(keys[other]); });
    if (found.is_new) keys.push_back(key);
    return found;
  }
};

std::uint64_t well_mixed(std::uint64_t key) {
  key = (key ^ key >> 31) * 0x9e3779b97f4a7c15u;
  return key ^ key >> 29;
}

const std::vector<Hash>& hashes() {
  static const std::vector<Hash> all{
      well_mixed, [](std::uint64_t key) { return key; },  // no tags
      [](std::uint64_t key) { return key << 32; },        // one place, different tags
      [](std::uint64_t key) { return key % 3; },          // hardly a hash
      [](std::uint64_t) { return ~std::uint64_t{0}; }};   // none at all, at the last place
  return all;
}

template <class Slot>
void expect_numbers_in_order(NumberedKeys<Slot> keys, std::uint32_t different, int calls) {
  std::map<std::uint64_t, std::uint32_t> expected;
  Stream stream({.seed = 1});
  for (int call = 0; call < calls; ++call) {
    const std::uint64_t key = stream.below(different);
    const auto [place, is_new] = expected.try_emplace(key, expected.size());
    const auto [number, was_added] = keys.number(key);
    ASSERT_EQ(number, place->second) << "call " << call;
    ASSERT_EQ(was_added, is_new) << "call " << call;
  }
  EXPECT_EQ(keys.index.size(), expected.size());
}

TEST(KeyIndex, NumbersKeysInTheOrderOfTheirFirstCalls) {
  for (const Hash& hash : hashes()) {
    for (const unsigned percent : {25u, 50u, 70u}) {
      expect_numbers_in_order<PlainSlot>({hash, KeyIndex<PlainSlot>(percent)}, 700, 3000);
      expect_numbers_in_order<TaggedSlot>({hash, KeyIndex<TaggedSlot>(percent)}, 700, 3000);
    }
  }
  expect_numbers_in_order<TaggedSlot>({well_mixed, KeyIndex<TaggedSlot>(70)}, 100'000, 200'000);
}

TEST(KeyIndex, IsNeverFullerThanAllowed) {
  for (const unsigned percent : {25u, 70u}) {
    NumberedKeys<TaggedSlot> keys{well_mixed, KeyIndex<TaggedSlot>(percent)};
    for (std::uint64_t key = 0; key < 5000; ++key) {
      keys.number(key);
      ASSERT_LE(800 * keys.index.size(), percent * keys.index.bytes());
    }
    EXPECT_GT(1600 * keys.index.size(), percent * keys.index.bytes());
  }
}

TEST(KeyIndex, TakesOtherKeys) {
  for (const Hash& hash : hashes()) {
    NumberedKeys<PlainSlot> keys{hash, KeyIndex<PlainSlot>(25)};
    for (std::uint64_t key = 0; key < 400; ++key) keys.number(key);
    keys.keys = {7, 300, 12};
    keys.index.assign(3, [&](std::uint32_t number) { return hash(keys.keys[number]); });
    EXPECT_EQ(keys.index.size(), 3u);
    EXPECT_EQ(keys.number(300).number, 1u);
    EXPECT_FALSE(keys.number(12).is_new);
    EXPECT_EQ(keys.number(0).number, 3u);
    EXPECT_TRUE(keys.number(1).is_new);
  }
}

// A guess is right for a key at its first place, and nothing where nothing is.
TEST(KeyIndex, GuessesWhatASearchMeetsFirst) {
  NumberedKeys<TaggedSlot> keys{well_mixed, KeyIndex<TaggedSlot>(25)};
  for (std::uint64_t key = 0; key < 500; ++key) {
    EXPECT_EQ(keys.index.guess(well_mixed(key)), KeyIndex<TaggedSlot>::none) << key;
    keys.number(key);
  }
  int right = 0;
  for (std::uint64_t key = 0; key < 500; ++key) {
    const std::uint32_t guess = keys.index.guess(well_mixed(key));
    EXPECT_TRUE(guess == key || guess == KeyIndex<TaggedSlot>::none) << key;
    right += guess == key ? 1 : 0;
  }
  EXPECT_GT(right, 400);
}

}  // namespace
}  // namespace conclave::tests
