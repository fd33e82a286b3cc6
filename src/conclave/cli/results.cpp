// `conclave results`: lists, filters and exports what a sweep has found.
//
// The table has a line per cell, of the trials before the first missing one: short trials end
// first, and all that are there would prefer them. The other formats have every row, marked where
// its cell is unfinished. Files may come from others: names and texts lose their control characters
// on the way to a terminal, and --check compares every row with its checksum.
#include "conclave/sweep/results.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/estimates_table.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/sweep/rare_cells.hpp"
#include "conclave/sweep/row_fields.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/selection.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::cli {
namespace {

struct ResultsOptions {
  std::string file;
  std::string format = "table";
  std::string measure;
  std::string output;
  std::vector<std::string> where;
  std::string salvage;
  bool check = false;
  bool quotes_formulas = false;
  bool estimates = false;
};

// The rows of one cell that the filter lets pass.
struct CellSample {
  std::uint64_t rows = 0;
  std::uint64_t converged = 0;
  std::vector<double> values{};  // of the measure, in converged trials
};
using Samples = std::map<std::size_t, CellSample>;

// The value of --measure, or nothing: each cell then has the measure that suits its protocol.
using Measure = std::optional<sweep::RowMeasure>;

std::string measure_of(const sweep::StoredCell& cell, const Measure& given) {
  if (given) return given->name();
  return sweep::field(cell.fields, "ids") ? "messages" : "parallel_time";
}

Samples sample(const sweep::Results& results, const sweep::Filter& filter, const Measure& given) {
  Samples samples;
  sweep::for_each_row(
      results, filter,
      [&](const sweep::PlacedRow& row) {
        if (sweep::is_rare(results.cells()[row.cell])) return;
        CellSample& cell = samples[row.cell];
        ++cell.rows;
        if (sweep::field(row.fields, "converged") != "true") return;
        ++cell.converged;
        const auto value =
            given ? (*given)(row.fields)
                  : sweep::number_field(row.fields, measure_of(results.cells()[row.cell], given));
        if (value) cell.values.push_back(*value);
      },
      sweep::RowChoice::prefix);
  return samples;
}

// The fields of a cell by name; the first one where a name is there twice.
using Values = std::map<std::string_view, std::string_view>;

Values values_of(const sweep::StoredCell& cell) { return {cell.fields.begin(), cell.fields.end()}; }

// The fields that the column SETTING shows: parameters, and those that differ between cells.
std::vector<std::string> varying_fields(const std::vector<sweep::StoredCell>& cells) {
  std::vector<std::string> names;
  std::set<std::string_view> seen;
  for (const sweep::StoredCell& cell : cells) {
    for (const auto& [name, value] : cell.fields) {
      if (seen.insert(name).second) names.push_back(name);
    }
  }
  if (cells.empty()) return names;
  const Values first = values_of(cells.front());
  std::set<std::string_view> varying;
  for (const sweep::StoredCell& cell : cells) {
    for (const auto& [name, value] : values_of(cell)) {
      const auto same = first.find(name);
      if (same == first.end() || same->second != value) varying.insert(name);
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    if (name == "protocol" || name == "n" || name == "source_hash") return true;
    if (name == "kind" || name.starts_with("ways.")) return true;
    return !name.starts_with("params.") && !varying.contains(name);
  });
  return names;
}

std::string setting_text(const sweep::StoredCell& cell, const std::vector<std::string>& names) {
  std::string text;
  const Values values = values_of(cell);
  for (const std::string& name : names) {
    const auto value = values.find(name);
    if (value == values.end()) continue;
    const std::size_t dot = name.find('.');
    text += fmt::format("{}{}={}", text.empty() ? "" : " ",
                        dot == std::string::npos ? name : name.substr(dot + 1), value->second);
  }
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  if (!cell.words.until.empty()) add("until", cell.words.until);
  for (const std::string& fault : cell.words.faults) add("fault", fault);
  return text;
}

std::string five_digits(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.5g}", value);
}

// "150 of 200" where a sweep has not come to its end.
std::string trials_text(const sweep::CellProgress& progress, std::uint64_t rows) {
  if (progress.missing == 0) return fmt::format("{}", rows);
  return fmt::format("{} of {}", rows, progress.wanted);
}

std::string unfinished_text(const std::vector<sweep::CellProgress>& progress) {
  std::uint64_t missing = 0;
  std::size_t cells = 0;
  for (const sweep::CellProgress& each : progress) {
    missing += each.missing;
    cells += each.missing > 0 ? 1 : 0;
  }
  if (missing == 0) return {};
  return fmt::format(
      "\nunfinished: {} trial{} of {} cell{} missing; the table uses the\ntrials before "
      "the first missing one of each cell\n",
      missing, missing == 1 ? "" : "s", cells,
      cells == 1 && missing == 1 ? " is" : (cells == 1 ? " are" : "s are"));
}

