#include "election/log_limit.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace conclave::election {
namespace {

constexpr std::uint32_t most_written = 20;
constexpr Instant window = std::chrono::seconds(10);
constexpr std::size_t most_kinds = 64;  // beyond them, all others count as one
constexpr std::size_t longest_name = 160;

bool is_hexadecimal(char each) {
  return (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
}

// Numbers, also hexadecimal ones that contain a digit, become '#'.
std::string without_numbers(std::string_view line) {
  std::string name;
  while (!line.empty() && name.size() < longest_name) {
    const auto end = std::ranges::find_if_not(line, is_hexadecimal);
    const std::string_view word = line.substr(0, static_cast<std::size_t>(end - line.begin()));
    const bool is_number = word.find_first_of("0123456789") != std::string_view::npos;
    name += is_number ? std::string("#") : std::string(word);
    line.remove_prefix(word.size());
    if (line.empty()) break;
    name += line.front();
    line.remove_prefix(1);
  }
  return name;
}

}  // namespace

std::vector<std::string> LogLimit::take(Instant now, std::string_view line) {
  std::vector<std::string> lines;
  std::erase_if(kinds_, [&](const auto& entry) {
    const Kind& kind = entry.second;
    if (now < kind.since + window) return false;
    if (kind.left_out > 0)
      lines.push_back(fmt::format("{} more lines like this one within {} s: {}", kind.left_out,
                                  (now - kind.since) / std::chrono::seconds(1), kind.last));
    return true;
  });
  std::string name = without_numbers(line);
  if (kinds_.size() >= most_kinds && !kinds_.contains(name)) name.clear();
  Kind& kind = kinds_.try_emplace(name, Kind{.since = now}).first->second;
  if (kind.written < most_written) {
    ++kind.written;
    lines.emplace_back(line);
  } else {
    ++kind.left_out;
    kind.last = line;
  }
  return lines;
}

}  // namespace conclave::election
