// The engine behind `auto` for large populations on the complete graph: starts with the `counts`
// engine, and where that takes more work per interaction than an array of agents would, goes on
// with the `agents` engine; from time to time it looks whether to go back. Networks of reactions of
// which few ticks are reactions go on, or begin, with the direct method. Exact in law, for agents
// in the same state are exchangeable; the decisions follow from the census and the work counted,
// never from a clock.
#pragma once

#include <algorithm>
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
#include "conclave/population/agents.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"
#include "conclave/population/direct_method.hpp"
#include "conclave/population/live_trial.hpp"
#include "conclave/population/run.hpp"

namespace conclave::population {

// Larger arrays are not made: counts alone must do.
template <PopulationProtocol P>
constexpr bool may_use_agents(AgentCount n) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  return n <= std::min<AgentCount>(Agents<P>::most_agents, most_bytes / Agents<P>::bytes_per_agent);
}

namespace detail {

// The direct method without the protocol's type.
class DirectStage {
 public:
  virtual ~DirectStage() = default;
  virtual std::unique_ptr<DirectStage> copy() const = 0;
  virtual TrialEngine& engine() = 0;
  virtual void advance(Interactions budget, std::uint64_t most_reactions) = 0;
  virtual std::uint64_t reactions() const = 0;
  virtual double cost() const = 0;  // of an interaction, in nanoseconds on a common machine
};

// The engines of one protocol: each is built from another one, whose agents and observations it
// takes over.
class AdaptiveStages {
 public:
  virtual ~AdaptiveStages() = default;
  virtual std::size_t bytes_per_agent() const = 0;
  virtual bool may_use_agents(AgentCount n) const = 0;
  // How many channels the protocol offers; 0 if it is no network of reactions, or too large a one.
  virtual std::size_t channels() const = 0;

  using Agents = LiveTrial;
  // `counts` are those of the species.
  virtual std::unique_ptr<Agents> agents_after(const Species& species,
                                               const std::vector<AgentCount>& counts, AgentCount n,
                                               const StreamName& name,
                                               AgentMemory& memory) const = 0;
  virtual std::unique_ptr<Agents> agents_after(const DirectStage& before, AgentCount n,
                                               const StreamName& name,
                                               AgentMemory& memory) const = 0;
  virtual std::unique_ptr<Species> species_after(const Agents& before) const = 0;
  virtual std::unique_ptr<Species> species_after(const DirectStage& before) const = 0;
  // Rows are states, not agents.
  virtual AgentTable table(const Agents& agents) const = 0;
  // Only where there are channels.
  virtual std::unique_ptr<DirectStage> direct_after(const Species& species,
                                                    const std::vector<AgentCount>& counts,
                                                    AgentCount n, const StreamName& name) const = 0;
};

template <HasChannels P>
class DirectStageOf final : public DirectStage {
 public:
  explicit DirectStageOf(DirectMethod<P> method) : method_(std::move(method)), seen_(method_) {}
  std::unique_ptr<DirectStage> copy() const override {
    return std::make_unique<DirectStageOf>(method_);
  }
  TrialEngine& engine() override { return seen_; }
  void advance(Interactions budget, std::uint64_t most_reactions) override {
    method_.advance(budget, most_reactions);
  }
  std::uint64_t reactions() const override { return method_.reactions(); }
  double cost() const override { return method_.cost(); }
  const DirectMethod<P>& method() const { return method_; }

 private:
  DirectMethod<P> method_;
  AsTrialEngine<DirectMethod<P>> seen_;
};

template <PopulationProtocol P>
class AdaptiveStagesOf final : public AdaptiveStages {
 public:
  explicit AdaptiveStagesOf(const P& protocol) : protocol_(protocol) {}

  std::size_t bytes_per_agent() const override { return population::Agents<P>::bytes_per_agent; }
  bool may_use_agents(AgentCount n) const override { return population::may_use_agents<P>(n); }
  std::size_t channels() const override {
    if constexpr (HasChannels<P>) {
      if (protocol_.channel_total() != 0) return protocol_.channels().size();
    }
    return 0;
  }

