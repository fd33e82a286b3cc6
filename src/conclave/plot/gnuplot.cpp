#include "conclave/plot/gnuplot.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/plot/detail/subprocess.hpp"

namespace conclave::plot {
namespace {

constexpr std::array<std::string_view, 5> kind_names{"svg", "pdf", "png", "csv", "tex"};

std::string data_name(std::size_t index) { return fmt::format("data{}", index); }

std::string terminal_of(PictureFormat format, const PictureSize& size, int points) {
  switch (format) {
    case PictureFormat::svg:
      return fmt::format("svg size {},{} enhanced font 'sans-serif,{}' background '#ffffff'",
                         size.width, size.height, points);
    case PictureFormat::pdf:
      return fmt::format("pdfcairo size {:.2f}cm,{:.2f}cm enhanced font 'sans,{}'",
                         size.width / 50.0, size.height / 50.0, points);
    case PictureFormat::png:
      return fmt::format("pngcairo size {},{} enhanced font 'sans,{}'", size.width, size.height,
                         points);
  }
  return {};
}

// Variables for the legends of scripts: their font, and how many letters fit side by side below
// the axes, for gnuplot cuts a legend that is too wide.
std::string legend_variables(PictureFormat format, const PictureSize& size, int points) {
  constexpr std::array<double, 3> units_per_pixel{1, 0.57, 0.75};  // svg, pdf in points, png
  const int smaller = std::max(4, points * 4 / 5);
  const double room = 0.8 * size.width * units_per_pixel[static_cast<std::size_t>(format)];
  return fmt::format("key_font = ',{}'\nkey_letters = {}\n", smaller,
                     static_cast<int>(room / (0.6 * smaller)));
}

// gnuplot does not notice that it could not write everything.
bool is_whole(std::string_view picture, PictureFormat format) {
  constexpr std::array<std::string_view, 3> ends{"</svg>", "%%EOF", "IEND"};
  const std::string_view tail =
      picture.substr(picture.size() - std::min<std::size_t>(picture.size(), 32));
  return tail.find(ends[static_cast<std::size_t>(format)]) != std::string_view::npos;
}

}  // namespace

FileKind kind_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  const std::string ending = dot == std::string::npos ? "" : path.substr(dot + 1);
  const auto found = std::ranges::find(kind_names, ending);
  if (found != kind_names.end()) return static_cast<FileKind>(found - kind_names.begin());
  throw Error(fmt::format("'{}': a figure ends in .svg, .pdf or .png, its data in .csv, and a "
                          "drawing for LaTeX in .tex",
                          path));
}

FileKind kind_named(const std::string& name) {
  const auto found = std::ranges::find(kind_names, name);
  if (found != kind_names.end()) return static_cast<FileKind>(found - kind_names.begin());
  throw Error(unknown_name("kind of figure", name, kind_names));
}

// gnuplot 5.4 takes a doubled quote at the beginning for an empty string, so one there is replaced.
std::string gnuplot_string(std::string_view text) {
  constexpr std::size_t most = 500;
  std::string result;
  for (const char c : excerpt(text, most)) {
    const bool is_quote = c == '\'' || c == '`';
    if (is_quote)
      result += result.empty() ? "\u2019" : "''";
    else
      result += c;
  }
  return "'" + result + "'";
}

std::string Script::add_data(const Rows& rows) {
  std::string text;
  for (const std::vector<double>& row : rows) {
    text += row.empty() ? "\n\n" : fmt::format("{}\n", join_parts(row, " "));
  }
  data_.push_back(std::move(text));
  return gnuplot_string(data_name(data_.size() - 1));
}

std::string detail::run_gnuplot(const Script& script, const std::string& commands,
                                const ScratchFolder& folder) {
  for (std::size_t i = 0; i < script.data().size(); ++i) {
    write_file(folder.file(data_name(i)), script.data()[i]);
  }
  write_file(folder.file("script"), commands);
  ProcessResult result = run_process({"gnuplot", "-d", "script"}, folder.path());
  if (!result.has_started) {
    throw Error("gnuplot could not be started; is the package gnuplot-nox installed?");
  }
  if (result.status == 0) return std::move(result.output);
  throw Error(fmt::format("gnuplot could not draw the picture{}{}",
                          result.errors.empty() ? "" : ": ", excerpt(result.errors, 200)));
}

std::string draw(const Script& script, PictureFormat format, const PictureSize& size,
                 int font_size) {
  constexpr std::array<int, 3> usual_points{14, 11, 12};
  const int points = font_size > 0 ? font_size : usual_points[static_cast<std::size_t>(format)];
  const std::string commands =
      fmt::format("set terminal {}\n{}{}", terminal_of(format, size, points),
                  legend_variables(format, size, points), script.commands());
  std::string picture = detail::run_gnuplot(script, commands, detail::ScratchFolder());
  if (!is_whole(picture, format)) throw Error("gnuplot could not draw the picture");
  return picture;
}

}  // namespace conclave::plot
