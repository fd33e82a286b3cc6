#include "conclave/exact/hitting_times.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

namespace conclave::exact {
namespace {

// From k leaders two meet with probability k(k-1) / (n(n-1)).
MarkovChain fratricide(StateIndex n) {
  ChainBuilder builder;
  const double pairs = static_cast<double>(n) * (n - 1);
  for (StateIndex k = 0; k < n; ++k) {  // k + 1 leaders
    const double meets = static_cast<double>(k + 1) * k / pairs;
    if (k > 0) builder.add(k - 1, meets);
    builder.add(k, 1 - meets);
    builder.end_row();
  }
  return std::move(builder).build();
}

StateSet single(std::size_t states, StateIndex state) {
  StateSet set(states);
  set.insert(state);
  return set;
}

TEST(HittingTimes, FratricideTakesTheSquareOfOneLessThanTheAgents) {
  const HittingTimes times = hitting_times(fratricide(50), single(50, 0), {.variance = true});
  EXPECT_NEAR(times.mean[49], 49 * 49, 1e-9);
  EXPECT_LT(times.relative_error, 1e-9);
  EXPECT_EQ(times.slowest(), 49u);
}

TEST(HittingTimes, DistributionAgreesWithMeanAndVariance) {
  const HittingTimes times = hitting_times(fratricide(6), single(6, 0), {.variance = true});
  const std::vector<double> law = hitting_distribution(fratricide(6), single(6, 0), 5, 4000);
  double mean = 0;
  double second = 0;
  for (std::size_t t = 0; t < law.size(); ++t) {
    mean += static_cast<double>(t) * law[t];
    second += static_cast<double>(t * t) * law[t];
  }
  EXPECT_NEAR(std::accumulate(law.begin(), law.end(), 0.0), 1, 1e-12);
  EXPECT_NEAR(mean, times.mean[5], 1e-9);
  EXPECT_NEAR(second - mean * mean, times.variance[5], 1e-6);
}

TEST(HittingTimes, AreInfiniteWhereTheTargetMayBeMissed) {
  ChainBuilder builder;
  builder.add(1, 0.5), builder.add(2, 0.5), builder.end_row();
  builder.add(1, 1.0), builder.end_row();  // the target
  builder.add(2, 1.0), builder.end_row();  // a trap
  builder.add(1, 0.25), builder.add(3, 0.75), builder.end_row();
  const HittingTimes times = hitting_times(std::move(builder).build(), single(4, 1));
  EXPECT_TRUE(std::isinf(times.mean[0]));
  EXPECT_TRUE(std::isinf(times.mean[2]));
  EXPECT_EQ(times.infinite, 2u);
  EXPECT_EQ(times.mean[1], 0);
  EXPECT_DOUBLE_EQ(times.mean[3], 4);
}

}  // namespace
}  // namespace conclave::exact