  std::unique_ptr<Agents> agents_after(const Species& species,
                                       const std::vector<AgentCount>& counts, AgentCount n,
                                       const StreamName& name, AgentMemory& memory) const override {
    const SpeciesOf<P>& before = own(species);
    return agents_with(before.census(counts), before.own_tally(), n, name, memory);
  }
  std::unique_ptr<Agents> agents_after(const DirectStage& before, AgentCount n,
                                       const StreamName& name, AgentMemory& memory) const override {
    if constexpr (HasChannels<P>) {
      return agents_with(method_of(before).census(), method_of(before).tally(), n, name, memory);
    }
    return nullptr;
  }
  std::unique_ptr<Species> species_after(const Agents& before) const override {
    return species_of(engine_of(before));
  }
  std::unique_ptr<Species> species_after(const DirectStage& before) const override {
    if constexpr (HasChannels<P>) return species_of(method_of(before));
    return nullptr;
  }
  AgentTable table(const Agents& agents) const override {
    return table_of_census(protocol_, engine_of(agents).census());
  }
  std::unique_ptr<DirectStage> direct_after(const Species& species,
                                            const std::vector<AgentCount>& counts, AgentCount n,
                                            const StreamName& name) const override {
    if constexpr (HasChannels<P>) {
      DirectMethod<P> next(protocol_, n, own(species).census(counts), name);
      next.inherit(own(species).own_tally());
      return std::make_unique<DirectStageOf<P>>(std::move(next));
    }
    return nullptr;
  }

 private:
  using AgentsTrial = LiveTrialOf<population::Agents<P>>;
  using Tally = typename SpeciesOf<P>::Tally;

  static const SpeciesOf<P>& own(const Species& species) {
    return static_cast<const SpeciesOf<P>&>(species);
  }
  static const population::Agents<P>& engine_of(const Agents& agents) {
    return static_cast<const AgentsTrial&>(agents).exact_engine();
  }
  static const auto& method_of(const DirectStage& stage) requires HasChannels<P> {
    return static_cast<const DirectStageOf<P>&>(stage).method();
  }

  std::unique_ptr<Agents> agents_with(const Census<typename P::State>& census, const Tally& tally,
                                      AgentCount n, const StreamName& name,
                                      AgentMemory& memory) const {
    auto next = std::make_unique<AgentsTrial>(nullptr, protocol_, n, census, name, memory);
    next->exact_engine().inherit(tally);
    return next;
  }
  template <class Engine>
  std::unique_ptr<Species> species_of(const Engine& before) const {
    auto next = std::make_unique<SpeciesOf<P>>(protocol_, before.census());
    next->inherit(before.tally());
    return next;
  }

  P protocol_;
};

}  // namespace detail

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
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    return advance(budget, most_work, budget);
  }

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
  std::vector<NamedCount> named_census(const KeepGoing* keep_going) const {
    return running().agents(keep_going);
  }
  AgentTable table() const;
  AgentCount strike(const Fault& fault);
  void hold() {
    watch_ = Watch::violation;
    running().hold();
  }
  bool measures_holding() const { return running().measures_holding(); }
  bool violated() const { return running().violated(); }

 private:
  using CountsTrial = LiveTrialOf<CountsEngine>;

  static constexpr std::uint64_t work_per_look = 4096;
  // Networks of fewer molecules begin in an array; the second constant is the cost of one of its
  // random interactions, in nanoseconds.
  static constexpr AgentCount least_agents_to_batch = AgentCount{1} << 14;
  static constexpr double cost_of_chance = 10;

  TrialEngine& running() const;
  bool offers_channels() const;
  void begin_small_network(const detail::Species& species, const std::vector<AgentCount>& counts);

  // Up to the next look; all return about how much work it was. Where they look follows from the
  // run alone, not from how it is cut into pieces of work.
  std::uint64_t step_agents(Interactions budget, std::uint64_t most_work);
  std::uint64_t step_counts(Interactions budget, Interactions horizon);
  std::uint64_t step_directly(Interactions budget, std::uint64_t most_work);

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
  void go_on_with(std::unique_ptr<CountsTrial> counts, std::unique_ptr<LiveTrial> agents,
                  std::unique_ptr<detail::DirectStage> direct);

  std::shared_ptr<const detail::AdaptiveStages> stages_;
  AgentCount n_;
  StreamName name_;
  AgentMemory& memory_;
  Watch watch_ = Watch::convergence;
  Interactions before_;                  // simulated by the engines before this one
  std::unique_ptr<CountsTrial> counts_;  // one of these three
  std::unique_ptr<LiveTrial> agents_;
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
  Adaptive(const P& protocol, AgentCount n, const StartingPoint<typename P::State>& start,
           const StreamName& name, AgentMemory& memory)
      : AdaptiveEngine(std::make_shared<const detail::AdaptiveStagesOf<P>>(protocol),
                       std::make_unique<detail::SpeciesOf<P>>(protocol, n, start, name), n, name,
                       memory) {}
};

}  // namespace conclave::population
