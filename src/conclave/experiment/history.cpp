#include "conclave/experiment/history.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "conclave/base/checksum.hpp"
#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::experiment {
namespace {

constexpr std::array<std::string_view, 3> formats{"wide", "long", "npy"};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view around = " {}";
  const std::size_t begin = text.find_first_not_of(around);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(around) - begin + 1);
}

// Fields and values: "digit = 3, marked = true" or "leader=1 epoch=2".
std::vector<std::pair<std::string_view, std::string_view>> fields_in(std::string_view state) {
  const char between = state.find(',') == state.npos && !state.starts_with('{') ? ' ' : ',';
  std::vector<std::pair<std::string_view, std::string_view>> fields;
  for (std::string_view rest = state; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(between));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) continue;
    fields.emplace_back(trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1)));
  }
  return fields;
}

// The bytes of a number in the order of little-endian machines.
template <class Number>
void append_bytes(std::string& text, Number number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(bits >> shift & 0xff);
}

// A string of Python in single quotes.
std::string python_string(std::string_view text) {
  std::string result = "'";
  for (const char c : printable(text)) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + '\'';
}

constexpr std::size_t most_bytes = std::size_t{1} << 28;

// The lines of a file after its header.
class Reader {
 public:
  Reader(const std::string& path, std::string_view text) : path_(path), text_(text) {
    const std::vector<std::string> header = take_csv_line(text_);
    has_trials_ = !header.empty() && header.front() == "trial";
    std::vector<std::string> wanted{"state", "count"};
    if (has_trials_) wanted.insert(wanted.begin(), "trial");
    if (header != wanted) refuse("the first line must be state,count");
  }

  std::vector<NamedCount> agents() {
    std::vector<NamedCount> result;
    std::string trial;
    while (!text_.empty()) {
      ++line_;
      std::vector<std::string> fields = take_csv_line(text_);
      if (fields.size() != (has_trials_ ? 3u : 2u)) refuse("it has another number of fields");
      if (has_trials_ && !trial.empty() && fields[0] != trial) {
        refuse("another trial begins; keep the lines of one");
      }
      if (has_trials_) trial = fields[0];
      const auto count = parse_count(fields.back());
      const auto agents = count ? count->as_uint64() : std::nullopt;
      if (!agents || *agents == 0 || *agents > catalog::most_agents) {
        refuse(fmt::format("'{}' is no number of agents", excerpt(fields.back())));
      }
      result.push_back({std::move(fields[fields.size() - 2]), *agents});
    }
    if (result.empty()) refuse("no agents follow");
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(fmt::format("'{}' is not a configuration: line {}: {}", path_, line_, what));
  }

  const std::string& path_;
  std::string_view text_;
  bool has_trials_ = false;
  std::size_t line_ = 1;
};

}  // namespace

HistoryFormat history_format(const std::string& name, const std::string& path) {
  if (name.empty()) return path.ends_with(".npy") ? HistoryFormat::npy : HistoryFormat::wide;
  const auto* const found = std::ranges::find(formats, name);
  if (found == formats.end()) throw Error(unknown_name("history format", name, formats));
  return static_cast<HistoryFormat>(found - formats.begin());
}

std::string field_value(std::string_view state, const std::string& field) {
  for (const auto& [name, value] : fields_in(state)) {
    if (name == field) return std::string(value);
  }
  return "-";
}

void check_field(const std::string& field, std::span<const std::string> states,
                 std::span<const Variable> declared) {
  std::vector<std::string_view> known;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(known, name) == known.end()) known.push_back(name);
  };
  for (const Variable& each : declared) add(each.name);
  for (const std::string& state : states) {
    for (const auto& [name, value] : fields_in(state)) add(name);
  }
  if (std::ranges::find(known, field) != known.end() || states.empty()) return;
  if (known.empty()) {
    throw Error(fmt::format("--history-by {}: states such as '{}' have no fields", excerpt(field),
                            excerpt(states.front())));
  }
  throw Error(unknown_name("field of the states", field, known));
}

HistoryWriter::HistoryWriter(const std::string& path, HistoryFormat format, std::string field,
                             std::span<const Variable> declared)
    : format_(format), field_(std::move(field)), declared_(declared), output_(path) {
  if (format_ != HistoryFormat::long_table) return;
  output_.write(fmt::format("trial,time,{},count\n", field_.empty() ? "state" : csv_field(field_)));
}

