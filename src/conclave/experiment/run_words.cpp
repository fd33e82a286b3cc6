#include "conclave/experiment/run_words.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/experiment/fault_text.hpp"
#include "conclave/experiment/graphs.hpp"
#include "conclave/experiment/option_values.hpp"

namespace conclave::experiment {
namespace {

Interactions limit(const RunWords& words, Interactions n) {
  if (!words.max_interactions.empty() && !words.max_parallel_time.empty()) {
    throw Error("--max-interactions and --max-parallel-time contradict each other: give one");
  }
  if (!words.max_interactions.empty()) {
    return count_option("--max-interactions", words.max_interactions);
  }
  if (words.max_parallel_time.empty()) return Interactions::max();
  // Whole times are multiplied exactly; others are rounded down to a whole interaction.
  const double time = real_option("--max-parallel-time", words.max_parallel_time);
  const double product = time * n.as_double();
  if (product >= 1e38) return Interactions::max();
  const auto whole = static_cast<std::uint64_t>(std::min(time, 9e18));
  if (static_cast<double>(whole) == time) return n * whole;
  if (product >= 9e18) return Interactions(static_cast<std::uint64_t>(time)) * n;
  return static_cast<std::uint64_t>(product);
}

TrialPlan plan(const RunWords& words, Interactions n) {
  TrialPlan result{.limit = limit(words, n)};
  for (const std::string& text : words.faults) result.faults.push_back(parse_fault(text));
  return result;
}

std::shared_ptr<const Digraph> graph(const RunWords& words, Interactions n, std::uint64_t seed) {
  if (words.graph.empty()) return nullptr;
  return make_graph(words.graph, catalog::checked_population(n), seed);
}

}  // namespace

catalog::RunRequest request_of(const RunWords& words) {
  if (words.n.empty()) {
    throw Error(fmt::format("the population size is missing, for example: conclave run {} --n 1e6",
                            words.protocol));
  }
  const Interactions n = count_option("--n", words.n);
  const std::uint64_t seed = count_option_64("--seed", words.seed, 0, UINT64_MAX);
  return {.n = n,
          .settings = param_options(words.params),
          .start = words.init,
          .engine = words.engine,
          .seed = seed,
          .plan = plan(words, n),
          .graph = words.graph,
          .digraph = graph(words, n, seed),
          .network = {.delay = words.delay,
                      .wakeup = words.wakeup,
                      .ids = words.ids,
                      .counts_edges = words.count_edges}};
}

}  // namespace conclave::experiment