// Values that are the same in every line, so that the table shows them once.
struct Shared {
  std::string measure{};  // empty: cells have different ones
  bool all_converged = true;
};

Shared shared_by(const sweep::Results& results, const Samples& samples, const Measure& given) {
  Shared shared;
  bool is_first = true;
  for (const auto& [id, sample] : samples) {
    const std::string measure = measure_of(results.cells()[id], given);
    shared.measure = is_first || measure == shared.measure ? measure : "";
    shared.all_converged = shared.all_converged && sample.converged == sample.rows;
    is_first = false;
  }
  return shared;
}

using Estimates = std::vector<sweep::CellEstimate>;

TextTable empty_table(const Shared& shared) {
  using enum TextTable::Align;
  std::vector<TextTable::Column> columns{
      {"CELL"}, {"PROTOCOL", left}, {"N"}, {"SETTING", left, true}, {"TRIALS", right, true}};
  if (!shared.all_converged) columns.push_back({"CONVERGED"});
  if (shared.measure.empty()) columns.push_back({"MEASURE", left, true});
  for (const char* title : {"MEAN", "95% LOW", "95% HIGH", "MEDIAN", "90%", "MAXIMUM"}) {
    columns.push_back({title});
  }
  return TextTable(std::move(columns));
}

std::vector<std::string> line_of(const sweep::StoredCell& cell, const CellSample& sample,
                                 const std::string& trials, const std::string& setting,
                                 const std::string& measure, const Shared& shared) {
  std::vector<double> sorted = sample.values;
  std::ranges::sort(sorted);
  const double mean = sorted.empty() ? NAN : summarize(sorted).mean;
  const Interval interval =
      sorted.size() < 2 ? Interval{NAN, NAN} : nonnegative_mean_interval(summarize(sorted));
  const auto at = [&](double q) { return five_digits(sorted.empty() ? NAN : quantile(sorted, q)); };
  std::vector<std::string> line{fmt::format("{}", cell.id), *sweep::field(cell.fields, "protocol"),
                                *sweep::field(cell.fields, "n"), setting, trials};
  if (!shared.all_converged) line.push_back(fmt::format("{}", sample.converged));
  if (shared.measure.empty()) line.push_back(measure);
  for (const std::string& text : {five_digits(mean), five_digits(interval.low),
                                  five_digits(interval.high), at(0.5), at(0.9), at(1)}) {
    line.push_back(text);
  }
  return line;
}

std::string table(const sweep::Results& results, const sweep::Filter& filter, const Measure& given,
                  std::size_t width) {
  const Samples samples = sample(results, filter, given);
  const Estimates estimates = sweep::estimates_of(results, filter);
  const std::vector<std::string> names = varying_fields(results.cells());
  const Shared shared = shared_by(results, samples, given);
  TextTable lines = empty_table(shared);
  const std::vector<sweep::CellProgress> progress = sweep::progress_of(results);
  std::uint64_t rows = 0;
  for (const auto& [id, sample] : samples) {
    const sweep::StoredCell& cell = results.cells()[id];
    lines.add(line_of(cell, sample, trials_text(progress[id], sample.rows),
                      setting_text(cell, names), measure_of(cell, given), shared));
    rows += sample.rows;
  }
  for (const sweep::CellEstimate& each : estimates) rows += each.row.repetitions();
  const std::string shard = results.meta("shard");
  std::string heading =
      fmt::format("{}{}   {} of {} cells   {} rows", results.meta("name"),
                  shard.empty() ? "" : fmt::format("   shard {}", shard),
                  samples.size() + estimates.size(), results.cells().size(), rows);
  if (!shared.measure.empty()) heading += fmt::format("   measure {}", shared.measure);
  const std::string versions =
      fmt::format("made by conclave {}", join_parts(results.code_versions(), ", "));
  std::string body = samples.empty() && !estimates.empty() ? "" : lines.text(width);
  std::vector<EstimateLine> estimated;
  for (const sweep::CellEstimate& each : estimates) {
    estimated.push_back({&each, setting_text(results.cells()[each.cell], names),
                         trials_text(progress[each.cell], each.row.repetitions())});
  }
  if (!estimated.empty()) body += (body.empty() ? "" : "\n") + estimates_table(estimated, width);
  return fmt::format("{}\n{}\n\n{}{}", wrapped(printable(heading), width, 2),
                     wrapped(printable(versions), width, 2), body, unfinished_text(progress));
}

