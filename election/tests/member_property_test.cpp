// Thousands of clusters in simulated time: safety after every step, a leader in the end; and clocks
// that break an assumption, which the same checks must find out. member_mutants_test does so with
// mistakes in the program.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "election/tests/support/election_cases.hpp"

namespace conclave::election::testing {
namespace {

#ifdef NDEBUG
constexpr std::uint64_t few = fixed_clusters;
#else
constexpr std::uint64_t few = 300;  // under sanitizers
#endif

// CONCLAVE_CLUSTERS=100000 tries more.
std::uint64_t clusters() {
  const char* const wanted = std::getenv("CONCLAVE_CLUSTERS");
  return wanted != nullptr ? std::stoull(wanted) : few;
}

struct Sums {
  std::uint64_t leaders = 0, versions = 0, admitted = 0, replaced = 0, stuck = 0;
  FaultCounts faults{};
};

// For docs/how-to/elections.md.
void print(Kind kind, const Sums& sums, double seconds) {
  std::cout << fmt::format("{}: {} clusters, {} leaders elected ({:.0f} a second), {} processes "
                           "recovered, {} replaced, {} clusters in need of an operator",
                           kind_names[static_cast<std::size_t>(kind)], clusters(), sums.leaders,
                           static_cast<double>(sums.leaders) / seconds, sums.admitted,
                           sums.replaced, sums.stuck);
  for (std::size_t i = 0; i < sums.faults.size(); ++i)
    std::cout << fmt::format(", {} {}", sums.faults[i], fault_names[i]);
  std::cout << "\n";
}

// Safety after every step, a leader in the end.
Sums run_all(Kind kind) {
  Sums sums;
  const std::clock_t start = std::clock();
  for (std::uint64_t seed = 1; seed <= clusters(); ++seed) {
    const Case each = random_case(kind, seed);
    const Verdict verdict = run(seed, each);
    if (const std::string wrong = wrong_in(each, verdict); !wrong.empty()) {
      ADD_FAILURE() << story({seed, each, {}, wrong});
      return sums;
    }
    sums.leaders += verdict.leaders;
    sums.versions += verdict.version;
    sums.admitted += verdict.admitted;
    sums.replaced += verdict.replaced;
    sums.stuck += verdict.needs_operator ? 1 : 0;
    for (std::size_t i = 0; i < sums.faults.size(); ++i) sums.faults[i] += verdict.faults[i];
  }
  print(kind, sums, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  EXPECT_LT(sums.stuck, clusters() / 4) << "in too many clusters an operator is needed";
  return sums;
}

TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughCrashesCutsAndDrift) {
  EXPECT_GT(run_all(Kind::fixed).leaders, 2 * clusters()) << "too few elections";
}

TEST(Members, KeepOneLeaderPerTermAndOneLeaseWhileTheListChanges) {
  EXPECT_GT(run_all(Kind::changing).versions, clusters() / 2) << "too few changes have come about";
}

TEST(Members, KeepOneLeaderPerTermAndOneLeaseThroughTwins) {
  const Sums sums = run_all(Kind::twins);
  EXPECT_GT(sums.admitted, clusters()) << "too few processes have recovered";
  EXPECT_GT(sums.replaced, clusters() / 4) << "too few processes have been replaced";
}

TEST(Members, KeepOneLeaseThroughALostPromiseFile) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Case each = lost_file_case(seed);
    const std::string wrong = wrong_in(each, run(seed, each));
    ASSERT_EQ(wrong, "") << story({seed, each, {}, wrong});
  }
}

TEST(Members, ElectWithDisksThatTakeUpToThreeLeases) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Case each = slow_disk_case(seed);
    const std::string wrong = wrong_in(each, run(seed, each));
    ASSERT_EQ(wrong, "") << story({seed, each, {}, wrong});
  }
}

