// Looks for an initial configuration with a long expected time, by local search: change some
// agents, simulate, keep the change if trials take longer. The result is a lower bound on the
// largest expected time, with an estimate from trials that took no part in the search.
//
// The search itself does not depend on protocols: it compares times of starts, which a StartSpace
// makes, changes and simulates. So it is compiled once for all protocols.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population {

// A configuration of some protocol, which only the StartSpace that made it can look into.
using AnyStart = std::shared_ptr<const void>;

// The configurations among which to search. Random decisions are taken from `choice`.
class StartSpace {
 public:
  virtual ~StartSpace() = default;
  // One drawn by the law of the space.
  virtual AnyStart random(Stream& choice) = 0;
  // A copy with few agents changed; may be equal.
  virtual AnyStart changed(const AnyStart& start, Stream& choice) = 0;
  virtual bool are_equal(const AnyStart& one, const AnyStart& other) const = 0;
  // Runs the trial of this number from a start and returns its interactions; infinite if it never
  // converges. Throws Interrupted to end the search.
  virtual double simulate(const AnyStart& start, std::uint64_t trial) = 0;
};

struct WorstStart {
  AnyStart start;
  // The interactions of fresh trials from there. If the search was interrupted, of the trials by
  // which the configuration was chosen, whose mean is biased upwards.
  std::vector<double> times;
  std::uint64_t candidates = 0;  // configurations tried
  std::uint64_t trials = 0;      // all that were run
  bool is_complete = true;       // false: interrupted
};

// Searches with about `budget` trials, kept to within about an eighth. `named` are configurations
// worth trying first. An interrupted search returns the worst start so far; before there is one, it
// throws Interrupted.
WorstStart search_worst_start(StartSpace& space, const std::vector<AnyStart>& named,
                              std::uint64_t seed, std::uint64_t budget);

// The space need not belong to a protocol: anything whose states can be drawn and compared.
template <class P>
concept DrawsStates = Described<typename P::State> && requires(const P& any, AnyChoice& choice) {
  { any.arbitrary(choice) } -> std::same_as<typename P::State>;
};

// The configurations of n agents in arbitrary states. Keeps a reference to the protocol.
template <DrawsStates P>
class ArbitraryStarts final : public StartSpace {
 public:
  using State = typename P::State;
  using Agents = std::vector<State>;
  using Simulate = std::function<double(std::span<const State> agents, std::uint64_t trial)>;

  // The protocol must outlive it. `simulate` is called by one thread at a time.
  ArbitraryStarts(const P& protocol, AgentCount n, Simulate simulate)
      : protocol_(protocol), n_(n), simulate_(std::move(simulate)) {}

  // Conversions between agents and configurations; the reference lives as long as `start`.
  static AnyStart start_of(Agents agents) {
    return std::make_shared<const Agents>(std::move(agents));
  }
  static const Agents& agents_of(const AnyStart& start) {
    return *static_cast<const Agents*>(start.get());
  }

  // Agents in arbitrary states: each in its own, all in the same, or each in one of two.
  AnyStart random(Stream& choice) override {
    const std::uint32_t kind = choice.below(3);
    const State one = protocol_.arbitrary(choice);
    const State other = protocol_.arbitrary(choice);
    Agents agents(n_, one);
    for (State& agent : agents) {
      if (kind == 1) agent = protocol_.arbitrary(choice);
      if (kind == 2 && choice.chance(1, 2)) agent = other;
    }
    return start_of(std::move(agents));
  }

  AnyStart changed(const AnyStart& start, Stream& choice) override {
    Agents agents = agents_of(start);
    const auto n = static_cast<std::uint32_t>(std::min<AgentCount>(n_, 0xffffffffu));
    const std::uint32_t place = choice.below(n);
    const State from = agents[place];
    State to = choice.chance(1, 4) ? agents[choice.below(n)] : near(from, choice);
    const std::uint32_t kind = choice.below(4);
    if (kind == 0) {  // all agents in this state
      std::ranges::replace(agents, from, to);
    } else if (kind == 1) {  // a stretch of agents, of any length
      const std::uint32_t length = 1 + choice.below(n);
      for (std::uint32_t i = 0; i < length; ++i) agents[(place + i) % n] = to;
    } else {
      agents[place] = to;
    }
    return start_of(std::move(agents));
  }

  bool are_equal(const AnyStart& one, const AnyStart& other) const override {
    return agents_of(one) == agents_of(other);
  }

  double simulate(const AnyStart& start, std::uint64_t trial) override {
    return simulate_(agents_of(start), trial);
  }

 private:
  // A state that differs from this one in few variables, mostly one: the nearest of some arbitrary
  // states, which all belong to the declared domain.
  State near(const State& state, Stream& choice) {
    State best = protocol_.arbitrary(choice);
    for (std::uint32_t tries = 1 + choice.below(24); tries > 0; --tries) {
      const State next = protocol_.arbitrary(choice);
      if (next != state && (best == state || distance(next, state) < distance(best, state))) {
        best = next;
      }
    }
    return best;
  }

  static int distance(const State& a, const State& b) {
    return std::apply(
        [&](const auto&... field) { return (0 + ... + (a.*field.member != b.*field.member)); },
        State::fields);
  }

  const P& protocol_;
  AgentCount n_;
  Simulate simulate_;
};

}  // namespace conclave::population
