// The inner loop of the agents engine for tallies that know how long nothing decisive can happen.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conclave/base/random.hpp"
#include "conclave/model/brief_words.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// Such a tally is a sum of one word per agent. It says for how many interactions it may be notified
// of the sum of their changes only; with no patience left, it must be notified of every change that
// is not 0.
template <class T, class P>
concept PatientTallyOf = PopulationProtocol<P> &&
    requires(T& tally, const T& view, const typename P::State& state, std::uint64_t number) {
  // The word of a state.
  { view.words()(state) } -> std::same_as<std::uint64_t>;
  { view.is_patient() } -> std::same_as<bool>;  // whether the rest means anything
  { view.patience() } -> std::same_as<std::uint64_t>;
  { tally.defer(number, number) } -> std::same_as<void>;  // interactions, sum of their changes
  { tally.take(number) } -> std::same_as<void>;           // one change
};

// Where a protocol looks transitions up, fetches that of a meeting soon to come, if its agents stay
// as they are until then.
template <class P, class Packed>
[[gnu::always_inline]] inline void fetch_transition(const P& protocol, const Packed* agents,
                                                    const std::uint64_t* meetings) {
  if constexpr (FetchesAhead<P>) {
    constexpr std::size_t meetings_ahead = 4;
    const Meeting soon{meetings[meetings_ahead]};
    protocol.fetch(Stored<P>::unpack(protocol, agents[soon.initiator()]),
                   Stored<P>::unpack(protocol, agents[soon.responder()]));
  }
}

// Whether the interaction was a frequent one, of which the tally need not be notified.
template <class P, class Packed>
[[gnu::always_inline]] inline bool take_shortcut([[maybe_unused]] const P& protocol,
                                                 [[maybe_unused]] Packed& u,
                                                 [[maybe_unused]] Packed& v) {
  if constexpr (HasShortcut<P>) {
    const auto next = protocol.shortcut(u, v);
    if (next.applies == 0) return false;
    u = next.u;
    v = next.v;
    return true;
  }
  return false;
}

// Carries out meetings until all are done or, if `watchful`, one changes the sum of words; returns
// how many, and by how much that sum has changed. A function of its own, with copies of all it
// uses, so that its loop runs in registers.
struct Weighed {
  std::size_t meetings;
  std::uint64_t change;
};
template <bool watchful, std::size_t ahead, class P, class WordOf, class Packed>
[[gnu::noinline]] Weighed meet_and_weigh(const P& given, WordOf word_of, std::span<Packed> all,
                                         std::span<const std::uint64_t> meetings, Stream& choice) {
  using Storage = Stored<P>;
  const P protocol = given;
  Packed* const agents = all.data();
  [[maybe_unused]] const bool are_far = all.size_bytes() > far_above_bytes;
  std::uint64_t change = 0;
  for (std::size_t index = 0; index < meetings.size(); ++index) {
    if constexpr (ahead > 0) fetch_agents<ahead>(agents, meetings.data() + index, are_far);
    fetch_transition(protocol, agents, &meetings[index]);
    const Meeting meeting{meetings[index]};
    typename P::State u = Storage::unpack(protocol, agents[meeting.initiator()]);
    typename P::State v = Storage::unpack(protocol, agents[meeting.responder()]);
    change -= word_of(u) + word_of(v);
    protocol.interact(u, v, choice);
    change += word_of(u) + word_of(v);
    agents[meeting.initiator()] = Storage::pack(protocol, u);
    agents[meeting.responder()] = Storage::pack(protocol, v);
    if (watchful && change != 0) return {index + 1, change};
  }
  return {meetings.size(), change};
}

// Carries out all meetings, or those up to the one after which `is_over` holds; returns how many.
// Fetches the agents `ahead` meetings before their turn unless that is 0.
template <std::size_t ahead, class P, class Tally, class Packed, class IsOver>
std::size_t meet_calmly(const P& protocol, Tally& tally, std::span<Packed> agents,
                        std::span<const std::uint64_t> meetings, Stream& choice, IsOver is_over) {
  std::size_t done = 0;
  while (done < meetings.size()) {
    const std::span<const std::uint64_t> left = meetings.subspan(done);
    if (const std::uint64_t patience = std::min<std::uint64_t>(tally.patience(), left.size())) {
      const Weighed calm = meet_and_weigh<false, ahead>(protocol, tally.words(), agents,
                                                        left.first(patience), choice);
      tally.defer(calm.meetings, calm.change);
      done += calm.meetings;
      continue;
    }
    const Weighed watched =
        meet_and_weigh<true, ahead>(protocol, tally.words(), agents, left, choice);
    done += watched.meetings;
    if (watched.change == 0) continue;
    tally.take(watched.change);
    if (is_over()) break;
  }
  return done;
}

}  // namespace conclave::population::detail
