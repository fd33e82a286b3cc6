// The file is long because a figure is written for gnuplot, for LaTeX and as CSV.
#include "conclave/plot/figure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/plot/gnuplot.hpp"

namespace conclave::plot {
namespace {

// These digits of every decade from low to high, both positive; the ends belong to it.
std::vector<double> digit_places(double low, double high, std::span<const double> digits) {
  std::vector<double> places;
  for (int k = static_cast<int>(std::floor(std::log10(low))); std::pow(10, k) <= high; ++k) {
    for (const double digit : digits) {
      const double place = digit * std::pow(10, k);
      if (place >= low * 0.999 && place <= high * 1.001) places.push_back(place);
    }
  }
  return places;
}

// 1, 2, 5 of every decade, or more of them where these are too few to tell a logarithmic axis from
// a linear one: gnuplot labels decades only, of which there may be none.
std::vector<double> round_places(double low, double high) {
  constexpr std::array<double, 3> few{1, 2, 5};
  constexpr std::array<double, 6> many{1, 1.5, 2, 3, 5, 7};
  std::vector<double> places = digit_places(low, high, few);
  return places.size() < 3 ? digit_places(low, high, many) : places;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double decades() const { return std::log10(high / low); }
};

// Where a value stands on the y axis. Where a logarithmic one shows 0, that is its lower end.
double place_of(const Axis& axis, double value) {
  return axis.logarithmic ? std::max(value, axis.zero_place) : value;
}

bool is_shown(const Figure& figure, const Mark& mark) {
  return std::isfinite(mark.x) && std::isfinite(mark.y) && (!figure.x.logarithmic || mark.x > 0) &&
         (!figure.y.logarithmic || place_of(figure.y, mark.y) > 0);
}

template <class Take>
void for_each_mark(const Figure& figure, Take take) {
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.points) {
      if (is_shown(figure, mark)) take(mark);
    }
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
    for (const double value : {mark.y, mark.low, mark.high}) {
      const double place = place_of(figure.y, value);
      if (place > 0 || !figure.y.logarithmic) range.add(place);
    }
  });
  return range;
}

