// The engine behind `auto` on the complete graph, for large populations and for protocol files of
// few states: starts with the `counts` engine, small populations with the `agents` engine. Where
// `counts` takes more work per interaction than an array of agents would, it goes on with `agents`;
// from time to time it looks whether to go back. Networks of reactions of which few ticks are
// reactions go on, or begin, with the direct method. Exact in law, for agents in the same state are
// exchangeable; the decisions follow from the census and the work counted, never from a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"
#include "conclave/population/agent_memory.hpp"
#include "conclave/population/agent_table.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/population/detail/adaptive_stages.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::population {

// Every change of engine goes on with a stream of its own (StreamName::part). `memory` is the
// caller's, is used while the agents engine runs, and must outlive the trial. Knows the protocol by
// its species and by the engines that it offers.
class AdaptiveEngine {
 public:
  // The n agents are those that the species were built with.
  AdaptiveEngine(std::shared_ptr<const detail::AdaptiveStages> stages,
                 std::unique_ptr<detail::Species> species, AgentCount n, const StreamName& name,
                 AgentMemory& memory);
  // Goes on exactly as the other one does, the state of its generators included.
  AdaptiveEngine(const AdaptiveEngine& other, AgentMemory& memory);

  // Simulates up to `budget` interactions, fewer only if the watched event happens, or after about
  // this much work. Where the budget ends before the horizon, the trial goes on after it as if it
  // had not ended there.
  Interactions advance(Interactions budget, std::uint64_t most_work, Interactions horizon);
  // The same where nothing is looked at before the budget ends.
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    return advance(budget, most_work, budget);
  }

  // The event that ends `advance`; stays the same when the engine changes.
  void watch(Watch what) {
    watch_ = what;
    running().watch(what);
  }
  bool has_stopped() const { return running().has_stopped(); }
  AgentCount size() const { return n_; }
  Interactions now() const { return before_ + running().now(); }
  AgentCount leaders() const { return running().leaders(); }
  bool converged() const { return running().converged(); }
  bool hopeless() const { return running().hopeless(); }
  std::vector<Observation> observations() const { return running().observations(); }
  // In words and numbers, in the order of the states; O(n) where there is an array of agents.
  std::vector<NamedCount> named_census() const { return running().census(); }
  // The same, with a question whether to go on now and then; throws Interrupted if not.
  std::vector<NamedCount> named_census(const KeepGoing* keep_going) const {
    return running().agents(keep_going);
  }
  // Rows are states. O(n) where there is an array of agents.
  AgentTable table() const;
  // A fault; returns how many agents it hit, all sets of that many candidates equally likely.
  AgentCount strike(const Fault& fault);
  // Called at convergence: from now on, the trial ends at the first violation.
  void hold() {
    watch_ = Watch::violation;
    running().hold();
  }
  bool measures_holding() const { return running().measures_holding(); }
  bool violated() const { return running().violated(); }

 private:
  using Counts = TrialEngineOf<CountsEngine>;

  static constexpr std::uint64_t work_per_look = 4096;
  // Fewer agents begin in an array, but for networks of reactions that suit the direct method; the
  // second constant is the cost of a random interaction in an array, in nanoseconds.
  static constexpr AgentCount least_agents_to_batch = AgentCount{1} << 14;
  static constexpr double cost_of_chance = 10;

  TrialEngine& running() const;
  bool offers_channels() const;
  void begin_small_network(const detail::Species& species, const std::vector<AgentCount>& counts);

  // Up to the next look; all return about how much work it was. Where they look follows from the
  // run alone, not from how it is cut into pieces of work.
  std::uint64_t step_agents(Interactions budget);
  std::uint64_t step_counts(Interactions budget, Interactions horizon);
  std::uint64_t step_directly(Interactions budget, std::uint64_t most_work);

  // Trials of small populations are short, and so must be what they lose by trying `counts`.
  std::uint64_t work_before_comparing() const;
  // Called when the counts engine stands still: changes to another engine if that is cheaper.
  void change_over();
  // False if that would cost more than the others do per interaction, or hardly less. It is left
  // again where it does.
  bool use_direct_method(double cost_of_others);
  // An interaction in an array, in nanoseconds on a common machine: in the caches, or not.
  double cost_of_agents() const;
  std::uint64_t until_next_look() const;
  void set_next_look();
  StreamName next_part();
  void use_agents();
  void use_counts();
  // The engine that ran before has been taken over, but for the watched event.
  void go_on_with(std::unique_ptr<Counts> counts, std::unique_ptr<TrialEngine> agents,
                  std::unique_ptr<detail::DirectStage> direct);

  std::shared_ptr<const detail::AdaptiveStages> stages_;
  AgentCount n_;
  StreamName name_;
  AgentMemory& memory_;
  Watch watch_ = Watch::convergence;
  Interactions before_;             // simulated by the engines before this one
  std::unique_ptr<Counts> counts_;  // one of these three
  std::unique_ptr<TrialEngine> agents_;
  std::unique_ptr<detail::DirectStage> direct_;
  Interactions look_after_ = 16u;  // interactions per agent, twice as many each time
  Interactions next_look_;
  std::uint64_t compare_at_ = work_per_look;  // of counts_ or direct_: when to compare with others
  double most_cost_ = 0;                      // of direct_
};

// The same, from a protocol and its start.
template <PopulationProtocol P>
class Adaptive : public AdaptiveEngine {
 public:
  // The memory must outlive it.
  Adaptive(const P& protocol, AgentCount n, const StartingPoint<typename P::State>& start,
           const StreamName& name, AgentMemory& memory)
      : AdaptiveEngine(std::make_shared<const detail::AdaptiveStagesOf<P>>(protocol),
                       std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name,
                       memory) {}
};

}  // namespace conclave::population
