#include "conclave/catalog/population_run.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/resolve.hpp"

namespace conclave::catalog {
namespace {

// From this size on, `auto` looks during the run which engine does best.
constexpr AgentCount adaptive_from_agents = AgentCount{1} << 14;

// Below this size nothing is gained by jumping.
constexpr AgentCount events_from_agents = 64;

// The engine of that name; nothing for "auto" and for no name. Throws Error for an unknown name,
// and for `counts` unless the graph is complete.
std::optional<Engine> named_engine(const std::string& name, bool is_complete,
                                   std::string_view protocol) {
  if (name.empty() || name == auto_engine.name) return std::nullopt;
  for (const Engine engine : {Engine::agents, Engine::events, Engine::counts}) {
    if (name != engine_info(engine).name) continue;
    if (engine == Engine::counts && !is_complete) {
      throw Error(
          fmt::format("engine counts is for the complete graph; {} runs on another", protocol));
    }
    return engine;
  }
  const std::array names{auto_engine.name, agents_engine.name, events_engine.name,
                         counts_engine.name};
  throw Error(unknown_name("engine", name, names));
}

}  // namespace

const EngineInfo& engine_info(Engine engine) {
  if (engine == Engine::agents) return agents_engine;
  if (engine == Engine::adaptive) return auto_engine;
  return engine == Engine::events ? events_engine : counts_engine;
}

PopulationRun::PopulationRun(const RunRequest& request, RunLabels labels, Topology topology)
    : labels_(std::move(labels)),
      is_ring_(topology == Topology::directed_ring),
      n_(checked_population(request.n)),
      seed_(request.seed),
      plan_(request.plan),
      graph_(accepted_graph(labels_.info, topology, request.graph)),
      digraph_(topology == Topology::any ? request.digraph : nullptr),
      start_(start_index(labels_.info, labels_.starts, request.start)),
      given_(request.given),
      places_randomly_(request.places_randomly) {
  if (!places_randomly_ || !is_complete()) return;
  throw Error("--placement random is for graphs: on the complete graph no agent has a place");
}

void PopulationRun::choose_engine(const RunRequest& request, const EngineHints& hints) {
  const std::string_view name = labels_.info.name;
  const std::optional<Engine> named = named_engine(request.engine, is_complete(), name);
  engine_ = named ? *named : best_engine(hints);
  const std::string_view engine_name = engine_info(engine_).name;
  if (keeps_census() && !hints.has_small_census) {
    throw Error(fmt::format("engine {} cannot start {} from {} with n = {}: more than {} agents in "
                            "different states; use engine agents",
                            engine_name, name, PopulationRun::start(), n_, most_different_agents));
  }
  if (!keeps_census() && n_ > hints.most_agents) {
    throw Error(fmt::format("n = {} is too large for engine {}, which holds at most {} agents", n_,
                            engine_name, hints.most_agents));
  }
  refuse_network_options(request, name);
}

Engine PopulationRun::best_engine(const EngineHints& hints) const {
  const bool is_small = n_ < events_from_agents;
  if (!is_complete()) {
    const bool jumps = is_ring_ || hints.is_mostly_null || hints.may_become_null;
    return jumps && !is_small ? Engine::events : Engine::agents;
  }
  if (!hints.has_small_census || is_small) return Engine::agents;
  // Which pairs react, and how rarely, changes while a protocol file or a network of reactions
  // runs.
  const bool is_open = hints.has_clock || hints.may_become_null;
  if (n_ >= adaptive_from_agents || is_open) return Engine::adaptive;
  return hints.is_mostly_null ? Engine::events : Engine::agents;
}

}  // namespace conclave::catalog
