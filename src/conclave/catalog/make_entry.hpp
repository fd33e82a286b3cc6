// Builds the catalog entry of one protocol: instantiates the engines that can run it. Included once
// per protocol, by a generated source.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/engines.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/catalog/settings.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/adaptive.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/census_events.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/population/live_trial.hpp"
#include "conclave/population/run.hpp"

namespace conclave::catalog {

// From this size on, `auto` looks during the run which engine does best.
inline constexpr AgentCount adaptive_from_agents = AgentCount{1} << 14;

// Below this size nothing is gained by jumping.
inline constexpr AgentCount events_from_agents = 64;
// The events engine on the complete graph keeps a table of all pairs of states it has met; agents
// in as many different states as a random start gives would fill the memory.
inline constexpr AgentCount most_different_agents = 4096;

// A run before its engine is chosen: the protocol, built for n and its parameters, and its
// description; `source_hash` identifies the text it was made from, if any.
template <PopulationProtocol P>
struct Subject {
  P protocol;
  ProtocolInfo info;
  std::vector<Start> starts;
  std::vector<ParameterValue> parameters;
  std::string source_hash{};
  std::vector<std::string> warnings{};
  std::shared_ptr<const void> owner{};  // keeps alive what the protocol and the views refer to
};

template <ListedProtocol P>
Subject<P> subject_of(const RunRequest& request) {
  const AgentCount n = checked_population(request.n);
  const auto parameters = resolved_parameters<P>(request.settings, n);
  return {.protocol = P(parameters, n),
          .info = P::info,
          .starts = {P::starts.begin(), P::starts.end()},
          .parameters = values_in_effect(parameters)};
}

// A protocol may measure time otherwise than by interactions per agent: clock(name) is that of a
// trial, and nothing where has_clock() is false.
template <class P>
concept HasClock = requires(const P& protocol, const StreamName& name) {
  { protocol.has_clock() } -> std::same_as<bool>;
  { protocol.clock(name) } -> std::same_as<std::unique_ptr<Clock>>;
};

template <PopulationProtocol P>
class PreparedPopulation final : public PreparedRun {
 public:
  using Agents = population::Agents<P>;
  static constexpr bool is_ring = topology_of<P> == Topology::directed_ring;
  static constexpr bool is_for_any_graph = topology_of<P> == Topology::any;

  PreparedPopulation(const RunRequest& request, Subject<P> subject)
      : subject_(std::move(subject)),
        n_(checked_population(request.n)),
        seed_(request.seed),
        plan_(request.plan),
        graph_(accepted_graph(subject_.info, topology_of<P>, request.graph)),
        digraph_(is_for_any_graph ? request.digraph : nullptr),
        start_(start_index(subject_.info, subject_.starts, request.start)),
        given_(request.given),
        given_agents_(given_agents(subject_.protocol, protocol(), given_.get(), n_)),
        engine_(choose_engine(request.engine)) {
    if (keeps_census() && !is_census_small()) {
      throw Error(fmt::format("engine {} cannot start {} from {} with n = {}: more than {} "
                              "agents in different states; use engine agents",
                              engine(), protocol(), start(), n_, most_different_agents));
    }
    if (!keeps_census()) check_size(Agents::most_agents);
    refuse_network_options(request, protocol());
    for (const Fault& fault : plan_.faults) check(fault);
  }

  std::unique_ptr<Workspace> workspace() const override {
    return std::make_unique<Memory>(subject_.protocol);
  }

  TrialResult run(std::uint64_t trial, Workspace& workspace,
                  const KeepGoing& keep_going) const override {
    const auto live = begin({.seed = seed_, .trial = trial}, workspace);
    return population::run_planned(live->engine(), plan_, keep_going, live->clock());
  }

