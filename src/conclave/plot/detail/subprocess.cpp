#include "conclave/plot/detail/subprocess.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <system_error>
#include <utility>

#include "conclave/base/descriptor.hpp"

namespace conclave::plot::detail {
namespace {

constexpr std::size_t most_errors = 4096;

[[noreturn]] void fail(int code, const char* what) {
  throw std::system_error(code, std::generic_category(), what);
}

struct Pipe {
  Descriptor reading, writing;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno, "cannot make a pipe");
    reading = Descriptor(ends[0]);
    writing = Descriptor(ends[1]);
  }
};

// The steps of the child before it becomes the other program.
class Preparation {
 public:
  Preparation(const Pipe& output, const Pipe& errors, const std::string& folder) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output.writing.number(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors.writing.number(), STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
    posix_spawnattr_init(&attributes_);
    sigset_t ignored;  // by this program, but not by others
    sigemptyset(&ignored);
    sigaddset(&ignored, SIGPIPE);
    sigaddset(&ignored, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes_, &ignored);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  Preparation(const Preparation&) = delete;
  Preparation& operator=(const Preparation&) = delete;
  ~Preparation() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  // The error code, 0 where the program has started.
  int spawn(pid_t& process, const std::vector<std::string>& words) const {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
      arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: spawn changes none
    }
    arguments.push_back(nullptr);
    return posix_spawnp(&process, arguments.front(), &actions_, &attributes_, arguments.data(),
                        environ);
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// Reads what is there; false at the end.
bool read_some(const Descriptor& from, std::string& into, std::size_t most) {
  std::array<char, 1 << 16> piece{};
  const ssize_t length = read(from.number(), piece.data(), piece.size());
  if (length < 0 && errno == EINTR) return true;
  if (length <= 0) return false;
  const auto room = most - std::min(most, into.size());
  into.append(piece.data(), std::min(static_cast<std::size_t>(length), room));
  return true;
}

// Both at once, so that the program never waits for a full pipe.
void read_all(Pipe& output, Pipe& errors, ProcessResult& result) {
  while (output.reading.number() >= 0 || errors.reading.number() >= 0) {
    std::array<pollfd, 2> waiting{pollfd{output.reading.number(), POLLIN, 0},
                                  pollfd{errors.reading.number(), POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), -1) < 0 && errno != EINTR) fail(errno, "cannot wait");
    const bool has_output = waiting[0].fd >= 0 && waiting[0].revents != 0;
    const bool has_errors = waiting[1].fd >= 0 && waiting[1].revents != 0;
    if (has_output && !read_some(output.reading, result.output, SIZE_MAX)) output.reading.close();
    if (has_errors && !read_some(errors.reading, result.errors, most_errors)) {
      errors.reading.close();
    }
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) fail(errno, "cannot wait for another program");
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& words, const std::string& folder) {
  Pipe output;
  Pipe errors;
  ProcessResult result;
  pid_t process = 0;
  const int problem = Preparation(output, errors, folder).spawn(process, words);
  if (problem == EAGAIN || problem == ENOMEM) fail(problem, "cannot start another program");
  if (problem != 0) return result;
  result.has_started = true;
  output.writing.close();
  errors.writing.close();
  read_all(output, errors, result);
  result.status = wait_for(process);
  return result;
}

}  // namespace conclave::plot::detail
