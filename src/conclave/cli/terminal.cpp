#include "conclave/cli/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <tuple>

namespace conclave::cli {
namespace {

// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): signal handlers take no context.
std::atomic<bool> interrupted = false;
std::atomic<bool> clears_line = false;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

void exit_on_signal(int) {
  constexpr std::string_view clear_line = "\r\033[K";
  constexpr int interrupted_status = 130;
  if (clears_line) std::ignore = write(STDERR_FILENO, clear_line.data(), clear_line.size());
  _exit(interrupted_status);
}

}  // namespace

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (column > 0 && indent + column + 1 + word.size() > width) {
      result += '\n' + std::string(indent, ' ');
      column = 0;
    }
    if (column > 0) result += ' ';
    column += word.size() + (column > 0 ? 1 : 0);
    result += word;
  }
  return result;
}

void exit_when_interrupted() {
  clears_line = error_is_terminal();
  std::signal(SIGINT, exit_on_signal);
  std::signal(SIGTERM, exit_on_signal);
}

const std::atomic<bool>& interrupted_flag() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return interrupted;
}

}  // namespace conclave::cli