// Small marks without labels at all other digits of a decade, by which one sees that an axis is
// logarithmic.
std::string small_tics(char axis, const Range& range, const std::vector<double>& labelled) {
  constexpr std::array<double, 9> digits{1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::string text;
  for (const double place : digit_places(range.low, range.high, digits)) {
    if (std::ranges::find(labelled, place) != labelled.end()) continue;
    text += fmt::format("{}'' {:g} 1", text.empty() ? "" : ", ", place);
  }
  return text.empty() ? text : fmt::format("set {}tics add ({})\n", axis, text);
}

// Beside labels of a million and more, powers of ten are written as such.
std::string tic_label(double place, double largest) {
  const double exponent = std::round(std::log10(place));
  const bool is_power = place > 0 && std::abs(place / std::pow(10, exponent) - 1) < 1e-9;
  return is_power && largest >= 1e6 ? fmt::format("10^{{{:g}}}", exponent) : short_number(place);
}

std::string tics(char axis, const std::vector<double>& places) {
  const double largest = places.empty() ? 0 : std::ranges::max(places);
  std::string text = fmt::format("set {}tics (", axis);
  for (std::size_t i = 0; i < places.size(); ++i) {
    text +=
        fmt::format("{}'{}' {:g}", i == 0 ? "" : ", ", tic_label(places[i], largest), places[i]);
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

// gnuplot chooses the range where nothing is to be shown.
std::string axis_words(char name, const Axis& axis, const Range& range,
                       const std::vector<double>& places) {
  std::string text = fmt::format("set {}label {} noenhanced\n", name, gnuplot_string(axis.title));
  if (!(range.low <= range.high)) return text;
  const double margin =
      axis.logarithmic ? std::pow(range.high / range.low, 0.04) : 0.04 * (range.high - range.low);
  if (axis.logarithmic) {
    text += fmt::format("set logscale {}\n", name);
    if (margin > 1)
      text +=
          fmt::format("set {}range [{:g}:{:g}]\n", name, range.low / margin, range.high * margin);
    if (places.empty() && range.decades() < 2.5) {
      const Range shown{range.low / margin, range.high * margin};
      const std::vector<double> labelled = round_places(shown.low, shown.high);
      text += tics(name, labelled) + small_tics(name, shown, labelled);
    }
    if (places.empty() && range.decades() >= 2.5)
      text += fmt::format("set format {} '10^{{%L}}'\n", name);
  } else if (margin > 0) {
    const double from = range.low >= 0 && range.low < 0.5 * range.high ? 0 : range.low - margin;
    text += fmt::format("set {}range [{:g}:{:g}]\n", name, from, range.high + margin);
  } else {  // a single value, which may be so large that 1 makes no difference
    const double half = std::max(1.0, 0.04 * std::abs(range.low));
    text += fmt::format("set {}range [{:g}:{:g}]\n", name, range.low - half, range.high + half);
  }
  if (!places.empty()) text += tics(name, spaced(places, axis));
  return text;
}

Script::Rows rows_of(const Figure& figure, const Series& series) {
  Script::Rows rows;
  for (const Mark& mark : series.points) {
    if (is_shown(figure, mark)) {
      const double low = place_of(figure.y, mark.low);
      const bool low_is_shown = !figure.y.logarithmic || low > 0;
      const double y = place_of(figure.y, mark.y);
      rows.push_back({mark.x, y, low_is_shown ? low : y, std::max(y, mark.high)});
    } else if (std::isnan(mark.x) && !rows.empty()) {
      rows.emplace_back();
    }
  }
  return rows;
}

bool has_interval(const Series& series) {
  return series.style == Style::marks || series.style == Style::joined ||
         series.style == Style::band;
}

std::string_view colour_of(const Series& series) {
  return series.style == Style::bound ? "#555555" : palette[series.look % palette.size()];
}

// Colour, shape of the mark and dashes all differ, so that none is needed to tell series apart.
std::string gnuplot_looks(const Series& series) {
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
    case Style::steps:
      return fmt::format("using 1:2 with steps lw {} lc rgb '{}'",
                         series.is_crowded ? "0.8" : "1.6", colour);
    case Style::band:
      return fmt::format("using 1:2 with lines lw 2 lc rgb '{}'", colour);
  }
  return {};
}

// The parts of a plot command for one series: its band, if it has one, under its curve.
std::string plots_of(Script& script, const Figure& figure, const Series& series,
                     const Looks& looks) {
  const std::string data = script.add_data(rows_of(figure, series));
  const bool is_band = series.style == Style::band || (looks.has_bands && has_interval(series));
  const std::string title = fmt::format("title {}", gnuplot_string(series.name));
  if (!is_band) return fmt::format("{} {} {}", data, gnuplot_looks(series), title);
  return fmt::format("{0} using 1:3:4 with filledcurves fs transparent solid 0.2 noborder lc rgb "
                     "'{1}' notitle, {0} using 1:2 with {2} lw 2 lc rgb '{1}' {3} {4}",
                     data, colour_of(series), series.style == Style::band ? "lines" : "linespoints",
                     series.style == Style::band ? "" : "pt 7 ps 0.6", title);
}

// Below the axes, where it covers no curve, in as many columns as fit.
std::string legend_words(const Figure& figure) {
  std::size_t longest = 0;
  for (const Series& series : figure.series) {
    longest = std::max(longest, character_count(series.name));
  }
  constexpr std::size_t sample = 9;  // letters as wide as a piece of the curve, with its margins
  return fmt::format(
      "set key outside bottom center horizontal noenhanced width 1 height 0.6 "
      "samplen 3 font key_font maxcols (key_letters/{0} > 1 ? key_letters/{0} : 1)\n",
      longest + sample);
}

Script script_of(const Figure& figure, const Looks& looks) {
  Script script;
  script.add("set encoding utf8\nset grid lc rgb '#dddddd' lt 1\nset border 3 lc rgb '#444444'\n"
             "set tics nomirror\nset bars 0.5\n");
  script.add(legend_words(figure));
  if (looks.has_title && !figure.title.empty()) {
    script.add(fmt::format("set title {} noenhanced\n", gnuplot_string(figure.title)));
  }
  script.add(axis_words('x', figure.x, x_range(figure), figure.x_places));
  script.add(axis_words('y', figure.y, y_range(figure), {}));
  if (figure.y.logarithmic && figure.y.zero_place > 0) {
    script.add(fmt::format("set ytics add ('0' {})\n", figure.y.zero_place));
  }
  script.add("plot ");
  std::string separator;
  for (const Series& series : figure.series) {
    if (rows_of(figure, series).empty()) continue;
    script.add(separator + plots_of(script, figure, series, looks));
    separator = ", ";
  }
  if (separator.empty()) throw Error("there is nothing that these axes could show");
  script.add("\n");
  return script;
}

Figure with_axes(Figure figure, const Looks& looks) {
  if (!looks.axes) return figure;
  figure.x.logarithmic = looks.axes->x_is_logarithmic;
  figure.y.logarithmic = looks.axes->y_is_logarithmic;
  return figure;
}

std::string tex_data(const Figure& figure, const Series& series, double Mark::*value) {
  std::string text;
  for (const std::vector<double>& row : rows_of(figure, series)) {
    const std::size_t column = value == &Mark::y ? 1 : value == &Mark::low ? 2 : 3;
    text += row.empty() ? "nan nan\\\\\n" : fmt::format("{} {}\\\\\n", row[0], row[column]);
  }
  return text;
}

std::string tex_plot(const Figure& figure, const Series& series, std::size_t number, bool is_band) {
  const std::string colour = fmt::format("series{}", number);
  std::string text =
      fmt::format("\\definecolor{{{}}}{{HTML}}{{{}}}\n", colour, colour_of(series).substr(1));
  const auto table = [&](std::string_view options, double Mark::*value) {
    return fmt::format("\\addplot[{}] table[row sep=\\\\] {{\n{}}};\n", options,
                       tex_data(figure, series, value));
  };
  if (is_band) {
    text += table(fmt::format("draw=none, forget plot, name path=low{}", number), &Mark::low);
    text += table(fmt::format("draw=none, forget plot, name path=high{}", number), &Mark::high);
    text += fmt::format("\\addplot[{0}, opacity=0.2, forget plot] fill between[of=low{1} and "
                        "high{1}];\n",
                        colour, number);
    text += table(fmt::format("{}, thick", colour), &Mark::y);
  } else if (has_interval(series)) {
    std::string rows;
    for (const std::vector<double>& row : rows_of(figure, series)) {
      rows += fmt::format("{} {} {} {}\\\\\n", row[0], row[1], row[1] - row[2], row[3] - row[1]);
    }
    text += fmt::format("\\addplot[{}, {}mark=*, mark size=1.5pt, error bars/.cd, y dir=both, y "
                        "explicit] table[row sep=\\\\, y error minus index=2, y error plus "
                        "index=3] {{\n{}}};\n",
                        colour, series.style == Style::marks ? "only marks, " : "", rows);
  } else {
    const bool is_step = series.style == Style::stairs || series.style == Style::steps;
    text += table(fmt::format("{}{}{}", colour, is_step ? ", const plot" : "",
                              series.style == Style::bound ? ", dashed" : ", thick"),
                  &Mark::y);
  }
  if (series.name.empty()) return text;
  return text + fmt::format("\\addlegendentry{{{}}}\n", tex_escaped(series.name));
}

}  // namespace

std::string tex_escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (std::string_view("#$%&_{}").find(c) != std::string_view::npos) {
      result += fmt::format("\\{}", c);
    } else if (c == '^' || c == '~' || c == '\\') {
      result += fmt::format("\\char`\\{}{{}}", c);
    } else {
      result += c;
    }
  }
  return result;
}

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

