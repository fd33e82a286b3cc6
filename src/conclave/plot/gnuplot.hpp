// gnuplot, which draws every picture. It is a programming language with a shell behind it and has
// no mode in which it obeys less, so safety comes from what it is given: commands that are written
// in this program, numbers that lie in files of their own, and words that went through
// gnuplot_string().
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::plot {

// Colours that colour-blind readers can tell apart (Okabe and Ito).
inline constexpr std::array<std::string_view, 6> palette{"#0072b2", "#d55e00", "#009e73",
                                                         "#cc79a7", "#e69f00", "#56b4e9"};

struct PictureSize {
  int width = 900;  // pixels; a .pdf has 50 of them per centimetre
  int height = 560;
};

// The picture formats that gnuplot draws.
enum class PictureFormat : std::uint8_t { svg, pdf, png };

// The file formats of figures.
enum class FileKind : std::uint8_t { svg, pdf, png, csv, tex };

// By the ending of the file's name; throws Error for others.
FileKind kind_of(const std::string& path);
// By its name, "svg"; throws Error with the nearest one for others.
FileKind kind_named(const std::string& name);

// A string literal for gnuplot, in single quotes, between which gnuplot interprets neither escapes
// nor commands. Quotes are doubled, or replaced at the beginning; control characters become
// visible, backquotes quotes.
std::string gnuplot_string(std::string_view text);

// A script and its data.
class Script {
 public:
  // Commands. Whatever in them was not written in this program must have gone through
  // gnuplot_string() or be a number.
  void add(std::string_view commands) { commands_ += commands; }

  // Rows of numbers, NaN where there is none; an empty row begins a new curve. Returns the quoted
  // name of the file in which gnuplot finds them.
  using Rows = std::vector<std::vector<double>>;
  std::string add_data(const Rows& rows);

  // The script, and the contents of its data files in the order in which they were added.
  const std::string& commands() const { return commands_; }
  const std::vector<std::string>& data() const { return data_; }

 private:
  std::string commands_;
  std::vector<std::string> data_;
};

namespace detail {
class ScratchFolder;

// The bytes that gnuplot writes to its standard output for `commands`, which find the data of the
// script in the folder, as do files that they name. Throws as draw() does.
std::string run_gnuplot(const Script& script, const std::string& commands,
                        const ScratchFolder& folder);
}  // namespace detail

// Draws and returns the bytes of the picture. gnuplot runs without a shell and without the user's
// settings, in a temporary folder of its own that is gone afterwards. Throws Error if gnuplot is
// missing or objects, std::system_error if the temporary folder cannot be written. `font_size` is
// in points, 0 for the one that suits the format.
std::string draw(const Script& script, PictureFormat format, const PictureSize& size = {},
                 int font_size = 0);

}  // namespace conclave::plot
