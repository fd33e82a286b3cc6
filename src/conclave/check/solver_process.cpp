// A solver as a child process, with pipes for its standard input and output.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/check/check.hpp"

namespace conclave::check {
namespace {

constexpr int milliseconds_per_query = 300'000;

std::vector<std::string> command_of(const std::string& name) {
  if (name == "z3") return {"z3", "-in", fmt::format("-t:{}", milliseconds_per_query)};
  if (name == "cvc5") {
    return {
        "cvc5", "--incremental",         "--lang=smt2",
        "-q",   "--full-saturate-quant", fmt::format("--tlimit-per={}", milliseconds_per_query)};
  }
  throw Error(fmt::format("unknown solver '{}': cvc5 and z3 are supported", name));
}

}  // namespace

SolverProcess::SolverProcess(const std::string& name) : name_(name) {
  std::signal(SIGPIPE, SIG_IGN);
  std::vector<std::string> words = command_of(name);
  std::vector<char*> arguments;
  for (std::string& each : words) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  std::array<int, 2> in{}, out{};
  if (pipe2(in.data(), O_CLOEXEC) != 0 || pipe2(out.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  const int failure =
      posix_spawnp(&child_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(in[0]);
  close(out[1]);
  to_ = in[1];
  from_ = out[0];
  if (failure != 0) throw Error(fmt::format("{} cannot be started: install it", name));
  send("(set-logic ALL)\n");
}

SolverProcess::~SolverProcess() {
  close(to_);
  close(from_);
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

void SolverProcess::send(std::string_view commands) {
  while (!commands.empty()) {
    const ssize_t written = write(to_, commands.data(), commands.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Error(fmt::format("{} has ended", name_));
    commands.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string SolverProcess::answer() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> buffer{};
    const ssize_t size = read(from_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw Error(fmt::format("{} has ended", name_));
    unread_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

void SolverProcess::refute(std::string_view formula, std::string_view obligation) {
  ++queries_;
  send(fmt::format("(push 1)\n(assert {})\n(check-sat)\n(pop 1)\n", formula));
  const std::string found = answer();
  if (found == "unsat") return;
  throw Rejected(fmt::format("{}: {} answers {}", obligation, name_, found.substr(0, 200)));
}

}  // namespace conclave::check
