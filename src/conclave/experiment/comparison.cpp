#include "conclave/experiment/comparison.hpp"

#include <algorithm>
#include <optional>

#include "conclave/base/error.hpp"
#include "conclave/experiment/memory.hpp"
#include "conclave/experiment/runner.hpp"

namespace conclave::experiment {
namespace {

// A name that no protocol knows is the user's mistake, not a reason to leave protocols out.
template <class Offered>
void check_name(std::string_view kind, const std::string& name, Offered offered) {
  std::vector<std::string_view> names;
  for (const catalog::Entry& entry : catalog::entries()) {
    if (!entry.network) continue;
    for (const catalog::Named& each : offered(*entry.network)) {
      if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    }
  }
  const bool is_known = name.empty() || std::ranges::find(names, name) != names.end();
  if (!is_known) throw Error(unknown_name(kind, name, names));
}

// Without a name, complete networks are compared.
bool runs_on(const catalog::NetworkOffer& offer, const std::string& graph) {
  const std::string_view wanted = graph.empty() ? std::string_view("complete") : graph;
  return offer.runs_on_any_graph || offer.own_graph == wanted;
}

bool offers_anonymity(const catalog::Entry& entry) {
  return std::ranges::any_of(entry.network->ids,
                             [](const catalog::Named& ids) { return ids.name == "anonymous"; });
}

ComparisonRow row_of(const catalog::Entry& entry) {
  return {.protocol = entry.info.name,
          .network = entry.info.network,
          .problem = entry.info.problem,
          .bound = entry.info.bound,
          .needs_identifiers = !offers_anonymity(entry)};
}

void measure(ComparisonRow& row, const catalog::PreparedRun& run, std::uint64_t trials,
             const std::atomic<bool>& stop) {
  const unsigned threads = worker_count(run, trials, std::nullopt);
  std::vector<double> messages;
  std::vector<double> times;
  const auto take = [&](const Row& trial) {
    const NetworkOutcome& outcome = *trial.result.network;
    messages.push_back(trial.result.interactions.as_double() / static_cast<double>(run.n()));
    times.push_back(outcome.rounds ? static_cast<double>(*outcome.rounds) : outcome.time);
    row.elected += trial.result.ending == Ending::converged ? 1 : 0;
  };
  Progress progress;
  row.trials = run_trials(run, {.trials = trials, .threads = threads}, take, progress, stop);
  if (row.trials == 0) return;
  row.messages_per_node = summarize(messages);
  row.time = summarize(times);
}

}  // namespace

std::vector<ComparisonRow> compare(const RunText& words, std::uint64_t trials,
                                   const std::atomic<bool>& stop) {
  check_name("delay", words.delay, [](const auto& offer) { return offer.delays; });
  check_name("wake-up", words.wakeup, [](const auto& offer) { return offer.wakeups; });
  std::vector<ComparisonRow> rows;
  std::optional<catalog::RunRequest> common;  // with the graph, which is made once
  for (const catalog::Entry& entry : catalog::entries()) {
    if (!entry.network || stop || !runs_on(*entry.network, words.graph)) continue;
    if (!common) common = request_of(entry, words);
    catalog::RunRequest request = *common;
    if (entry.network->delays.empty()) request.network.delay.clear();
    ComparisonRow row = row_of(entry);
    try {
      measure(row, *entry.prepare(request), trials, stop);
    } catch (const Error& error) {
      row.refusal = error.what();
    }
    rows.push_back(std::move(row));
  }
  if (rows.empty() && !stop) {
    throw Error("no protocol of the catalog runs on --graph " + words.graph);
  }
  std::ranges::stable_sort(rows, {}, [](const ComparisonRow& row) {
    return row.network.find("asynchronous") == std::string_view::npos;
  });
  return rows;
}

}  // namespace conclave::experiment
