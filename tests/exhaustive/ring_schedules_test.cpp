// Every schedule of elections on rings of up to four nodes, with every order of the identifiers,
// and of implicit election among two and three nodes.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/model/port_graph.hpp"
#include "conclave/protocols/message/sublinear_sync.hpp"
#include "conclave/schedules/asynchronous.hpp"
#include "conclave/schedules/search.hpp"
#include "conclave/schedules/synchronous.hpp"
#include "conclave/schedules/trap.hpp"

#include "tests/mutants/broken_ring_elections.hpp"

namespace conclave::tests {
namespace {

using protocols::ChangRoberts;
using protocols::FloodMax;
using protocols::HirschbergSinclair;
using protocols::ItaiRodeh;
using protocols::ItaiRodehReading;
using protocols::Peterson;
using protocols::SublinearReading;
using protocols::SublinearSync;
using schedules::SearchResult;

enum : std::size_t { one_at_most, one_in_the_end, right_one, no_rule_broken, fifth };
using Failing = std::set<std::size_t>;

PortGraph ring(std::uint32_t n, bool both_ways) {
  std::vector<Digraph::Pair> arcs;
  for (std::uint32_t i = 0; i < n; ++i) {
    arcs.emplace_back(i, (i + 1) % n);
    if (both_ways) arcs.emplace_back((i + 1) % n, i);
  }
  return PortGraph(Digraph(n, arcs));
}

template <MessageProtocol P>
SearchResult explore(const typename P::Parameters& parameters, std::uint32_t n, bool has_ids) {
  const P protocol(parameters, n);
  const PortGraph graph = ring(n, network_of<P> != Topology::directed_ring);
  const schedules::SearchLimits limits{.configurations = 4'000'000};
  SearchResult result;
  if constexpr (AsynchronousProtocol<P>) {
    const schedules::AsynchronousSchedules<P> system(protocol, n, has_ids, &graph);
    result = schedules::search(system, limits);
  } else {
    const schedules::SynchronousSchedules<P> system(protocol, n, has_ids, &graph);
    result = schedules::search(system, limits);
  }
  EXPECT_TRUE(result.is_complete) << P::info.name << " n = " << n;
  return result;
}

Failing failing(const SearchResult& result) {
  Failing numbers;
  for (std::size_t i = 0; i < result.verdicts.size(); ++i) {
    if (!result.verdicts[i].holds) numbers.insert(i);
  }
  return numbers;
}

template <MessageProtocol P>
void expect_all_hold(const typename P::Parameters& parameters, std::uint32_t n) {
  const SearchResult result = explore<P>(parameters, n, !Anonymous<P>);
  EXPECT_GT(result.final_configurations, 0u);
  EXPECT_EQ(failing(result), Failing{}) << P::info.name << " n = " << n;
}

TEST(RingSchedules, ElectExactlyOneWithEveryOrderOfIdentifiers) {
  for (const std::uint32_t n : {2u, 3u, 4u}) {
    expect_all_hold<ChangRoberts>({}, n);
    expect_all_hold<Peterson>({}, n);
  }
  expect_all_hold<HirschbergSinclair>({}, 3);
}

TEST(RingSchedules, OfAnonymousNodesElectExactlyOneWithProbabilityOne) {
  for (const std::uint64_t rounds : {1u, 2u}) {
    expect_all_hold<ItaiRodeh>({.identifiers = 2, .round_numbers = rounds}, 2);
    expect_all_hold<ItaiRodeh>({.identifiers = 2, .round_numbers = rounds}, 3);
  }
  expect_all_hold<ItaiRodeh>({.identifiers = 3, .round_numbers = 1}, 3);
  expect_all_hold<ItaiRodeh>({.identifiers = 2, .round_numbers = 1}, 4);
  expect_all_hold<ItaiRodeh>(
      {.reading = ItaiRodehReading::fokkink_pang_b, .identifiers = 2, .round_numbers = 1}, 4);
}

TEST(RingSchedules, OfAnonymousNodesThatCannotDifferNeverEnd) {
  EXPECT_EQ(failing(explore<ItaiRodeh>({.identifiers = 1, .round_numbers = 1}, 2, false)),
            Failing{4});
}

TEST(RingSchedules, FloodTheMaximumInAsManyRoundsAsTheDiameter) {
  expect_all_hold<FloodMax>({.diameter = 1}, 3);
  expect_all_hold<FloodMax>({.diameter = 2}, 4);
  expect_all_hold<FloodMax>({.diameter = 2, .sending = protocols::FloodSending::news}, 5);
}

TEST(RingSchedules, FailOfWhatIsAlmostRight) {
  EXPECT_TRUE(failing(explore<SleepersSwallow>({}, 2, true)).contains(one_in_the_end));
  EXPECT_EQ(failing(explore<KeepsSecondMessages>({}, 3, true)), Failing{one_in_the_end});
  EXPECT_EQ(failing(explore<DropsReplies>({}, 3, true)), Failing{one_in_the_end});
  EXPECT_TRUE(failing(explore<ForgetsTies>({.identifiers = 2, .round_numbers = 1}, 2, false))
                  .contains(one_at_most));
  EXPECT_FALSE(failing(explore<DecidesEarly>({.diameter = 2}, 4, true)).empty());
}

// The first step hands out the identifiers, in each of n! ways.
TEST(RingSchedules, BeginWithEveryOrderOfIdentifiers) {
  const ChangRoberts protocol({}, 3);
  const PortGraph graph = ring(3, false);
  const schedules::AsynchronousSchedules<ChangRoberts> system(protocol, 3, true, &graph);
  std::set<std::string> placements;
  system.for_each_step(system.beginning(), [&](auto&& next) {
    std::string bytes;
    system.encode(next, bytes);
    placements.insert(bytes);
  });
  EXPECT_EQ(placements.size(), 6u);
  EXPECT_EQ(system.trace({0}).front().title, "the nodes have the identifiers 1, 2, 3");
}

// In 0 the schedule chooses between 1, where coins decide between 0 and the end 2, and an event
// that leads back to 0 for sure.
TEST(Trap, IsWhereAScheduleCanPreventTheEnd) {
  using schedules::EventGraph;
  using schedules::TrapSearch;
  const EventGraph with_way_back{{1, 0, 0, 2}, {0, 1, 2}, {2, 3, 3}};
  EXPECT_EQ(TrapSearch(with_way_back).find(), 0u);
  const EventGraph without{{1, 0, 2}, {0, 1}, {1, 2, 2}};
  EXPECT_EQ(TrapSearch(without).find(), std::nullopt);
}

SearchResult explore_sublinear(SublinearReading reading, std::size_t n) {
  const SublinearSync protocol({.reading = reading, .ranks = n}, n);
  const schedules::SynchronousSchedules<SublinearSync> system(protocol, n, false);
  return schedules::search(system, {.configurations = 4'000'000});
}

// There may be no candidate, and ranks may tie: then none is elected. Two leaders need a pair of
// nodes that are referees of each other and of no other node.
TEST(SublinearSyncSchedules, ElectAtMostOneUnlessTwoAskEachOther) {
  EXPECT_EQ(failing(explore_sublinear(SublinearReading::plain, 2)),
            (Failing{one_at_most, one_in_the_end}));
  EXPECT_EQ(failing(explore_sublinear(SublinearReading::own_rank_counts, 2)),
            Failing{one_in_the_end});
  EXPECT_EQ(failing(explore_sublinear(SublinearReading::plain, 3)), Failing{one_in_the_end});
}

}  // namespace
}  // namespace conclave::tests
