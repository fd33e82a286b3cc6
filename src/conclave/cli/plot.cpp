// `conclave plot`: a picture of a trace.
#include "conclave/plot/plot.hpp"

#include <memory>
#include <string>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"

namespace conclave::cli {

void add_plot(Command& conclave) {
  auto options = std::make_shared<plot::PlotOptions>();
  Command command =
      conclave.subcommand("plot", "Draw a trace: leaders over time, or messages in space and time");
  command.word("TRACE", options->trace, "A file of `conclave run --trace`");
  command.required_option("-o,--output", "FILE", options->picture,
                          "The picture: .svg, .pdf or .png");
  command.list_option("--columns", "NAME,...", options->columns,
                      "Columns of the trace (default leaders)");
  command.option("--title", "TEXT", options->title, "A title above the picture");
  command.flag("--linear-time", options->linear_time, "A linear axis of time");
  command.footer(
      "\nExamples:\n"
      "  conclave run pll --n 1e5 --trials 5 --trace pll.csv\n"
      "  conclave plot pll.csv -o pll.svg\n"
      "  conclave run kmpp-async --n 8 --trace run.csv && conclave plot run.csv -o run.svg");
  command.runs([options] {
    plot::plot_trace(*options);
    return Exit::done;
  });
}

}  // namespace conclave::cli
