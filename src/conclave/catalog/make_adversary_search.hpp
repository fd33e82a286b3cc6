// Joins one message passing protocol with the search for bad starts: what is searched for is a
// table of rules by which an adaptive adversary delays messages and wakes nodes
// (network/rules.hpp). A generated source includes this once per protocol.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/make_network_entry.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/rules.hpp"
#include "conclave/population/worst_start.hpp"

namespace conclave::catalog {

inline constexpr NodeCount most_searched_nodes = 100'000;

// Whether it is the messages that are to be many, not the time to be long.
inline bool counts_messages(const SearchRequest& request) {
  constexpr std::array<std::string_view, 2> objectives{"time", "messages"};
  if (request.objective.empty() || request.objective == objectives[0]) return false;
  if (request.objective == objectives[1]) return true;
  throw Error(unknown_name("objective", request.objective, objectives));
}

// The adversaries to begin with: all delays 1 with everybody or one node woken, a slow front
// runner, and fresh rivals for it whenever it is about to win a phase.
inline std::vector<std::vector<network::Rule>> first_tables(const network::Situations& situations) {
  using network::Rule;
  std::vector<std::vector<Rule>> tables(4, std::vector<Rule>(situations.count()));
  tables[0][0].wake = 2;
  tables[2][0].wake = 2;
  for (std::size_t i = 1; i < situations.count(); ++i) {
    const std::size_t party = network::Situations::party_of(i);
    const bool is_won = party == 2 && network::Situations::is_last_awaited(i);
    tables[2][i].delay = party > 0 ? 2 : 0;
    tables[3][i].wake = is_won ? 2 : 0;
  }
  return tables;
}

// Throws Error for synchronous protocols, which have no delays, and for large networks.
template <MessageProtocol P>
Searched search_adversary(const SearchRequest& request) {
  if constexpr (SynchronousProtocol<P>) {
    throw Error(fmt::format("{} is synchronous: there are no delays to search for", P::info.name));
  } else {
    const PreparedNetwork<P> run(request.run);  // checks the request
    if (run.n() > most_searched_nodes) {
      throw Error(fmt::format("n = {} is too large for a search: at most {} nodes are allowed",
                              run.n(), most_searched_nodes));
    }
    const bool by_messages = counts_messages(request);
    const network::Situations situations(P::kinds);
    std::uint64_t done = 0;
    const auto simulate = [&](std::span<const network::Rule> table, std::uint64_t trial) {
      report_progress(request.progress, "searching", ++done, request.budget);
      const TrialResult result = run.run_ruled(situations, table, trial);
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
}

}  // namespace conclave::catalog
