// Thousands of clusters in virtual time: safety after every step, a leader in the end; and hosts
// that break one assumption each, which the same checks must find out.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"

#include "tests/support/virtual_cluster.hpp"

namespace conclave::election::testing {
namespace {

#ifdef NDEBUG
constexpr std::uint64_t clusters = 3000;
#else
constexpr std::uint64_t clusters = 300;  // under sanitizers
#endif

struct Case {
  MemberIndex n = 1;
  Trouble trouble{};
};

// Small clusters are tried more often than large ones: there a single member decides.
Case random_case(std::uint64_t seed) {
  Stream coins({.seed = seed, .trial = 1});
  Case result;
  result.n = 1 + coins.below(coins.chance(1, 4) ? 50 : 8);
  const bool is_stormy = coins.chance(1, 2);
  result.trouble.crashes = coins.below(is_stormy ? 30 : 2 + 2 * result.n);
  result.trouble.cuts = coins.below(is_stormy ? 12 : 4);
  result.trouble.panics = coins.below(is_stormy ? 200 : 4);
  result.trouble.leaves_minority_dead = coins.chance(1, 2);
  result.trouble.longest_delay = milliseconds(coins.chance(1, 4) ? 1000 : 1 + coins.below(100));
  return result;
}

std::string replay(std::uint64_t seed, const Case& each) {
  return "seed " + std::to_string(seed) + ", n = " + std::to_string(each.n) + ", crashes " +
         std::to_string(each.trouble.crashes) + ", cuts " + std::to_string(each.trouble.cuts);
}

// Whether the checks find something wrong with this host in some small cluster with much trouble.
bool is_found_out(const Host& host) {
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    Case each = random_case(seed);
    each.n = 3 + each.n % 3;
    each.trouble.crashes = 40;
    each.trouble.cuts = 12;
    if (!VirtualCluster(each.n, seed, host, each.trouble).run().violation.empty()) return true;
  }
  return false;
}

TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughCrashesCutsAndDrift) {
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    const Case each = random_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    ASSERT_TRUE(verdict.has_leader) << "no leader in the end; " << replay(seed, each);
    steps += verdict.steps;
  }
  RecordProperty("steps", std::to_string(steps));
}

TEST(Members, ElectInTheFirstTermWhereNothingFails) {
  for (std::uint64_t seed = 1; seed <= clusters / 10; ++seed) {
    const auto n = static_cast<MemberIndex>(1 + seed % 50);
    const Verdict verdict = VirtualCluster(n, seed, {}, {}).run();
    ASSERT_EQ(verdict.violation, "") << "seed " << seed;
    ASSERT_TRUE(verdict.has_leader) << "seed " << seed << ", n = " << n;
    ASSERT_EQ(verdict.term, 1u) << "seed " << seed << ", n = " << n;
  }
}

TEST(Members, AreTheSameForTheSameSeed) {
  const Case each = random_case(7);
  const Verdict first = VirtualCluster(20, 7, {}, each.trouble).run();
  const Verdict second = VirtualCluster(20, 7, {}, each.trouble).run();
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.sent, second.sent);
}

TEST(GoodHosts, AreNotFoundOut) { EXPECT_FALSE(is_found_out({})); }

TEST(BrokenHosts, ThatForgetPromisesAreFoundOut) {
  EXPECT_TRUE(is_found_out({.stores_promises = false, .tells_of_restart = false}));
}

TEST(BrokenHosts, ThatHideRestartsAreFoundOut) {
  EXPECT_TRUE(is_found_out({.tells_of_restart = false}));
}

TEST(BrokenHosts, WhoseClocksDriftTooFarAreFoundOut) {
  EXPECT_TRUE(is_found_out({.drift_ppm = 400'000}));
}

// The other way round: forgetting alone costs one leader per term, never the lease.
TEST(BrokenHosts, ThatForgetPromisesButWaitKeepTheLeaseExclusive) {
  for (std::uint64_t seed = 1; seed <= clusters / 3; ++seed) {
    const Case each = random_case(seed);
    const Host host{.stores_promises = false};
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    ASSERT_NE(verdict.violation, "two leases at once") << replay(seed, each);
  }
}

}  // namespace
}  // namespace conclave::election::testing
