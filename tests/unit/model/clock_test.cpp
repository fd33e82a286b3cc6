// Times and interactions: exact products, and grids that hit every multiple.
#include "conclave/model/clock.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/model/trace.hpp"

namespace conclave {
namespace {

TEST(ParallelClock, RoundsDownAfterAnExactProduct) {
  ParallelClock ten(10);
  EXPECT_EQ(ten.interactions_at({3u, 10}), 3u);  // the double nearest to 0.3 is below it
  EXPECT_EQ(ten.interactions_at({1u, 3}), 3u);
  EXPECT_EQ(ten.interactions_at({50u, 1}), 500u);
  EXPECT_EQ(ten.time_after(25u), 2.5);
  ParallelClock many(AgentCount{1} << 62);
  EXPECT_EQ(many.interactions_at({Interactions::max(), 1}), Interactions::max());
  EXPECT_EQ(many.interactions_at({1u, std::uint64_t{1} << 62}), 1u);
}

std::vector<std::uint64_t> looks(const TraceGrid& grid, AgentCount n, std::uint64_t end) {
  ParallelClock clock(n);
  LookTimes times(grid, clock, n);
  std::vector<std::uint64_t> result;
  while (times.next() <= end) {
    result.push_back(*times.next().as_uint64());
    times.pass(times.next());
  }
  return result;
}

TEST(LookTimes, HitEveryMultipleOfATime) {
  const TraceGrid grid{.every = Fraction{3u, 10}};
  EXPECT_EQ(looks(grid, 15, 30), (std::vector<std::uint64_t>{0, 4, 9, 13, 18, 22, 27}));
}

TEST(LookTimes, KeepTheirGridThroughFaultsOnlyIfItIsExact) {
  ParallelClock clock(10);
  LookTimes exact(TraceGrid{.every = Fraction{1u, 1}}, clock, 10);
  LookTimes relative(TraceGrid{.is_logarithmic = false, .step = 1}, clock, 10);
  for (LookTimes* each : {&exact, &relative}) {
    each->pass(0u);
    each->begin_anew(7u);
    each->pass(7u);
  }
  EXPECT_EQ(exact.next(), 10u);
  EXPECT_EQ(relative.next(), 17u);
}

TEST(LookTimes, NeverComeWithoutAGrid) {
  ParallelClock clock(10);
  EXPECT_EQ(LookTimes(std::nullopt, clock, 10).next(), Interactions::max());
}

}  // namespace
}  // namespace conclave
