#include "conclave/plot/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/plot/space_time.hpp"
#include "conclave/plot/trace_table.hpp"

namespace conclave::plot {
namespace {

constexpr std::size_t most_columns = 6;  // that are drawn unasked
constexpr std::size_t most_times = 400;  // at which a mean is computed
constexpr PictureSize usual_size{.width = 900, .height = 560};

struct Observed {
  double time = 0;
  double value = 0;
};
// By trial, in the order of time.
using Courses = std::map<std::uint64_t, std::vector<Observed>>;

// A network of reactions has a time of its own beside the parallel time.
std::string time_column(const TraceTable& table) {
  return table.has("time") ? "time" : "parallel_time";
}

Courses courses_of(const TraceTable& table, const std::string& column) {
  const std::size_t trial = table.column("trial");
  const std::size_t time = table.column(time_column(table));
  const std::size_t value = table.column(column);
  Courses courses;
  for (std::size_t i = 0; i < table.lines(); ++i) {
    const auto x = table.real(i, time);
    const auto y = table.real(i, value);
    std::vector<Observed>& course = courses[table.whole(i, trial)];
    if (x && y) course.push_back({*x, *y});
  }
  return courses;
}

bool has_leaders(const TraceTable& table) {
  if (!table.has("leaders")) return false;
  const std::size_t column = table.column("leaders");
  for (std::size_t i = 0; i < table.lines(); ++i) {
    if (table.real(i, column).value_or(0) > 0) return true;
  }
  return false;
}

// Leaders, if somebody leads; otherwise every column that holds numbers.
std::vector<std::string> columns_of(const TraceTable& table, const PlotOptions& options) {
  if (!options.columns.empty()) return options.columns;
  if (has_leaders(table)) return {"leaders"};
  std::vector<std::string> columns;
  for (const std::string& name : table.names()) {
    const bool is_place = name == "trial" || name == "leaders" || name == "interactions" ||
                          name == "parallel_time" || name == "time";
    if (!is_place && columns.size() < most_columns && table.holds_numbers(name)) {
      columns.push_back(name);
    }
  }
  if (columns.empty() && table.has("leaders")) return {"leaders"};
  if (columns.empty()) throw Error("the trace has no column of numbers that could be drawn");
  return columns;
}

Series courses_series(const Courses& courses) {
  Series series{.name = {}, .style = Style::steps};
  series.is_crowded = courses.size() > 5;
  constexpr double gap = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [trial, course] : courses) {
    for (const Observed& each : course) {
      series.points.push_back({each.time, each.value, each.value, each.value});
    }
    series.points.push_back({gap, gap, gap, gap});
  }
  return series;
}

// The times at which some trial was observed, evenly thinned out.
std::vector<double> times_of(const Courses& courses) {
  std::vector<double> times;
  for (const auto& [trial, course] : courses) {
    for (const Observed& each : course) times.push_back(each.time);
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (times.size() <= most_times) return times;
  std::vector<double> kept;
  for (std::size_t i = 0; i < most_times; ++i) {
    kept.push_back(times[i * (times.size() - 1) / (most_times - 1)]);
  }
  return kept;
}

// The last value observed by that time; a trial that has ended keeps its last one.
double value_at(const std::vector<Observed>& course, double time) {
  const auto later = std::ranges::upper_bound(course, time, {}, &Observed::time);
  return later == course.begin() ? course.front().value : std::prev(later)->value;
}

Series mean_series(const Courses& courses) {
  Series series{.name = {}, .style = Style::band};
  for (const double time : times_of(courses)) {
    std::vector<double> values;
    for (const auto& [trial, course] : courses) {
      if (!course.empty()) values.push_back(value_at(course, time));
    }
    const Summary summary = summarize(values);
    const Interval interval = values.size() < 2 ? Interval{summary.mean, summary.mean}
                                                : nonnegative_mean_interval(summary);
    series.points.push_back({time, summary.mean, interval.low, interval.high});
  }
  return series;
}

// Where a logarithmic axis shows 0: below all other values, 1/2 at most; 0 if there is none to
// show.
double zero_place(const std::vector<Series>& all) {
  bool has_zero = false;
  double smallest = 1;
  for (const Series& series : all) {
    for (const Mark& mark : series.points) {
      has_zero = has_zero || mark.y == 0;
      if (mark.y > 0) smallest = std::min(smallest, mark.y);
    }
  }
  return has_zero ? smallest / 2 : 0;
}

// Whether the values are large and differ by orders of magnitude.
bool asks_for_logarithms(const Series& series) {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  for (const Mark& mark : series.points) {
    if (mark.y > largest) largest = mark.y;
    if (mark.y < smallest) smallest = mark.y;
  }
  return largest >= 100 && largest >= 100 * smallest;
}

// Whether a trial was observed at times that are equally far apart, such as those of --every; the
// points of other traces lie the closer, the earlier they are.
bool is_even(const Courses& courses) {
  const std::vector<Observed>& course = courses.begin()->second;
  if (course.size() < 4) return false;
  const std::size_t middle = course.size() / 2;
  return course[middle + 1].time - course[middle].time < 2 * (course[1].time - course[0].time);
}

// A history counts agents (molecules, where time is not parallel time) per state; the columns of a
// trace have no common unit.
std::string axis_of(const TraceTable& table, const std::vector<std::string>& columns) {
  const bool is_history = time_column(table) == "time" && !table.has("interactions");
  if (is_history) return "agents";
  return columns.size() == 1 ? columns.front() : "value";
}

Figure figure_of(const TraceTable& table, const PlotOptions& options) {
  const std::vector<std::string> columns = columns_of(table, options);
  Figure figure{.title = options.title,
                .x = {"parallel time (interactions per agent)", true},
                .y = {axis_of(table, columns), false}};
  if (time_column(table) == "time") figure.x.title = "time";
  for (const std::string& column : columns) {
    const Courses courses = courses_of(table, column);
    Series series = options.has_mean ? mean_series(courses) : courses_series(courses);
    series.name = fmt::format("{}{}{}", options.has_mean ? "mean " : "", column,
                              options.has_mean && courses.size() > 1 ? ", 95 % interval" : "");
    if (courses.size() > 1) series.name += fmt::format(" ({} trials)", courses.size());
    series.look = figure.series.size();
    figure.y.logarithmic = figure.y.logarithmic || asks_for_logarithms(series);
    figure.x.logarithmic = figure.x.logarithmic && !is_even(courses);
    figure.series.push_back(std::move(series));
  }
  // Samples of --every are drawn as they were taken, whatever the file: on linear axes.
  figure.y.logarithmic = figure.y.logarithmic && figure.x.logarithmic;
  figure.y.zero_place = zero_place(figure.series);
  return figure;
}

std::string space_time_picture(const SpaceTimeDiagram& diagram, FileKind kind,
                               const PlotOptions& options) {
  const std::string title = options.looks.has_title ? options.title : "";
  const PictureSize size = options.looks.size.value_or(diagram.size());
  if (kind == FileKind::csv) return diagram.csv();
  if (kind == FileKind::tex) return diagram.pgfplots(title, size);
  return draw(diagram.script(title), static_cast<PictureFormat>(kind), size,
              options.looks.font_size);
}

}  // namespace

void plot_trace(const PlotOptions& options) {
  std::vector<FileKind> kinds;
  for (const std::string& file : options.files) kinds.push_back(kind_of(file));
  const TraceTable table(options.trace);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Output output(options.files[i]);
    output.write(table.has("event")
                     ? space_time_picture(SpaceTimeDiagram(table), kinds[i], options)
                     : draw(figure_of(table, options), kinds[i], options.looks, usual_size));
    output.finish();
  }
}

}  // namespace conclave::plot
