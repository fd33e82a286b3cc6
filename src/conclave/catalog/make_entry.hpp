// Builds the catalog entry of one protocol: instantiates the engines that can run it. Included once
// per protocol, by a generated source.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/catalog/population_run.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/adaptive.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/census_engines.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::catalog {

// A run before its engine is chosen: the protocol, built for n and its parameters, and its
// description.
template <PopulationProtocol P>
struct Subject {
  P protocol;
  RunLabels labels;
};

// The protocol of a request. Throws Error if its n or parameters make no sense.
template <ListedProtocol P>
Subject<P> subject_of(const RunRequest& request) {
  const AgentCount n = checked_population(request.n);
  const auto parameters = resolved_parameters<P>(request.settings, n);
  return {.protocol = P(parameters, n),
          .labels = {.info = P::info,
                     .starts = {P::starts.begin(), P::starts.end()},
                     .parameters = values_in_effect(parameters)}};
}

// A protocol may measure time otherwise than by interactions per agent: clock(name) is that of a
// trial, and nothing where has_clock() is false.
template <class P>
concept HasClock = requires(const P& protocol, const StreamName& name) {
  { protocol.has_clock() } -> std::same_as<bool>;
  { protocol.clock(name) } -> std::same_as<std::unique_ptr<Clock>>;
};

// A run of a population protocol: makes the engine that was chosen for it at the start of a trial.
template <PopulationProtocol P>
class PreparedPopulation final : public PopulationRun {
 public:
  using Agents = population::Agents<P>;
  static constexpr bool is_ring = topology_of<P> == Topology::directed_ring;
  static constexpr bool is_for_any_graph = topology_of<P> == Topology::any;

  // Throws Error if the request does not make sense, and Interrupted.
  PreparedPopulation(const RunRequest& request, Subject<P> subject)
      : PopulationRun(request, std::move(subject.labels), topology_of<P>),
        protocol_(std::move(subject.protocol)),
        given_agents_(given_agents(protocol_, protocol(), given(), n())) {
    choose_engine(request, {.is_mostly_null = is_mostly_null<P>(),
                            .may_become_null = may_become_null(protocol_),
                            .has_clock = has_clock(),
                            .has_small_census = is_census_small(),
                            .most_agents = Agents::most_agents});
    for (const Fault& fault : plan().faults) check(fault);
  }

  std::unique_ptr<Workspace> workspace() const override {
    return std::make_unique<Memory>(protocol_);
  }

  void check_fault(const Fault& fault) const override { check(fault); }

  std::uint64_t bytes_per_trial() const override {
    if (chosen_engine() == Engine::agents) return n() * Agents::bytes_per_agent;
    if constexpr (!is_ring) {
      const bool may_use_agents = population::may_use_agents<P>(n());
      if (chosen_engine() == Engine::adaptive && may_use_agents) {
        return n() * Agents::bytes_per_agent;
      }
    }
    if constexpr (is_ring) return n() * population::ArcEvents<P, DirectedRing>::bytes_per_agent;
    return std::uint64_t{1} << 20;
  }
  Interactions state_count() const override { return protocol_.state_count(); }
  std::span<const Observable> observables() const override {
    if constexpr (requires { protocol_.observables_in_effect(); }) {
      return protocol_.observables_in_effect();
    } else {
      return PopulationRun::observables();
    }
  }
  bool has_clock() const override {
    if constexpr (HasClock<P>) return protocol_.has_clock();
    return false;
  }

 protected:
  std::unique_ptr<population::TrialEngine> engine_at_start(
      const StreamName& name, Workspace& workspace, const KeepGoing& keep_going) const override {
    if (!places_randomly()) return engine_from(name, workspace, start_point(keep_going));
    const Census<typename P::State> placed = randomly_placed(name, keep_going);
    return engine_from(name, workspace,
                       {start_number(), &placed, keep_going ? &keep_going : nullptr});
  }

  std::unique_ptr<Clock> clock_of(const StreamName& name) const override {
    if constexpr (HasClock<P>) {
      if (digraph() == nullptr) return protocol_.clock(name);
    }
    return nullptr;
  }

 private:
  struct Memory final : Workspace {
    explicit Memory(const P& protocol) : table(protocol) {}
    population::AgentMemory agents;
    typename Agents::MeetingTable table;
  };

