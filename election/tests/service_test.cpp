// Members on real sockets, all on one loop; notes, configurations.
#include "election/service.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "election/config_file.hpp"
#include "election/status.hpp"

#include "election/tests/support/loopback.hpp"
#include "tests/support/temporary_folder.hpp"

namespace conclave::election {
namespace {

using namespace std::chrono_literals;
using conclave::testing::error_of;
using conclave::testing::Folder;
using testing::HeldPort;
using testing::Listener;
using testing::listener;

#ifdef NDEBUG
constexpr int many_elections = 1000;
constexpr std::size_t allowed_growth = std::size_t{4} << 20;
#else  // sanitizers are slow, keep what has been freed, and find leaks in their own way
constexpr int many_elections = 100;
constexpr std::size_t allowed_growth = std::size_t{1} << 30;
#endif

// Members of one cluster on one loop, without TLS. They are named by their positions.
class Cluster {
 public:
  Cluster(MemberIndex n, const Timing& timing) : timing_(timing) {
    std::vector<Listener> listeners;
    for (MemberIndex each = 0; each < n; ++each) {
      listeners.push_back(listener());
      endpoints_.push_back({"127.0.0.1", listeners.back().port});
    }
    members_.resize(n);
    for (MemberIndex each = 0; each < n; ++each) start(each, listeners[each].descriptor, true);
  }

  void start(MemberIndex self, std::optional<int> descriptor, bool is_first_start) {
    ServiceOptions options;
    options.transport.cluster = "test";
    options.transport.self = self;
    options.transport.members = endpoints_;
    options.transport.listener = descriptor;
    options.transport.limits.patience = 4 * timing_.answer;
    options.timing = timing_;
    options.is_first_start = is_first_start;
    members_[self] = std::make_unique<Service>(loop_, std::move(options), Service::Callbacks{});
  }
  void stop(MemberIndex self) {
    members_[self].reset();
    held_.push_back(std::make_unique<HeldPort>(endpoints_[self].port));
  }
  void wake(MemberIndex self) { members_[self]->wake(); }
  void wake_all() {
    for (const auto& member : members_) member->wake();
  }
  Service& operator[](MemberIndex member) { return *members_[member]; }

  // The leader all living members agree on, as soon as there is one that may act.
  MemberIndex await_leader(Loop::Clock::duration longest = 30s) {
    const auto until = Loop::Clock::now() + longest;
    while (Loop::Clock::now() < until) {
      loop_.run_for(5ms);
      if (const MemberIndex leader = agreed_leader(); leader != nobody) return leader;
    }
    return nobody;
  }

  std::uint64_t leases() const {
    std::uint64_t count = 0;
    for (const auto& member : members_) count += member && member->holds_lease() ? 1 : 0;
    return count;
  }

 private:
  MemberIndex agreed_leader() const {
    MemberIndex leader = nobody;
    for (const auto& member : members_) {
      if (!member) continue;
      const MemberIndex known = member->view().leader;
      if (known == nobody || (leader != nobody && known != leader)) return nobody;
      leader = known;
    }
    const bool acts = leader != nobody && members_[leader] && members_[leader]->holds_lease();
    return acts ? leader : nobody;
  }

