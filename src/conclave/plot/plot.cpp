#include "conclave/plot/plot.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "conclave/base/output.hpp"
#include "conclave/plot/gnuplot.hpp"
#include "conclave/plot/space_time.hpp"
#include "conclave/plot/trace_table.hpp"

namespace conclave::plot {
namespace {

// Where zero is drawn on a logarithmic axis.
constexpr double zero_place = 0.5;

double largest(const TraceTable& table, const std::string& column) {
  const std::size_t index = table.column(column);
  double result = 0;
  for (std::size_t i = 0; i < table.lines(); ++i) {
    result = std::max(result, table.real(i, index).value_or(0));
  }
  return result;
}

std::string time_column(const TraceTable& table) {
  return table.has("parallel_time") || !table.has("time") ? "parallel_time" : "time";
}

// Of a history, the first states unless others were asked for.
std::vector<std::string> columns_of(const TraceTable& table, const PlotOptions& options) {
  constexpr std::size_t most = 8;
  const bool asks = options.columns != std::vector<std::string>{"leaders"};
  if (asks || table.has("leaders") || time_column(table) != "time") return options.columns;
  std::vector<std::string> columns;
  for (const std::string& name : table.names()) {
    if (name != "trial" && name != "time" && columns.size() < most) columns.push_back(name);
  }
  return columns;
}

// Rows "time value", with a gap between trials. On a logarithmic axis gnuplot leaves out time 0.
Script::Rows curves(const TraceTable& table, const std::string& column, bool logarithmic) {
  const std::size_t trial = table.column("trial");
  const std::size_t time = table.column(time_column(table));
  const std::size_t value = table.column(column);
  Script::Rows rows;
  for (std::size_t i = 0; i < table.lines(); ++i) {
    if (i > 0 && table.whole(i, trial) != table.whole(i - 1, trial)) rows.emplace_back();
    const auto x = table.real(i, time);
    const auto y = table.real(i, value);
    if (!x || !y) continue;
    rows.push_back({*x, logarithmic && *y == 0 ? zero_place : *y});
  }
  return rows;
}

std::size_t trials_in(const TraceTable& table) {
  std::set<std::uint64_t> trials;
  const std::size_t trial = table.column("trial");
  for (std::size_t i = 0; i < table.lines(); ++i) trials.insert(table.whole(i, trial));
  return trials.size();
}

std::string axes(const PlotOptions& options, bool logarithmic) {
  std::string text =
      "set grid lc rgb '#dddddd'\nset border 3 lc rgb '#444444'\nset tics nomirror\n";
  text += "set key top right\nset xlabel 'parallel time (interactions per agent)'\n";
  text += options.linear_time ? "set format x '%g'\n" : "set logscale x\nset format x '10^{%L}'\n";
  if (logarithmic) {
    text += "set logscale y\nset format y '10^{%L}'\n";
    text += fmt::format("set yrange [{}:]\nset ytics add ('0' {})\n", zero_place, zero_place);
  } else {
    text += "set yrange [0:]\n";
  }
  if (options.columns.size() == 1) {
    text += fmt::format("set ylabel {} noenhanced\n", gnuplot_string(options.columns.front()));
  }
  if (!options.title.empty())
    text += fmt::format("set title {} noenhanced\n", gnuplot_string(options.title));
  return text;
}

Script curves_script(const TraceTable& table, const PlotOptions& options) {
  const std::size_t trials = trials_in(table);
  const bool logarithmic = std::ranges::any_of(
      options.columns, [&](const std::string& column) { return largest(table, column) >= 100; });
  Script script;
  script.add(axes(options, logarithmic));
  script.add("plot");
  for (std::size_t i = 0; i < options.columns.size(); ++i) {
    const std::string& column = options.columns[i];
    const std::string label =
        fmt::format("{} ({} trial{})", column, trials, trials == 1 ? "" : "s");
    script.add(fmt::format("{} {} using 1:2 with steps lw {} lc rgb '{}' title {} noenhanced",
                           i == 0 ? "" : ",", script.add_data(curves(table, column, logarithmic)),
                           trials > 5 ? "0.8" : "1.6", palette[i % palette.size()],
                           gnuplot_string(label)));
  }
  script.add("\n");
  return script;
}

}  // namespace

void plot_trace(const PlotOptions& options) {
  const PictureFormat format = format_of(options.picture);
  const TraceTable table(options.trace);
  Output output(options.picture);
  if (table.has("event")) {
    const SpaceTimeDiagram diagram(table);
    output.write(draw(diagram.script(options.title), format, diagram.size()));
  } else {
    PlotOptions chosen = options;
    chosen.columns = columns_of(table, options);
    output.write(draw(curves_script(table, chosen), format));
  }
  output.finish();
}

}  // namespace conclave::plot
