// The answers of a member's status socket, also to hostile visitors; and the lease as other
// threads see it.
#include "election/status.hpp"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "election/election.hpp"
#include "election/service.hpp"

namespace conclave::election {
namespace {

using namespace std::chrono_literals;

// A member alone, which leads as soon as it is woken, with its status socket.
class Alone {
 public:
  Alone() {
    ServiceOptions options;
    options.transport.cluster = "test";
    options.transport.members = {{"127.0.0.1", 0}};
    options.timing = timing_for(20s);
    options.is_first_start = true;
    service_.emplace(loop_, std::move(options), Service::Callbacks{});
    endpoint_.emplace(loop_, path(), *service_);
  }
  ~Alone() { endpoint_.reset(); }

  static std::string path() { return "/tmp/conclave-status-" + std::to_string(::getpid()); }
  Service& service() { return *service_; }
  void run_for(Loop::Clock::duration time) { loop_.run_for(time); }
  void stop_answering() { endpoint_.reset(); }
  void answer_again() { endpoint_.emplace(loop_, path(), *service_); }

 private:
  Loop loop_;
  std::optional<Service> service_;
  std::optional<StatusEndpoint> endpoint_;
};

class Visitor {
 public:
  Visitor() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Visitor() { ::close(socket_); }
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  bool connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, Alone::path().c_str(), sizeof(address.sun_path) - 1);
    return ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  }
  void say(std::string_view text) const {
    ASSERT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // All that has come until the other end closes, or nothing comes for a second.
  std::string answer(Alone& member) const {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      member.run_for(5ms);
      char buffer[4096];
      ssize_t size = 0;
      while ((size = ::recv(socket_, buffer, sizeof(buffer), 0)) > 0) {
        text.append(buffer, static_cast<std::size_t>(size));
      }
      if (size == 0) return text;
    }
    return text;
  }

 private:
  int socket_;
};

std::string asked(Alone& member, std::string_view question) {
  const Visitor visitor;
  EXPECT_TRUE(visitor.connect());
  visitor.say(question);
  return visitor.answer(member);
}

::testing::AssertionResult has(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << text << "\" lacks \"" << part << '"';
}

TEST(Status, IsThatOfTheMomentOfTheAnswer) {
  Alone member;
  const Visitor early;
  ASSERT_TRUE(early.connect());
  member.run_for(20ms);
  member.service().wake();
  early.say("GET / HTTP/1.0\r\n\r\n");
  const std::string answer = early.answer(member);
  EXPECT_TRUE(has(answer, R"("leads":true,"lease_left_ms":1)"));  // 19 s and some
  EXPECT_TRUE(has(answer, R"("at_ms":)"));
  EXPECT_TRUE(has(answer, R"("time":"20)"));
}

TEST(Status, OfOtherPathsIsNotFound) {
  Alone member;
  EXPECT_TRUE(asked(member, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 200 "));
  EXPECT_TRUE(asked(member, "GET /?x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 200 "));
  EXPECT_TRUE(asked(member, "GET /nothing HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 404 "));
  EXPECT_TRUE(asked(member, "POST / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 400 "));
  EXPECT_TRUE(asked(member, "POST /add?member=1&at=h HTTP/1.1\r\n").starts_with("HTTP/1.0 400 "));
  EXPECT_TRUE(asked(member, "POST /remove?member=0 HTTP/1.1\r\n").starts_with("HTTP/1.0 409 "))
      << "the list is fixed";
  EXPECT_TRUE(asked(member, std::string(3000, 'x')).starts_with("HTTP/1.0 405 "));
}

TEST(Status, HasMetricsInTheTextOfPrometheus) {
  Alone member;
  member.service().wake();
  const std::string answer = asked(member, "GET /metrics HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(has(answer, "Content-Type: text/plain; version=0.0.4"));
  EXPECT_TRUE(has(answer, "# TYPE conclave_leads gauge\n"
                          "conclave_leads{cluster=\"test\",member=\"0\"} 1\n"));
  EXPECT_TRUE(has(answer, "conclave_term{cluster=\"test\",member=\"0\"} 1\n"));
  EXPECT_TRUE(has(answer, "conclave_refusals_total{cluster=\"test\",member=\"0\","
                          "reason=\"revoked\"} 0\n"));
}

TEST(Status, IsToldBesideFortySilentVisitors) {
  Alone member;
  std::vector<std::unique_ptr<Visitor>> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(std::make_unique<Visitor>());
    ASSERT_TRUE(silent.back()->connect());
    member.run_for(2ms);
  }
  EXPECT_TRUE(has(asked(member, "GET / HTTP/1.0\r\n\r\n"), "\"cluster\":\"test\""));
}

TEST(Status, ComesBackAfterDescriptorsRanOut) {
  Alone member;
  const Visitor unlucky;
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_TRUE(unlucky.connect());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  member.run_for(50ms);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  member.run_for(300ms);
  EXPECT_TRUE(has(asked(member, "GET / HTTP/1.0\r\n\r\n"), "\"cluster\":\"test\""));
}

TEST(Status, IsForTheOwnerAlone) {
  const mode_t before = ::umask(0);
  const Alone member;
  ::umask(before);
  struct stat about {};
  ASSERT_EQ(::stat(Alone::path().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u, 0600u);
}

// Another thread makes files meanwhile, and must get the modes it asks for.
TEST(Status, LeavesTheUmaskOfTheProcessAlone) {
  const mode_t before = ::umask(022);
  Alone member;
  std::atomic<bool> is_over = false;
  std::atomic<int> wrong = 0;
  std::thread other([&] {
    while (!is_over) {
      const mode_t now = ::umask(022);
      if (now != 022) ++wrong;
    }
  });
  for (int i = 0; i < 2000; ++i) {
    member.stop_answering();
    member.answer_again();
  }
  is_over = true;
  other.join();
  ::umask(before);
  EXPECT_EQ(wrong, 0);
}

std::string free_endpoint() {
  ServiceOptions options;
  Loop loop;
  options.transport.cluster = "probe";
  options.transport.members = {{"127.0.0.1", 0}};
  const Service probe(loop, std::move(options), {});
  return "127.0.0.1:" + std::to_string(probe.port());
}

// Under the thread sanitizer this also shows that there is no race.
TEST(Elections, AnswerOtherThreadsWhileTheyRun) {
  std::unique_ptr<Election> election;
  std::atomic<std::uint64_t> won = 0;
  std::atomic<bool> has_lost = false;
  ElectionOptions options{.cluster = "test", .members = {free_endpoint()}};
  options.lease = 2s;  // not lost where the machine is busy
  election = std::make_unique<Election>(
      options, ElectionCallbacks{.won = [&](std::uint64_t token) { won = token; },
                                 .lost = [&](std::uint64_t) { has_lost = true; }});
  EXPECT_FALSE(election->may_act());
  std::thread worker([&] {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (std::chrono::steady_clock::now() < end && !election->token()) {
      std::this_thread::yield();
    }
    while (std::chrono::steady_clock::now() < end && won == 0) std::this_thread::yield();
    EXPECT_EQ(election->term(), won);
    EXPECT_GT(election->lease_left(), 0ms);
    EXPECT_LT(election->lease_left(), 2s);
    election->retire();
  });
  election->run();
  worker.join();
  EXPECT_TRUE(has_lost);
  EXPECT_FALSE(election->may_act());
  EXPECT_EQ(election->token(), std::nullopt);
  EXPECT_EQ(election->lease_left(), 0ms);
}

}  // namespace
}  // namespace conclave::election