  Timing timing_;
  Loop loop_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::unique_ptr<HeldPort>> held_;  // of members that were stopped
  std::vector<std::unique_ptr<Service>> members_;
};

std::size_t open_descriptors() {
  const auto folder = std::filesystem::directory_iterator("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(folder), end(folder)));
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Services, OfFiftyMembersElectOneLeader) {
  Cluster cluster(50, timing_for(20s));
  cluster.wake_all();
  const MemberIndex leader = cluster.await_leader();
  ASSERT_NE(leader, nobody);
  EXPECT_EQ(cluster.leases(), 1u);
  EXPECT_EQ(cluster[leader].view().term, 1u);
}

TEST(Services, ElectAThousandTimesWithoutALeak) {
  std::size_t descriptors = 0;
  std::size_t memory = 0;
  for (int election = 0; election < many_elections; ++election) {
    {
      Cluster cluster(3, timing_for(20s));
      cluster.wake(static_cast<MemberIndex>(election % 3));
      ASSERT_NE(cluster.await_leader(), nobody) << "election " << election;
    }
    if (election == many_elections / 10) {
      descriptors = open_descriptors();
      memory = resident_bytes();
    }
  }
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_LT(resident_bytes(), memory + allowed_growth);
}

TEST(Services, ElectAgainWhenTheLeaderIsGone) {
  Cluster cluster(5, timing_for(600ms));
  cluster.wake(0);
  const MemberIndex first = cluster.await_leader();
  ASSERT_NE(first, nobody);
  const Term term = cluster[first].view().term;
  cluster.stop(first);
  const MemberIndex second = cluster.await_leader();
  ASSERT_NE(second, nobody);
  EXPECT_NE(second, first);
  EXPECT_GT(cluster[second].view().term, term);
  EXPECT_EQ(cluster.leases(), 1u);

  cluster.start(first, std::nullopt, false);  // a latecomer learns who leads
  EXPECT_EQ(cluster.await_leader(), second);
}

TEST(Services, HandOverLongBeforeTheLeaseIsOver) {
  Cluster cluster(3, timing_for(20s));
  cluster.wake(0);
  const MemberIndex first = cluster.await_leader();
  ASSERT_NE(first, nobody);
  cluster[first].resign();
  const auto start = Loop::Clock::now();
  MemberIndex second = first;
  while (second == first || second == nobody) {
    ASSERT_LT(Loop::Clock::now() - start, 6s) << "less than a renewal";
    second = cluster.await_leader(1s);
    EXPECT_LE(cluster.leases(), 1u);
  }
  EXPECT_EQ(cluster[second].view().term, 2u);
}

TEST(Services, HandOverWhenTheyLeave) {
  Cluster cluster(3, timing_for(20s));
  cluster.wake(0);
  const MemberIndex first = cluster.await_leader();
  ASSERT_NE(first, nobody);
  bool has_left = false;
  cluster[first].resign_and_leave([&] { has_left = true; });
  const auto start = Loop::Clock::now();
  while (!has_left && Loop::Clock::now() < start + 6s) cluster.await_leader(10ms);
  ASSERT_TRUE(has_left);
  EXPECT_FALSE(cluster[first].holds_lease());
  cluster.stop(first);
  EXPECT_NE(cluster.await_leader(6s), nobody);
  EXPECT_EQ(cluster.leases(), 1u);
}

// A founder has no promise, but does not know that.
TEST(Services, WithTheirFirstFileWaitALease) {
  const Folder folder;
  const Listener own = listener();
  ServiceOptions options;
  options.transport.cluster = "test";
  options.transport.members = {{"127.0.0.1", own.port}};
  options.transport.listener = own.descriptor;
  options.timing = timing_for(600ms);
  options.state_file = folder.file("state");
  write_founding_file(options);
  Loop loop;
  const auto start = Loop::Clock::now();
  Service service(loop, options, {});
  service.wake();
  while (!service.holds_lease() && Loop::Clock::now() < start + 30s) loop.run_for(5ms);
  EXPECT_TRUE(service.holds_lease());
  EXPECT_GE(Loop::Clock::now() - start, 600ms);
}

// Two members of a list of two, of which one has another lease, or a list with one more.
TEST(Services, RefuseMembersWithAnotherListOrOtherTimes) {
  for (const bool has_longer_list : {false, true}) {
    const std::vector<Listener> own{listener(), listener()};
    Loop loop;
    std::vector<std::unique_ptr<Service>> members;
    std::string log;
    for (MemberIndex self : {0u, 1u}) {
      ServiceOptions options;
      options.transport.cluster = "test";
      options.transport.self = self;
      for (const Listener& each : own)
        options.transport.members.push_back({"127.0.0.1", each.port});
      if (self == 1 && has_longer_list) options.transport.members.push_back({"127.0.0.1", 1});
      options.transport.listener = own[self].descriptor;
      options.timing = timing_for(self == 1 && !has_longer_list ? 400ms : 300ms);
      options.is_first_start = true;
      const auto keep = [&log](std::string_view line) { log += std::string(line) + "\n"; };
      members.push_back(std::make_unique<Service>(loop, options, Service::Callbacks{.log = keep}));
    }
    members[0]->wake();
    const auto named =
        has_longer_list ? "its list has 2 members, ours 3" : "its lease_ms is 300, ours 400";
    const auto end = Loop::Clock::now() + 30s;
    while (log.find(named) == std::string::npos && Loop::Clock::now() < end) loop.run_for(5ms);
    EXPECT_NE(log.find(named), std::string::npos) << log;
    loop.run_for(500ms);  // more than a lease
    EXPECT_EQ(members[0]->view().leader, nobody);
    EXPECT_EQ(members[1]->view().term, 0u) << "no message has got through";
  }
}

TEST(Services, TellTheirStatus) {
  Cluster cluster(1, timing_for(20s));
  cluster.wake_all();
  EXPECT_EQ(cluster.await_leader(), 0u);
  const std::string status = status_json(cluster[0]);
  EXPECT_TRUE(status.starts_with(R"({"cluster":"test","member":0,"members":1,"term":1,"leader":0,)"
                                 R"("leads":true,)"))
      << status;
}

TEST(Notes, SurviveTheWire) {
  const std::vector<Note> notes{
      {.kind = NoteKind::algorithm,
       .term = 5,
       .message = {Algorithm::Kind::decide, 3, 7, 1u << 30}},
      {.kind = NoteKind::renewal, .term = 1, .stamp = 99, .holds = true},
      {.kind = NoteKind::seconded, .term = 2, .stamp = 8, .promise_ms = 3000},
      {.kind = NoteKind::granted, .term = UINT64_MAX, .stamp = 8, .promise_ms = 1},
      {.kind = NoteKind::standing, .term = 3, .leader = 4},
      {.kind = NoteKind::refused, .term = 3},
      {.kind = NoteKind::probe, .term = 3},
      {.kind = NoteKind::alive, .term = 3},
      {.kind = NoteKind::prepare, .term = 3},
      {.kind = NoteKind::prepared, .term = 3, .stamp = 1u << 31},
      {.kind = NoteKind::resigned, .term = 3, .stamp = 9, .leader = 2, .next = 4}};
  for (const Note& note : notes) {
    std::vector<std::byte> bytes = encode(note);
    EXPECT_LE(bytes.size(), 29u);
    EXPECT_EQ(decode_note(bytes), note);
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_note(bytes));
    bytes.resize(bytes.size() - 2);
    EXPECT_FALSE(decode_note(bytes));
  }
  for (int tag = 0; tag < 256; ++tag) {
    const std::vector<std::byte> bytes{static_cast<std::byte>(tag)};
    EXPECT_FALSE(decode_note(bytes));
  }
}

TEST(Configurations, AreReadWithTheirPathsAndTimes) {
  const Folder folder;
  const NodeConfig config = read_config(folder.write(
      "good.toml",
      "cluster = \"a\"\nmember = 1\nmembers = [\"127.0.0.1:1\", \"[::1]:2\"]\ninsecure = true\n"
      "state = \"s\"\nwake = false\nstay = true\ngive_up_s = 5\n"
      "[timing]\nlease_ms = 300\nanswer_ms = 7\n"));
  EXPECT_EQ(config.service.transport.self, 1u);
  EXPECT_EQ(config.service.transport.members[1], (Endpoint{"::1", 2}));
  EXPECT_EQ(config.service.state_file, folder.file("s"));
  EXPECT_EQ(config.service.timing.renewal, 100ms);
  EXPECT_EQ(config.service.timing.answer, 7ms);
  EXPECT_FALSE(config.wakes);
  EXPECT_TRUE(config.stays);
}

TEST(Configurations, ThatAreWrongAreRefusedWithLineAndKey) {
  const Folder folder;
  const std::string good = "cluster = \"a\"\nmember = 0\nmembers = [\"127.0.0.1:1\"]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"cluster = \n", ":1: "},
      {"clusters = \"a\"\n", ":1: unknown key 'clusters' (did you mean 'cluster'?)"},
      {"cluster = \"a\"\nmember = 3\nmembers = [\"127.0.0.1:1\"]\n", ":2: member must be"},
      {"cluster = \"a b\"\n", ":1: cluster is wrong"},
      {"cluster = \"a\"\nmember = 0\nmembers = [\"nowhere\"]\n", ":3: members is wrong"},
      {good, "authority is missing"},
      {good + "insecure = true\nrevoked = [\"a\"]\n", ":5: revoked makes no sense"},
      {good + "insecure = 1\n", ":4: insecure must be true or false"},
      {good + "insecure = true\nkey = \"k\"\n", ":5: key makes no sense"},
      {good + "insecure = true\n[timing]\nlease_ms = 1\n", ":6: lease_ms must be"},
      {good + "insecure = true\n[timing]\npatience_ms = 1\n", "patience_ms must be at least"},
      {good + "authority = \"x\"\ncertificate = \"y\"\nkey = \"z\"\n", ":5: certificate is wrong"}};
  for (const auto& [text, sentence] : cases) {
    const std::string path = folder.write("bad.toml", text);
    const std::string error = error_of([&] { read_config(path); });
    EXPECT_NE(error.find(sentence), std::string::npos) << text << "\n" << error;
    EXPECT_TRUE(error.starts_with(path)) << error;
  }
}

}  // namespace
}  // namespace conclave::election
