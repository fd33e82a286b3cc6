// The options with which a reader chooses the looks of figures, for `plot` and `report`.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"
#include "conclave/plot/figure.hpp"

namespace conclave::cli {

struct FigureOptions {
  std::string axes;
  std::string size;
  std::string font_size;
  bool no_title = false;
  bool bands = false;

  void add_to(Command& command) {
    command.option("--axes", "AXES", axes,
                   "loglog, semilogx, semilogy or linear (default: what suits the numbers)");
    command.option("--size", "WxH", size, "Width and height in pixels, 50 of them per centimetre");
    command.option("--font-size", "PT", font_size, "Font size in points");
    command.flag("--no-title", no_title, "No title above the figure, as for papers");
    command.flag("--bands", bands, "Confidence intervals as bands instead of bars");
  }
  // Throws Error if a value makes no sense.
  plot::Looks looks() const {
    plot::Looks looks{.has_title = !no_title, .has_bands = bands};
    if (!axes.empty()) looks.axes = plot::parse_axes(axes);
    if (!size.empty()) looks.size = plot::parse_size(size);
    if (!font_size.empty()) looks.font_size = plot::parse_font_size(font_size);
    return looks;
  }
};

}  // namespace conclave::cli
