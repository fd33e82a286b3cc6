// Turns a user's request into what a protocol takes: parameters, start, graph. A request that makes
// no sense is an Error with one sentence. Only what depends on a protocol's type is a template; the
// rest is compiled once.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"

namespace conclave::catalog {

// Throws Error if the protocol objects to its parameters (an empty objection is none), or if n is
// below its smallest population.
void check_population(const ProtocolInfo& info, AgentCount n, const std::string& objection);

// The number of a named start; the first if no name is given. Throws Error for an unknown name.
std::size_t start_index(const ProtocolInfo& info, std::span<const Start> starts,
                        const std::string& name);

// The graph's name, where a protocol of this topology can run on it; empty for its own. Throws
// Error if it cannot.
std::string accepted_graph(const ProtocolInfo& info, Topology topology, const std::string& graph);

// Throws Error if the plan has faults; for protocols that do not support them.
void refuse_faults(std::string_view protocol, const TrialPlan& plan);

// Throws Error if the fault hits more agents than there are, if it names one that does not exist,
// or one of an engine that cannot tell agents apart.
void check_struck_agents(const Fault& fault, AgentCount n, bool knows_agents,
                         std::string_view engine);

// Throws Error if the plan ends at a time, keeps a history or a configuration, or the request
// starts from one; `who` cannot do that; `why` is the reason.
void refuse_horizons(const RunRequest& request, std::string_view who, std::string_view why);

// Throws Error: the protocol has no state of this name.
[[noreturn]] void refuse_state(std::string_view protocol, std::string_view name,
                               std::string_view example);

// Throws Error unless these are n agents in all, each run with at least one.
void check_given(const GivenStart& given, AgentCount n);

// The names of a given start, each once, in the order in which they come, and where in this list
// the name of each run stands. The names are views into the start.
struct GivenNames {
  std::vector<std::string_view> names{};
  std::vector<std::size_t> places{};
};
GivenNames given_names(const GivenStart& given);

// The agents of a given start, as states of the protocol. Throws Error if a name is no state, or if
// they are not n.
template <PopulationProtocol P>
Census<typename P::State> given_agents(const P& protocol, std::string_view name,
                                       const GivenStart* given, AgentCount n) {
  Census<typename P::State> agents;
  if (given == nullptr) return agents;
  check_given(*given, n);
  const GivenNames names = given_names(*given);
  std::vector<typename P::State> states;
  for (const std::string_view each : names.names) {
    const auto state = state_of_name(protocol, each);
    if (!state) refuse_state(name, each, name_of_state(protocol, {}));
    states.push_back(*state);
  }
  for (std::size_t i = 0; i < names.places.size(); ++i) {
    agents.emplace_back(states[names.places[i]], given->agents[i].count);
  }
  return agents;
}

// All parameters of P, those that follow from n filled in. Not inlined, for all requests begin so.
template <PopulationProtocol P>
[[gnu::noinline]] typename P::Parameters resolved_parameters(const std::vector<Setting>& settings,
                                                             AgentCount n) {
  auto parameters = parse_settings<typename P::Parameters>(P::info.name, settings);
  if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
  check_population(P::info, n, P::objection(parameters, n));
  return parameters;
}

}  // namespace conclave::catalog
