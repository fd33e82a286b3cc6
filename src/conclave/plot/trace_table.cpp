#include "conclave/plot/trace_table.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::plot {
namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 30;
constexpr std::size_t longest_name = 100;

}  // namespace

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= longest_name && is_letter(text.front()) &&
         std::ranges::all_of(
             text, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '.'; });
}

bool is_column(const std::string& text) {
  constexpr std::size_t longest = 300;
  constexpr std::string_view others = "_-.= ";
  return !text.empty() && text.size() <= longest && text.front() != ' ' &&
         std::ranges::all_of(text, [&](char c) {
           return is_letter(c) || is_digit(c) || others.find(c) != std::string_view::npos;
         });
}

TraceTable::TraceTable(const std::string& path) : path_(path) {
  const std::string content = read_text(path, most_bytes);
  std::string_view text = content;
  if (!text.empty()) header_ = take_csv_line(text);
  for (std::string& name : header_) {
    std::erase_if(name, [](char c) { return c == '{' || c == '}' || c == ','; });
    if (is_column(name)) continue;
    throw Error(fmt::format("'{}' is no trace: '{}' names no column", path, excerpt(name)));
  }
  while (!text.empty()) {
    lines_.push_back(take_csv_line(text));
    if (lines_.back().size() == header_.size()) continue;
    throw Error(fmt::format("'{}' is not a trace: line {} has {} fields, the first has {}", path,
                            lines_.size() + 1, lines_.back().size(), header_.size()));
  }
  if (lines_.empty()) throw Error(fmt::format("'{}' holds no trace", path));
}

bool TraceTable::has(const std::string& column) const {
  return std::ranges::find(header_, column) != header_.end();
}

bool TraceTable::holds_numbers(const std::string& name) const {
  const std::size_t index = column(name);
  bool has_some = false;
  for (std::size_t i = 0; i < lines(); ++i) {
    const std::string& text = field(i, index);
    if (text.empty() || text == "null") continue;
    if (text != "true" && text != "false" && !parse_real(text)) return false;
    has_some = true;
  }
  return has_some;
}

std::size_t TraceTable::column(const std::string& name) const {
  const auto found = std::ranges::find(header_, name);
  if (found != header_.end()) return static_cast<std::size_t>(found - header_.begin());
  throw Error(
      unknown_name("column", name, std::vector<std::string_view>(header_.begin(), header_.end())));
}

const std::string& TraceTable::field(std::size_t line, std::size_t column) const {
  return lines_[line][column];
}

void TraceTable::refuse(std::size_t line, std::size_t column, const char* expected) const {
  throw Error(fmt::format("'{}', line {}: {} is '{}', and {} is expected", path_, line + 2,
                          header_[column], excerpt(field(line, column)), expected));
}

std::optional<double> TraceTable::real(std::size_t line, std::size_t column) const {
  const std::string& text = field(line, column);
  if (text.empty() || text == "null") return std::nullopt;
  if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
  const auto number = parse_real(text);
  if (!number) refuse(line, column, "a number");
  return number;
}

std::uint64_t TraceTable::whole(std::size_t line, std::size_t column) const {
  const auto count = parse_count(field(line, column));
  const auto number = count ? count->as_uint64() : std::nullopt;
  if (!number) refuse(line, column, "a whole number");
  return *number;
}

const std::string& TraceTable::name(std::size_t line, std::size_t column) const {
  const std::string& text = field(line, column);
  if (!text.empty() && !is_name(text)) refuse(line, column, "a name");
  return text;
}

}  // namespace conclave::plot
