#include "conclave/exact/configuration_index.hpp"

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/exact/network.hpp"
#include "conclave/exact/weight.hpp"

namespace conclave::exact {
namespace {

std::vector<Network> networks() {
  return {Network::complete(2), Network::complete(4), Network::directed_ring(4),
          Network::directed_ring(6), Network::of(Digraph(3, {{0, 1}, {1, 2}, {2, 1}, {1, 0}}))};
}

// Every configuration has a number, its canonical form has the same, and every number comes back.
void check_all(const Network& network, std::size_t states) {
  const auto index = index_all(network, states);
  const auto met = index_as_met(network);
  EXPECT_EQ(static_cast<double>(index->size()),
            std::round(count_canonical(network, static_cast<double>(states))));
  const std::size_t agents = network.agents();
  double orbits = 0;
  for (StateIndex number = 0; number < index->size(); ++number) {
    std::vector<StateNumber> configuration(agents);
    index->read(number, configuration);
    std::vector<StateNumber> canonical = configuration;
    network.canonicalize(canonical);
    ASSERT_EQ(canonical, configuration);
    ASSERT_EQ(index->number(configuration), number);
    ASSERT_EQ(met->number(configuration), number);
    ASSERT_EQ(met->number(configuration), number);
    std::vector<StateNumber> read(agents);
    met->read(number, read);
    ASSERT_EQ(read, configuration);
    orbits += network.orbit(configuration);
  }
  EXPECT_EQ(orbits, std::pow(static_cast<double>(states), static_cast<double>(agents)));
}

TEST(ConfigurationIndex, IsABijection) {
  for (const Network& network : networks()) {
    for (const std::size_t states : {1u, 2u, 5u}) check_all(network, states);
  }
}

TEST(ConfigurationIndex, OfAllRingsCanBeStoppedWhileItIsMade) {
  int looks = 0;
  const auto stop = [&](std::string_view, std::uint64_t, std::uint64_t) { return ++looks < 3; };
  EXPECT_THROW(index_all(Network::directed_ring(4), 100, stop), Interrupted);
  EXPECT_EQ(looks, 3);
}

TEST(ConfigurationIndex, OfThoseMetTakesStatesOfAnyNumber) {
  const Network network = Network::complete(3);
  const auto index = index_as_met(network);
  for (StateIndex i = 0; i < 3000; ++i) {
    const StateNumber last = i < 100 ? i : i < 200 ? 300 + i : 70'000 + i;
    EXPECT_EQ(index->number(std::vector<StateNumber>{0, 1, last}), i);
  }
  std::vector<StateNumber> configuration(3);
  index->read(150, configuration);
  EXPECT_EQ(configuration, (std::vector<StateNumber>{0, 1, 450}));
  EXPECT_EQ(index->number(configuration), 150u);
}

// Asked for all at once or one by one, also where the index grows and states get wider meanwhile.
TEST(ConfigurationIndex, NumbersSeveralAsOneByOne) {
  const Network network = Network::complete(2);
  for (const bool met_only : {true, false}) {
    const auto all = met_only ? index_as_met(network) : index_all(network, 400);
    const auto one = met_only ? index_as_met(network) : index_all(network, 400);
    for (StateNumber first = 0; first < 400; ++first) {
      std::vector<StateNumber> asked;
      std::vector<StateIndex> expected;
      for (const StateNumber second : {first, 399u, (first + 399) / 2, first}) {
        asked.insert(asked.end(), {first, second});
        expected.push_back(one->number(std::vector{first, second}));
      }
      std::vector<StateIndex> numbers(expected.size());
      all->number_all(asked, numbers);
      ASSERT_EQ(numbers, expected);
    }
    EXPECT_EQ(all->size(), one->size());
  }
}

TEST(Network, CountsEveryOrderedPairOnce) {
  for (const Network& network : networks()) {
    std::vector<StateNumber> configuration(network.agents(), 3);
    configuration.back() = 7;
    std::uint64_t ways = 0;
    network.for_each_meeting(configuration, [&](std::size_t u, std::size_t v, std::uint64_t w) {
      EXPECT_NE(u, v);
      ways += w;
    });
    EXPECT_EQ(ways, network.pairs());
  }
}

TEST(EveryWeightedChoice, VisitsAllOutcomesWithWeightsThatSumToOne) {
  EveryWeightedChoice choice;
  std::uint64_t outcomes = 0;
  std::uint64_t sixtieths = 0;
  do {
    if (choice.chance(1, 3)) {
      choice.below(4);
    } else if (!choice.chance(2, 2)) {
      ADD_FAILURE() << "impossible";
    } else {
      choice.below(5);
    }
    ++outcomes;
    ASSERT_EQ(60 % choice.weight().denominator, 0u);
    sixtieths += choice.weight().numerator * (60 / choice.weight().denominator);
  } while (choice.next());
  EXPECT_EQ(outcomes, 9u);
  EXPECT_EQ(sixtieths, 60u);
}

TEST(Weight, MultipliesFractionsAndReducesThem) {
  EXPECT_EQ((Weight{2, 3}.times(3, 4)), (Weight{1, 2}));
  const std::uint64_t large = std::uint64_t{1} << 40;
  EXPECT_EQ((Weight{large, 3}.times(9, large)), (Weight{3, 1}));
}

}  // namespace
}  // namespace conclave::exact
