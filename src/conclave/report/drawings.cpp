// The figures of a run: growth with fitted laws, what the laws leave, distributions.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include <fmt/format.h>

#include "conclave/base/statistics.hpp"
#include "conclave/report/parts.hpp"

namespace conclave::report {
namespace {

constexpr std::size_t most_distributions = 5;  // in one figure
constexpr std::size_t most_laws = 4;           // in one figure of residuals
constexpr std::size_t most_stairs = 100;       // of one distribution function
constexpr double most_bounded = 1000;          // values at which a bound on chances is drawn

// Which of many cells are drawn: the first, the last and others evenly between them.
std::vector<std::size_t> chosen(std::size_t count, std::size_t most) {
  std::vector<std::size_t> result;
  if (count <= most) {
    for (std::size_t i = 0; i < count; ++i) result.push_back(i);
    return result;
  }
  for (std::size_t i = 0; i < most; ++i) result.push_back(i * (count - 1) / (most - 1));
  return result;
}

double value_of(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? NAN : found->second;
}

Mark mean_mark(double x, std::span<const double> values) {
  const Summary summary = summarize(values);
  const Interval interval =
      values.size() < 2 ? Interval{summary.mean, summary.mean} : nonnegative_mean_interval(summary);
  return {x, summary.mean, interval.low, interval.high};
}

// One cell name for each series.
std::vector<CellName> series_of(const RunNames& names) {
  std::vector<CellName> result;
  for (const CellName& name : names.cells) {
    if (std::ranges::find(result, name.series, &CellName::series) == result.end())
      result.push_back(name);
  }
  return result;
}

std::vector<double> x_places(const RunSample& run, const std::string& x) {
  std::set<double> places;
  for (const CellSample& cell : run.cells) places.insert(value_of(cell.variables, x));
  return {places.begin(), places.end()};
}

// A law at the cells of a series. Other variables follow from x or are the same in all.
Series fitted_series(const RunSample& run, const RunNames& names, const std::string& series,
                     const Fit& fit) {
  Series result{.name = fit.text(), .style = Style::curve};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    if (names.cells[i].series != series) continue;
    const auto y = fit.at(run.cells[i].variables);
    if (y && *y > 0) {
      result.points.push_back({value_of(run.cells[i].variables, names.x), *y, *y, *y});
    }
  }
  std::ranges::sort(result.points, {}, &Mark::x);
  return result;
}

// The bound at the cells of a series; of all, where none is given.
Series bound_at(const RunSample& run, const RunNames& names, const Bound& bound,
                const CellName* series) {
  Series result{.name = bound.name, .style = Style::bound};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    if (series != nullptr && names.cells[i].series != series->series) continue;
    const double y = bound.value(run.cells[i].variables);
    const double x = value_of(run.cells[i].variables, names.x);
    if (std::isfinite(y)) result.points.push_back({x, y, y, y});
  }
  std::ranges::stable_sort(result.points, {}, &Mark::x);
  return result;
}

// One curve where x alone decides about the bound, otherwise one for each series.
std::vector<Series> bounds_of(const RunSample& run, const RunNames& names, const Bound& bound) {
  const Series of_all = bound_at(run, names, bound, nullptr);
  const auto differ = [](const Mark& a, const Mark& b) { return a.x == b.x && a.y != b.y; };
  if (std::ranges::adjacent_find(of_all.points, differ) == of_all.points.end()) return {of_all};
  std::vector<Series> result;
  for (const CellName& each : series_of(names)) {
    result.push_back(bound_at(run, names, bound, &each));
    if (result.size() > 1) result.back().name.clear();
  }
  return result;
}

double spread(const std::vector<Series>& all) {
  double low = INFINITY;
  double high = 0;
  for (const Series& series : all) {
    for (const Mark& mark : series.points) {
      low = std::min(low, mark.y);
      high = std::max(high, mark.y);
    }
  }
  return low > 0 ? high / low : INFINITY;
}

bool all_positive(const std::vector<Series>& all) { return std::isfinite(spread(all)); }

const std::vector<Fit>& fits_of(const Part& part, const std::string& kind) {
  return std::ranges::find(part.kinds, kind, &KindFits::kind)->fits;
}

// The first law of the measure, if a paper promises something, then the best ones.
std::vector<const Fit*> laws_to_draw(const Part& part, const std::string& kind, std::size_t most) {
  const std::vector<Fit>& fits = fits_of(part, kind);
  std::vector<const Fit*> result;
  for (const Law& law : part.measure.laws) {
    if (part.measure.promise.empty() && !law.own) break;
    for (const Fit& fit : fits) {
      const bool is_it = fit.form == Fit::Form::scaled && fit.law.name == law.name &&
                         fit.law.with_offset == law.with_offset;
      if (is_it && result.empty()) result.push_back(&fit);
    }
  }
  for (const Fit& fit : fits) {
    if (result.size() < most && std::ranges::find(result, &fit) == result.end())
      result.push_back(&fit);
  }
  return result;
}

