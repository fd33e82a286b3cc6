// `conclave plot`: a picture of a trace.
#include "conclave/plot/plot.hpp"

#include <memory>
#include <string>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/plot/film.hpp"

namespace conclave::cli {

namespace {

Exit animate(const plot::FilmOptions& options) {
  const std::string file = plot::animate(options);
  if (file != options.film) {
    tell("ffmpeg is not installed: {} has some moments side by side instead\n", file);
  }
  return Exit::done;
}

}  // namespace

void add_plot(Command& conclave) {
  auto options = std::make_shared<plot::PlotOptions>();
  auto film = std::make_shared<std::string>();
  Command command =
      conclave.subcommand("plot", "Draw a trace: leaders over time, or messages in space and time");
  command.word("TRACE", options->trace, "A file of `conclave run --trace` or `--history`");
  command.option("-o,--output", "FILE", options->picture, "The picture: .svg, .pdf or .png");
  command.option("--animate", "FILM", *film,
                 "Of a history: a film, .gif or (with ffmpeg) .mp4, a bar per state");
  command.list_option("--columns", "NAME,...", options->columns,
                      "Columns of the trace (default leaders)");
  command.option("--title", "TEXT", options->title, "A title above the picture");
  command.flag("--linear-time", options->linear_time, "A linear axis of time");
  command.footer(
      "\nExamples:\n"
      "  conclave run pll --n 1e5 --trials 5 --trace pll.csv\n"
      "  conclave plot pll.csv -o pll.svg\n"
      "  conclave run kmpp-async --n 8 --trace run.csv && conclave plot run.csv -o run.svg\n"
      "  conclave run pll --n 1e4 --until 50 --every 1 --history h.csv --history-by epoch && "
      "conclave "
      "plot h.csv --animate h.gif");
  command.runs([options, film] {
    if (!film->empty()) return animate({options->trace, *film, options->title});
    if (options->picture.empty()) throw Error("--output is required; try: conclave plot --help");
    plot::plot_trace(*options);
    return Exit::done;
  });
}

}  // namespace conclave::cli