// The column of each name of a history; new columns come behind the others.
std::vector<std::uint32_t> HistoryWriter::columns_of(const History& history) {
  std::vector<std::uint32_t> result;
  std::map<std::string_view, std::uint32_t> numbers;
  columns_.reserve(columns_.size() + history.names.size());  // the views stay
  for (const std::string& column : columns_) {
    numbers.emplace(column, static_cast<std::uint32_t>(numbers.size()));
  }
  if (!field_.empty()) check_field(field_, history.names, declared_);
  for (const std::string& name : history.names) {
    std::string value = field_.empty() ? name : field_value(name, field_);
    auto found = numbers.find(value);
    if (found == numbers.end()) {
      const auto number = static_cast<std::uint32_t>(columns_.size());
      columns_.push_back(std::move(value));
      found = numbers.emplace(columns_.back(), number).first;
    }
    result.push_back(found->second);
  }
  return result;
}

void HistoryWriter::add(std::uint64_t trial, const History& history) {
  const std::vector<std::uint32_t> column = columns_of(history);
  for (const History::Point& point : history.points) {
    Line line{trial, point.time, {}};
    for (const auto& [name, count] : point.counts) line.counts.emplace_back(column[name], count);
    std::ranges::sort(line.counts);
    Counts summed;
    for (const auto& [number, count] : line.counts) {
      if (summed.empty() || summed.back().first != number) summed.emplace_back(number, 0);
      summed.back().second += count;
    }
    line.counts = std::move(summed);
    if (format_ == HistoryFormat::long_table) {
      write_long(line);
    } else {
      lines_.push_back(std::move(line));
    }
  }
}

void HistoryWriter::write_long(const Line& line) {
  for (const auto& [column, count] : line.counts) {
    output_.write(fmt::format("{},{},{},{}\n", line.trial, json_number(line.time),
                              csv_field(columns_[column]), count));
  }
}

void HistoryWriter::write_wide() {
  std::string text = "trial,time";
  for (const std::string& column : columns_) text += ',' + csv_field(column);
  output_.write(text + '\n');
  for (const Line& line : lines_) {
    text = fmt::format("{},{}", line.trial, json_number(line.time));
    auto next = line.counts.begin();
    for (std::uint32_t column = 0; column < columns_.size(); ++column) {
      const bool is_occupied = next != line.counts.end() && next->first == column;
      text += fmt::format(",{}", is_occupied ? next->second : 0);
      if (is_occupied) ++next;
    }
    output_.write(text + '\n');
  }
}

// Version 2 of the format: a magic word, the length of a Python literal that describes the rows,
// padded so that these begin at a multiple of 64 bytes, and the rows.
void HistoryWriter::write_npy() {
  std::string header = "{'descr': [('trial', '<u8'), ('time', '<f8')";
  for (const std::string& column : columns_) {
    header += fmt::format(", ({}, '<u8')", python_string(column));
  }
  header += fmt::format("], 'fortran_order': False, 'shape': ({},), }}", lines_.size());
  constexpr std::size_t before = 12;
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  std::string text = "\x93NUMPY\x02";
  text += '\0';
  for (int shift = 0; shift < 32; shift += 8) {
    text += static_cast<char>(header.size() >> shift & 0xff);
  }
  output_.write(text + header);
  for (const Line& line : lines_) {
    text.clear();
    append_bytes(text, line.trial);
    append_bytes(text, line.time);
    std::vector<AgentCount> counts(columns_.size());
    for (const auto& [column, count] : line.counts) counts[column] = count;
    for (const AgentCount count : counts) append_bytes(text, count);
    output_.write(text);
  }
}

void HistoryWriter::finish() {
  if (format_ == HistoryFormat::wide) write_wide();
  if (format_ == HistoryFormat::npy) write_npy();
  output_.finish();
}

std::string configuration_header(bool has_trials) {
  return has_trials ? "trial,state,count\n" : "state,count\n";
}

std::string configuration_lines(std::uint64_t trial, bool has_trials,
                                const std::vector<NamedCount>& agents) {
  std::string text;
  for (const NamedCount& each : agents) {
    if (has_trials) text += fmt::format("{},", trial);
    text += fmt::format("{},{}\n", csv_field(each.name), each.count);
  }
  return text;
}

std::shared_ptr<const catalog::GivenStart> read_configuration(const std::string& path) {
  const std::string text = read_text(path, most_bytes);
  return std::make_shared<const catalog::GivenStart>(
      catalog::GivenStart{.agents = Reader(path, text).agents(),
                          .label = fmt::format("given:{:016x}", checksum_of(text))});
}

Interactions agents_in(const catalog::GivenStart& start) {
  Interactions agents;
  for (const NamedCount& each : start.agents) agents += each.count;
  return agents;
}

}  // namespace conclave::experiment
