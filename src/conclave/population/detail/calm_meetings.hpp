// The inner loop of the agents engine for tallies that know how long nothing decisive can happen.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/meeting_pipeline.hpp"

namespace conclave::population::detail {

// Such a tally is a sum of one word per agent. It tells for how many interactions it may hear the
// sum of their changes only; with no patience left, it must hear of every change that is not 0.
template <class T, class P>
concept PatientTallyOf = PopulationProtocol<P> &&
    requires(T& tally, const T& view, const typename P::State& state, std::uint64_t number) {
  { view.is_patient() } -> std::same_as<bool>;  // whether the rest means anything
  { view.patience() } -> std::same_as<std::uint64_t>;
  { view.word_of(state) } -> std::same_as<std::uint64_t>;
  { tally.defer(number, number) } -> std::same_as<void>;  // interactions, sum of their changes
  { tally.take(number) } -> std::same_as<void>;           // one change
};

// One meeting; returns by how much it changes the sum of words.
template <class P, class Tally, class Packed>
[[gnu::always_inline]] inline std::uint64_t meet_and_weigh(const P& protocol, const Tally& tally,
                                                           Packed* agents, Meeting meeting,
                                                           Stream& choice) {
  using Storage = Stored<P>;
  Packed& initiator = agents[meeting.initiator()];
  Packed& responder = agents[meeting.responder()];
  typename P::State u = Storage::unpack(protocol, initiator);
  typename P::State v = Storage::unpack(protocol, responder);
  const std::uint64_t before = tally.word_of(u) + tally.word_of(v);
  protocol.interact(u, v, choice);
  initiator = Storage::pack(protocol, u);
  responder = Storage::pack(protocol, v);
  return tally.word_of(u) + tally.word_of(v) - before;
}

// Carries out all meetings, or those up to the one after which `is_over` holds; returns how many.
// Fetches the agents `ahead` meetings before their turn unless that is 0.
template <std::size_t ahead, class P, class Tally, class Packed, class IsOver>
std::size_t meet_calmly(const P& protocol, Tally& tally, Packed* agents,
                        std::span<const std::uint64_t> meetings, Stream& choice, IsOver is_over) {
  const auto meet = [&](std::size_t index) {
    if constexpr (ahead > 0) {
      const Meeting later{meetings.data()[index + ahead]};
      __builtin_prefetch(agents + later.initiator(), 1);
      __builtin_prefetch(agents + later.responder(), 1);
    }
    return meet_and_weigh(protocol, tally, agents, Meeting{meetings[index]}, choice);
  };
  std::size_t done = 0;
  while (done < meetings.size()) {
    const std::uint64_t patience = std::min(tally.patience(), meetings.size() - done);
    std::uint64_t sum = 0;
    for (const std::size_t end = done + patience; done < end; ++done) sum += meet(done);
    if (patience > 0) tally.defer(patience, sum);
    if (tally.patience() > 0) continue;
    std::uint64_t change = 0;
    while (done < meetings.size() && change == 0) change = meet(done++);
    if (change == 0) continue;
    tally.take(change);
    if (is_over()) break;
  }
  return done;
}

}  // namespace conclave::population::detail
