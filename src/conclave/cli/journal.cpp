#include "conclave/cli/journal.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/json.hpp"
#include "election/system.hpp"

namespace conclave::cli {
namespace {

constexpr std::size_t longest_line =
    4000;  // a pipe takes PIPE_BUF = 4096 bytes whole or not at all

bool has_room(int descriptor) {
  pollfd end{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&end, 1, 0) == 1 && (end.revents & POLLOUT) != 0;
}

}  // namespace

bool write_line(int descriptor, std::string text) {
  if (text.size() > longest_line) text.resize(longest_line);
  text += '\n';
  if (!has_room(descriptor)) return false;
  ssize_t written = -1;
  do {
    written = ::write(descriptor, text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  return written == static_cast<ssize_t>(text.size());
}

Journal::Journal(Format format, bool is_verbose, std::string cluster, election::MemberIndex member)
    : format_(format), is_verbose_(is_verbose), cluster_(std::move(cluster)), member_(member) {}

void Journal::add(Level level, std::string_view event, std::string_view message) {
  const bool is_wanted = format_ == Format::json || is_verbose_ || level == Level::error;
  if (is_wanted && !write_line(STDERR_FILENO, line(level, event, message))) ++lost_;
}

std::string Journal::line(Level level, std::string_view event, std::string_view message) const {
  if (format_ == Format::text) return fmt::format("conclave: {}", message);
  const Json json{{"time", election::wall_clock_text()},
                  {"level", level == Level::error ? "error" : "info"},
                  {"cluster", cluster_},
                  {"member", member_},
                  {"event", event},
                  {"message", message.substr(0, longest_line / 2)}};
  return json.dump(-1, Json::Encoding::ascii);
}

}  // namespace conclave::cli
