// Engines that jump over null interactions, as anyone would write them, with one mistake each. The
// one without a mistake must fit wherever the mutants must not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/geometric.hpp"
#include "conclave/base/random.hpp"
#include "conclave/population/detail/reaction.hpp"

#include "tests/support/prl_definitions.hpp"
#include "tests/support/samplers.hpp"

namespace conclave::tests::mutants {

enum class Flaw : std::uint8_t {
  none,
  forgets_null_interactions,  // its clock runs only when something happens
  waits_one_less,             // counts the failures before an event, not the event
  samples_with_replacement,   // c_s * c_s pairs of one state instead of c_s * (c_s - 1)
  forgets_an_arc,             // arc 0 is never active
};

// The time from one event to the next.
inline std::uint64_t wait(Flaw flaw, std::uint64_t active, std::uint64_t all, Stream& stream) {
  const std::uint64_t trials = *Geometric(active, all)(stream).as_uint64();
  if (flaw == Flaw::forgets_null_interactions) return 1;
  return flaw == Flaw::waits_one_less ? trials - 1 : trials;
}

// On the complete graph, from the first start: a list of counted states and all pairs of them.
template <PopulationProtocol P, Flaw flaw>
class PlainCensusEvents {
 public:
  explicit PlainCensusEvents(const Setting<P>& setting) : setting_(setting) {}

  std::uint64_t operator()(std::uint64_t trial) {
    Stream stream({.seed = setting_.seed, .trial = trial, .purpose = Purpose::test});
    census_ = {{setting_.protocol.initial(0, 0, stream), setting_.n}};
    std::uint64_t now = 0;
    while (leaders() != 1 && now <= setting_.limit) {
      const std::vector<Pair> pairs = reacting_pairs();
      const std::uint64_t all = setting_.n * (setting_.n - 1);
      std::uint64_t active = 0;
      for (const Pair& pair : pairs) active += pair.weight;
      if (active == 0) return setting_.limit + 1;
      now += wait(flaw, std::min(active, all), all, stream);
      std::uint64_t pick = stream.below64(active);
      std::size_t index = 0;
      for (; pick >= pairs[index].weight; ++index) pick -= pairs[index].weight;
      meet(pairs[index], stream);
    }
    return now;
  }

 private:
  using State = typename P::State;
  struct Counted {
    State state;
    std::uint64_t count;
  };
  struct Pair {
    State u;
    State v;
    std::uint64_t weight;
  };

  std::vector<Pair> reacting_pairs() const {
    std::vector<Pair> pairs;
    for (const Counted& u : census_) {
      for (const Counted& v : census_) {
        if (!population::detail::reacts(setting_.protocol, u.state, v.state)) continue;
        pairs.push_back({u.state, v.state, pairs_of(u, v)});
      }
    }
    return pairs;
  }

  // An agent alone in its state cannot meet itself even in the mutant.
  static std::uint64_t pairs_of(const Counted& u, const Counted& v) {
    if (&u != &v) return u.count * v.count;
    if (u.count < 2) return 0;
    return flaw == Flaw::samples_with_replacement ? u.count * u.count : u.count * (u.count - 1);
  }

  void meet(const Pair& pair, Stream& stream) {
    State u = pair.u;
    State v = pair.v;
    setting_.protocol.interact(u, v, stream);
    --count_of(pair.u);
    --count_of(pair.v);
    ++count_of(u);
    ++count_of(v);
    std::erase_if(census_, [](const Counted& each) { return each.count == 0; });
  }

  std::uint64_t& count_of(const State& state) {
    for (Counted& each : census_) {
      if (each.state == state) return each.count;
    }
    return census_.emplace_back(state, 0).count;
  }

  std::uint64_t leaders() const {
    std::uint64_t sum = 0;
    for (const Counted& each : census_) {
      if (setting_.protocol.role(each.state) == Role::leader) sum += each.count;
    }
    return sum;
  }

  Setting<P> setting_;
  std::vector<Counted> census_;
};

// prl on the directed ring: looks at every arc before every event. A trial that lasts longer than
// `limit` counts as limit + 1.
template <Flaw flaw>
class PlainArcEvents {
 public:
  PlainArcEvents(const Prl& protocol, AgentCount n, std::size_t start, std::uint64_t limit)
      : protocol_(protocol), n_(n), start_(start), limit_(limit) {}

  std::uint64_t operator()(std::uint64_t trial) const {
    Stream stream({.seed = 1, .trial = trial});
    Ring ring{.agents = {}, .bound = protocol_.bound()};
    for (AgentCount agent = 0; agent < n_; ++agent) {
      ring.agents.push_back(protocol_.initial(start_, agent, stream));
    }
    Prl::Tally tally = tally_of(protocol_, ring);
    std::uint64_t now = 0;
    while (!tally.converged()) {
      const std::vector<std::uint64_t> active = active_arcs(ring);
      if (active.empty() || now > limit_) return limit_ + 1;
      now += wait(flaw, active.size(), n_, stream);
      const std::uint64_t i = active[stream.below64(active.size())];
      const Prl::State u = ring.u(i);
      const Prl::State v = ring.u(i + 1);
      ring.interact(protocol_, i);
      tally.replace_at(i, (i + 1) % n_, u, v, ring.u(i), ring.u(i + 1), RingView{&ring, now});
    }
    return now;
  }

 private:
  std::vector<std::uint64_t> active_arcs(const Ring& ring) const {
    std::vector<std::uint64_t> active;
    for (std::uint64_t i = flaw == Flaw::forgets_an_arc ? 1 : 0; i < n_; ++i) {
      if (population::detail::reacts(protocol_, ring.u(i), ring.u(i + 1))) active.push_back(i);
    }
    return active;
  }

  Prl protocol_;
  AgentCount n_;
  std::size_t start_;
  std::uint64_t limit_;
};

}  // namespace conclave::tests::mutants
