// The engines that the adaptive engine (adaptive.hpp) changes between, behind interfaces without
// the protocol's type, so that the decisions are compiled once.
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
#include "conclave/population/agents.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"
#include "conclave/population/direct_method.hpp"
#include "conclave/population/trial_engine.hpp"

namespace conclave::population::detail {

// The direct method without the protocol's type.
class DirectStage {
 public:
  virtual ~DirectStage() = default;
  // Goes on exactly as this one does.
  virtual std::unique_ptr<DirectStage> copy() const = 0;
  // The same engine as all trials see theirs; owned by this object.
  virtual TrialEngine& engine() = 0;
  // See DirectMethod::advance.
  virtual void advance(Interactions budget, std::uint64_t most_reactions) = 0;
  virtual std::uint64_t reactions() const = 0;
  virtual double cost() const = 0;  // of an interaction, in nanoseconds on a common machine
};

// The engines of one protocol: each is built from another one, whose agents and observations it
// takes over.
class AdaptiveStages {
 public:
  virtual ~AdaptiveStages() = default;
  // The size of an agent in an array, and whether n of them may be kept in one.
  virtual std::size_t bytes_per_agent() const = 0;
  virtual bool may_use_agents(AgentCount n) const = 0;
  // How many channels the protocol offers; 0 if it is no network of reactions, or too large a one.
  virtual std::size_t channels() const = 0;

  using Agents = TrialEngine;
  // `counts` are those of the species.
  virtual std::unique_ptr<Agents> agents_after(const Species& species,
                                               const std::vector<AgentCount>& counts, AgentCount n,
                                               const StreamName& name,
                                               AgentMemory& memory) const = 0;
  virtual std::unique_ptr<Agents> agents_after(const DirectStage& before, AgentCount n,
                                               const StreamName& name,
                                               AgentMemory& memory) const = 0;
  // For the engine counts. O(n) after an array.
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
  explicit DirectStageOf(DirectMethod<P> method) : method_(std::move(method)) {}
  std::unique_ptr<DirectStage> copy() const override {
    return std::make_unique<DirectStageOf>(method());
  }
  TrialEngine& engine() override { return method_; }
  void advance(Interactions budget, std::uint64_t most_reactions) override {
    method_.engine().advance(budget, most_reactions);
  }
  std::uint64_t reactions() const override { return method().reactions(); }
  double cost() const override { return method().cost(); }
  const DirectMethod<P>& method() const { return method_.engine(); }

 private:
  TrialEngineOf<DirectMethod<P>> method_;
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
  using ArrayOfAgents = TrialEngineOf<population::Agents<P>>;
  using Tally = typename SpeciesOf<P>::Tally;

  static const SpeciesOf<P>& own(const Species& species) {
    return static_cast<const SpeciesOf<P>&>(species);
  }
  static const population::Agents<P>& engine_of(const Agents& agents) {
    return static_cast<const ArrayOfAgents&>(agents).engine();
  }
  static const auto& method_of(const DirectStage& stage) requires HasChannels<P> {
    return static_cast<const DirectStageOf<P>&>(stage).method();
  }

  std::unique_ptr<Agents> agents_with(const Census<typename P::State>& census, const Tally& tally,
                                      AgentCount n, const StreamName& name,
                                      AgentMemory& memory) const {
    auto next = std::make_unique<ArrayOfAgents>(protocol_, n, census, name, memory);
    next->engine().inherit(tally);
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

}  // namespace conclave::population::detail
