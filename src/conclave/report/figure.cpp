#include "conclave/report/figure.hpp"

#include <string_view>

#include <fmt/format.h>

#include "conclave/base/json.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::report {
namespace {

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
    case Style::steps:
      return "stairs";
    case Style::band:
      return "joined";
  }
  return {};
}

std::string axis_json(const Axis& axis) {
  return fmt::format(R"({{"title":{},"log":{}}})", json_string(axis.title), axis.logarithmic);
}

std::string numbers(const Series& series, double Mark::*value) {
  std::string text;
  for (const Mark& mark : series.points) {
    text += fmt::format("{}{:.6g}", text.empty() ? "" : ",", mark.*value);
  }
  return text;
}

std::string series_json(const Series& series) {
  std::string text = fmt::format(R"({{"name":{},"style":"{}","look":{},"x":[{}],"y":[{}])",
                                 json_string(series.name), name_of(series.style), series.look,
                                 numbers(series, &Mark::x), numbers(series, &Mark::y));
  const bool has_intervals = series.style == Style::marks || series.style == Style::joined;
  if (has_intervals) {
    text += fmt::format(R"(,"low":[{}],"high":[{}])", numbers(series, &Mark::low),
                        numbers(series, &Mark::high));
  }
  return text + '}';
}

}  // namespace

std::string json(const Figure& figure) {
  std::string series;
  for (const Series& each : figure.series) {
    if (!series.empty()) series += ',';
    series += series_json(each);
  }
  return fmt::format(R"({{"x":{},"y":{},"series":[{}]}})", axis_json(figure.x), axis_json(figure.y),
                     series);
}

}  // namespace conclave::report
