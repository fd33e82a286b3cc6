// Builds the catalog entry of one protocol: instantiates the engines that can run it. Included once
// per protocol, by a generated source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/run.hpp"

namespace conclave::catalog {

inline constexpr EngineInfo agents_engine{
    "agents", "one state per agent in an array; exact, one interaction after the other"};
inline constexpr EngineInfo events_engine{
    "events",
    "jumps over interactions that change nothing; exact, for protocols with many of them"};

// Below this size nothing is gained by jumping.
inline constexpr AgentCount events_from_agents = 64;
// The events engine on the complete graph keeps a table of all pairs of states it has met; agents
// in as many different states as a random start gives would fill the memory.
inline constexpr AgentCount most_different_agents = 4096;

template <PopulationProtocol P>
class PreparedPopulation final : public PreparedRun {
 public:
  using Parameters = typename P::Parameters;
  using Agents = population::Agents<P>;
  static constexpr bool is_ring = topology_of<P> == Topology::directed_ring;
  static constexpr bool is_for_any_graph = topology_of<P> == Topology::any;

  explicit PreparedPopulation(const RunRequest& request)
      : n_(checked_population(request.n)),
        seed_(request.seed),
        plan_(request.plan),
        graph_(accepted_graph(request)),
        digraph_(is_for_any_graph ? request.digraph : nullptr),
        start_(start_index(request.start)),
        settings_(resolved(parse_settings<Parameters>(P::info.name, request.settings), n_)),
        parameters_(values_in_effect(settings_)),
        protocol_(settings_, n_),
        jumps_(choose_jumping(request.engine)) {
    if (jumps_ && !can_jump()) {
      throw Error(fmt::format("engine events cannot start {} from {} with n = {}: more than {} "
                              "agents in different states; use engine agents",
                              P::info.name, P::starts[start_].name, n_, most_different_agents));
    }
    if (!jumps_ || is_ring) check_size(Agents::most_agents);
    refuse_network_options(request, P::info.name);
    if constexpr (!Corruptible<P>) {
      if (!plan_.faults.empty()) throw Error(fmt::format("{} knows no faults", P::info.name));
    }
  }

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Memory>(); }

  TrialResult run(std::uint64_t trial, Workspace& workspace,
                  const KeepGoing& keep_going) const override {
    const StreamName name{.seed = seed_, .trial = trial};
    if constexpr (is_for_any_graph) {
      if (digraph_) return run_on_graph(name, workspace, keep_going);
    }
    if (!jumps_) {
      Agents engine(protocol_, n_, start_, name, static_cast<Memory&>(workspace).agents);
      return population::run_trial(engine, plan_, keep_going);
    }
    if constexpr (is_ring) {
      population::ArcEvents<P, DirectedRing> engine(protocol_, DirectedRing(n_), start_, name);
      return population::run_trial(engine, plan_, keep_going);
    } else {
      population::CensusEvents<P> engine(protocol_, n_, start_, name);
      return population::run_trial(engine, plan_, keep_going);
    }
  }

  AgentCount n() const override { return n_; }
  std::uint64_t bytes_per_trial() const override {
    if (!jumps_) return n_ * Agents::bytes_per_agent;
    if constexpr (is_ring) return n_ * population::ArcEvents<P, DirectedRing>::bytes_per_agent;
    return std::uint64_t{1} << 20;
  }
  Interactions state_count() const override { return protocol_.state_count(); }
  std::string_view protocol() const override { return P::info.name; }
  std::string_view engine() const override {
    return jumps_ ? events_engine.name : agents_engine.name;
  }
  std::string_view start() const override { return P::starts[start_].name; }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }
  std::span<const Observable> observables() const override { return P::info.observables; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return graph_; }

 private:
  struct Memory final : Workspace {
    population::AgentMemory agents;
  };

  TrialResult run_on_graph(const StreamName& name, Workspace& workspace,
                           const KeepGoing& keep_going) const {
    if (jumps_) {
      population::ArcEvents<P, const Digraph&> engine(protocol_, *digraph_, start_, name);
      return population::run_trial(engine, plan_, keep_going);
    }
    population::Agents<P, population::GraphPipeline> engine(protocol_, n_, start_, name,
                                                            static_cast<Memory&>(workspace).agents,
                                                            population::GraphArcs(*digraph_));
    return population::run_trial(engine, plan_, keep_going);
  }

  // The graph's name, where the protocol can run on it.
  static std::string accepted_graph(const RunRequest& request) {
    const std::string own = is_ring ? "ring" : "complete";
    if (request.graph.empty() || request.graph == own) return {};
    if (is_for_any_graph) return request.graph;
    throw Error(fmt::format("{} is made for the {}: {}", P::info.name, P::info.network,
                            P::info.only_there));
  }

  bool can_jump() const {
    return is_ring || digraph_ || P::starts[start_].uniform || n_ <= most_different_agents;
  }

  // Decided by the protocol, the graph and n alone, so that the choice is the same everywhere.
  bool choose_jumping(const std::string& name) const {
    const std::vector<std::string_view> names{"auto", agents_engine.name, events_engine.name};
    if (name == agents_engine.name) return false;
    if (name == events_engine.name) return true;
    if (!name.empty() && name != "auto") throw Error(unknown_name("engine", name, names));
    if (n_ > Agents::most_agents) return can_jump();
    const bool is_mostly_null = is_ring || requires { P::is_mostly_null; };
    return is_mostly_null && can_jump() && n_ >= events_from_agents;
  }

  void check_size(AgentCount most) const {
    if (n_ <= most) return;
    throw Error(fmt::format("n = {} is too large for engine {}, which holds at most {} agents", n_,
                            engine(), most));
  }

  static std::size_t start_index(const std::string& name) {
    if (name.empty()) return 0;
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < P::starts.size(); ++i) {
      if (P::starts[i].name == name) return i;
      names.push_back(P::starts[i].name);
    }
    throw Error(unknown_name(fmt::format("start of {}", P::info.name), name, names));
  }

  static Parameters resolved(Parameters parameters, AgentCount n) {
    if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
    const std::string objection = P::objection(parameters, n);
    if (!objection.empty()) throw Error(objection);
    if (n < P::info.smallest_n) {
      throw Error(
          fmt::format("n = {}: {} needs at least {} agents", n, P::info.name, P::info.smallest_n));
    }
    return parameters;
  }

  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::string graph_;
  std::shared_ptr<const Digraph> digraph_;
  std::size_t start_;
  Parameters settings_;
  std::vector<ParameterValue> parameters_;
  P protocol_;
  bool jumps_;
};

template <PopulationProtocol P>
Entry make_entry() {
  return {
      .info = P::info,
      .starts = {P::starts.begin(), P::starts.end()},
      .parameters = parameter_infos<typename P::Parameters>(),
      .engines = {agents_engine, events_engine},
      .bytes_per_agent = population::Agents<P>::bytes_per_agent,
      .prepare = [](const RunRequest& request) -> std::unique_ptr<const PreparedRun> {
        return std::make_unique<const PreparedPopulation<P>>(request);
      },
  };
}

}  // namespace conclave::catalog
