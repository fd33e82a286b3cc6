// Thousands of clusters in simulated time: safety after every step, a leader in the end; and clocks
// that break an assumption, which the same checks must find out. member_mutants_test does so with
// mistakes in the program.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>

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
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
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
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
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
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
    versions += verdict.version;
  }
  EXPECT_GT(versions, changing_clusters()) << "too few changes have come about";
  std::cout << versions << " changes of the list\n";
}

// A leader in the end is demanded where the list is fixed: where it changes, a process may wait for
// members that have been removed meanwhile.
TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughTwins) {
  std::uint64_t admitted = 0, replaced = 0, leaders = 0, stuck = 0;
  for (std::uint64_t seed = 1; seed <= changing_clusters(); ++seed) {
    const Case each = twin_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
    const bool is_fixed = each.trouble.newcomers == 0;
    ASSERT_TRUE(verdict.has_leader || !is_fixed)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
    admitted += verdict.admitted;
    replaced += verdict.replaced;
    leaders += verdict.leaders;
    stuck += verdict.needs_operator ? 1 : 0;
  }
  EXPECT_LT(stuck, changing_clusters() / 4) << "in too many clusters an operator is needed";
  EXPECT_GT(admitted, changing_clusters()) << "too few processes have recovered";
  EXPECT_GT(replaced, changing_clusters() / 4) << "too few processes have been replaced";
  std::cout << leaders << " leaders, " << admitted << " recovered, " << replaced << " replaced\n";
}

TEST(Members, ElectWhileAMinorityHasAListOfATermThatCannotBe) {
  for (std::uint64_t seed = 1; seed <= clusters / 10; ++seed) {
    const Case each = spoiled_list_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
    ASSERT_TRUE(verdict.has_leader)
        << "no leader in the end; " << replay(seed, each) << verdict.scene;
  }
}

TEST(Members, ElectWithDisksThatTakeUpToThreeLeases) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Case each = slow_disk_case(seed);
    const Verdict verdict = VirtualCluster(each.n, seed, {}, each.trouble).run();
    ASSERT_EQ(verdict.violation, "") << story({seed, each, {}, verdict.violation});
    ASSERT_TRUE(verdict.has_leader) << replay(seed, each) << verdict.scene;
  }
}

// Three processes on true clocks, whose messages take 10 ms: for scenes of a few steps.
class Scene {
 public:
  explicit Scene(bool always_recovers) : always_recovers_(always_recovers) {
    for (MemberIndex each = 0; each < n; ++each) {
      write_founding_file(options_of(each), disks_[each]);
      start(each);
      processes_[each]->wake(now_);
    }
  }

  void start(MemberIndex which) {
    ServiceOptions options = options_of(which);
    options.always_recovers = always_recovers_;
    options.seed = ++starts_;
    processes_[which] =
        std::make_unique<SimulatedProcess>(options, disks_[which], now_, 1000 * starts_);
  }
  void kill(MemberIndex which) {
    processes_[which].reset();
    for (const auto& other : processes_) {
      if (other) other->lose(now_, which);
    }
  }
  // Until one holds the lease, or this much time is over.
  Instant run_until_led(Instant longest) {
    const Instant start = now_;
    while (leader() == nobody && now_ < start + longest) step(start + longest);
    return now_ - start;
  }
  void run(Instant time) {
    const Instant end = now_ + time;
    while (now_ < end) step(end);
  }
  MemberIndex leader() const {
    for (MemberIndex each = 0; each < n; ++each)
      if (processes_[each] && processes_[each]->holds_lease(now_)) return each;
    return nobody;
  }

  static constexpr MemberIndex n = 3;

 private:
  static ServiceOptions options_of(MemberIndex self) {
    ServiceOptions options;
    options.transport.cluster = "scene";
    options.transport.self = self;
    for (MemberIndex each = 0; each < n; ++each)
      options.transport.members.push_back({"member", static_cast<std::uint16_t>(each + 1)});
    options.state_file = SimulatedDisk::state_path;
    return options;
  }

  void step(Instant end) {
    Instant next = letters_.empty() ? end : std::min(end, letters_.begin()->first);
    for (const auto& each : processes_)
      if (each) next = std::min(next, each->deadline());
    now_ = std::max(now_, next);
    if (!letters_.empty() && letters_.begin()->first <= now_) {
      const auto [from, letter] = letters_.begin()->second;
      letters_.erase(letters_.begin());
      if (processes_[letter.to]) processes_[letter.to]->receive(now_, from, letter.note);
    }
    for (MemberIndex each = 0; each < n; ++each) {
      if (!processes_[each]) continue;
      processes_[each]->pass(now_);
      for (const OutgoingNote& letter : processes_[each]->take_outgoing())
        letters_.emplace(now_ + 10ms, std::pair(each, letter));
    }
  }

  bool always_recovers_;
  std::uint64_t starts_ = 0;
  Instant now_ = 1s;
  std::array<SimulatedDisk, n> disks_{SimulatedDisk(1), SimulatedDisk(2), SimulatedDisk(3)};
  std::array<std::unique_ptr<SimulatedProcess>, n> processes_;
  std::multimap<Instant, std::pair<MemberIndex, OutgoingNote>> letters_;
};

// Ordinary restarts stay cheap; who asks for more pays for it.
TEST(Restarts, LeadWithinTwoLeasesWhileAThirdMemberIsDown) {
  for (const bool is_leader_restarted : {true, false}) {
    Scene scene(false);
    scene.run(20s);
    const MemberIndex leader = scene.leader();
    ASSERT_NE(leader, nobody);
    scene.kill((leader + 1) % Scene::n);
    scene.run(5s);
    const MemberIndex restarted = is_leader_restarted ? leader : (leader + 2) % Scene::n;
    scene.kill(restarted);
    scene.start(restarted);
    EXPECT_LE(scene.run_until_led(60s), 2 * Timing{}.lease);
  }
}

TEST(Restarts, ThatAlwaysRecoverWaitForAMajorityOfOthers) {
  Scene scene(true);
  scene.run(20s);
  const MemberIndex leader = scene.leader();
  ASSERT_NE(leader, nobody);
  const MemberIndex down = (leader + 1) % Scene::n;
  scene.kill(down);
  scene.run(5s);
  scene.kill(leader);
  scene.start(leader);
  EXPECT_EQ(scene.run_until_led(60s), 60s) << "two others are needed";
  scene.start(down);
  EXPECT_LT(scene.run_until_led(60s), 20s);
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

TEST(BrokenHosts, WhoseClocksDriftTooFarAreFoundOut) {
  EXPECT_NE(found_out({.more_drift_ppm = 390'000}, clusters), 0u);
}

}  // namespace
}  // namespace conclave::election::testing
