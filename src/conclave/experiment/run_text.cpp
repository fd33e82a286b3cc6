#include "conclave/experiment/run_text.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/fault_text.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/graph/make_graph.hpp"

namespace conclave::experiment {
namespace {

Interactions limit(const RunText& words, Interactions n) {
  if (!words.max_interactions.empty() && !words.max_parallel_time.empty()) {
    throw Error("--max-interactions and --max-parallel-time contradict each other: give one");
  }
  if (!words.max_interactions.empty()) {
    return count_option("--max-interactions", words.max_interactions);
  }
  if (words.max_parallel_time.empty()) return Interactions::max();
  // Whole times are multiplied exactly; others are rounded down to a whole interaction. What is
  // below 1e38 fits into 127 bits.
  const double time = real_option("--max-parallel-time", words.max_parallel_time);
  const double product = time * n.as_double();
  if (product >= 1e38) return Interactions::max();
  const auto rounded_down = [](double value) {
    return Interactions::from_wide(static_cast<Interactions::Wide>(value));
  };
  const Interactions whole = rounded_down(time);
  return whole.as_double() == time ? n * whole : rounded_down(product);
}

// "50", or with a word that lets convergence end the trial, too: "convergence,50".
std::optional<Horizon> horizon(const RunText& words) {
  if (words.until.empty()) return std::nullopt;
  constexpr std::string_view word = "convergence,";
  std::string_view text = words.until;
  const bool or_convergence = text.starts_with(word);
  if (or_convergence) text.remove_prefix(word.size());
  const auto time = parse_fraction(text);
  if (time) return Horizon{*time, or_convergence};
  throw Error(
      fmt::format("--until takes a parallel time such as 50 or 2.5, or convergence,50 to end "
                  "at whichever comes first, not '{}'",
                  excerpt(words.until)));
}

TrialPlan plan(const RunText& words, Interactions n) {
  TrialPlan result{.limit = limit(words, n), .until = horizon(words)};
  for (const std::string& text : words.faults) result.faults.push_back(parse_fault(text));
  return result;
}

std::shared_ptr<const Digraph> graph(const RunText& words, Interactions n, std::uint64_t seed) {
  if (words.graph.empty()) return nullptr;
  return graph::make_graph(words.graph, catalog::checked_population(n), seed);
}

std::optional<Interactions> molecules_of(const catalog::Entry& entry,
                                         const std::vector<catalog::Setting>& settings) {
  const auto molecules = entry.fixed_population ? entry.fixed_population(settings) : std::nullopt;
  return molecules ? std::optional<Interactions>(*molecules) : std::nullopt;
}

// The run of n agents; nothing: the words do not tell how many there are.
catalog::RunRequest request(const RunText& words, const std::vector<catalog::Setting>& settings,
                            const std::optional<Interactions>& n, const UsageExample& usage) {
  if (!n) {
    throw Error(fmt::format("the population size is missing, for example: conclave {} {} --n {}",
                            usage.command, words.protocol, usage.n));
  }
  const std::uint64_t seed = count_option_64("--seed", words.seed, 0, UINT64_MAX);
  return {.n = *n,
          .settings = settings,
          .start = words.init,
          .engine = words.engine,
          .seed = seed,
          .plan = plan(words, *n),
          .graph = words.graph,
          .digraph = graph(words, *n, seed),
          .network = {.delay = words.delay,
                      .wakeup = words.wakeup,
                      .ids = words.ids,
                      .counts_edges = words.count_edges}};
}

}  // namespace

std::vector<RunOption> given_options(const RunText& words) {
  std::vector<RunOption> result;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) result.push_back({option, value});
  };
  add("n", words.n);
  for (const std::string& param : words.params) add("param", param);
  add("init", words.init);
  add("engine", words.engine);
  add("graph", words.graph);
  for (const std::string& fault : words.faults) add("fault", fault);
  add("delay", words.delay);
  add("wakeup", words.wakeup);
  add("ids", words.ids);
  if (words.count_edges) result.push_back({"count-edges"});
  add("max-parallel-time", words.max_parallel_time);
  add("max-interactions", words.max_interactions);
  add("until", words.until);
  add("way", words.way);
  for (const std::string& function : words.importance) add("importance", function);
  add("particles", words.particles);
  add("most-levels", words.most_levels);
  add("seed", words.seed);
  return result;
}

catalog::RunRequest request_of(const RunText& words, const UsageExample& usage) {
  const std::vector<catalog::Setting> settings = param_options(words.params);
  return words.n.empty()
             ? request(words, settings, catalog::fixed_population(words.protocol, settings), usage)
             : request(words, settings, count_option("--n", words.n), usage);
}

catalog::RunRequest request_of(const catalog::Entry& entry, const RunText& words,
                               const UsageExample& usage) {
  const std::vector<catalog::Setting> settings = param_options(words.params);
  return words.n.empty() ? request(words, settings, molecules_of(entry, settings), usage)
                         : request(words, settings, count_option("--n", words.n), usage);
}

catalog::RareRequest rare_request_of(const RunText& words) {
  catalog::RareRequest request{.run = request_of(words, {.command = "rare", .n = "16"}),
                               .choice = {.way = words.way, .importance = words.importance}};
  if (!words.particles.empty()) {
    request.choice.particles = count_option_64("--particles", words.particles, 10, 100'000'000);
  }
  if (!words.most_levels.empty()) {
    request.choice.most_levels = count_option_64("--most-levels", words.most_levels, 1, 1'000'000);
  }
  return request;
}

TraceGrid grid_of(const std::string& every, Interactions n) {
  const auto step = parse_fraction(every);
  if (!step || step->numerator == 0u) {
    throw Error(
        fmt::format("--every takes a parallel time such as 1 or 0.25, not '{}'", excerpt(every)));
  }
  if (step->numerator < Interactions::max() / n && step->numerator * n < step->denominator) {
    throw Error(fmt::format("--every {} is less than one interaction, 1/{} of parallel time",
                            excerpt(every), to_string(n)));
  }
  return {.is_logarithmic = false, .step = step->as_double(), .every = *step};
}

}  // namespace conclave::experiment
