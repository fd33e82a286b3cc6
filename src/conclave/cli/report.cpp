// `conclave report`: a page with tables, laws and figures from files of results.
// The options are those of report::ReportOptions, which says what each does.
#include <memory>

#include "conclave/cli/cli.hpp"
#include "conclave/cli/figure_options.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/report/write_report.hpp"

namespace conclave::cli {

void add_report(Command& conclave) {
  auto options = std::make_shared<report::ReportOptions>();
  auto looks = std::make_shared<FigureOptions>();
  Command command =
      conclave.subcommand("report", "Write a report of results: tables, fitted laws, figures");
  command.words("FILE", options->files, "Files of results of `conclave sweep`");
  command.option("-o,--output", "FILE", options->page,
                 "The report, one HTML file that needs no other");
  command.option("--figures", "FOLDER", options->figures, "Every figure as a file, NAME.svg");
  command.list_option("--kinds", "KIND,...", options->kinds,
                      "File types of the figures: svg, pdf, png, csv, tex (default svg)");
  command.list_option("--only", "NAME,...", options->only, "Only these figures");
  command.repeatable_option("--where", "CONDITION", options->where,
                            "Only rows that satisfy it, as in `conclave results`: laws of means "
                            "under a condition; repeatable");
  command.option(
      "--by", "FIELD", options->by,
      "Split the first measure by the values of a field of the rows, fit a law to each of "
      "these cases, and report how well their mixture gives the means");
  command.repeatable_option("--law", "LAW", options->laws,
                            "Fit this law of n and parameters, such as 'a*n*log(n)+b*n', instead "
                            "of the usual ones; repeatable");
  command.option("--title", "TEXT", options->title, "The title (default the names of the plans)");
  command.option("--explorer", "URL", options->explorer,
                 "Link every cell to its first trial in the explorer at this address, such as "
                 "explorer.html beside the report (default: list the commands that show it)");
  looks->add_to(command);
  command.file_size_option();
  command.footer("\nExamples:\n"
                 "  conclave sweep plan.toml -o results.db\n"
                 "  conclave report results.db -o report.html\n"
                 "  conclave report one.db two.db -o report.html --figures figures\n"
                 "  conclave report pll.db --where epoch_at_convergence=2 -o epoch2.html\n"
                 "  conclave report pll.db --by epoch_at_convergence -o epochs.html\n"
                 "  conclave report results.db --figures paper --kinds pdf,csv,tex --no-title");
  command.runs([options, looks] {
    options->looks = looks->looks();
    options->version = code_version();
    report::write_report(*options);
    return Exit::done;
  });
}

}  // namespace conclave::cli
