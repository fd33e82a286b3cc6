#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population {
namespace {

constexpr StreamName name{.seed = 4, .trial = 2, .purpose = Purpose::schedule};

TEST(RingPipeline, GivesTheArcsOfLemiresMethodInStreamOrder) {
  for (const AgentCount n : {2ull, 3ull, 50ull, 1ull << 24, 3ull << 30, 0xffffffffull}) {
    RingPipeline pipeline(name, n);
    Stream stream(name);
    for (int draw = 0; draw < 5000; ++draw) {
      const Meeting meeting{pipeline.upcoming().front()};
      const std::uint64_t expected = stream.below64(n);
      ASSERT_EQ(meeting.initiator(), expected) << "n=" << n << " draw " << draw;
      ASSERT_EQ(meeting.responder(), (expected + 1) % n) << "n=" << n << " draw " << draw;
      pipeline.drop(1);
    }
  }
}

TEST(RingPipeline, DrawsAllArcsEquallyOften) {
  for (const AgentCount n : {2u, 3u, 7u, 100u}) {
    RingPipeline pipeline(name, n);
    constexpr int draws = 200'000;
    std::vector<double> observed(n, 0.0);
    for (int draw = 0; draw < draws; ++draw) {
      ++observed[Meeting{pipeline.upcoming().front()}.initiator()];
      pipeline.drop(1);
    }
    const std::vector<double> expected(n, draws / static_cast<double>(n));
    EXPECT_GE(chi_square(observed, expected).p_value, 1e-6) << "n=" << n;
  }
}

}  // namespace
}  // namespace conclave::population
