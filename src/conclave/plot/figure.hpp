// A figure without its looks: axes, series, words. It becomes a picture, which gnuplot draws, a
// table of its numbers (CSV), or a drawing for LaTeX (pgfplots).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/plot/gnuplot.hpp"

namespace conclave::plot {

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
  steps,   // one observed course after the other, with a gap (x is NaN) between them
  band,    // a mean over time with its interval as a band
};

struct Series {
  std::string name;  // empty: not in the legend
  Style style = Style::marks;
  std::size_t look = 0;  // which colour, shape and dashes
  std::vector<Mark> points{};
  bool is_crowded = false;  // many courses, drawn with thin lines
};

struct Axis {
  std::string title;
  bool logarithmic = false;
  double zero_place = 0;  // where a logarithmic y axis shows 0; 0: nowhere
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

// The text as LaTeX shows it, without commands; control characters become visible.
std::string tex_escaped(std::string_view text);

// The choices of the user.
struct Looks {
  // Replaces the scales of a figure.
  struct Axes {
    bool x_is_logarithmic = false;
    bool y_is_logarithmic = false;
  };
  std::optional<Axes> axes{};  // nothing: as the figure has them
  std::optional<PictureSize> size{};
  int font_size = 0;  // points; 0: as the format has it
  bool has_title = true;
  bool has_bands = false;  // intervals as bands instead of bars
};

// "loglog", "semilogx", "semilogy" or "linear"; throws Error for others.
Looks::Axes parse_axes(const std::string& text);
// "640x430", in pixels; throws Error for what is none, below 100 or above 10000.
PictureSize parse_size(const std::string& text);
// From 4 to 72 points; throws Error for others.
int parse_font_size(const std::string& text);

// The bytes of a file of this kind. Values that a logarithmic axis cannot show are left out of
// pictures and of LaTeX, never of CSV. Throws Error if gnuplot is needed and missing.
std::string draw(const Figure& figure, FileKind kind, const Looks& looks = {},
                 const PictureSize& size = {.width = 640, .height = 430});

// One line per mark: series,x,y,low,high. Numbers have all their digits; low and high are empty
// where there is no interval.
std::string csv(const Figure& figure);

// A tikzpicture with its data inside, for \usepackage{pgfplots} with compat=1.16 or newer and its
// library fillbetween.
std::string pgfplots(const Figure& given, const Looks& looks = {});

}  // namespace conclave::plot