void write(const sweep::Results& results, const sweep::Filter& filter, const Measure& given,
           const ResultsOptions& options, Output& output) {
  if (options.format == "table") {
    output.write(table(results, filter, given, output_width(options.output)));
  } else if (options.estimates) {
    output.write(sweep::estimates_text(sweep::estimates_of(results, filter), options.format));
  } else if (options.format == "csv") {
    const Formulas formulas = options.quotes_formulas ? Formulas::quoted : Formulas::kept;
    sweep::write_csv(
        results, filter, [&](std::string_view text) { output.write(text); }, formulas);
  } else if (options.format == "jsonl") {
    sweep::for_each_row(results, filter, [&](const sweep::PlacedRow& row) {
      output.write(printable_json(row.json) + '\n');
    });
  } else {
    output.write(
        fmt::format(R"({{"name":{},"rows":[)", printable_json(json_string(results.meta("name")))));
    bool is_first = true;
    sweep::for_each_row(results, filter, [&](const sweep::PlacedRow& row) {
      output.write((is_first ? "\n" : ",\n") + printable_json(row.json));
      is_first = false;
    });
    output.write("\n]}\n");
  }
}

// Whether the file is as it was written.
Exit check(const sweep::Results& results, const ResultsOptions& options) {
  const sweep::Results::Check found = results.check();
  Output output(options.output);
  for (const std::string& damage : found.damage) output.write(printable(damage) + '\n');
  output.write(
      fmt::format("{} rows, {} damaged{}\n", found.rows, found.damage.size(),
                  found.without_checksum == 0
                      ? ""
                      : fmt::format("; {} have no checksum, as an older version wrote them",
                                    found.without_checksum)));
  output.finish();
  return found.damage.empty() ? Exit::done : Exit::does_not_hold;
}

// Whole rows into a new file; what is lost is said, but for most of it where it is much.
Exit salvage(const ResultsOptions& options) {
  constexpr std::size_t most_sentences = 20;
  const sweep::Salvaged found = sweep::salvage(options.file, options.salvage, code_version());
  Output output(options.output);
  for (std::size_t i = 0; i < std::min(found.lost.size(), most_sentences); ++i) {
    output.write(printable(found.lost[i]) + '\n');
  }
  if (found.lost.size() > most_sentences) {
    output.write(fmt::format("... and {} more\n", found.lost.size() - most_sentences));
  }
  output.write(fmt::format("{}: {} rows saved, {} missing: conclave sweep PLAN -o {} runs those\n",
                           printable(options.salvage), found.saved.rows, found.saved.missing,
                           printable(options.salvage)));
  output.finish();
  return Exit::done;
}

Exit run(const ResultsOptions& options) {
  check_output_is_not_read(options.output, options.file);
  if (options.quotes_formulas && options.format != "csv") {
    throw Error("--quote-formulas goes with --format csv");
  }
  if (!options.salvage.empty()) return salvage(options);
  using Reading = sweep::Results::Reading;
  const sweep::Results results(options.file, options.check ? Reading::check : Reading::whole);
  if (options.check) return check(results, options);
  const sweep::Filter filter(options.where, results);
  Measure measure;
  if (!options.measure.empty()) measure.emplace(options.measure, results);
  Output output(options.output);
  write(results, filter, measure, options, output);
  output.finish();
  return Exit::done;
}

constexpr const char* results_examples = R"(
Examples:
  conclave results results.db
  conclave results results.db --where protocol=prl --where 'N>100'
  conclave results results.db --measure interactions
  conclave results results.db --measure 'interactions / n^2'
  conclave results results.db --format csv > rows.csv
  conclave results results.db --where converged=false --format jsonl
  conclave results rare.db --estimates --format jsonl
  conclave results damaged.db --salvage saved.db

The file is SQLite: sqlite3 results.db 'SELECT n, avg(parallel_time) FROM result GROUP BY n')";

}  // namespace

void add_results(Command& conclave) {
  auto options = std::make_shared<ResultsOptions>();
  Command command = conclave.subcommand("results", "List, filter and export results of a sweep");
  command.word("FILE", options->file, "A file that `conclave sweep` has written");
  command.repeatable_option("--where", "CONDITION", options->where,
                            "Only rows with, for example, protocol=pll, n>=1000, N=200 or "
                            "converged=false; repeatable, all must hold");
  command.option("--measure", "FIELD", options->measure,
                 "The quantity in the table (default parallel_time or messages): a field, or an "
                 "expression in fields such as '(ranked_at - awake_at) / n'");
  command.option("--format", "F", options->format,
                 "table, csv, jsonl or json (default table); rows by cell and trial");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.flag("--estimates", options->estimates,
               "For plans of rare failures: one row per cell, as `conclave rare` prints it, "
               "instead of the repetitions");
  command.flag("--check", options->check,
               "Check that every row is as it was written; exit status 4 if one is not");
  command.option(
      "--salvage", "NEW", options->salvage,
      "Save the whole rows of a damaged file into a new one; a sweep of its plan goes on "
      "from there");
  command.flag("--quote-formulas", options->quotes_formulas,
               "In CSV, put a ' before texts that a spreadsheet would compute (=, +, -, @)");
  command.file_size_option();
  command.footer(results_examples);
  command.runs([options] {
    options->format = format_option(options->format, row_formats);
    return run(*options);
  });
}

}  // namespace conclave::cli
