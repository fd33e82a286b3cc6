#include "conclave/catalog/make_adversary_search.hpp"

#include <array>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/population/worst_start.hpp"

namespace conclave::catalog {
namespace {

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
