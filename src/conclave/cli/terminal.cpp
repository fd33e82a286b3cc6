#include "conclave/cli/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <tuple>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/text_table.hpp"

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
  if (clears_line) std::ignore = ::write(STDERR_FILENO, clear_line.data(), clear_line.size());
  _exit(interrupted_status);
}

// A signal that is ignored, as a hangup under nohup, stays ignored.
void handle_interrupts(void (*handler)(int)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(signal, handler) == SIG_IGN) std::signal(signal, SIG_IGN);
  }
}

// A terminal that does not know its width, or has none worth the name, is taken for a wide one.
std::size_t width_of(int descriptor) {
  constexpr std::size_t least = 20;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col < least) return table_width;
  return size.ws_col;
}

}  // namespace

// A closed standard output stays one that cannot be written: it is opened for reading. What cannot
// be written, also beyond `ulimit -f`, is an error of the write, after which things are cleaned up.
void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  constexpr std::array<int, 3> wrong_ways{O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    if (open("/dev/null", wrong_ways[static_cast<std::size_t>(descriptor)]) != descriptor) return;
  }
}

void tell_text(std::string_view text) {
  constexpr std::size_t most = 4000;
  const bool ends_line = text.ends_with('\n');
  if (ends_line) text.remove_suffix(1);
  const std::string shown = excerpt(text, most) + (ends_line ? "\n" : "");
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t output_width(const std::string& output) {
  return output.empty() ? width_of(STDOUT_FILENO) : table_width;
}

std::size_t error_width() { return width_of(STDERR_FILENO); }

std::string format_option(const std::string& given, std::span<const std::string_view> allowed) {
  std::string format = given == "text" ? "table" : given;
  if (std::ranges::find(allowed, format) != allowed.end()) return format;
  throw Error(unknown_name("format", given, allowed));
}

std::string four_digits(double value) { return fmt::format("{:.4g}", value); }

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

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
  handle_interrupts(exit_on_signal);
}

const std::atomic<bool>& interrupted_flag() {
  handle_interrupts(on_signal);
  return interrupted;
}

}  // namespace conclave::cli
