#include "conclave/experiment/run_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/graph/make_graph.hpp"

namespace conclave::experiment {
namespace {

Interactions limit(const RunText& words, Interactions n) {
  const std::string interactions = option_of(&RunText::max_interactions).flag();
  const std::string parallel_time = option_of(&RunText::max_parallel_time).flag();
  if (!words.max_interactions.empty() && !words.max_parallel_time.empty()) {
    throw Error(
        fmt::format("{} and {} contradict each other: give one", interactions, parallel_time));
  }
  if (!words.max_interactions.empty()) return count_option(interactions, words.max_interactions);
  if (words.max_parallel_time.empty()) return Interactions::max();
  // Whole times are multiplied exactly; others are rounded down to a whole interaction. What is
  // below 1e38 fits into 127 bits.
  const double time = real_option(parallel_time, words.max_parallel_time);
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

// The number of agents: as the words say or, without it, as many as the start of a file has.
Interactions population(const catalog::Entry& entry, const RunText& words,
                        const std::vector<catalog::Setting>& settings, const UsageExample& usage) {
  if (!words.n.empty()) return count_option("--n", words.n);
  if (entry.fixed_population) {
    if (const auto agents = entry.fixed_population(settings, words.init)) return *agents;
  }
  throw Error(fmt::format("the population size is missing, for example: conclave {} {} --n {}",
                          usage.command, words.protocol, usage.n));
}

// Shares have no order, so that agents are placed randomly on a graph; starts have one.
bool places_randomly(const RunText& words) {
  constexpr std::array<std::string_view, 2> names{"listed", "random"};
  const bool is_on_graph = !words.graph.empty() && words.graph != "complete";
  if (words.placement.empty()) return is_on_graph && words.init.find('=') != words.init.npos;
  if (std::ranges::find(names, words.placement) == names.end()) {
    throw Error(unknown_name("placement", words.placement, names));
  }
  return words.placement == names[1];
}

}  // namespace

catalog::RunRequest request_of(const catalog::Entry& entry, const RunText& words,
                               const UsageExample& usage) {
  const std::vector<catalog::Setting> settings = param_options(words.params);
  const Interactions n = population(entry, words, settings, usage);
  const std::uint64_t seed = count_of(words, &RunText::seed);
  return {.n = n,
          .settings = settings,
          .start = words.init,
          .engine = words.engine,
          .seed = seed,
          .plan = plan(words, n),
          .graph = words.graph,
          .digraph = graph(words, n, seed),
          .places_randomly = places_randomly(words),
          .network = {.delay = words.delay,
                      .wakeup = words.wakeup,
                      .ids = words.ids,
                      .counts_edges = words.count_edges}};
}

catalog::RareRequest rare_request_of(const catalog::Entry& entry, const RunText& words) {
  catalog::RareRequest request{.run = request_of(entry, words, {.command = "rare", .n = "16"}),
                               .choice = {.way = words.way, .importance = words.importance}};
  if (!words.particles.empty()) request.choice.particles = count_of(words, &RunText::particles);
  if (!words.most_levels.empty()) {
    request.choice.most_levels = count_of(words, &RunText::most_levels);
  }
  return request;
}

}  // namespace conclave::experiment
