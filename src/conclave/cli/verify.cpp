// `conclave verify`: the lemmas of a paper and exact expected times, over all configurations of a
// small population.
//
// The module `exact` enumerates configurations up to symmetry, checks the claims of the paper on
// them, and solves for times; with --against, trials of engines are tested against the exact law.
// A claim that fails comes with a shortest trace. The exit status is 4 where anything fails.
// The file is long because it shows what was found both as text and as JSON.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/json.hpp"
#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/exact_text.hpp"

namespace conclave::cli {
namespace {

struct VerifyCommandOptions {
  experiment::RunText run;
  experiment::VerifyText verify;
  std::string format = "table";
  std::string output;
  bool quiet = false;
};

struct VerifyOutput {
  std::string protocol;
  std::uint64_t n = 0;
  std::string graph;   // empty: the protocol's own
  std::string target;  // empty: convergence
  std::string within;  // empty: everywhere
  catalog::Verified verified{};
  std::vector<experiment::LawTest> engines{};

  std::string json() const;
  // No line is longer than `width` characters, except where a configuration is.
  std::string text(std::size_t width) const;

 private:
  std::string whole_text(std::size_t width) const;
};

// A count as an integer as long as a double holds it exactly; JSON has no infinity.
Json count(double value) {
  if (value < 9e15) return static_cast<std::uint64_t>(value);
  return value;
}
Json number(double value) { return std::isfinite(value) ? Json(value) : Json("infinite"); }

Json extreme(const exact::Extreme& found, std::string_view quantity) {
  return {{quantity, number(found.value)}, {"configuration", found.configuration}};
}

Json claims(const exact::Report& report) {
  Json all = Json::array();
  for (const exact::ClaimReport& claim : report.claims) {
    Json one{{"name", claim.name},
             {"statement", claim.statement},
             {"verdict", name_of(claim.verdict)},
             {"holds", !claim.fails()}};
    if (claim.fails()) {
      one["problem"] = claim.problem;
      one["counterexample"] = Json::array();
      for (const exact::TraceStep& line : claim.counterexample) {
        one["counterexample"].push_back(
            {{"interaction", line.interaction}, {"configuration", line.configuration}});
      }
    }
    all.push_back(one);
  }
  return all;
}

Json safe_set(const exact::SafeSetReport& found) {
  Json set{{"converged", count(found.converged)},
           {"safe", count(found.safe)},
           {"safe_only", count(found.safe_only)},
           {"converged_only", count(found.converged_only)}};
  if (found.safe_only > 0) set["safe_only_example"] = found.safe_example;
  if (found.converged_only > 0) set["converged_only_example"] = found.unsafe_example;
  if (found.slowest) set["maximum"] = extreme(*found.slowest, "interactions");
  return set;
}

Json engines_json(const std::vector<experiment::LawTest>& tests) {
  Json all = Json::array();
  for (const experiment::LawTest& test : tests) {
    all.push_back(
        {{"engine", test.engine},
         {"trials", test.trials},
         {"mean", test.mean},
         {"horizon", test.horizon},
         {"later_or_never", {{"expected", test.expected_beyond}, {"found", test.found_beyond}}},
         {"chi_square", test.fit.statistic},
         {"p_value", test.fit.p_value},
         {"compared", test.is_informative},
         {"agrees", !test.is_rejected()}});
  }
  return all;
}

// "  --e0--> ..." under "          ...".
std::string trace_text(const exact::ClaimReport& claim) {
  std::string text;
  for (const exact::TraceStep& line : claim.counterexample) {
    const std::string arrow =
        line.interaction.empty() ? "" : fmt::format("--{}-->", line.interaction);
    text += fmt::format("        {:>11} [{}]\n", arrow, line.configuration);
  }
  return text + fmt::format("        {:>11} {}\n", "", claim.problem);
}

// Failures stand out.
std::string_view verdict_text(const exact::ClaimReport& claim) {
  return claim.fails() ? "FAILS" : name_of(claim.verdict);
}

std::string claims_text(const exact::Report& report, std::size_t width) {
  std::size_t verdicts = 0;
  std::size_t names = 0;
  for (const exact::ClaimReport& claim : report.claims) {
    verdicts = std::max(verdicts, verdict_text(claim).size());
    names = std::max(names, claim.name.size());
  }
  std::string text;
  for (const exact::ClaimReport& claim : report.claims) {
    text += fmt::format("{:<{}}  {:<{}}  {}\n", verdict_text(claim), verdicts, claim.name, names,
                        wrapped(claim.statement, width, verdicts + names + 4));
    if (claim.fails()) text += trace_text(claim);
  }
  return text;
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.12g}", value) : "infinite";
}

// The time of a network of reactions, in its own units. N interactions take the sum of N
// exponential waits, whatever happens at them.
std::optional<exact::TimeReport> continuous_time(const catalog::Verified& verified) {
  const exact::TimeReport& ticks = verified.report.start;
  if (!verified.ticks_per_time || !std::isfinite(ticks.mean)) return std::nullopt;
  const double rate = *verified.ticks_per_time;
  return exact::TimeReport{.probability = ticks.probability,
                           .mean = ticks.mean / rate,
                           .variance = (ticks.variance + ticks.mean) / rate / rate};
}

std::string times_text(const catalog::Verified& verified, const std::string& target,
                       const std::string& within) {
  const exact::Report& report = verified.report;
  std::string text;
  if (std::isfinite(report.start.mean)) {
    text += fmt::format("expected interactions{} from {}: {:.12g}, variance {:.12g}\n", target,
                        verified.start, report.start.mean, report.start.variance);
  } else {
    text += fmt::format("expected interactions{} from {}: infinite; ever there with probability "
                        "{:.12g}\n",
                        target, verified.start, report.start.probability);
  }
  if (report.start_exactly) text += fmt::format("  exactly {}\n", *report.start_exactly);
  if (const auto time = continuous_time(verified)) {
    text +=
        fmt::format("expected time{} from {}: {:.12g}, variance {:.12g}; {:.12g} interactions per "
                    "unit of time\n",
                    target, verified.start, time->mean, time->variance, *verified.ticks_per_time);
  }
  if (report.slowest) {
    text += fmt::format("largest expected interactions{}: {}\n  from [{}]\n", within,
                        number_text(report.slowest->value), report.slowest->configuration);
  }
  if (report.shortest_holding) {
    text += fmt::format("shortest expected holding: {:.12g} interactions\n  from [{}]\n",
                        report.shortest_holding->value, report.shortest_holding->configuration);
  }
  if (report.start_holding) {
    text += fmt::format("expected holding from {}: {:.12g} interactions\n", verified.start,
                        *report.start_holding);
  }
  return text + fmt::format("certified relative error {:.1e}, residual {:.1e}\n",
                            report.relative_error, report.residual);
}

std::string safe_set_text(const exact::Report& report) {
  if (!report.safe_set) return {};
  const exact::SafeSetReport& found = *report.safe_set;
  const auto verb = [](double count) { return count == 1 ? "is" : "are"; };
  std::string text = fmt::format(
      "{} configuration{}{} {} converged, {} {} safe by definition (one leader, final outputs)\n",
      found.converged, found.converged == 1 ? "" : "s",
      report.from_everywhere ? "" : " up to symmetry", verb(found.converged), found.safe,
      verb(found.safe));
  if (found.safe_only > 0) {
    text += fmt::format("  safe but not converged: {}, such as [{}]\n", found.safe_only,
                        found.safe_example);
  }
  if (found.converged_only > 0) {
    text += fmt::format("  converged but not safe: {}, such as [{}]\n", found.converged_only,
                        found.unsafe_example);
  }
  if (found.slowest) {
    text += fmt::format("  largest expected interactions to a safe one: {:.12g}\n    from [{}]\n",
                        found.slowest->value, found.slowest->configuration);
  }
  return text;
}

std::string engine_text(const experiment::LawTest& test) {
  if (!test.is_informative) {
    return fmt::format("\nengine {}: {} trials are too few to be compared with the law\n",
                       test.engine, test.trials);
  }
  return fmt::format(
      "\nengine {}: {} trials, chi-square p = {:.3g}: {}\n"
      "  compared: every time up to {}, mean {:.6g}; later or never, {:.6g} trials expected, {} "
      "found\n",
      test.engine, test.trials, test.fit.p_value,
      test.is_rejected() ? "DIFFERS from the exact law" : "agrees", test.horizon, test.mean,
      test.expected_beyond, test.found_beyond);
}

std::string space_text(const exact::Report& report) {
  if (!report.from_everywhere) {
    return fmt::format("{} reachable configurations up to {}, {} transitions\n", report.classes,
                       report.symmetry == "none" ? "nothing" : report.symmetry, report.transitions);
  }
  return fmt::format("all {} configurations; {} up to {}{}, {} transitions\n",
                     report.configurations, report.classes,
                     report.symmetry == "none" ? "nothing" : report.symmetry,
                     report.uses_congruence ? " and the congruence" : "", report.transitions);
}

// Breaks lines that are too long, except for those with configurations.
std::string fitted(const std::string& text, std::size_t width) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const bool fits = line.size() <= width || line.find('[') != std::string::npos;
    result += (fits ? line : wrapped(line, width, line.find_first_not_of(' ') + 2)) + '\n';
    begin = end + 1;
  }
  return result;
}