// Three processes on true clocks, whose messages take 10 ms: for scenes of a few steps.
class Scene {
 public:
  explicit Scene(bool always_recovers, const Timing& timing = {},
                 std::vector<Credentials> credentials = {})
      : always_recovers_(always_recovers), timing_(timing), credentials_(std::move(credentials)) {
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

  SimulatedProcess& process(MemberIndex which) { return *processes_[which]; }
  Instant now() const { return now_; }

  static constexpr MemberIndex n = 3;

 private:
  ServiceOptions options_of(MemberIndex self) const {
    ServiceOptions options;
    options.timing = timing_;
    if (!credentials_.empty()) options.transport.credentials = credentials_[self];
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
  Timing timing_;
  std::vector<Credentials> credentials_;
  std::uint64_t starts_ = 0;
  Instant now_ = 1s;
  std::array<SimulatedDisk, n> disks_{SimulatedDisk(1), SimulatedDisk(2), SimulatedDisk(3)};
  std::array<std::unique_ptr<SimulatedProcess>, n> processes_;
  std::multimap<Instant, std::pair<MemberIndex, OutgoingNote>> letters_;
};

// Three years of certificates that last 90 days and are renewed every 65; every 40 days a wall
// clock is wrong for three days, by up to 40 days in either direction. Leases do not notice;
// members warn by their wall clock from 30 days before the end on, and as soon as it is right never
// too late.
TEST(Certificates, AreWatchedByWallClocksThroughStepsAndRenewalsAndTheLeaderStays) {
  using std::chrono::days;
  const auto valid = [](Instant from, Instant until) {
    using Time = std::chrono::system_clock::time_point;
    return Validity{Time(from), Time(until)};
  };
  const Authority authority = make_authority("scene", valid(0s, days(3650)));
  const auto issue = [&](Instant now) {
    std::vector<Credentials> all;
    for (MemberIndex each = 0; each < Scene::n; ++each)
      all.push_back(issue_credentials(authority, {"scene", each}, valid(now, now + days(90))));
    return all;
  };
  Stream coins({.seed = 1});
  Instant until = days(90);
  Scene scene(false, timing_for(6h), issue(0s));
  scene.run(days(1));
  const MemberIndex leader = scene.leader();
  ASSERT_NE(leader, nobody);
  std::array<Instant, Scene::n> wrong_by{};
  for (int day = 1; day < 3 * 365; ++day) {
    if (day % 65 == 0) {
      const std::vector<Credentials> renewed = issue(scene.now());
      for (MemberIndex each = 0; each < Scene::n; ++each) scene.process(each).reload(renewed[each]);
      until = scene.now() + days(90);
    }
    if (day % 40 == 0) wrong_by[coins.below(Scene::n)] = days(40) - coins.below(81) * Instant(24h);
    if (day % 40 == 3) wrong_by = {};
    for (MemberIndex each = 0; each < Scene::n; ++each) {
      scene.process(each).set_wall(wrong_by[each]);
      scene.process(each).take_warnings();
    }
    scene.run(days(1));
    ASSERT_EQ(scene.leader(), leader) << "day " << day;
    for (MemberIndex each = 0; each < Scene::n; ++each) {
      const Instant left = until - (scene.now() + wrong_by[each]);
      const std::size_t warnings = scene.process(each).take_warnings().size();
      const bool is_early = left > days(32), is_late = left < days(30);
      EXPECT_TRUE(!is_early || warnings == 0) << "day " << day << ", member " << each;
      EXPECT_TRUE(!is_late || warnings > 0) << "day " << day << ", member " << each;
    }
  }
  EXPECT_EQ(scene.process(leader).view().term, 1u);
}

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
  for (std::uint64_t seed = 1; seed <= few / 10; ++seed) {
    const auto n = static_cast<MemberIndex>(1 + seed % 50);
    const Verdict verdict = VirtualCluster(n, seed, {}, {}).run();
    ASSERT_EQ(verdict.violation, "") << "seed " << seed;
    ASSERT_TRUE(verdict.has_leader) << "seed " << seed << ", n = " << n;
    ASSERT_EQ(verdict.term, 1u) << "seed " << seed << ", n = " << n;
  }
}

TEST(Members, AreTheSameForTheSameSeed) {
  const Case each = random_case(Kind::fixed, 7);
  const Verdict first = VirtualCluster(20, 7, {}, each.trouble).run();
  const Verdict second = VirtualCluster(20, 7, {}, each.trouble).run();
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.sent, second.sent);
}

TEST(BrokenHosts, WhoseClocksDriftTooFarAreFoundOut) {
  EXPECT_NE(found_out(Kind::fixed, few, {.more_drift_ppm = 390'000}), 0u);
}

TEST(BrokenHosts, WhoseClocksStandStillWhileTheMachineSleepsAreFoundOut) {
  EXPECT_NE(found_out(Kind::fixed, few, {.has_sleeping_clock = true}), 0u);
}

TEST(BrokenHosts, WhoseClocksAreSetByHandAreFoundOut) {
  EXPECT_NE(found_out(Kind::fixed, few, {.has_wall_clock = true}), 0u);
}

}  // namespace
}  // namespace conclave::election::testing