  std::unique_ptr<population::LiveTrial> begin(const StreamName& name,
                                               Workspace& workspace) const override {
    if constexpr (is_for_any_graph) {
      if (digraph_) return begin_on_graph(name, workspace);
    }
    Memory& memory = static_cast<Memory&>(workspace);
    if (engine_ == Engine::agents) {
      return live<Agents>(name, subject_.protocol, n_, start_point(), name, memory.agents, n_,
                          &memory.table);
    }
    if constexpr (is_ring) {
      return live<population::ArcEvents<P, DirectedRing>>(name, subject_.protocol, DirectedRing(n_),
                                                          start_point(), name);
    } else if (engine_ == Engine::counts) {
      return live<population::Counts<P>>(name, subject_.protocol, n_, start_point(), name);
    } else if (engine_ == Engine::adaptive) {
      return live<population::Adaptive<P>>(name, subject_.protocol, n_, start_point(), name,
                                           memory.agents);
    } else {
      return live<population::CensusEvents<P>>(name, subject_.protocol, n_, start_point(), name);
    }
  }

  void check_fault(const Fault& fault) const override { check(fault); }

  AgentCount n() const override { return n_; }
  std::uint64_t bytes_per_trial() const override {
    if (engine_ == Engine::agents) return n_ * Agents::bytes_per_agent;
    if constexpr (!is_ring) {
      const bool may_use_agents = population::Adaptive<P>::may_use_agents(n_);
      if (engine_ == Engine::adaptive && may_use_agents) return n_ * Agents::bytes_per_agent;
    }
    if constexpr (is_ring) return n_ * population::ArcEvents<P, DirectedRing>::bytes_per_agent;
    return std::uint64_t{1} << 20;
  }
  Interactions state_count() const override { return subject_.protocol.state_count(); }
  std::string_view protocol() const override { return subject_.info.name; }
  std::string_view engine() const override { return engine_info(engine_).name; }
  std::string_view start() const override {
    return given_ ? std::string_view(given_->label) : subject_.starts[start_].name;
  }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return subject_.parameters; }
  std::span<const Observable> observables() const override {
    if constexpr (requires { subject_.protocol.observables_in_effect(); }) {
      return subject_.protocol.observables_in_effect();
    } else {
      return subject_.info.observables;
    }
  }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return graph_; }
  std::string_view source_hash() const override { return subject_.source_hash; }
  bool has_clock() const override {
    if constexpr (HasClock<P>) return subject_.protocol.has_clock();
    return false;
  }
  std::span<const std::string> warnings() const override { return subject_.warnings; }

 private:
  struct Memory final : Workspace {
    explicit Memory(const P& protocol) : table(protocol) {}
    population::AgentMemory agents;
    typename Agents::MeetingTable table;
  };

  template <class E, class... Arguments>
  std::unique_ptr<population::LiveTrial> live(const StreamName& name,
                                              Arguments&&... arguments) const {
    return std::make_unique<population::LiveTrialOf<E>>(clock_of(name),
                                                        std::forward<Arguments>(arguments)...);
  }

  std::unique_ptr<population::LiveTrial> begin_on_graph(const StreamName& name,
                                                        Workspace& workspace) const {
    if (engine_ == Engine::events) {
      return live<population::ArcEvents<P, const Digraph&>>(name, subject_.protocol, *digraph_,
                                                            start_point(), name);
    }
    return live<population::Agents<P, population::GraphPipeline>>(
        name, subject_.protocol, n_, start_point(), name, static_cast<Memory&>(workspace).agents,
        population::GraphArcs(*digraph_));
  }

  // The clock of a protocol that measures time its own way; null where parallel time is used.
  std::unique_ptr<Clock> clock_of(const StreamName& name) const {
    if constexpr (HasClock<P>) {
      if (!digraph_) return subject_.protocol.clock(name);
    }
    return nullptr;
  }

  StartingPoint<typename P::State> start_point() const {
    return {start_, given_ ? &given_agents_ : nullptr};
  }

  // On the complete graph, events and counts know the agents only by their states.
  bool is_complete() const { return !is_ring && !digraph_; }
  bool keeps_census() const { return is_complete() && engine_ != Engine::agents; }
  bool is_census_small() const {
    if (given_) return given_agents_.size() <= most_different_agents;
    return n_ <= most_different_agents || has_starting_census(subject_.protocol, start_);
  }

  Engine choose_engine(const std::string& name) const {
    const std::optional<Engine> named = named_engine(name, is_complete(), protocol());
    return named ? *named : best_engine();
  }

  // Decided by the protocol, the graph, the start and n alone, so that the choice is the same
  // everywhere.
  Engine best_engine() const {
    const bool jumps = is_ring || is_mostly_null(subject_.protocol);
    if (!is_complete()) return jumps && n_ >= events_from_agents ? Engine::events : Engine::agents;
    if (!is_census_small()) return Engine::agents;
    if (n_ >= adaptive_from_agents) return Engine::adaptive;
    // Which pairs react, and how rarely, changes while a network of reactions runs.
    if (has_clock() && n_ >= events_from_agents) return Engine::adaptive;
    return jumps && n_ >= events_from_agents ? Engine::events : Engine::agents;
  }

  void check_size(AgentCount most) const {
    if (n_ <= most) return;
    throw Error(fmt::format("n = {} is too large for engine {}, which holds at most {} agents", n_,
                            engine(), most));
  }

  void check(const Fault& fault) const {
    check_struck_agent(fault, n_, !keeps_census(), engine());
    if constexpr (!Corruptible<P>) {
      PreparedRun::check_fault(fault);
    } else if constexpr (requires { subject_.protocol.objection_to(fault.kind); }) {
      const std::string objection = subject_.protocol.objection_to(fault.kind);
      if (!objection.empty()) throw Error(fmt::format("fault {}: {}", fault.text, objection));
    }
  }

  Subject<P> subject_;
  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::string graph_;
  std::shared_ptr<const Digraph> digraph_;
  std::size_t start_;
  std::shared_ptr<const GivenStart> given_;
  Census<typename P::State> given_agents_;
  Engine engine_;
};