std::string VerifyOutput::json() const {
  const exact::Report& report = verified.report;
  Json all{{"protocol", protocol}, {"n", n}, {"params", experiment::json_of(verified.parameters)}};
  if (!graph.empty()) all["graph"] = graph;
  all["init"] = verified.start;
  if (!target.empty()) all["target"] = target;
  if (!within.empty()) all["within"] = within;
  all["scope"] = report.from_everywhere ? "all" : "reachable";
  all["symmetry"] = report.symmetry;
  all["congruence"] = report.uses_congruence;
  all["agent_states"] = report.agent_states;
  all["configurations"] = report.classes;
  if (report.from_everywhere) {
    all["configurations_before_symmetry"] = count(report.configurations);
  }
  all["transitions"] = report.transitions;
  all["properties"] = claims(report);
  all["expected"] = {{"init", verified.start},
                     {"probability", report.start.probability},
                     {"interactions", number(report.start.mean)},
                     {"variance", number(report.start.variance)}};
  if (report.start_exactly) all["expected"]["exactly"] = *report.start_exactly;
  if (const auto time = continuous_time(verified)) {
    all["expected"]["time"] = time->mean;
    all["expected"]["time_variance"] = time->variance;
    all["interactions_per_time"] = *verified.ticks_per_time;
  }
  if (report.slowest) all["maximum"] = extreme(*report.slowest, "interactions");
  all["residual"] = report.residual;
  all["relative_error"] = report.relative_error;
  if (report.safe_set) all["safe_set"] = safe_set(*report.safe_set);
  if (report.shortest_holding) {
    all["holding_minimum"] = extreme(*report.shortest_holding, "interactions");
  }
  if (report.start_holding) all["holding"] = number(*report.start_holding);
  if (!report.distribution.empty()) all["distribution"] = report.distribution;
  if (!engines.empty()) all["against"] = engines_json(engines);
  return all.dump(2) + '\n';
}

