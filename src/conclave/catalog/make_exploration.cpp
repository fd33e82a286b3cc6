#include "conclave/catalog/make_exploration.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/schedules/search.hpp"

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

}  // namespace conclave::catalog
