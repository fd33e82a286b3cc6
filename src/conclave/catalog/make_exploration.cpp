#include "conclave/catalog/make_exploration.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "conclave/base/progress.hpp"
#include "conclave/population/worst_start.hpp"

namespace conclave::catalog {
namespace {

[[noreturn]] void refuse_limit(std::string_view protocol, const ExplorationRequest& request,
                               const schedules::AnySystem& system,
                               const schedules::SearchResult& result) {
  const schedules::Estimate estimate = schedules::estimate_schedules(system);
  throw Error(fmt::format(
      "{} with n = {} is too large: {} configurations reach only to step {} of about {:.0f}, and "
      "there are about {:.0e} schedules; use a smaller n, toy parameters (see describe), or a "
      "larger --max-configurations than {}",
      protocol, to_string(request.n), result.configurations, result.depth, estimate.steps,
      estimate.schedules, request.most_configurations));
}

using network::Rule;
using network::Situations;

constexpr NodeCount most_searched_nodes = 100'000;

// Whether it is the messages that are to be many, not the time to be long.
bool counts_messages(const SearchRequest& request) {
  constexpr std::array<std::string_view, 2> objectives{"time", "messages"};
  if (request.objective.empty() || request.objective == objectives[0]) return false;
  if (request.objective == objectives[1]) return true;
  throw Error(unknown_name("objective", request.objective, objectives));
}

// The adversaries to begin with: all delays 1 with everybody or one node woken, a slow front
// runner, and fresh rivals for it whenever it is about to win a phase.
std::vector<std::vector<Rule>> first_tables(const Situations& situations) {
  std::vector<std::vector<Rule>> tables(4, std::vector<Rule>(situations.count()));
  tables[0][0].wake = 2;
  tables[2][0].wake = 2;
  for (std::size_t i = 1; i < situations.count(); ++i) {
    const std::size_t party = Situations::party_of(i);
    const bool is_won = party == 2 && Situations::is_last_awaited(i);
    tables[2][i].delay = party > 0 ? 2 : 0;
    tables[3][i].wake = is_won ? 2 : 0;
  }
  return tables;
}

}  // namespace

Exploration explored(
    std::string_view protocol, const ExplorationRequest& request,
    const schedules::AnySystem& system,
    const std::function<std::vector<schedules::TraceStep>(const schedules::Schedule&)>& trace) {
  const schedules::SearchResult result = schedules::search(
      system, {.configurations = request.most_configurations, .progress = request.progress});
  Exploration exploration{.configurations = result.configurations,
                          .transitions = result.transitions,
                          .final_configurations = result.final_configurations,
                          .schedules = result.schedules,
                          .longest = result.longest,
                          .is_complete = result.is_complete};
  for (const schedules::Verdict& verdict : result.verdicts) {
    exploration.properties.push_back({.name = verdict.property, .holds = verdict.holds});
    if (!verdict.holds) {
      exploration.properties.back().counterexample = trace(verdict.counterexample);
    }
  }
  const bool is_over_limit = result.configurations > request.most_configurations;
  const bool nothing_found = std::ranges::all_of(result.verdicts, &schedules::Verdict::holds);
  if (!result.is_complete && is_over_limit && nothing_found) {
    refuse_limit(protocol, request, system, result);
  }
  return exploration;
}

void refuse_nodes(const ProtocolInfo& info, const ExplorationRequest& request,
                  const schedules::AnySystem& largest) {
  throw Error(fmt::format(
      "n = {}: the schedules of {} are walked through for {} ... {} nodes; with {} nodes there are "
      "already about {:.0e} of them",
      to_string(request.n), info.name, info.smallest_n, schedules::most_nodes,
      schedules::most_nodes, schedules::estimate_schedules(largest, 100).schedules));
}

Searched search_rules(const SearchRequest& request, const PreparedRun& run,
                      std::span<const std::string_view> kinds, RunRuled run_ruled) {
  if (run.n() > most_searched_nodes) {
    throw Error(fmt::format("n = {} is too large for a search: at most {} nodes are allowed",
                            run.n(), most_searched_nodes));
  }
  const bool by_messages = counts_messages(request);
  const Situations situations(kinds);
  std::uint64_t done = 0;
  const auto simulate = [&](std::span<const Rule> table, std::uint64_t trial) {
    report_progress(request.progress, "searching", ++done, request.budget);
    const TrialResult result = run_ruled(situations, table, trial);
    if (result.ending == Ending::hopeless) return std::numeric_limits<double>::infinity();
    return by_messages ? result.interactions.as_double() : result.network->time;
  };
  using Tables = population::ArbitraryStarts<network::AnyRule>;
  const network::AnyRule any;
  Tables space(any, situations.count(), simulate);
  std::vector<population::AnyStart> named;
  for (auto& table : first_tables(situations)) named.push_back(Tables::start_of(table));
  const population::WorstStart found =
      population::search_worst_start(space, named, request.run.seed, request.budget);
  return {.configuration = text_of(situations, Tables::agents_of(found.start)),
          .times = found.times,
          .candidates = found.candidates,
          .trials = found.trials,
          .is_complete = found.is_complete,
          .parameters = {run.parameters().begin(), run.parameters().end()}};
}

}  // namespace conclave::catalog
