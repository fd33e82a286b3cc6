// The course of a trial whose tally hears of meetings after they have happened, in their order:
// how it begins, when it is over, and its result. For one thread at a time, and to be made where it
// is used: a loop that kept one, with a reference to its own members, would have all of them in
// memory instead of registers, and was three times as slow.
#pragma once

#include <cstdint>

#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// A protocol whose interactions draw no random numbers and whose tally may hear of them late. Its
// packed states are words of 64 bits: with others these loops were not measured.
template <class P>
concept BlockProtocol = DeviceProtocol<P> && HasShortcut<P> && sizeof(typename P::Packed) == 8 &&
                        !HasMilestones<DeviceTallyFor<P>, P>;

// Kept where all threads of the trial can see it.
struct CourseState {
  Lanes::State start;  // the generator
  std::uint32_t next_start;
  std::uint64_t trial;
  std::uint64_t done;  // interactions
  std::uint64_t converged_at;
  bool is_holding;
  bool is_over;
};

template <BlockProtocol P>
class Course {
  using State = typename P::State;
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Tally = DeviceTallyFor<P>;

 public:
  CONCLAVE_HOST_DEVICE Course(const Batch<P>& batch, CourseState* state, Tally* tally)
      : batch_(batch), protocol_(*batch.protocol), state_(*state), tally_(*tally) {}

  // Draws the start, in the order in which `agents` does.
  CONCLAVE_HOST_DEVICE void begin(Packed* agents) {
    for (int lane = 0; lane < lanes_per_trial; ++lane) {
      const LaneNames names{batch_.seed, batch_.first_trial + state_.trial, lane};
      names.generator(Purpose::start).save(state_.start, lane);
    }
    state_.next_start = 0;
    LaneStream choice(state_.start[0].data(), &state_.next_start);
    Tally tally(*batch_.protocol);
    for (std::uint32_t agent = 0; agent < batch_.n; ++agent) {
      const State state = protocol_.initial(batch_.start, agent, choice);
      agents[agent] = Storage::pack(protocol_, state);
      tally.add(state);
    }
    tally_ = tally;
    state_.done = state_.converged_at = 0;
    state_.is_holding = false;
    state_.is_over = ends_at(0) || batch_.limit == 0;
  }

  // Two states, and what becomes of them.
  struct Meeting {
    State u, v, new_u, new_v;
  };
  CONCLAVE_HOST_DEVICE static Meeting meeting_of(const P& protocol, Packed packed_u,
                                                 Packed packed_v) {
    const State u = Storage::unpack(protocol, packed_u);
    const State v = Storage::unpack(protocol, packed_v);
    Meeting meeting{u, v, u, v};
    NoticedChoice none;
    protocol.interact(meeting.new_u, meeting.new_v, none);
    return meeting;
  }

  // A meeting that is counted has happened, that of this number, counted from 1. Nothing is heard
  // of those beyond the limit or the end.
  CONCLAVE_HOST_DEVICE void hear_of(Packed u, Packed v, std::uint64_t number) {
    if (state_.is_over || number > batch_.limit) return;
    const Meeting meeting = meeting_of(protocol_, u, v);
    tally_.replace(meeting.u, meeting.v, meeting.new_u, meeting.new_v);
    if (!is_decided() || !ends_at(number)) return;
    state_.done = number;
    state_.is_over = true;
  }

  // All meetings up to this number have happened.
  CONCLAVE_HOST_DEVICE void reach(std::uint64_t number, bool is_stopped) {
    if (state_.is_over) return;
    state_.is_over = number >= batch_.limit || is_stopped;
    state_.done = number < batch_.limit ? number : batch_.limit;
  }

  CONCLAVE_HOST_DEVICE void note(Finished<P>& result) const {
    const bool has_converged = state_.is_holding || tally_.converged();
    bool has_ended = has_converged || tally_.hopeless();
    result.interactions = state_.is_holding ? state_.converged_at : state_.done;
    result.held = state_.done - state_.converged_at;
    result.is_violated = false;
    if constexpr (MeasuresHolding<P>) {
      result.is_violated = state_.is_holding && tally_.violated();
      if (state_.is_holding) has_ended = result.is_violated;
    }
    if (!state_.is_holding) result.tally = tally_;
    result.ending = has_converged ? Ending::converged : Ending::limit;
    if (!has_converged && tally_.hopeless()) result.ending = Ending::hopeless;
    if (!has_ended && state_.done < batch_.limit) result.ending = Ending::interrupted;
  }

 private:
  // Whether what the trial waits for has happened.
  CONCLAVE_HOST_DEVICE bool is_decided() const {
    if constexpr (MeasuresHolding<P>) {
      if (state_.is_holding) return tally_.violated();
    }
    return tally_.converged() || tally_.hopeless();
  }

  // Whether the trial ends after this many interactions. A trial that has converged goes on where
  // its protocol measures how long that holds.
  CONCLAVE_HOST_DEVICE bool ends_at(std::uint64_t number) {
    if constexpr (MeasuresHolding<P>) {
      if (protocol_.measures_holding() && !state_.is_holding && tally_.converged()) {
        state_.is_holding = true;
        state_.converged_at = number;
        batch_.finished[state_.trial].tally = tally_;
        tally_.hold();
        return false;
      }
    }
    return is_decided();
  }

  const Batch<P>& batch_;
  const P& protocol_;
  CourseState& state_;
  Tally& tally_;
};

}  // namespace conclave::gpu
