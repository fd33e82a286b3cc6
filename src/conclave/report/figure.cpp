#include "conclave/report/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "conclave/experiment/json.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/plot/gnuplot.hpp"

namespace conclave::report {
namespace {

using plot::gnuplot_string;
using plot::palette;

constexpr plot::PictureSize size{.width = 640, .height = 430};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double decades() const { return std::log10(high / low); }
};

template <class Take>
void for_each_mark(const Figure& figure, Take take) {
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.points) take(mark);
  }
}

Range x_range(const Figure& figure) {
  Range range;
  for_each_mark(figure, [&](const Mark& mark) { range.add(mark.x); });
  return range;
}

Range y_range(const Figure& figure) {
  Range range;
  for_each_mark(figure, [&](const Mark& mark) {
    range.add(mark.y);
    range.add(mark.high);
    if (mark.low > 0) range.add(mark.low);
  });
  return range;
}

// 1, 2, 5 of every decade within the range: gnuplot labels decades only, of which there may be
// none.
std::vector<double> round_places(const Range& range) {
  std::vector<double> places;
  for (int k = static_cast<int>(std::floor(std::log10(range.low))); std::pow(10, k) <= range.high;
       ++k) {
    for (const double digit : {1, 2, 5}) {
      const double place = digit * std::pow(10, k);
      if (place >= range.low * 0.999 && place <= range.high * 1.001) places.push_back(place);
    }
  }
  return places;
}

std::string tics(char axis, const std::vector<double>& places) {
  std::string text = fmt::format("set {}tics (", axis);
  for (std::size_t i = 0; i < places.size(); ++i) {
    text += fmt::format("{}'{}' {:g}", i == 0 ? "" : ", ", short_number(places[i]), places[i]);
  }
  return text + ")\n";
}

// Marks at places that would run into each other are left out.
std::vector<double> spaced(std::vector<double> places, const Axis& axis) {
  const auto at = [&](double x) { return axis.logarithmic ? std::log(x) : x; };
  const double width = at(places.back()) - at(places.front());
  std::vector<double> kept;
  for (const double place : places) {
    if (kept.empty() || at(place) - at(kept.back()) > 0.08 * width) kept.push_back(place);
  }
  return kept;
}

std::string axis_words(char name, const Axis& axis, const Range& range,
                       const std::vector<double>& places) {
  std::string text = fmt::format("set {}label {} noenhanced\n", name, gnuplot_string(axis.title));
  const double margin =
      axis.logarithmic ? std::pow(range.high / range.low, 0.04) : 0.04 * (range.high - range.low);
  if (axis.logarithmic) {
    text += fmt::format("set logscale {}\n", name);
    if (margin > 1)
      text +=
          fmt::format("set {}range [{:g}:{:g}]\n", name, range.low / margin, range.high * margin);
    if (places.empty() && range.decades() < 2.5)
      text += tics(name, round_places({range.low / margin, range.high * margin}));
    if (places.empty() && range.decades() >= 2.5)
      text += fmt::format("set format {} '10^{{%L}}'\n", name);
  } else if (margin > 0) {
    const double from = range.low >= 0 && range.low < 0.5 * range.high ? 0 : range.low - margin;
    text += fmt::format("set {}range [{:g}:{:g}]\n", name, from, range.high + margin);
  } else {  // a single value
    text += fmt::format("set {}range [{:g}:{:g}]\n", name, range.low - 1, range.high + 1);
  }
  if (!places.empty()) text += tics(name, spaced(places, axis));
  return text;
}

plot::Script::Rows rows_of(const Series& series) {
  plot::Script::Rows rows;
  for (const Mark& mark : series.points) rows.push_back({mark.x, mark.y, mark.low, mark.high});
  return rows;
}

// Colour, shape of the mark and dashes all differ, so that none is needed to tell series apart.
std::string looks(const Series& series) {
  constexpr std::array<int, 7> shapes{7, 5, 9, 11, 13, 6, 4};  // one more than colours
  const std::string_view colour = palette[series.look % palette.size()];
  const int shape = shapes[series.look % shapes.size()];
  const std::size_t dashes = 1 + series.look % 5;
  switch (series.style) {
    case Style::marks:
      return fmt::format("using 1:2:3:4 with yerrorbars lw 1.5 lc rgb '{}' pt {} ps 0.9", colour,
                         shape);
    case Style::joined:
      return fmt::format("using 1:2:3:4 with yerrorlines lw 1.2 lc rgb '{}' pt {} ps 0.9", colour,
                         shape);
    case Style::curve:
      return fmt::format("using 1:2 with lines lw 2 dt {} lc rgb '{}'", dashes, colour);
    case Style::bound:
      return "using 1:2 with lines lw 2 dt 2 lc rgb '#555555'";
    case Style::stairs:
      return fmt::format("using 1:2 with steps lw 2 dt {} lc rgb '{}'", dashes, colour);
  }
  return {};
}

plot::Script script_of(const Figure& figure) {
  plot::Script script;
  script.add("set encoding utf8\nset grid lc rgb '#dddddd' lt 1\nset border 3 lc rgb '#444444'\n"
             "set tics nomirror\nset bars 0.5\n"
             "set key outside bottom center horizontal noenhanced width -1\n");
  script.add(fmt::format("set title {} noenhanced\n", gnuplot_string(figure.title)));
  script.add(axis_words('x', figure.x, x_range(figure), figure.x_places));
  script.add(axis_words('y', figure.y, y_range(figure), {}));
  script.add("plot ");
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    script.add(fmt::format("{}{} {} title {}", i == 0 ? "" : ", ", script.add_data(rows_of(series)),
                           looks(series), gnuplot_string(series.name)));
  }
  script.add("\n");
  return script;
}

std::string_view name_of(Style style) {
  switch (style) {
    case Style::marks:
      return "marks";
    case Style::joined:
      return "joined";
    case Style::curve:
      return "curve";
    case Style::bound:
      return "bound";
    case Style::stairs:
      return "stairs";
  }
  return {};
}

std::string json(const Axis& axis) {
  return fmt::format(R"({{"title":{},"log":{}}})", experiment::json_string(axis.title),
                     axis.logarithmic);
}

std::string json(const Series& series) {
  std::string xs, ys;
  for (const Mark& mark : series.points) {
    const char* const comma = xs.empty() ? "" : ",";
    xs += fmt::format("{}{:.6g}", comma, mark.x);
    ys += fmt::format("{}{:.6g}", comma, mark.y);
  }
  return fmt::format(R"({{"name":{},"style":"{}","look":{},"x":[{}],"y":[{}]}})",
                     experiment::json_string(series.name), name_of(series.style), series.look, xs,
                     ys);
}

}  // namespace

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  const double size_of = std::abs(value);
  if (value == std::floor(value) && size_of < 1e6) return fmt::format("{:.0f}", value);
  if (size_of >= 1e3 && size_of < 1e6) return fmt::format("{:.0f}", value);
  std::string text = fmt::format("{:.4g}", value);
  const std::size_t e = text.find("e+0");
  if (e != std::string::npos) return text.replace(e, 3, "e");
  if (const std::size_t plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, 1);
  return text;
}

std::string svg(const Figure& figure) {
  return plot::draw(script_of(figure), plot::PictureFormat::svg, size);
}

std::string json(const Figure& figure) {
  std::string series;
  for (const Series& each : figure.series) {
    if (!series.empty()) series += ',';
    series += json(each);
  }
  return fmt::format(R"({{"x":{},"y":{},"series":[{}]}})", json(figure.x), json(figure.y), series);
}

}  // namespace conclave::report