Looks::Axes parse_axes(const std::string& text) {
  constexpr std::array<std::string_view, 4> names{"linear", "semilogx", "semilogy", "loglog"};
  const auto found = std::ranges::find(names, text);
  if (found == names.end()) throw Error(unknown_name("kind of axes", text, names));
  const auto index = found - names.begin();
  return {.x_is_logarithmic = index == 1 || index == 3, .y_is_logarithmic = index >= 2};
}

PictureSize parse_size(const std::string& text) {
  const std::size_t x = text.find('x');
  const auto side = [&](const std::string& part) {
    const auto count = parse_count(part);
    const auto number = count ? count->as_uint64() : std::nullopt;
    return number && *number >= 100 && *number <= 10'000 ? static_cast<int>(*number) : 0;
  };
  PictureSize size{.width = 0, .height = 0};
  if (x != std::string::npos) size = {side(text.substr(0, x)), side(text.substr(x + 1))};
  if (size.width > 0 && size.height > 0) return size;
  throw Error(fmt::format("--size takes WIDTHxHEIGHT in pixels from 100 to 10000, such as 640x430, "
                          "not '{}'",
                          text));
}

int parse_font_size(const std::string& text) {
  const auto count = parse_count(text);
  const auto number = count ? count->as_uint64() : std::nullopt;
  if (number && *number >= 4 && *number <= 72) return static_cast<int>(*number);
  throw Error(fmt::format("--font-size takes points from 4 to 72, not '{}'", text));
}

