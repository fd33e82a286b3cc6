// The course of a trial whose tally is notified of interactions after they have happened, in their
// order: how it begins, when it is over, and its result. For one thread at a time, and to be made
// where it is used: a loop that kept one, with a reference to its own members, would have all of
// them in memory instead of registers, and was three times as slow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/base/choice.hpp"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/lane_stream.hpp"

namespace conclave::gpu {

// Kept where all threads of the trial can see it.
struct CourseState {
  Lanes::State start;  // the generator of the initial configuration
  std::uint32_t next_start;
  std::uint64_t trial;
  TrialTime time;
  bool is_over;
};

// Two states, what becomes of them, and whether that drew a random number: then it is void.
template <ClusterProtocol P>
struct Interaction {
  using State = typename P::State;
  using Packed = typename Stored<P>::type;
  State u, v, new_u, new_v;
  bool has_drawn;

  // Interacts on copies of the two states; `has_drawn`: the result depends on a random choice, so
  // that it is void.
  CONCLAVE_HOST_DEVICE static Interaction of(const P& protocol, const Packed& packed_u,
                                             const Packed& packed_v) {
    const State u = Stored<P>::unpack(protocol, packed_u);
    const State v = Stored<P>::unpack(protocol, packed_v);
    Interaction result{u, v, u, v, false};
    NoticedChoice choice;
    protocol.interact(result.new_u, result.new_v, choice);
    result.has_drawn = choice.is_asked;
    return result;
  }
};

// Views the batch, the state and the tally, which outlive it.
template <ClusterProtocol P>
class Course {
  using State = typename P::State;
  using Packed = typename Stored<P>::type;
  using Tally = DeviceTallyFor<P>;

 public:
  CONCLAVE_HOST_DEVICE Course(const Batch<P>& batch, CourseState* state, Tally* tally)
      : batch_(batch), protocol_(*batch.protocol), state_(*state), tally_(*tally) {}

  // Draws the initial configuration of trial state->trial, in the order in which `agents` does.
  // `words` are those of the tally; O(n).
  CONCLAVE_HOST_DEVICE void begin(Packed* agents, std::uint64_t* words) {
    for (int lane = 0; lane < lanes_per_trial; ++lane) {
      const LaneNames names{batch_.seed, batch_.first_trial + state_.trial, lane};
      names.generator(Purpose::start).save(state_.start, lane);
    }
    state_.next_start = 0;
    LaneStream choice(state_.start[0].data(), &state_.next_start);
    const std::size_t word_count = DeviceTally<P>::words(protocol_, batch_.n);
    for (std::size_t i = 0; i < word_count; ++i) words[i] = 0;
    Tally tally = DeviceTally<P>::make(protocol_, batch_.n, words);
    for (std::uint32_t agent = 0; agent < batch_.n; ++agent) {
      const State state = protocol_.initial(batch_.start, agent, choice);
      agents[agent] = Stored<P>::pack(protocol_, state);
      tally.add(state);
    }
    tally_ = tally;
    state_.time = {};
    state_.is_over = ends_at(0) || batch_.limit == 0;
  }

  // Notifies the tally of the interaction of this number, counted from 1, by the two states before
  // it. Interactions beyond the limit or the end are ignored.
  CONCLAVE_HOST_DEVICE void notify(const Packed& u, const Packed& v, std::uint64_t number) {
    if (state_.is_over || number > batch_.limit) return;
    const auto after = Interaction<P>::of(protocol_, u, v);
    tally_.replace(after.u, after.v, after.new_u, after.new_v);
    if (!ends_at(number)) return;
    state_.time.done = number;
    state_.is_over = true;
  }

  // All interactions up to this number have happened, and the tally is notified of them.
  CONCLAVE_HOST_DEVICE void reach(std::uint64_t number, bool is_stopped) {
    if (state_.is_over) return;
    state_.is_over = number >= batch_.limit || is_stopped;
    state_.time.done = number < batch_.limit ? number : batch_.limit;
  }

  // Ends the trial without a result.
  CONCLAVE_HOST_DEVICE void give_up() {
    batch_.finished[state_.trial].has_drawn = true;
    state_.is_over = true;
  }

  // The trial is over.
  CONCLAVE_HOST_DEVICE void note(Finished<P>& result) const {
    write_result<P>(result, tally_, state_.time, batch_.limit);
  }

 private:
  // Whether the trial ends after this many interactions. A trial that has converged goes on where
  // its protocol measures how long that holds.
  CONCLAVE_HOST_DEVICE bool ends_at(std::uint64_t number) {
    if constexpr (MeasuresHolding<P>) {
      if (protocol_.measures_holding() && !state_.time.is_holding && tally_.converged()) {
        state_.time = {number, number, true};
        batch_.finished[state_.trial].tally = tally_;
        tally_.hold();
        return false;
      }
    }
    return is_at_end<P>(tally_, state_.time.is_holding);
  }

  const Batch<P>& batch_;
  const P& protocol_;
  CourseState& state_;
  Tally& tally_;
};

}  // namespace conclave::gpu
