// `conclave search`: a bad start of a population too large for `conclave verify`.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/require.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/json.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::cli {
namespace {

using experiment::Json;

struct Options {
  std::string protocol;
  std::string n;
  std::vector<std::string> params;
  std::string graph;
  std::string budget;
  std::string seed = "1";
  std::string max_interactions;
  std::string format = "text";
  bool quiet = false;
};

constexpr std::array<std::string_view, 2> formats{"text", "json"};

// Small populations take little time and have maxima that are hard to tell from their neighbours.
std::uint64_t default_budget(Interactions n) {
  return static_cast<std::uint64_t>(std::clamp(1e7 / n.as_double(), 2e4, 2e6));
}

std::uint64_t budget(const Options& options, Interactions n) {
  if (options.budget.empty()) return default_budget(n);
  return count_option_64("--budget", options.budget, 1000, 1'000'000'000'000);
}

catalog::SearchRequest request(const Options& options) {
  const experiment::RunText words{.protocol = options.protocol,
                                  .n = options.n,
                                  .seed = options.seed,
                                  .params = options.params,
                                  .graph = options.graph,
                                  .max_interactions = options.max_interactions};
  catalog::SearchRequest result{
      .run = experiment::request_of(words, {.command = "search", .n = "100"})};
  result.budget = budget(options, result.run.n);
  return result;
}

bool is_finite(const catalog::Searched& found) {
  return std::ranges::all_of(found.times, [](double time) { return std::isfinite(time); });
}

std::string json(const Options& options, const catalog::Searched& found) {
  Json params = Json::object();
  for (const catalog::ParameterValue& parameter : found.parameters) {
    std::visit([&](const auto& value) { params[std::string(parameter.name)] = value; },
               parameter.value);
  }
  Json all{{"protocol", options.protocol},
           {"n", *count_option("--n", options.n).as_uint64()},
           {"params", params},
           {"seed", std::stoull(options.seed)},
           {"candidates", found.candidates},
           {"trials", found.trials},
           {"configuration", found.configuration},
           {"fresh_trials", found.times.size()}};
  if (is_finite(found)) {
    const Summary summary = summarize(found.times);
    const Interval interval = mean_interval(summary);
    all["interactions"] = {{"mean", summary.mean}, {"low", interval.low}, {"high", interval.high}};
  } else {
    all["interactions"] = "infinite";
  }
  return all.dump(2) + '\n';
}

std::string text(const catalog::Searched& found) {
  const std::string effort = fmt::format("the worst of {} starts tried in {} trials:\n  [{}]\n",
                                         found.candidates, found.trials, found.configuration);
  if (!is_finite(found)) return effort + "from there it may never converge\n";
  const Summary summary = summarize(found.times);
  const Interval interval = mean_interval(summary);
  return effort + fmt::format("expected interactions from there: {:.6g}, 95 % interval {:.6g} to "
                              "{:.6g} ({} fresh trials)\n",
                              summary.mean, interval.low, interval.high, found.times.size());
}

Exit search(const Options& options) {
  if (std::ranges::find(formats, options.format) == formats.end()) {
    throw Error(unknown_name("format", options.format, formats));
  }
  const catalog::Entry entry = catalog::find(options.protocol);
  catalog::require(entry, &catalog::Entry::search, "has no starts that can be searched");
  catalog::SearchRequest asked = request(options);
  const std::atomic<bool>& stop = interrupted_flag();
  catalog::Searched found;
  try {
    PhaseLine line(options.quiet, stop);
    asked.progress = std::ref(line);
    found = entry.search(asked);
  } catch (const catalog::Stopped&) {
    return Exit::interrupted;
  }
  fmt::print("{}", options.format == "json" ? json(options, found) : text(found));
  return Exit::done;
}

constexpr const char* examples = R"(
Examples:
  conclave search prl --n 3                      compare: conclave verify prl --n 3
  conclave search prl --n 100
  conclave search ppl --n 20 --param t_max=40 --param t_virus=12 --param t_emit=30

What is found is a lower bound of the largest expected time, not a proof.)";

}  // namespace

void add_search(Command& conclave) {
  auto options = std::make_shared<Options>();
  Command command =
      conclave.subcommand("search", "Look for the initial configuration that takes longest");
  command.word("PROTOCOL", options->protocol, "A name from `conclave list`, or a file: my.pp");
  command.option("--n", "N", options->n, "Population size");
  command.param_option(options->params);
  command.option("--graph", "GRAPH", options->graph, "As for `run`");
  command.option("--budget", "TRIALS", options->budget,
                 "Trials, of which an eighth is kept for the last estimate (default 1e7 / n, from "
                 "2e4 to 2e6)");
  command.option("--seed", "S", options->seed, "Seed; with it everything repeats (default 1)");
  command.option("--max-interactions", "X", options->max_interactions,
                 "Give up a trial after this many; it then counts as that long. Needed where "
                 "trials may never end");
  command.option("--format", "F", options->format, "text or json (default text)");
  command.flag("--quiet", options->quiet, "No progress line");
  command.footer(examples);
  command.runs([options] { return search(*options); });
}

}  // namespace conclave::cli
