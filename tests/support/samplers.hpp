// Samplers of the time until one leader is left: the `agents` engine, and a plain simulation whose
// scheduler is a parameter, so that a mutant differs from a right engine in one place only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agents.hpp"

namespace conclave::tests {

// A protocol on n agents, seeded; a trial that lasts longer than `limit` counts as limit + 1.
template <PopulationProtocol P>
struct Setting {
  P protocol;
  AgentCount n;
  std::uint64_t seed;
  std::uint64_t limit;
};

template <PopulationProtocol P>
class AgentsSampler {
 public:
  explicit AgentsSampler(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) {
    population::Agents<P> engine(setting_.protocol, setting_.n, 0,
                                 {.seed = setting_.seed, .trial = trial}, memory_);
    engine.advance(setting_.limit);
    return engine.converged() ? *engine.now().as_uint64() : setting_.limit + 1;
  }

 private:
  Setting<P> setting_;
  population::AgentMemory memory_;
};

struct OrderedPair {
  std::uint32_t initiator;
  std::uint32_t responder;
};

// Uniform over all n(n-1) ordered pairs.
struct UniformPairs {
  static OrderedPair next(std::uint32_t n, Stream& stream) {
    const std::uint32_t initiator = stream.below(n);
    const std::uint32_t responder = stream.below(n - 1);
    return {initiator, responder < initiator ? responder : responder + 1};
  }
};

// One simulation with one state per agent. An agent that meets itself stays as it is.
template <PopulationProtocol P, class Scheduler>
class PlainTrial {
 public:
  PlainTrial(const Setting<P>& setting, std::uint64_t trial)
      : stream_({.seed = setting.seed, .trial = trial, .purpose = Purpose::test}),
        protocol_(setting.protocol) {
    for (AgentCount agent = 0; agent < setting.n; ++agent) {
      agents_.push_back(protocol_.initial(0, agent, stream_));
      leaders_ += is_leader(agents_.back());
    }
  }

  AgentCount leaders() const { return leaders_; }

  // One interaction; true if it changed a state.
  bool step() {
    const OrderedPair pair = Scheduler::next(static_cast<std::uint32_t>(agents_.size()), stream_);
    if (pair.initiator == pair.responder) return false;
    State& u = agents_[pair.initiator];
    State& v = agents_[pair.responder];
    const State old_u = u;
    const State old_v = v;
    protocol_.interact(u, v, stream_);
    leaders_ = leaders_ + is_leader(u) + is_leader(v) - is_leader(old_u) - is_leader(old_v);
    return u != old_u || v != old_v;
  }

 private:
  using State = typename P::State;

  AgentCount is_leader(const State& s) const { return protocol_.role(s) == Role::leader ? 1 : 0; }

  Stream stream_;
  std::vector<State> agents_;
  AgentCount leaders_ = 0;
  P protocol_;
};

template <class Scheduler, PopulationProtocol P>
class PlainSampler {
 public:
  explicit PlainSampler(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    PlainTrial<P, Scheduler> simulation(setting_, trial);
    std::uint64_t steps = 0;
    while (simulation.leaders() != 1 && steps <= setting_.limit) {
      simulation.step();
      ++steps;
    }
    return steps;
  }

 private:
  Setting<P> setting_;
};

}  // namespace conclave::tests
