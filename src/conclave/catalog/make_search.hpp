// Joins one protocol with the search for bad initial configurations. A generated source includes
// this once per protocol, with the protocol's file of lemmas where there is one. What does not
// depend on its type is compiled once: how large a population and how long a trial may be, and
// configurations in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/function_ref.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/model/claims.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/population/trial.hpp"
#include "conclave/population/worst_start.hpp"

namespace conclave::catalog {

// Throws Error for populations of which some hundred configurations do not fit into memory.
AgentCount searchable_population(AgentCount n);

// Called between the chunks of one trial. Throws Interrupted if the caller ends the search, and
// Error if the trial has taken so long that it may never end.
class TrialPatience {
 public:
  // The request must outlive it.
  TrialPatience(const SearchRequest& request, std::uint64_t trials_done);

  bool operator()(Interactions now);

 private:
  const SearchRequest& request_;
  std::uint64_t done_;
  std::uint64_t left_;
};

// The agents in their order, runs of equal ones counted: "3 x F-s.0 L-S.0".
std::string text_of_agents(std::size_t agents,
                           FunctionRef<bool(std::size_t, std::size_t)> are_equal,
                           FunctionRef<std::string(std::size_t)> notation);

// A configuration as a trial may begin with it.
template <class State>
Census<State> runs_of_agents(std::span<const State> agents) {
  return runs_of<State>(agents.size(), [&](AgentCount agent) { return agents[agent]; });
}

// Runs trials from given configurations. On rings and other graphs the engine jumps over null
// interactions; on the complete graph it carries out every interaction.
template <PopulationProtocol P>
class GivenStarts {
 public:
  using State = typename P::State;

  // Trials are those of the request's seed, plan and graph.
  GivenStarts(const P& protocol, const RunRequest& request, AgentCount n)
      : protocol_(protocol),
        n_(n),
        seed_(request.seed),
        plan_(request.plan),
        digraph_(topology_of<P> == Topology::any ? request.digraph : nullptr) {}

  // The interactions of one trial; the plan's limit if it ends there; infinite if it can never
  // converge.
  double simulate(std::span<const State> agents, std::uint64_t trial, const KeepGoing& keep_going) {
    const Census<State> runs = runs_of_agents(agents);
    const StreamName name{.seed = seed_, .trial = trial};
    const TrialResult result = run({0, &runs}, name, keep_going);
    if (result.ending == Ending::hopeless) return std::numeric_limits<double>::infinity();
    return result.interactions.as_double();
  }

 private:
  // The engines are those of PreparedPopulation, so that they are compiled once.
  TrialResult run(const StartingPoint<State>& start, const StreamName& name,
                  const KeepGoing& keep_going) {
    if constexpr (topology_of<P> == Topology::directed_ring) {
      return run_on<population::ArcEvents<P, DirectedRing>>(keep_going, DirectedRing(n_), start,
                                                            name);
    } else if constexpr (topology_of<P> == Topology::any) {
      if (digraph_) {
        return run_on<population::ArcEvents<P, const Digraph&>>(keep_going, *digraph_, start, name);
      }
    }
    if constexpr (topology_of<P> != Topology::directed_ring) {
      return run_on<population::Agents<P>>(keep_going, n_, start, name, memory_);
    }
  }

  template <class E, class... Arguments>
  TrialResult run_on(const KeepGoing& keep_going, Arguments&&... arguments) {
    return population::run_trial(std::make_unique<population::TrialEngineOf<E>>(
                                     protocol_, std::forward<Arguments>(arguments)...),
                                 plan_, keep_going);
  }

  P protocol_;
  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::shared_ptr<const Digraph> digraph_;
  population::AgentMemory memory_;
};

// Searches, beginning with the named starts of these indices.
template <SelfStabilizing P>
Searched searched(const P& protocol, const std::vector<std::size_t>& starts, AgentCount n,
                  const SearchRequest& request) {
  using Starts = population::ArbitraryStarts<P>;
  GivenStarts<P> engine(protocol, request.run, searchable_population(n));
  std::vector<population::AnyStart> named;
  for (const std::size_t start : starts) {
    Stream stream(StreamName{request.run.seed, start, Purpose::start});
    typename Starts::Agents agents;
    for (AgentCount i = 0; i < n; ++i) agents.push_back(protocol.initial(start, i, stream));
    named.push_back(Starts::start_of(std::move(agents)));
  }
  std::uint64_t done = 0;
  Starts space(protocol, n, [&](std::span<const typename P::State> agents, std::uint64_t trial) {
    report_progress(request.progress, "searching", ++done, request.budget);
    return engine.simulate(agents, trial, TrialPatience(request, done));
  });
  const population::WorstStart found =
      population::search_worst_start(space, named, request.run.seed, request.budget);
  const typename Starts::Agents& worst = Starts::agents_of(found.start);
  const auto claims = claims_of(protocol);
  return {.configuration = text_of_agents(
              worst.size(), [&](std::size_t a, std::size_t b) { return worst[a] == worst[b]; },
              [&](std::size_t agent) { return claims.notation(worst[agent]); }),
          .times = found.times,
          .candidates = found.candidates,
          .trials = found.trials,
          .is_complete = found.is_complete};
}

// The answer to a request of Entry::search. Throws Error if the protocol cannot begin anywhere.
template <PopulationProtocol P>
Searched search(const SearchRequest& request) {
  if constexpr (!SelfStabilizing<P>) {
    throw Error(fmt::format("{} does not start from arbitrary configurations", P::info.name));
  } else {
    const AgentCount n = checked_population(request.run.n);
    accepted_graph(P::info, topology_of<P>, request.run.graph);
    const auto parameters = resolved_parameters<P>(request.run.settings, n);
    std::vector<std::size_t> starts(P::starts.size());
    std::iota(starts.begin(), starts.end(), std::size_t{0});
    Searched found = searched(P(parameters, n), starts, n, request);
    found.parameters = values_in_effect(parameters);
    return found;
  }
}

}  // namespace conclave::catalog