std::string VerifyOutput::text(std::size_t width) const { return fitted(whole_text(width), width); }

std::string VerifyOutput::whole_text(std::size_t width) const {
  const exact::Report& report = verified.report;
  std::string text = fmt::format("{}: n = {}", protocol, n);
  for (const catalog::ParameterValue& parameter : verified.parameters) {
    std::visit([&](const auto& value) { text += fmt::format(", {} = {}", parameter.name, value); },
               parameter.value);
  }
  if (!graph.empty()) text += fmt::format(", graph {}", graph);
  text += '\n' + space_text(report) + '\n' + claims_text(report, width) + '\n' +
          times_text(verified, target.empty() ? "" : " to " + target,
                     within.empty() ? "" : " within " + within) +
          (report.safe_set ? '\n' + safe_set_text(report) : "");
  if (!report.distribution.empty()) text += "\ndistribution: P(T <= t) for t = 0, 1, ...\n";
  for (std::size_t t = 0; t < report.distribution.size(); ++t) {
    text += fmt::format("{:>8}  {:.15g}\n", t, report.distribution[t]);
  }
  for (const experiment::LawTest& test : engines) {
    text += engine_text(test);
  }
  return text;
}

bool agrees(const VerifyOutput& output) {
  if (!output.verified.report.all_hold()) return false;
  return std::ranges::none_of(output.engines, &experiment::LawTest::is_rejected);
}

