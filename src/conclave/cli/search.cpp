// `conclave search`: a bad start of a population too large for `conclave verify`, or a bad
// adversary of message passing.
//
// The trials that chose the worst candidate prefer it by chance, so its time is measured with fresh
// ones; interrupted before these, the mean is printed as biased and without an interval.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/exact_text.hpp"

namespace conclave::cli {
namespace {

struct SearchOptions {
  experiment::RunText run;
  std::string budget;
  std::string objective;
  std::string format = "table";
  bool quiet = false;
};

bool is_finite(const catalog::Searched& found) {
  return std::ranges::all_of(found.times, [](double time) { return std::isfinite(time); });
}

// The measure that was to be large.
std::string searched_measure(const catalog::Entry& entry, const SearchOptions& options) {
  if (!entry.network) return "interactions";
  return options.objective.empty() ? "time" : options.objective;
}

Json searched_times(const catalog::Searched& found) {
  if (!is_finite(found)) return "infinite";
  const Summary summary = summarize(found.times);
  if (!found.is_complete) return {{"mean", summary.mean}};  // biased: no interval
  const Interval interval = nonnegative_mean_interval(summary);
  return {{"mean", summary.mean}, {"low", interval.low}, {"high", interval.high}};
}

std::string json(const SearchOptions& options, const catalog::SearchRequest& asked,
                 const catalog::Searched& found, const std::string& measure) {
  Json all{{"protocol", options.run.protocol},
           {"n", *asked.run.n.as_uint64()},
           {"params", experiment::json_of(found.parameters)},
           {"seed", asked.run.seed},
           {"candidates", found.candidates},
           {"trials", found.trials},
           {"configuration", found.configuration}};
  if (!found.is_complete) all["interrupted"] = true;
  all[found.is_complete ? "fresh_trials" : "choosing_trials"] = found.times.size();
  all[measure] = searched_times(found);
  return all.dump(2) + '\n';
}

std::string text(const catalog::Searched& found, const std::string& measure) {
  const bool is_start = measure == "interactions";
  const std::string effort =
      fmt::format("{}the worst of {} {} tried in {} trials{}:\n  [{}]\n",
                  found.is_complete ? "" : "interrupted; ", found.candidates,
                  is_start ? "initial configurations" : "adversaries", found.trials,
                  found.is_complete ? "" : " so far", found.configuration);
  if (!is_finite(found)) {
    return effort + (is_start ? "from there" : "against it") + " it may never converge\n";
  }
  const Summary summary = summarize(found.times);
  if (!found.is_complete) {
    const std::string mean = fmt::format(
        "mean {} of the {} trials that chose it: {:.6g} (biased upwards; no fresh trials were run)",
        measure, found.times.size(), summary.mean);
    return effort + wrapped(mean, output_width(), 2) + '\n';
  }
  const Interval interval = nonnegative_mean_interval(summary);
  const std::string expected =
      fmt::format("expected {} {}: {:.6g}, 95 % interval {:.6g} to {:.6g} ({} fresh trials)",
                  measure, is_start ? "from there" : "against it", summary.mean, interval.low,
                  interval.high, found.times.size());
  return effort + wrapped(expected, output_width(), 2) + '\n';
}

Exit search(const SearchOptions& options) {
  const catalog::Entry entry = catalog::find(options.run.protocol);
  experiment::check_searchable(entry);
  catalog::SearchRequest asked = experiment::search_request(
      entry, options.budget, options.objective,
      experiment::request_of(entry, options.run, experiment::search_usage));
  const std::atomic<bool>& stop = interrupted_flag();
  catalog::Searched found;
  try {
    PhaseLine line(options.quiet, stop);
    asked.progress = std::ref(line);
    found = entry.search(asked);
  } catch (const Interrupted&) {
    return Exit::interrupted;  // before the first result
  }
  const std::string measure = searched_measure(entry, options);
  fmt::print(
      "{}", options.format == "json" ? json(options, asked, found, measure) : text(found, measure));
  return found.is_complete ? Exit::done : Exit::interrupted;
}

constexpr const char* search_examples = R"(
Examples:
  conclave search prl --n 3                      compare: conclave verify prl --n 3
  conclave search prl --n 100
  conclave search ppl --n 20 --param t_max=40 --param t_virus=12 --param t_emit=30
  conclave search kmpp-async --n 64 --objective messages

In message passing, delays and wake-ups are searched for instead: tables by which an adaptive
adversary treats messages.

The time found is a lower bound on the largest expected time, not a proof that there is no larger
one. Interrupted, it prints the worst one found so far.)";

}  // namespace

void add_search(Command& conclave) {
  auto options = std::make_shared<SearchOptions>();
  Command command =
      conclave.subcommand("search", "Search for the slowest initial configuration or adversary");
  command.word("PROTOCOL", options->run.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(
      experiment::by_search, options->run,
      {{"max_interactions",
        "End a trial after this many interactions and count it as that long; needed where trials "
        "may never end"}});
  command.option("--budget", "TRIALS", options->budget,
                 "Number of trials, an eighth of them for the final estimate (default 1e7 / n, "
                 "within 2e4 ... 2e6)");
  command.option("--objective", "WHAT", options->objective,
                 "time or messages (default time), of message passing");
  command.option("--format", "F", options->format, "table or json (default table)");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(search_examples);
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return search(*options);
  });
}

}  // namespace conclave::cli
