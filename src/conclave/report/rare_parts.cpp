// Estimates of rare failures in a report: ln of the expected time, or of the probability of an
// attempt, over n.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include <fmt/format.h>

#include "conclave/report/parts.hpp"

namespace conclave::report {
namespace {

constexpr const char* all_ways = "any failure";

// The estimate of a cell; null where it has no repetition yet.
const rare::Row* estimated_row(const std::vector<sweep::CellEstimate>& estimates,
                               std::size_t cell) {
  const auto found = std::ranges::find(estimates, cell, &sweep::CellEstimate::cell);
  return found == estimates.end() ? nullptr : &found->row;
}

EstimateLine estimate_line(const rare::Row& row, const std::string& label,
                           const std::string& function, const rare::Time& time,
                           std::uint64_t repetitions) {
  const rare::Time shown = row.displayed(time);
  return {.label = label,
          .function = function,
          .repetitions = repetitions,
          .ln = shown.ln_time,
          .interval = {shown.ln_low, shown.ln_high}};
}

// The estimates of one way, or of all of them; none where the cell does not have that way.
std::vector<EstimateLine> estimate_lines(const rare::Row& row, const std::string& way,
                                         const std::string& label) {
  std::vector<EstimateLine> lines;
  bool confirmed = row.confirmed();
  if (way == all_ways)
    lines.push_back(estimate_line(row, label, "", row.time(), row.repetitions()));
  for (const rare::WayResult& each : row.ways()) {
    if (row.subject().ways[each.way].name != way) continue;
    confirmed = each.confirmed;
    for (const std::size_t i : each.functions) {
      const rare::Estimate& estimate = row.estimates()[i];
      lines.push_back(estimate_line(row, label, row.subject().functions[i].name, estimate.time,
                                    estimate.repetitions));
    }
  }
  if (!lines.empty()) lines.front().verdict = confirmed ? "confirmed" : "not confirmed";
  return lines;
}

std::vector<std::string> ways_in(const RunSample& run,
                                 const std::vector<sweep::CellEstimate>& estimates) {
  std::vector<std::string> ways;
  bool has_several = false;
  for (const CellSample& cell : run.cells) {
    const rare::Row* const row = estimated_row(estimates, cell.cell.id);
    if (row == nullptr) continue;
    has_several = has_several || row->ways().size() > 1;
    for (const auto& way : row->subject().ways) {
      if (std::ranges::find(ways, way.name) == ways.end()) ways.push_back(way.name);
    }
  }
  if (has_several) ways.insert(ways.begin(), all_ways);
  return ways;
}

std::string rare_title(const RunSample& run, const std::vector<sweep::CellEstimate>& estimates,
                       const std::string& way) {
  const rare::Row* const row = estimated_row(estimates, run.cells.front().cell.id);
  const bool by_attempt = row != nullptr && row->subject().by_attempt();
  return fmt::format("ln of the {} ({})",
                     by_attempt ? "probability" : "expected interactions until it fails", way);
}

// Marks are added to the series of the cell and the function.
void add_estimate_mark(Figure& figure, const std::string& series, double x,
                       const EstimateLine& line) {
  if (!std::isfinite(line.ln) || !std::isfinite(x)) return;
  const std::string name =
      line.function.empty()
          ? series
          : fmt::format("{}{}{}", series, series.empty() ? "" : " ", "by " + line.function);
  auto found = std::ranges::find(figure.series, name, &Series::name);
  if (found == figure.series.end()) {
    figure.series.push_back({.name = name, .style = Style::joined, .look = figure.series.size()});
    found = figure.series.end() - 1;
  }
  const bool has_interval = std::isfinite(line.interval.low);
  found->points.push_back({x, line.ln, has_interval ? line.interval.low : line.ln,
                           has_interval ? line.interval.high : line.ln});
}

void finish_estimates(Figure& figure) {
  double low = INFINITY;
  double high = -INFINITY;
  for (Series& series : figure.series) {
    std::ranges::sort(series.points, {}, &Mark::x);
    for (const Mark& mark : series.points) {
      low = std::min(low, mark.y);
      high = std::max(high, mark.y);
    }
  }
  figure.y.logarithmic = low > 0 && high / low > 8;
}

Part rare_part(const RunSample& run, const RunNames& names,
               const std::vector<sweep::CellEstimate>& estimates, const std::string& way) {
  Part part{.measure = {.field = {}, .title = rare_title(run, estimates, way), .is_fitted = false}};
  Figure figure{.name = "estimates",
                .title = fmt::format("{}: {}", run.protocol, part.measure.title),
                .caption = "Estimates by splitting with their 95 % intervals, one series for each "
                           "importance function.",
                .x = {names.x, true},
                .y = {part.measure.title, false}};
  std::set<double> places;
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    const CellSample& cell = run.cells[i];
    const rare::Row* const row = estimated_row(estimates, cell.cell.id);
    part.lines.push_back({.label = names.cells[i].label,
                          .command = command_of(cell.cell.words, cell.cell.sampling.trials)});
    if (row == nullptr) continue;
    const auto x = cell.variables.find(names.x);
    for (EstimateLine& line : estimate_lines(*row, way, names.cells[i].label)) {
      if (x != cell.variables.end()) {
        places.insert(x->second);
        add_estimate_mark(figure, names.cells[i].series, x->second, line);
      }
      part.estimates.push_back(std::move(line));
    }
  }
  figure.x_places = {places.begin(), places.end()};
  finish_estimates(figure);
  if (!figure.series.empty()) part.figures.push_back(std::move(figure));
  return part;
}

}  // namespace

std::vector<Part> rare_parts(const RunSample& run, const RunNames& names,
                             const std::vector<sweep::CellEstimate>& estimates) {
  std::vector<Part> parts;
  for (const std::string& way : ways_in(run, estimates)) {
    parts.push_back(rare_part(run, names, estimates, way));
  }
  return parts;
}

}  // namespace conclave::report
