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
struct NumberedKeys {
  Hash hash;
  KeyIndex index;
  std::vector<std::uint64_t> keys{};

  KeyIndex::Found number(std::uint64_t key) {
    const KeyIndex::Found found = index.find_or_add(
        hash(key), [&](KeyIndex::Number other) { return keys[other] == key; },
        [this](KeyIndex::Number other) { return hash(keys[other]); });
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

void expect_numbers_in_order(NumberedKeys keys, std::uint32_t different, int calls) {
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
      expect_numbers_in_order({hash, KeyIndex(percent)}, 700, 3000);
    }
  }
  expect_numbers_in_order({well_mixed, KeyIndex(70)}, 100'000, 200'000);
}

TEST(KeyIndex, IsNeverFullerThanAllowed) {
  for (const unsigned percent : {25u, 70u}) {
    NumberedKeys keys{well_mixed, KeyIndex(percent)};
    for (std::uint64_t key = 0; key < 5000; ++key) {
      keys.number(key);
      ASSERT_LE(100 * 8 * keys.index.size(), percent * keys.index.bytes());
    }
    EXPECT_GT(2 * 100 * 8 * keys.index.size(), percent * keys.index.bytes());
  }
}

TEST(KeyIndex, TakesOtherKeys) {
  for (const Hash& hash : hashes()) {
    NumberedKeys keys{hash, KeyIndex(25)};
    for (std::uint64_t key = 0; key < 400; ++key) keys.number(key);
    keys.keys = {7, 300, 12};
    keys.index.assign(3, [&](KeyIndex::Number number) { return hash(keys.keys[number]); });
    EXPECT_EQ(keys.index.size(), 3u);
    EXPECT_EQ(keys.number(300).number, 1u);
    EXPECT_FALSE(keys.number(12).is_new);
    EXPECT_EQ(keys.number(0).number, 3u);
    EXPECT_TRUE(keys.number(1).is_new);
  }
}

// A guess is right for a key at its first place, and nothing where nothing is.
TEST(KeyIndex, GuessesWhatASearchMeetsFirst) {
  NumberedKeys keys{well_mixed, KeyIndex(25)};
  for (std::uint64_t key = 0; key < 500; ++key) {
    EXPECT_EQ(keys.index.guess(well_mixed(key)), KeyIndex::none) << key;
    keys.number(key);
  }
  int right = 0;
  for (std::uint64_t key = 0; key < 500; ++key) {
    const KeyIndex::Number guess = keys.index.guess(well_mixed(key));
    EXPECT_TRUE(guess == key || guess == KeyIndex::none) << key;
    right += guess == key ? 1 : 0;
  }
  EXPECT_GT(right, 400);
}

}  // namespace
}  // namespace conclave::tests
