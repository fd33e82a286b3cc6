// `conclave plot`: a picture of a trace.
// The file may be a trace, a history, or messages in space and time: its columns tell.
#include "conclave/plot/plot.hpp"

#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/figure_options.hpp"
#include "conclave/cli/terminal.hpp"

namespace conclave::cli {
namespace {

struct PlotCommandOptions {
  plot::PlotOptions plot;
  FigureOptions figure;
  std::string film;
  bool linear_time = false;
};

void animate(const plot::FilmOptions& options) {
  const std::string file = plot::animate(options);
  if (file != options.film) {
    tell("ffmpeg is not installed: {} has some moments side by side instead\n", file);
  }
}

// A database of results begins with this sentence (the file format of SQLite).
bool is_database(const std::string& path) {
  constexpr std::string_view magic = "SQLite format 3";
  std::ifstream file(path, std::ios::binary);
  std::string begin(magic.size(), ' ');
  return file.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == magic;
}

Exit plot_trace(PlotCommandOptions& options) {
  if (is_database(options.plot.trace)) {
    throw Error(fmt::format("'{0}' holds the results of a sweep, not a trace; its figures are "
                            "drawn by: conclave report {0}",
                            options.plot.trace));
  }
  for (const std::string& file : options.plot.files) {
    check_output_is_not_read(file, options.plot.trace);
  }
  if (!options.film.empty()) {
    animate({options.plot.trace, options.film, options.plot.title});
    if (options.plot.files.empty()) return Exit::done;
  }
  if (options.plot.files.empty()) throw Error("--output is required; try: conclave plot --help");
  if (options.linear_time && options.figure.axes.empty()) options.figure.axes = "semilogy";
  if (options.linear_time && plot::parse_axes(options.figure.axes).x_is_logarithmic) {
    throw Error(fmt::format("--linear-time and --axes {} contradict each other; linear and "
                            "semilogy have a linear axis of time",
                            options.figure.axes));
  }
  options.plot.looks = options.figure.looks();
  plot::plot_trace(options.plot);
  return Exit::done;
}

}  // namespace

void add_plot(Command& conclave) {
  auto options = std::make_shared<PlotCommandOptions>();
  Command command =
      conclave.subcommand("plot", "Draw a trace: leaders over time, or messages in space and time");
  command.word("TRACE", options->plot.trace, "A file of `conclave run --trace` or `--history`");
  command.repeatable_option("-o,--output", "FILE", options->plot.files,
                            "A picture (.svg, .pdf, .png), its data (.csv) or a drawing for LaTeX "
                            "with pgfplots (.tex); repeatable");
  command.option("--animate", "FILM", options->film,
                 "A film of a history, .gif or (with ffmpeg) .mp4, a bar per state");
  command.list_option(
      "--columns", "NAME,...", options->plot.columns,
      "Columns of the trace (default leaders, or all numbers where the trace has no leaders)");
  command.flag("--mean", options->plot.has_mean,
               "The mean over the trials with its 95 % interval as a band");
  command.option("--title", "TEXT", options->plot.title, "A title above the picture");
  command.flag("--linear-time", options->linear_time,
               "A linear axis of time; without --axes the same as --axes semilogy");
  options->figure.add_to(command);
  command.file_size_option();
  command.footer(
      "\nExamples:\n"
      "  conclave run pll --n 1e5 --trials 5 --trace pll.csv\n"
      "  conclave plot pll.csv -o pll.svg\n"
      "  conclave plot pll.csv --mean --axes loglog --size 450x300 --no-title -o pll.pdf -o "
      "pll.tex\n"
      "  conclave run kmpp-async --n 8 --trace run.csv && conclave plot run.csv -o run.svg\n"
      "  conclave run pll --n 1e4 --until 50 --every 1 --history h.csv --history-by epoch\n"
      "  conclave plot h.csv --animate h.gif");
  command.runs([options] { return plot_trace(*options); });
}

}  // namespace conclave::cli
