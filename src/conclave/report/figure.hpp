// A figure without its looks: axes, series, words. It becomes an SVG (gnuplot draws it) and the
// numbers that the page's script draws when a reader wants to zoom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace conclave::report {

struct Mark {
  double x = 0;
  double y = 0;
  double low = 0;  // ends of an interval around y; both equal to y: none
  double high = 0;
};

enum class Style : std::uint8_t {
  marks,   // measured: marks with intervals
  joined,  // the same, joined by a thin line
  curve,   // a fitted law
  bound,   // what a paper promises
  stairs,  // a distribution function
};

struct Series {
  std::string name;  // empty: not in the legend
  Style style = Style::marks;
  std::size_t look = 0;  // which colour, shape and dashes
  std::vector<Mark> points{};
};

struct Axis {
  std::string title;
  bool logarithmic = false;
};

struct Figure {
  std::string name{};  // of its file, without .svg
  std::string title{};
  std::string caption{};  // what it shows, also for readers who cannot see it
  std::string command{};  // draws it again
  Axis x{};
  Axis y{};
  std::vector<Series> series{};
  std::vector<double> x_places{};  // where the x axis is labelled; empty: anywhere
};

// For people: four significant digits, and powers of ten as such, 1.2e6.
std::string short_number(double value);

// A stand-alone SVG. Throws Error where gnuplot is missing.
std::string svg(const Figure& figure);

// One JSON object with axes and series, as the page's script reads it.
std::string json(const Figure& figure);

}  // namespace conclave::report