// One series, and the laws fitted to it; with several series only one law each.
void add_growth(Figure& figure, const RunSample& run, const RunNames& names, const Part& part,
                const CellName& name, std::size_t number, bool is_alone) {
  const std::vector<const Fit*> laws = laws_to_draw(part, name.kind, is_alone ? 2 : 1);
  Series measured = measured_series(run, names, name.series, part.measure.field);
  measured.name = name.series;
  if (measured.name.empty()) {
    measured.name = names.expressions.empty() ? "mean, 95 % interval"
                                              : names.expressions + ": mean, 95 % interval";
  }
  measured.look = number;
  measured.style = laws.empty() ? Style::joined : Style::marks;
  figure.series.push_back(std::move(measured));
  for (std::size_t law = 0; law < laws.size(); ++law) {
    Series curve = fitted_series(run, names, name.series, *laws[law]);
    curve.look = is_alone ? law + 1 : number;
    figure.series.push_back(std::move(curve));
  }
}

Figure growth(const RunSample& run, const RunNames& names, const Part& part) {
  const std::vector<CellName> all = series_of(names);
  Figure figure{.name = "growth",
                .title = fmt::format("{}: {}", run.protocol, part.measure.title),
                .x = {names.x, true},
                .y = {part.measure.title, false},
                .x_places = x_places(run, names.x)};
  for (std::size_t i = 0; i < all.size(); ++i) {
    add_growth(figure, run, names, part, all[i], i, all.size() == 1);
  }
  figure.y.logarithmic = all_positive(figure.series) && spread(figure.series) > 8;
  if (part.measure.bound) {
    std::ranges::move(bounds_of(run, names, *part.measure.bound),
                      std::back_inserter(figure.series));
  }
  std::erase_if(figure.series, [](const Series& series) { return series.points.empty(); });
  figure.caption = fmt::format("Mean {} of the trials of each cell with its 95 % interval; lines "
                               "without marks are fitted laws.",
                               part.measure.title);
  return figure;
}

Series ratios(const RunSample& run, const RunNames& names, const std::string& series,
              const std::string& field, const Fit& fit) {
  Series result = measured_series(run, names, series, field);
  const Series fitted = fitted_series(run, names, series, fit);
  std::vector<Mark> kept;
  for (Mark mark : result.points) {
    const auto found = std::ranges::find(fitted.points, mark.x, &Mark::x);
    if (found == fitted.points.end()) continue;
    kept.push_back({mark.x, mark.y / found->y, mark.low / found->y, mark.high / found->y});
  }
  result.points = std::move(kept);
  result.style = Style::joined;
  return result;
}

// Measured over fitted values: a straight line at 1 would be a perfect fit.
Figure residuals(const RunSample& run, const RunNames& names, const Part& part) {
  const std::vector<CellName> all = series_of(names);
  Figure figure{.name = "residuals",
                .title = fmt::format("{}: measured / fitted", run.protocol),
                .x = {names.x, true},
                .y = {"measured / fitted", false},
                .x_places = x_places(run, names.x)};
  for (const CellName& name : all) {
    for (const Fit* const fit : laws_to_draw(part, name.kind, all.size() == 1 ? most_laws : 1)) {
      Series series = ratios(run, names, name.series, part.measure.field, *fit);
      series.name = all.size() == 1 ? fit->text() : fmt::format("{}: {}", name.series, fit->text());
      series.look = figure.series.size();
      figure.series.push_back(std::move(series));
    }
  }
  figure.series.push_back({.name = "perfect fit", .style = Style::bound});
  for (const double x : figure.x_places) figure.series.back().points.push_back({x, 1, 1, 1});
  figure.y.logarithmic = all_positive(figure.series) && spread(figure.series) > 8;
  figure.caption = "Measured means divided by the fitted law; a law that holds stays at 1.";
  return figure;
}

// The distribution function, thinned out evenly where it has many steps.
std::vector<Mark> stairs(const CellSample& cell, std::span<const double> values) {
  std::vector<Mark> points{{values.front(), 0, 0, 0}};
  for (const std::size_t i : chosen(values.size(), most_stairs)) {
    const double y = static_cast<double>(i + 1) / static_cast<double>(cell.trials);
    points.push_back({values[i], y, y, y});
  }
  return points;
}

