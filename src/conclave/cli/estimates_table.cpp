#include "conclave/cli/estimates_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/printable.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/cli/terminal.hpp"

namespace conclave::cli {
namespace {

std::string logarithm(double value) {
  return std::isfinite(value) ? fmt::format("{:.4f}", value) : "-";
}

// "LN T", of the expected time in interactions, or "LN P", of the probability of an attempt.
std::string estimates_title(std::span<const EstimateLine> estimates) {
  const auto by_attempt = std::ranges::count_if(estimates, [](const EstimateLine& each) {
    return each.estimate->row.subject().by_attempt();
  });
  if (by_attempt == 0) return "LN T";
  return by_attempt == std::ssize(estimates) ? "LN P" : "LN T OR P";
}

// One line for each function of each way, and one for all ways where there are several. What lines
// of a cell have in common stands in the first.
void add_estimate(TextTable& lines, const rare::Row& row, std::vector<std::string> about) {
  const rare::Subject& subject = row.subject();
  const auto add = [&](const std::string& way, const std::string& function, const rare::Time& time,
                       const char* verdict) {
    const rare::Time shown = row.displayed(time);
    std::vector<std::string> line = std::exchange(about, std::vector<std::string>(about.size()));
    line.insert(line.end(), {way, function, logarithm(shown.ln_time), logarithm(shown.ln_low),
                             logarithm(shown.ln_high), verdict});
    lines.add(std::move(line));
  };
  const auto verdict = [](bool confirmed) { return confirmed ? "yes" : "no"; };
  for (const rare::WayResult& way : row.ways()) {
    for (const std::size_t i : way.functions) {
      const bool is_first = i == way.functions.front();
      add(is_first ? subject.ways[way.way].name : "", subject.functions[i].name,
          row.estimates()[i].time, is_first ? verdict(way.confirmed) : "");
    }
  }
  if (row.ways().size() > 1) add("all", "", row.time(), verdict(row.confirmed()));
}

std::string warnings_text(const sweep::CellEstimate& estimate, std::size_t width) {
  const rare::Row& row = estimate.row;
  std::string text;
  const auto add = [&](const std::string& what, const std::vector<std::string>& warnings) {
    for (const std::string& each : warnings) {
      const std::string line = fmt::format("cell {}, {}: {}", estimate.cell, what, each);
      text += wrapped(printable(line), width, 2) + '\n';
    }
  };
  for (const rare::WayResult& way : row.ways()) {
    const std::string& name = row.subject().ways[way.way].name;
    for (const std::size_t i : way.functions) {
      add(fmt::format("{} by {}", name, row.subject().functions[i].name),
          row.estimates()[i].warnings);
    }
    add(name, way.warnings);
  }
  return text;
}

using Lines = std::span<const EstimateLine>;

const std::string& protocol_of(const EstimateLine& line) {
  return line.estimate->row.subject().protocol;
}

// A table of its own for each protocol, so that its name needs no column.
std::string table_of_one(Lines estimates, std::size_t width) {
  using enum TextTable::Align;
  TextTable lines({{"CELL"},
                   {"N"},
                   {"SETTING", left, true},
                   {"TRIALS", right, true},
                   {"WAY", left},
                   {"BY", left, true},
                   {estimates_title(estimates)},
                   {"95% LOW"},
                   {"95% HIGH"},
                   {"CONFIRMED", left}});
  std::string warnings;
  for (const EstimateLine& each : estimates) {
    const rare::Row& row = each.estimate->row;
    add_estimate(lines, row,
                 {fmt::format("{}", each.estimate->cell), fmt::format("{}", row.subject().n),
                  each.setting, each.repetitions});
    warnings += warnings_text(*each.estimate, width);
  }
  return fmt::format("rare failures of {}\n{}{}{}", printable(protocol_of(estimates.front())),
                     lines.text(width), warnings.empty() ? "" : "\n", warnings);
}

}  // namespace

std::string estimates_table(const std::vector<EstimateLine>& estimates, std::size_t width) {
  std::string text;
  for (Lines left = estimates; !left.empty();) {
    const auto other = std::ranges::find_if(left, [&](const EstimateLine& each) {
      return protocol_of(each) != protocol_of(left.front());
    });
    const auto count = static_cast<std::size_t>(other - left.begin());
    text += (text.empty() ? "" : "\n") + table_of_one(left.first(count), width);
    left = left.subspan(count);
  }
  return text;
}

}  // namespace conclave::cli
