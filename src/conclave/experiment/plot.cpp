#include "conclave/experiment/plot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/numbers.hpp"
#include "conclave/experiment/gnuplot.hpp"
#include "conclave/experiment/space_time.hpp"

namespace conclave::experiment {
namespace {

// Where zero is drawn on a logarithmic axis.
constexpr double zero_place = 0.5;

double value_of(const std::string& text) { return parse_real(text).value_or(0); }

double largest(const Table& table, const std::string& column) {
  const std::size_t index = table.column(column);
  double result = 0;
  for (const Table::Line& line : table.lines) result = std::max(result, value_of(line[index]));
  return result;
}

// One block of "time value" lines per trial. On a logarithmic axis gnuplot leaves out time 0.
std::string data_block(const Table& table, const std::string& column, bool logarithmic) {
  const std::size_t trial = table.column("trial");
  const std::size_t time = table.column("parallel_time");
  const std::size_t value = table.column(column);
  std::string text;
  std::string last_trial;
  for (const Table::Line& line : table.lines) {
    if (line[trial] != last_trial && !text.empty()) text += "\n\n";
    last_trial = line[trial];
    const bool is_zero = logarithmic && value_of(line[value]) == 0;
    text += line[time] + ' ' + (is_zero ? fmt::format("{}", zero_place) : line[value]) + '\n';
  }
  return text + "e\n";
}

std::size_t trials_in(const Table& table) {
  std::vector<std::string> trials;
  for (const Table::Line& line : table.lines) trials.push_back(line[table.column("trial")]);
  std::ranges::sort(trials);
  return static_cast<std::size_t>(std::unique(trials.begin(), trials.end()) - trials.begin());
}

std::string script(const Table& table, const PlotOptions& options) {
  const std::size_t trials = trials_in(table);
  std::string text =
      "set grid lc rgb '#dddddd'\nset border 3 lc rgb '#444444'\nset tics nomirror\n";
  text += "set key top right\nset xlabel 'parallel time (interactions per agent)'\n";
  text += options.linear_time ? "set format x '%g'\n" : "set logscale x\nset format x '10^{%L}'\n";
  const bool logarithmic = std::ranges::any_of(
      options.columns, [&](const std::string& column) { return largest(table, column) >= 100; });
  if (logarithmic) {
    text += "set logscale y\nset format y '10^{%L}'\n";
    text += fmt::format("set yrange [{}:]\nset ytics add ('0' {})\n", zero_place, zero_place);
  } else {
    text += "set yrange [0:]\n";
  }
  if (options.columns.size() == 1) {
    text += fmt::format("set ylabel {} noenhanced\n", quoted(options.columns.front()));
  }
  if (!options.title.empty())
    text += fmt::format("set title {} noenhanced\n", quoted(options.title));
  text += "plot";
  for (std::size_t i = 0; i < options.columns.size(); ++i) {
    const std::string label =
        fmt::format("{} ({} trial{})", options.columns[i], trials, trials == 1 ? "" : "s");
    text += fmt::format("{} '-' using 1:2 with steps lw {} lc rgb '{}' title {} noenhanced",
                        i == 0 ? "" : ",", trials > 5 ? "0.8" : "1.6", palette[i % palette.size()],
                        quoted(label));
  }
  text += '\n';
  for (const std::string& column : options.columns) text += data_block(table, column, logarithmic);
  return text;
}

}  // namespace

void plot_trace(const PlotOptions& options) {
  const Table table = read_table(options.trace);
  if (table.has("event")) return draw_space_time(table, options.picture, options.title);
  draw(options.picture, {}, script(table, options));
}

}  // namespace conclave::experiment
