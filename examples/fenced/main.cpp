// A job that only the leader may do, and a store that lets no former leader in: start one per
// address with the same store, as
//   fenced 0 store.txt 127.0.0.1:7001 127.0.0.1:7002 127.0.0.1:7003      and so on for 1 and 2.
// Whoever leads adds one to the number in the store ten times a second. Kill the leader, stop it
// (kill -STOP) or end it (kill): another goes on, and the number never goes back.
//
// Asking "do I lead?" before each write is not enough: a process can be stopped right after the
// answer, for longer than its lease, and write when it wakes. So each write carries the leader's
// token, and the store refuses a token older than the newest it has seen.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>

#include <conclave/election/election.hpp>

namespace {

// Stands for a database: a file of two numbers, under a lock.
class Store {
 public:
  explicit Store(std::string path) : path_(std::move(path)) {}

  // False: refused, because a later leader has been here. Otherwise the number after the write.
  bool add_one(std::uint64_t token, std::uint64_t& number) const {
    const int lock = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::flock(lock, LOCK_EX);
    std::uint64_t newest = 0;
    number = 0;
    std::ifstream(path_) >> newest >> number;
    const bool is_allowed = token >= newest;  // the fence
    if (is_allowed) {
      std::ofstream(path_ + ".new") << token << ' ' << ++number << '\n';
      std::rename((path_ + ".new").c_str(), path_.c_str());
    }
    ::close(lock);
    return is_allowed;
  }

 private:
  std::string path_;
};

std::atomic<bool> is_told_to_end{false};

// The leader's work, in a thread of its own: elections go on beside it.
void work(const conclave::election::Election& election, const Store& store,
          const std::atomic<bool>& is_over) {
  for (; !is_over; std::this_thread::sleep_for(std::chrono::milliseconds(100))) {
    const auto token = election.token();
    if (!token) continue;
    std::uint64_t number = 0;
    const bool is_done = store.add_one(*token, number);
    std::printf("%s %llu with token %llu\n", is_done ? "wrote" : "refused at",
                static_cast<unsigned long long>(number), static_cast<unsigned long long>(*token));
    std::fflush(stdout);
  }
}

// SIGTERM: hand over, then leave.
void wait_for_end(conclave::election::Election& election, const std::atomic<bool>& is_over) {
  while (!is_told_to_end && !is_over) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  election.retire();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) return std::fprintf(stderr, "usage: fenced SELF STORE HOST:PORT...\n"), 2;
  ::signal(SIGTERM, [](int) { is_told_to_end = true; });
  conclave::election::ElectionOptions options;
  options.cluster = "example";  // without certificates: loopback addresses only
  options.self = static_cast<std::uint32_t>(std::atoi(argv[1]));
  options.members.assign(argv + 3, argv + argc);
  options.state_file = std::string(argv[2]) + "." + argv[1];  // tokens must not start anew
  options.founds = !std::filesystem::exists(argv[2]);  // a store that is new has had no leader
  options.lease = std::chrono::milliseconds(1000);

  conclave::election::Election election(options, {});
  const Store store(argv[2]);
  std::atomic<bool> is_over{false};
  std::thread worker([&] { work(election, store, is_over); });
  std::thread watcher([&] { wait_for_end(election, is_over); });
  election.run();
  is_over = true;
  worker.join();
  watcher.join();
} catch (const std::exception& error) {
  return std::fprintf(stderr, "fenced: %s\n", error.what()), 1;
}
