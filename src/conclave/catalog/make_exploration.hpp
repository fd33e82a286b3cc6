// Joins a message-passing protocol with the exact module. Included once per protocol, by a
// generated source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/exact/asynchronous.hpp"
#include "conclave/exact/estimate.hpp"
#include "conclave/exact/search.hpp"
#include "conclave/exact/synchronous.hpp"
#include "conclave/model/message.hpp"

namespace conclave::catalog {

inline std::size_t explorable_size(std::string_view protocol, Interactions n) {
  if (n >= 1u && n <= exact::most_nodes) return static_cast<std::size_t>(*n.as_uint64());
  throw Error(fmt::format("n = {}: the schedules of {} are walked through for 1 ... {} nodes only; "
                          "already with {} there are more than can be counted",
                          to_string(n), protocol, exact::most_nodes, exact::most_nodes));
}

// Ranks are only compared. With identifiers, which break ties, all orders of the nodes are alike up
// to their names, so that one rank will do; without, n ranks give all orders and all ties.
template <class Parameters>
Parameters with_few_ranks(Parameters parameters, std::size_t n, bool has_identifiers) {
  if constexpr (requires { parameters.ranks; }) {
    if (!parameters.ranks) parameters.ranks = has_identifiers ? 1 : n;
  }
  return parameters;
}

template <class System>
void refuse(std::string_view protocol, const ExplorationRequest& request, const System& system,
            const exact::SearchResult& result) {
  const exact::Estimate estimate = exact::estimate_schedules(system);
  throw Error(fmt::format(
      "{} with n = {} is too large: {} configurations reach only to step {} of about {:.0f}, and "
      "there are about {:.0e} schedules; use a smaller n, toy parameters (see describe), or a "
      "larger --max-configurations than {}",
      protocol, to_string(request.n), result.configurations, result.depth, estimate.steps,
      estimate.schedules, request.most_configurations));
}

template <class System>
Exploration explored(std::string_view protocol, const ExplorationRequest& request,
                     const System& system) {
  const exact::SearchResult result = exact::search(
      system, {.configurations = request.most_configurations, .keep_going = request.keep_going});
  Exploration exploration{.configurations = result.configurations,
                          .transitions = result.transitions,
                          .final_configurations = result.final_configurations,
                          .schedules = result.schedules,
                          .longest = result.longest,
                          .is_complete = result.is_complete};
  for (const exact::Verdict& verdict : result.verdicts) {
    exploration.properties.push_back({.name = verdict.property, .holds = verdict.holds});
    if (verdict.holds) continue;
    exploration.properties.back().counterexample = system.tell(verdict.counterexample);
  }
  const bool is_over_limit = result.configurations > request.most_configurations;
  const bool nothing_found = std::ranges::all_of(result.verdicts, &exact::Verdict::holds);
  if (!result.is_complete && is_over_limit && nothing_found) {
    refuse(protocol, request, system, result);
  }
  return exploration;
}

template <MessageProtocol P>
Exploration explore(const ExplorationRequest& request) {
  const std::size_t n = explorable_size(P::info.name, request.n);
  const bool has_ids = request.has_identifiers;
  if constexpr (requires { P::needs_identifiers; }) {
    if (!has_ids) throw Error(fmt::format("{} needs unique identifiers", P::info.name));
  }
  const auto parameters = with_few_ranks(
      parse_settings<typename P::Parameters>(P::info.name, request.settings), n, has_ids);
  if (const std::string objection = P::objection(parameters, n); !objection.empty()) {
    throw Error(objection);
  }
  const P protocol(parameters, n);
  Exploration result;
  if constexpr (AsynchronousProtocol<P>)
    result = explored(P::info.name, request, exact::AsynchronousSchedules(protocol, n, has_ids));
  else
    result = explored(P::info.name, request, exact::SynchronousSchedules(protocol, n, has_ids));
  result.n = n;
  result.parameters = values_in_effect(parameters);
  return result;
}

}  // namespace conclave::catalog