  std::unique_ptr<population::TrialEngine> engine_from(
      const StreamName& name, Workspace& workspace,
      const StartingPoint<typename P::State>& start) const {
    Memory& memory = static_cast<Memory&>(workspace);
    memory.agents.lend(workspace.team());
    if constexpr (is_for_any_graph) {
      if (digraph() != nullptr) return engine_on_graph(name, memory, start);
    }
    if (chosen_engine() == Engine::agents) {
      return std::make_unique<population::TrialEngineOf<Agents>>(protocol_, n(), start, name,
                                                                 memory.agents, n(), &memory.table);
    }
    if constexpr (is_ring) {
      return std::make_unique<population::TrialEngineOf<population::ArcEvents<P, DirectedRing>>>(
          protocol_, DirectedRing(n()), start, name);
    } else if (chosen_engine() == Engine::counts) {
      return population::counts_engine(protocol_, n(), start, name);
    } else if (chosen_engine() == Engine::adaptive) {
      return population::adaptive_engine(protocol_, n(), start, name, memory.agents);
    } else {
      return population::events_engine(protocol_, n(), start, name);
    }
  }

  // The agents of the start, each order of them equally likely (Fisher and Yates).
  Census<typename P::State> randomly_placed(const StreamName& name,
                                            const KeepGoing& keep_going) const {
    Census<typename P::State> agents;
    Stream choice(name.with(Purpose::start));
    for_each_starting_agent(protocol_, start_point(keep_going), n(), choice,
                            [&](const auto& state) { agents.emplace_back(state, 1); });
    Stream places({name.seed, name.trial, Purpose::start, name.part + 1});
    for (std::size_t left = agents.size(); left > 1; --left) {
      std::swap(agents[left - 1], agents[places.below64(left)]);
    }
    return agents;
  }

  std::unique_ptr<population::TrialEngine> engine_on_graph(
      const StreamName& name, Memory& memory, const StartingPoint<typename P::State>& start) const {
    using Events = population::ArcEvents<P, const Digraph&>;
    using OnGraph = population::Agents<P, population::GraphPipeline>;
    if (chosen_engine() == Engine::events) {
      return std::make_unique<population::TrialEngineOf<Events>>(protocol_, *digraph(), start,
                                                                 name);
    }
    return std::make_unique<population::TrialEngineOf<OnGraph>>(
        protocol_, n(), start, name, memory.agents, population::GraphArcs(*digraph()));
  }

  StartingPoint<typename P::State> start_point(const KeepGoing& keep_going) const {
    return {start_number(), given() != nullptr ? &given_agents_ : nullptr,
            keep_going ? &keep_going : nullptr};
  }

  bool is_census_small() const {
    if (given() != nullptr) return given_agents_.size() <= most_different_agents;
    return n() <= most_different_agents || has_starting_census(protocol_, start_number());
  }

  void check(const Fault& fault) const {
    check_struck_agents(fault, n(), !keeps_census(), engine());
    if constexpr (!Corruptible<P>) {
      PreparedRun::check_fault(fault);
    } else if constexpr (requires { protocol_.objection_to(fault.kind); }) {
      const std::string objection = protocol_.objection_to(fault.kind);
      if (!objection.empty()) throw Error(fmt::format("fault {}: {}", fault.text, objection));
    }
  }

  P protocol_;
  Census<typename P::State> given_agents_;
};

// The run of a subject. Throws Error if the request does not fit it.
template <PopulationProtocol P>
std::unique_ptr<const PreparedRun> prepared(const RunRequest& request, Subject<P> subject) {
  return std::make_unique<const PreparedPopulation<P>>(request, std::move(subject));
}

// The engines that can run P in this program.
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
          .start = start_index(subject.labels.info, subject.labels.starts, request.start),
          .make = make,
          .device = request.device,
          .is_ring = topology_of<P> == Topology::directed_ring};
}

// On a device. Throws Error if there is none, or if it cannot do this run.
template <ListedProtocol P>
std::unique_ptr<const PreparedRun> prepared_on_gpu(RunRequest request, gpu::MakeEngine make) {
  if (request.given || request.places_randomly) {
    throw Error("engine gpu does not support --init-from and --placement; engine agents does");
  }
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
  return on_gpu_if_worth_it(request, std::move(run), [&request, make] {
    return device_run(request, subject_of<P>(request), make);
  });
}

// `make_gpu_engine` is the protocol's, whether or not it has one. Where P is no ListedProtocol, the
// compiler says in a sentence what is missing.
template <class P>
Entry make_entry([[maybe_unused]] gpu::MakeEngine make_gpu_engine) {
  demand_listed_protocol<P>();
  if constexpr (ListedProtocol<P>)
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
