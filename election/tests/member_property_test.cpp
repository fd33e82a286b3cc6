// Thousands of clusters in virtual time: safety after every step, a leader in the end; and hosts
// that break one assumption each, which the same checks must find out.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "election/tests/support/election_cases.hpp"

namespace conclave::election::testing {
namespace {

#ifdef NDEBUG
constexpr std::uint64_t clusters = 3000;
#else
constexpr std::uint64_t clusters = 300;  // under sanitizers
#endif

TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughCrashesCutsAndDrift) {
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 1; seed <= clusters; ++seed) {
    const Case each = random_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
    steps += verdict.steps;
  }
  RecordProperty("steps", std::to_string(steps));
}

TEST(Members, KeepOneLeaseThroughALostPromiseFile) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Case each = lost_file_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
  }
}

// CONCLAVE_CLUSTERS=10000 tries more.
std::uint64_t changing_clusters() {
  const char* const wanted = std::getenv("CONCLAVE_CLUSTERS");
  return wanted != nullptr ? std::stoull(wanted) : clusters / 3;
}

TEST(Members, KeepOneLeaderPerTermAndOneLeaseWhileTheListChanges) {
  std::uint64_t versions = 0;
  for (std::uint64_t seed = 1; seed <= changing_clusters(); ++seed) {
    const Case each = changing_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
    versions += verdict.version;
  }
  EXPECT_GT(versions, 2 * changing_clusters()) << "too few changes have come about";
  std::cout << versions << " changes of the list\n";
}

// A leader in the end is demanded where the list is fixed: where it changes, a process may wait for
// members that have been removed meanwhile.
TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughTwins) {
  std::uint64_t admitted = 0, replaced = 0, leaders = 0, stuck = 0;
  for (std::uint64_t seed = 1; seed <= changing_clusters(); ++seed) {
    const Case each = twin_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    const bool is_fixed = each.trouble.newcomers == 0;
    ASSERT_TRUE(verdict.has_leader || !is_fixed)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
    admitted += verdict.admitted;
    replaced += verdict.replaced;
    leaders += verdict.leaders;
    stuck += verdict.needs_operator ? 1 : 0;
  }
  EXPECT_LT(stuck, changing_clusters() / 5) << "in too many clusters an operator is needed";
  EXPECT_GT(admitted, changing_clusters()) << "too few processes have recovered";
  EXPECT_GT(replaced, changing_clusters() / 4) << "too few processes have been replaced";
  std::cout << leaders << " leaders, " << admitted << " recovered, " << replaced << " replaced\n";
}

TEST(Members, ElectWhileAMinorityHasAListOfATermThatCannotBe) {
  for (std::uint64_t seed = 1; seed <= clusters / 10; ++seed) {
    const Case each = spoiled_list_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << replay(seed, each);
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
  }
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

TEST(GoodHosts, AreNotFoundOut) { EXPECT_EQ(found_out({}, clusters), 0u); }

TEST(BrokenHosts, ThatForgetPromisesAreFoundOut) {
  EXPECT_NE(found_out({.stores_promises = false, .tells_of_restart = false}, clusters), 0u);
}

TEST(BrokenHosts, ThatHideRestartsAreFoundOut) {
  EXPECT_NE(found_out({.tells_of_restart = false}, clusters), 0u);
}

// In how many of 300 clusters like the one given two members hold the lease at once.
int double_leases(const Host& host, Case (*make)(std::uint64_t seed)) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Case each = make(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    found += verdict.violation == "two leases at once" ? 1 : 0;
  }
  return found;
}

TEST(BrokenHosts, ThatTakeALostFileForAFirstStartAreFoundOut) {
  EXPECT_GE(double_leases({.doubts_missing_files = false}, lost_file_case), 50);
  EXPECT_EQ(double_leases({}, lost_file_case), 0);
}

TEST(BrokenHosts, ThatForgetTheLeaseOfAPromiseAreFoundOut) {
  EXPECT_GE(double_leases({.stores_leases = false}, changed_lease_case), 5);
  EXPECT_EQ(double_leases({}, changed_lease_case), 0);
}

// With twins of members: copies that are believed, files that a waiting process has left and that
// are believed, and tables that are forgotten.
TEST(BrokenHosts, ThatBelieveCopiedFilesAreFoundOut) {
  EXPECT_NE(found_out_by_twins({.doubts_moved_files = false}, 100), 0u);
}

TEST(BrokenHosts, ThatDoNotCompareListsAreFoundOut) {
  EXPECT_GE(double_leases({.checks_lists = false}, changed_list_case), 10);
  EXPECT_EQ(double_leases({}, changed_list_case), 0);
}

TEST(BrokenHosts, WhoseClocksDriftTooFarAreFoundOut) {
  EXPECT_NE(found_out({.more_drift_ppm = 390'000}, clusters), 0u);
}

// The other way round: forgetting alone costs one leader per term, never the lease.
TEST(BrokenHosts, ThatForgetPromisesButWaitKeepTheLeaseExclusive) {
  for (std::uint64_t seed = 1; seed <= clusters / 3; ++seed) {
    Case each = random_case(seed);
    each.trouble.changes_leases = false;  // the lease of a promise is forgotten with it
    const Host host{.stores_promises = false};
    const Verdict verdict = VirtualCluster(each.n, seed, host, each.trouble).run();
    ASSERT_NE(verdict.violation, "two leases at once") << replay(seed, each);
  }
}

}  // namespace
}  // namespace conclave::election::testing
