#include "conclave/cli/terminal.hpp"

#include <unistd.h>

#include <csignal>
#include <optional>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave::cli {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "used in a signal handler");

void on_signal(int signal) {
  interrupted = true;
  std::signal(signal, SIG_DFL);
}

}  // namespace

bool error_is_terminal() { return isatty(STDERR_FILENO) == 1; }

Interactions count_option(std::string_view option, const std::string& text) {
  const std::optional<Interactions> count = parse_count(text);
  if (!count) {
    throw Error(
        fmt::format("{} takes a whole number such as 1000, 1e6 or 2^20, not '{}'", option, text));
  }
  return *count;
}

std::uint64_t count_option_64(std::string_view option, const std::string& text, std::uint64_t low,
                              std::uint64_t high) {
  const Interactions count = count_option(option, text);
  if (count < low || count > high) {
    throw Error(fmt::format("{} takes a number from {} to {}, not {}", option, low, high, text));
  }
  return *count.as_uint64();
}

double real_option(std::string_view option, const std::string& text) {
  const std::optional<double> value = parse_real(text);
  if (!value || *value < 0) {
    throw Error(fmt::format("{} takes a number such as 100 or 2.5e3, not '{}'", option, text));
  }
  return *value;
}

std::vector<catalog::Setting> settings_option(const std::vector<std::string>& params) {
  std::vector<catalog::Setting> result;
  for (const std::string& text : params) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(fmt::format("--param takes NAME=VALUE, such as m=20, not '{}'", text));
    }
    result.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return result;
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

const std::atomic<bool>& interrupted_flag() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  return interrupted;
}

}  // namespace conclave::cli
