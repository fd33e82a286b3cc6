// What every picture shares: the table it is drawn from, and gnuplot, which draws it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::experiment {

// A file of comma-separated values whose first line names the columns.
struct Table {
  using Line = std::vector<std::string>;

  Line header;
  std::vector<Line> lines;

  bool has(const std::string& name) const;
  std::size_t column(const std::string& name) const;  // throws Error with the nearest name
};

// Throws Error where the file cannot be read, holds no line, or one of another length.
Table read_table(const std::string& path);

// Colours that colour-blind readers can tell apart (Okabe and Ito).
inline constexpr std::array<std::string_view, 6> palette{"#0072b2", "#d55e00", "#009e73",
                                                         "#cc79a7", "#e69f00", "#56b4e9"};

struct PictureSize {
  int width = 900;  // pixels; a .pdf has 50 of them per centimetre
  int height = 560;
};

// gnuplot's words for a file that ends in .svg, .pdf or .png; throws Error for others.
std::string terminal_of(const std::string& picture, const PictureSize& size = {});

// A string as gnuplot reads it.
std::string quoted(const std::string& text);

// Runs the script, which comes after the lines that set terminal and output. The picture appears
// under its name when it is complete. Throws Error where it cannot be drawn.
void draw(const std::string& picture, const PictureSize& size, const std::string& script);

}  // namespace conclave::experiment