std::string draw(const Figure& figure, FileKind kind, const Looks& looks, const PictureSize& size) {
  if (kind == FileKind::csv) return csv(figure);
  if (kind == FileKind::tex) return pgfplots(figure, looks);
  return draw(script_of(with_axes(figure, looks), looks), static_cast<PictureFormat>(kind),
              looks.size.value_or(size), looks.font_size);
}

std::string csv(const Figure& figure) {
  std::string text = "series,x,y,low,high\n";
  for (const Series& series : figure.series) {
    for (const Mark& mark : series.points) {
      if (std::isnan(mark.x)) continue;
      text += fmt::format("{},{},{},", csv_field(series.name, Formulas::quoted), mark.x, mark.y);
      text += has_interval(series) ? fmt::format("{},{}\n", mark.low, mark.high) : ",\n";
    }
  }
  return text;
}

std::string pgfplots(const Figure& given, const Looks& looks) {
  const Figure figure = with_axes(given, looks);
  const PictureSize size = looks.size.value_or(PictureSize{.width = 600, .height = 400});
  std::string text = fmt::format(
      "% \\usepackage{{pgfplots}} \\pgfplotsset{{compat=1.16}} "
      "\\usepgfplotslibrary{{fillbetween}}\n"
      "\\begin{{tikzpicture}}\n\\begin{{axis}}[xmode={}, ymode={}, xlabel={{{}}}, ylabel={{{}}}, "
      "width={:.2f}cm, height={:.2f}cm, unbounded coords=jump, grid=major, legend "
      "style={{at={{(0.5,"
      "-0.2)}}, anchor=north}}",
      figure.x.logarithmic ? "log" : "linear", figure.y.logarithmic ? "log" : "linear",
      tex_escaped(figure.x.title), tex_escaped(figure.y.title), size.width / 50.0,
      size.height / 50.0);
  if (looks.has_title && !figure.title.empty()) {
    text += fmt::format(", title={{{}}}", tex_escaped(figure.title));
  }
  if (figure.y.logarithmic && figure.y.zero_place > 0) {
    text += fmt::format(", extra y ticks={{{}}}, extra y tick labels={{0}}", figure.y.zero_place);
  }
  text += "]\n";
  for (std::size_t i = 0; i < figure.series.size(); ++i) {
    const Series& series = figure.series[i];
    const bool is_band = series.style == Style::band || (looks.has_bands && has_interval(series));
    text += tex_plot(figure, series, i, is_band);
  }
  return text + "\\end{axis}\n\\end{tikzpicture}\n";
}

}  // namespace conclave::plot