template <PopulationProtocol P>
std::unique_ptr<const PreparedRun> prepared(const RunRequest& request, Subject<P> subject) {
  return std::make_unique<const PreparedPopulation<P>>(request, std::move(subject));
}

template <PopulationProtocol P>
std::vector<EngineInfo> engines_for() {
  std::vector<EngineInfo> engines{agents_engine, events_engine};
  if (topology_of<P> != Topology::directed_ring) engines.push_back(counts_engine);
  if (gpu::is_built()) engines.push_back(gpu_engine);
  return engines;
}

// The needs of engine gpu, which runs the trials of engine agents.
template <PopulationProtocol P>
DeviceRun device_run(const RunRequest& request, const Subject<P>& subject, gpu::MakeEngine make) {
  return {.protocol = std::make_shared<const P>(subject.protocol),
          .start = start_index(subject.info, subject.starts, request.start),
          .make = make,
          .device = request.device,
          .is_ring = topology_of<P> == Topology::directed_ring};
}

template <ListedProtocol P>
std::unique_ptr<const PreparedRun> prepared_on_gpu(RunRequest request, gpu::MakeEngine make) {
  if (request.given) throw Error("engine gpu does not support --init-from; engine agents does");
  request.engine = agents_engine.name;
  Subject<P> subject = subject_of<P>(request);
  DeviceRun run = device_run(request, subject, make);
  return on_gpu(prepared(request, std::move(subject)), std::move(run));
}

// On the engine that the request names, or on the one that engine auto chooses.
template <ListedProtocol P>
std::unique_ptr<const PreparedRun> prepared_on_any(const RunRequest& request,
                                                   gpu::MakeEngine make) {
  if (request.engine == gpu_engine.name) return prepared_on_gpu<P>(request, make);
  auto run = prepared(request, subject_of<P>(request));
  if (request.given || !is_worth_a_device(request, *run)) return run;
  return on_gpu_if_possible(std::move(run), device_run(request, subject_of<P>(request), make));
}

// `make_gpu_engine` is the protocol's, whether or not it has one.
template <ListedProtocol P>
Entry make_entry(gpu::MakeEngine make_gpu_engine) {
  return {
      .info = P::info,
      .starts = {P::starts.begin(), P::starts.end()},
      .parameters = parameter_infos<typename P::Parameters>(),
      .engines = engines_for<P>(),
      .bytes_per_agent = sizeof(typename population::Agents<P>::Touched),
      .most_bytes_per_agent = population::Agents<P>::bytes_per_agent,
      .keeps_census = true,
      .prepare =
          [make_gpu_engine](const RunRequest& request) {
            return prepared_on_any<P>(request, make_gpu_engine);
          },
  };
}

}  // namespace conclave::catalog
