// A paper's table beside the results of the sweep that measures it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/experiment/paper_table.hpp"
#include "conclave/report/parts.hpp"

namespace conclave::report {
namespace {

using experiment::PaperTable;
using experiment::PromisedRow;

std::string with_interval(const CellLine& line) {
  if (!line.summary) return "none converged";
  std::string mean = fmt::format("{:.4g}", line.summary->mean);
  if (std::isnan(line.mean.low)) return mean;
  return fmt::format("{} ({:.3g} to {:.3g})", mean, line.mean.low, line.mean.high);
}

// "parallel time: n=100 131.4 (89 to 174), n=1000 1081 (795 to 1367)", the means with their
// intervals, for the first measure; in networks also for the second.
std::string measured_in(const Section& section) {
  std::string text;
  const std::size_t shown =
      std::min<std::size_t>(section.parts.size(), section.common.contains("messages") ? 2 : 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const Part& part = section.parts[i];
    std::vector<std::string> cells;
    for (const CellLine& line : part.lines) {
      cells.push_back(line.label + ' ' + with_interval(line));
    }
    text +=
        fmt::format("{}{}: {}", i == 0 ? "" : "; ", part.measure.title, join_parts(cells, ", "));
  }
  return text;
}

PromiseLine promise_line(const PaperTable& table, const PromisedRow& row) {
  PromiseLine line{.work = std::string(row.work),
                   .promised = {},
                   .protocol = std::string(row.protocol),
                   .measured = std::string(row.reason())};
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    if (!table.headings[i].empty()) line.promised.emplace_back(row.promised[i]);
  }
  return line;
}

}  // namespace

std::optional<PromiseTable> promises_of(const std::string& plan_name,
                                        std::vector<Section>& sections) {
  const PaperTable* table = experiment::table_of_plan(plan_name);
  if (table == nullptr) return std::nullopt;
  PromiseTable result{.title = std::string(table->title), .headings = {}, .lines = {}};
  for (const std::string_view heading : table->headings) {
    if (!heading.empty()) result.headings.emplace_back(heading);
  }
  auto next = sections.begin();
  for (const PromisedRow& row : table->rows) {
    PromiseLine line = promise_line(*table, row);
    const auto found = std::ranges::find(next, sections.end(), row.protocol, &Section::protocol);
    if (!row.protocol.empty() && found != sections.end()) {
      line.source = experiment::source_of(row);
      line.section = found->id;
      line.measured = measured_in(*found);
      found->work = row.work;
      next = found + 1;
    }
    result.lines.push_back(std::move(line));
  }
  return result;
}

}  // namespace conclave::report
