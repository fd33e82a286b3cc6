#include "conclave/base/position_set.hpp"

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

namespace conclave {
namespace {

using Positions = std::set<std::uint64_t>;
using Answer = std::optional<std::uint64_t>;

Answer first_from(const Positions& set, std::uint64_t position) {
  const auto found = set.lower_bound(position);
  return found == set.end() ? Answer() : Answer(*found);
}

Answer last_up_to(const Positions& set, std::uint64_t position) {
  const auto after = set.upper_bound(position);
  return after == set.begin() ? Answer() : Answer(*std::prev(after));
}

void expect_same_answers(const PositionSet& set, const Positions& reference, std::uint64_t size,
                         std::uint64_t position) {
  const Answer ahead = first_from(reference, position);
  const Answer behind = last_up_to(reference, position);
  EXPECT_EQ(set.empty(), reference.empty()) << "size " << size;
  EXPECT_EQ(set.contains(position), reference.contains(position)) << size << ' ' << position;
  EXPECT_EQ(set.first_from(position), ahead) << size << ' ' << position;
  EXPECT_EQ(set.last_up_to(position), behind) << size << ' ' << position;
  EXPECT_EQ(set.next_around(position), ahead ? ahead : first_from(reference, 0));
  EXPECT_EQ(set.previous_around(position), behind ? behind : last_up_to(reference, size - 1));
}

constexpr std::uint64_t sizes[] = {1,    2,    63,   64,     65,     127,
                                   4095, 4096, 4097, 262144, 262145, 10000000};

TEST(PositionSet, IsEmptyAtFirst) {
  for (const std::uint64_t size : sizes) {
    const PositionSet set(size);
    for (const std::uint64_t position : {std::uint64_t{0}, size / 2, size - 1}) {
      expect_same_answers(set, {}, size, position);
    }
  }
}

TEST(PositionSet, FindsAnySingleMemberFromAnywhere) {
  for (const std::uint64_t size : {1u, 2u, 63u, 64u, 65u, 200u}) {
    for (std::uint64_t member = 0; member < size; ++member) {
      PositionSet set(size);
      set.insert(member);
      for (std::uint64_t position = 0; position < size; ++position) {
        expect_same_answers(set, {member}, size, position);
      }
    }
  }
}

// Inserts and erases, also what is there already or is not; sparse at first, then denser.
TEST(PositionSet, AnswersAsASortedSetDoes) {
  Stream choice({.seed = 3});
  for (const std::uint64_t size : sizes) {
    PositionSet set(size);
    Positions reference;
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t position = choice.below64(size);
      const Answer member = first_from(reference, position);
      if (choice.below(step < 2000 ? 2 : 3) != 0) {
        set.insert(position);
        reference.insert(position);
      } else {
        set.erase(member.value_or(position));
        reference.erase(member.value_or(position));
      }
      expect_same_answers(set, reference, size, choice.below64(size));
    }
    for (const std::uint64_t member : reference) set.erase(member);
    expect_same_answers(set, {}, size, size / 2);
  }
}

TEST(PositionSet, ClearsAndGoesOn) {
  PositionSet set(5000);
  for (std::uint64_t position = 0; position < 5000; position += 7) set.insert(position);
  set.clear();
  expect_same_answers(set, {}, 5000, 2500);
  set.insert(4999);
  expect_same_answers(set, {4999}, 5000, 0);
}

}  // namespace
}  // namespace conclave