Exit verify(const VerifyCommandOptions& options) {
  const catalog::Entry entry = catalog::find(options.run.protocol);
  experiment::check_verifiable(entry, options.run.protocol);
  catalog::VerifyRequest asked = experiment::verify_request(
      entry, options.verify, experiment::request_of(entry, options.run, experiment::verify_usage));
  VerifyOutput output{.protocol = options.run.protocol,
                      .n = catalog::checked_population(asked.run.n),
                      .graph = options.run.graph,
                      .target = options.verify.plain.target,
                      .within = options.verify.plain.within};
  check_output_is_not_read(options.output, catalog::files_of(options.run.protocol));
  check_can_be_written(options.output);
  exit_when_interrupted();  // nothing is worth keeping before the end
  const std::atomic<bool> never_stops = false;
  {
    PhaseLine line(options.quiet, never_stops);
    asked.options.bounds.progress = std::ref(line);
    output.verified = entry.verify(asked);
  }
  output.engines = experiment::compared_engines(entry, options.verify, asked.run,
                                                output.verified.report.comparison_law, never_stops);
  interrupted_flag();  // what is written now is finished
  Output file(options.output);
  file.write(options.format == "json" ? output.json() : output.text(output_width(options.output)));
  file.finish();
  return agrees(output) ? Exit::done : Exit::does_not_hold;
}

constexpr const char* verify_examples = R"(
Examples:
  conclave verify prl --n 3 --param N=4
  conclave verify pll --n 5 --param c_max=2 --param k=1
  conclave verify pll --n 4 --param c_max=3 --param k=1 --param reading=printed   (fails)
  conclave verify ppl --n 3 --param t_max=4 --param t_virus=2 --param t_emit=3 --format json
  conclave verify coalescence --n 9 --graph undirected-ring
  conclave verify detect-collision --n 3 --param r=3 --param c_M=0.3 --param signatures=2
  conclave verify fratricide --n 20 --against agents,counts,events --trials 1e5
  conclave verify protocols/epidemic.pp --n 6 --exact

A claim is reported as vacuous where its premise never occurs among the configurations explored.

Exit status: 0 nothing fails, 1 failed, 2 misused, 4 a property does not hold or an engine differs
from the exact law, 130 interrupted.)";

void add_numbers(Command& command, VerifyCommandOptions& options) {
  command.flag("--exact", options.verify.plain.exactly,
               "Also print the expected time from --init as a fraction");
  command.option(
      "--target", "SET", options.verify.plain.target,
      "The set whose hitting time is computed, such as C_NI of prl (default: converged)");
  command.option("--within", "SET", options.verify.plain.within,
                 "Where the largest expectation is sought (default: everywhere)");
  command.option("--distribution,--steps", "STEPS", options.verify.distribution,
                 "Also print P(T <= t) from --init for t = 0 ... STEPS");
  command.option("--against", "NAMES", options.verify.against,
                 "Compare trials of these engines with the exact law of T: agents,counts,events; "
                 "later or non-converging trials are pooled into one bucket");
  command.option("--trials", "T", options.verify.trials, "Trials of each engine (default 10000)");
}

void add_space(Command& command, VerifyCommandOptions& options) {
  command.option(
      "--from", "all|start", options.verify.from,
      "all: every configuration; start: those reachable from --init (default: those that "
      "the paper's claims are about)");
  command.flag("--no-congruence", options.verify.no_congruence,
               "Do not merge states that the protocol declares to behave alike");
  command.option(
      "--memory", "SIZE", options.verify.memory,
      "Memory that may be used, such as 8GiB or 8e9 (default: what is available, but 4 GiB where "
      "only the reachable configurations are explored)");
}

}  // namespace

void add_verify(Command& conclave) {
  auto options = std::make_shared<VerifyCommandOptions>();
  Command command = conclave.subcommand(
      "verify", "Check the paper's lemmas and compute exact times on a small population");
  command.word("PROTOCOL", options->run.protocol,
               "A name from `conclave list`, or a file: my.pp, my.crn");
  command.run_options(experiment::by_verify, options->run,
                      {{"n", "Population size; small, since all configurations are explored"},
                       {"seed", "The seed of trials and of random graphs (default 1)"}});
  add_space(command, *options);
  add_numbers(command, *options);
  command.option("--format", "F", options->format, "table or json (default table)");
  command.option("-o,--output", "FILE", options->output,
                 "Write to FILE instead of standard output; it appears when complete");
  command.option("--export", "DIR", options->verify.plain.folder,
                 "Write the chain to this folder: explicit files for PRISM and Storm, Graphviz");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(verify_examples);
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return verify(*options);
  });
}

}  // namespace conclave::cli
