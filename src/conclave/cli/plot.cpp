// `conclave plot`: a picture of a trace.
#include "conclave/experiment/plot.hpp"

#include <memory>
#include <string>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"

namespace conclave::cli {

void add_plot(CLI::App& app, Action& action) {
  auto options = std::make_shared<experiment::PlotOptions>();
  CLI::App* command =
      app.add_subcommand("plot", "Draw a trace: leaders over time, or messages in space and time");
  command->add_option("TRACE", options->trace, "A file of `conclave run --trace`")->required();
  command->add_option("-o,--output", options->picture, "The picture: .svg, .pdf or .png")
      ->type_name("FILE")
      ->required();
  command->add_option("--columns", options->columns, "Columns of the trace (default leaders)")
      ->type_name("NAME,...")
      ->delimiter(',');
  command->add_option("--title", options->title, "A title above the picture")->type_name("TEXT");
  command->add_flag("--linear-time", options->linear_time, "A linear axis of time");
  command->footer(
      "\nExamples:\n"
      "  conclave run pll --n 1e5 --trials 5 --trace pll.csv\n"
      "  conclave plot pll.csv -o pll.svg\n"
      "  conclave run kmpp-async --n 8 --trace run.csv && conclave plot run.csv -o run.svg");
  command->callback([options, &action] {
    action = [options] {
      experiment::plot_trace(*options);
      return Exit::done;
    };
  });
}

}  // namespace conclave::cli