Figure distribution(const RunSample& run, const RunNames& names, const Part& part) {
  Figure figure{.name = "distribution",
                .title = fmt::format("{}: distribution of {}", run.protocol, part.measure.title),
                .x = {part.measure.title, false},
                .y = {"fraction of trials", false}};
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    if (!numbers_of(run.cells[i], part.measure.field).empty()) present.push_back(i);
  }
  double low = INFINITY;
  double high = 0;
  for (const std::size_t k : chosen(present.size(), most_distributions)) {
    const CellSample& cell = run.cells[present[k]];
    const auto values = numbers_of(cell, part.measure.field);
    low = std::min(low, values.front());
    high = std::max(high, values.back());
    figure.series.push_back({.name = names.cells[present[k]].label,
                             .style = Style::stairs,
                             .look = figure.series.size(),
                             .points = stairs(cell, values)});
  }
  figure.x.logarithmic = low > 0 && high / low > 20;
  figure.caption = fmt::format(
      "Distribution function of the {}: the fraction of all trials at or below a value{}.",
      part.measure.title, present.size() > most_distributions ? "; some cells are left out" : "");
  return figure;
}

Figure chance(const RunSample& run, const RunNames& names, const Part& part) {
  Figure figure{.name = "chances",
                .title = fmt::format("{}: {}", run.protocol, part.measure.title),
                .x = {part.measure.title, false},
                .y = {"probability", true}};
  double most = 1;
  for (const std::size_t k : chosen(run.cells.size(), most_distributions)) {
    const auto values = numbers_of(run.cells[k], part.measure.field);
    if (values.empty()) continue;
    most = std::max(most, values.back());
    figure.series.push_back({.name = names.cells[k].label,
                             .style = Style::joined,
                             .look = figure.series.size(),
                             .points = chances(values)});
  }
  if (part.measure.bound) {
    Series bound{.name = part.measure.bound->name, .style = Style::bound};
    for (double i = 2; i <= std::min(most, most_bounded); ++i) {
      const double y = part.measure.bound->value({{"i", i}});
      bound.points.push_back({i, y, y, y});
    }
    if (bound.points.size() > 1) figure.series.push_back(std::move(bound));
  }
  figure.caption =
      fmt::format("How often the {} were 1, 2, 3, ..., with 95 % intervals.", part.measure.title);
  return figure;
}

}  // namespace

std::span<const double> numbers_of(const CellSample& sample, std::string_view field) {
  const auto found = sample.values.find(field);
  return found == sample.values.end() ? std::span<const double>{} : found->second;
}

std::vector<Mark> chances(std::span<const double> values) {
  std::vector<Mark> points;
  if (values.empty()) return points;
  for (auto from = values.begin(); from != values.end();) {
    const double value = *from;
    const auto to = std::upper_bound(from, values.end(), value);
    const auto count = static_cast<std::uint64_t>(to - from);
    from = to;
    if (value < 1 || value != std::floor(value)) continue;
    const Interval interval = proportion_interval(count, values.size());
    points.push_back({value, static_cast<double>(count) / static_cast<double>(values.size()),
                      interval.low, interval.high});
  }
  return points;
}

Series measured_series(const RunSample& run, const RunNames& names, const std::string& series,
                       const std::string& field) {
  Series result{.name = series};
  for (std::size_t i = 0; i < run.cells.size(); ++i) {
    const auto values = numbers_of(run.cells[i], field);
    if (names.cells[i].series != series || values.empty()) continue;
    result.points.push_back(mean_mark(value_of(run.cells[i].variables, names.x), values));
  }
  std::ranges::sort(result.points, {}, &Mark::x);
  return result;
}

std::vector<Figure> draw_part(const RunSample& run, const RunNames& names, const Part& part) {
  const bool is_empty = std::ranges::none_of(
      part.lines, [](const CellLine& line) { return line.summary.has_value(); });
  if (is_empty) return {};
  if (part.measure.kind == Measure::Kind::chance) return {chance(run, names, part)};
  std::vector<Figure> figures;
  if (!names.x.empty()) figures.push_back(growth(run, names, part));
  const bool has_fits =
      std::ranges::any_of(part.kinds, [](const KindFits& kind) { return !kind.fits.empty(); });
  if (has_fits) figures.push_back(residuals(run, names, part));
  figures.push_back(distribution(run, names, part));
  return figures;
}

Figure draw_together(const std::string& title, std::vector<Series> series) {
  Figure figure{.name = {},
                .title = fmt::format("All protocols: {}", title),
                .caption = fmt::format("Mean {} of all protocols over n.", title),
                .x = {"n", true},
                .y = {title, true},
                .series = std::move(series)};
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    figure.series[i].look = i;
    figure.series[i].style = Style::joined;
  }
  figure.y.logarithmic = all_positive(figure.series);
  return figure;
}

}  // namespace conclave::report
