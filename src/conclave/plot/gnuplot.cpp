#include "conclave/plot/gnuplot.hpp"

#include <map>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/plot/detail/process.hpp"
#include "conclave/plot/detail/scratch_folder.hpp"

namespace conclave::plot {
namespace {

std::string data_name(std::size_t index) { return fmt::format("data{}", index); }

std::string terminal_of(PictureFormat format, const PictureSize& size) {
  switch (format) {
    case PictureFormat::svg:
      return fmt::format("svg size {},{} enhanced font 'sans-serif,14' background '#ffffff'",
                         size.width, size.height);
    case PictureFormat::pdf:
      return fmt::format("pdfcairo size {}cm,{}cm enhanced font 'sans,11'", size.width / 50,
                         size.height / 50);
    case PictureFormat::png:
      return fmt::format("pngcairo size {},{} enhanced font 'sans,12'", size.width, size.height);
  }
  return {};
}

// gnuplot does not notice that it could not write everything.
bool is_whole(std::string_view picture, PictureFormat format) {
  constexpr std::array<std::string_view, 3> ends{"</svg>", "%%EOF", "IEND"};
  const std::string_view tail =
      picture.substr(picture.size() - std::min<std::size_t>(picture.size(), 32));
  return tail.find(ends[static_cast<std::size_t>(format)]) != std::string_view::npos;
}

}  // namespace

PictureFormat format_of(const std::string& path) {
  const std::map<std::string_view, PictureFormat> formats{
      {".svg", PictureFormat::svg}, {".pdf", PictureFormat::pdf}, {".png", PictureFormat::png}};
  const std::size_t dot = path.rfind('.');
  const auto found =
      dot == std::string::npos ? formats.end() : formats.find(std::string_view(path).substr(dot));
  if (found != formats.end()) return found->second;
  throw Error(fmt::format("'{}': a picture ends in .svg, .pdf or .png", path));
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
    text += row.empty() ? "\n\n" : fmt::format("{}\n", fmt::join(row, " "));
  }
  data_.push_back(std::move(text));
  return gnuplot_string(data_name(data_.size() - 1));
}

std::string draw(const Script& script, PictureFormat format, const PictureSize& size) {
  const ScratchFolder folder;
  for (std::size_t i = 0; i < script.data().size(); ++i) {
    write_file(folder.file(data_name(i)), script.data()[i]);
  }
  write_file(folder.file("script"),
             fmt::format("set terminal {}\n{}", terminal_of(format, size), script.commands()));
  const ProcessResult result = run_process({"gnuplot", "-d", "script"}, folder.path());
  if (!result.has_started) {
    throw Error("gnuplot could not be started; is the package gnuplot-nox installed?");
  }
  if (result.status == 0 && is_whole(result.output, format)) return result.output;
  throw Error(fmt::format("gnuplot could not draw the picture{}{}",
                          result.errors.empty() ? "" : ": ", excerpt(result.errors, 200)));
}

}  // namespace conclave::plot
