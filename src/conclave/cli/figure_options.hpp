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

  void add_to(Command& command);
  // Throws Error if a value makes no sense.
  plot::Looks looks() const;
};

}  // namespace conclave::cli
