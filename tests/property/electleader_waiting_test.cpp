// ElectLeader_r where agents only wait: stretches that the engine takes in one go end in the same
// agents as meeting by meeting; what has been heard is right whatever was forgotten.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/protocols/population/electleader/engine/hearsay.hpp"

#include "tests/support/electleader_definitions.hpp"

namespace conclave::tests {
namespace {

using Passing = population::Stepping<el::ElectLeader<el::LazyMessages>>;
using Reference = population::Stepping<el::ElectLeader<el::DenseMessages>>;
static_assert(PassingConfiguration<el::ElectLeader<el::LazyMessages>>);
static_assert(!PassingConfiguration<el::ElectLeader<el::DenseMessages>>);

struct Seen {
  bool labelling = false;
  bool ranked = false;
};

// Both engines from the same start, compared after every so many interactions, until all verify
// and some more; a fault strikes in a stretch of waiting if asked for.
Seen compare(const ElectLeaderCase& size, std::uint64_t every, std::uint64_t seed,
             bool has_fault = false) {
  SCOPED_TRACE(case_name(size, el::Starts::clean) + " every " + std::to_string(every) + " seed " +
               std::to_string(seed));
  const el::Parameters parameters = electleader_parameters(size);
  Passing passing(parameters, size.n, el::Starts::clean, {.seed = seed});
  Reference reference(parameters, size.n, el::Starts::clean, {.seed = seed});
  Seen seen;
  while (!reference.converged() && reference.now() < 2'000'000u) {
    EXPECT_EQ(passing.advance(every), reference.advance(every));
    const el::Census& census = reference.configuration().census();
    seen.labelling |= census.of_type(el::Type::deputy) == size.r &&
                      census.of_type(el::Type::recipient) == size.n - size.r;
    seen.ranked |= census.ranked() == size.n;
    if (has_fault && census.ranked() == size.n) {
      const Fault fault{.text = "", .kind = FaultKind::zero, .amount = 2};
      EXPECT_EQ(passing.strike(fault), reference.strike(fault));
      has_fault = false;
    }
    const auto found = difference(passing.configuration(), reference.configuration());
    EXPECT_FALSE(found) << *found << " after " << reference.now().as_double();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_TRUE(reference.converged());
  return seen;
}

TEST(ElectLeaderWaiting, IsWhatMeetingsWouldHaveDone) {
  for (const ElectLeaderCase& size :
       {ElectLeaderCase{12, 6}, {13, 4}, {24, 3}, {33, 16}, {64, 1}, {64, 2}}) {
    for (const std::uint64_t every : {97u, 5000u}) {
      const Seen seen = compare(size, every, every + size.n);
      EXPECT_TRUE(seen.ranked || every > 97);
      EXPECT_TRUE(seen.labelling || size.r > 3 || every > 97);
      if (HasFailure()) return;
    }
  }
  compare({64, 1}, 1'000'000, 6);  // through the end of the countdown in one go
  compare({12, 6}, 1, 5);
  compare({20, 2}, 1, 5);
}

TEST(ElectLeaderWaiting, EndsWhenAFaultStrikes) {
  for (const std::uint64_t seed : {1u, 2u, 3u})
    EXPECT_TRUE(compare({16, 4}, 11, seed, true).ranked);
}

// Agents of r channels, as many deputies, and everything that is heard of, computed in both ways.
class Gossip {
 public:
  Gossip(std::uint32_t n, std::uint32_t r, std::uint64_t seed)
      : lazy_(n), choice_({.seed = seed}), counters_(r, 1) {
    for (std::uint32_t u = 0; u < n; ++u) {
      lazy_[u].ranker.channel.assign(r, 0);
      if (u < r) lazy_[u].ranker.channel[u] = 1;
    }
    eager_ = lazy_;
    hearsay_.begin(n, counters_);
  }

  // Among the first `crowd` agents only.
  void meet(std::uint32_t crowd) {
    const std::uint32_t u = choice_.below(crowd);
    const std::uint32_t v = (u + 1 + choice_.below(crowd - 1)) % crowd;
    if (u < counters_.size() && choice_.chance(1, 50)) {
      eager_[u].ranker.channel[u] = ++counters_[u];
      hearsay_.note_label(u, u + 1, counters_[u]);
    }
    auto& x = eager_[u].ranker.channel;
    auto& y = eager_[v].ranker.channel;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] = std::max(x[i], y[i]);
    const std::uint64_t meeting = std::uint64_t{v} << 32 | u;
    hearsay_.note({&meeting, 1});
  }

  bool agrees() {
    std::vector<el::Agent> settled = lazy_;
    hearsay_.settle(settled);
    return std::ranges::equal(settled, eager_, [](const el::Agent& a, const el::Agent& b) {
      const auto& channel = b.ranker.channel;
      return a.ranker.channel == channel &&
             a.ranker.sum == std::accumulate(channel.begin(), channel.end(), std::uint64_t{0});
    });
  }
  std::size_t remembered() const { return hearsay_.size(); }

 private:
  std::vector<el::Agent> lazy_;
  std::vector<el::Agent> eager_;
  Stream choice_;
  std::vector<std::uint32_t> counters_;
  el::Hearsay hearsay_;
};

TEST(Hearsay, IsWhatMeetingsWouldHaveToldAndForgetsThem) {
  for (const std::uint32_t r : {1u, 5u, 16u, 17u, 40u}) {
    Gossip gossip(80, r, r);
    for (int meetings = 0; meetings < 40'000; ++meetings) {
      gossip.meet(80);
      if (meetings % 997 != 0) continue;
      ASSERT_TRUE(gossip.agrees()) << r << " " << meetings;
    }
    EXPECT_LT(gossip.remembered(), 10'000u);
  }
}

// One who has not met anybody for long has not heard of what happened since then.
TEST(Hearsay, ForgetsNothingThatSomebodyHasNotHeard) {
  Gossip gossip(60, 7, 1);
  for (int meetings = 0; meetings < 20'000; ++meetings) gossip.meet(59);
  EXPECT_TRUE(gossip.agrees());
  EXPECT_EQ(gossip.remembered(), 20'000u);
  for (int meetings = 0; meetings < 200'000; ++meetings) gossip.meet(60);
  EXPECT_TRUE(gossip.agrees());
  EXPECT_LT(gossip.remembered(), 100'000u);
}

// All have heard from it, but it has not heard from all.
TEST(Hearsay, ForgetsNothingThatSomebodyOnlyTold) {
  Gossip gossip(60, 60, 2);
  for (int meetings = 0; meetings < 1000; ++meetings) gossip.meet(60);
  for (int meetings = 0; meetings < 2000; ++meetings) gossip.meet(59);
  EXPECT_TRUE(gossip.agrees());
  EXPECT_EQ(gossip.remembered(), 3000u);
}

}  // namespace
}  // namespace conclave::tests
