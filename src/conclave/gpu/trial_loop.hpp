// The algorithm of the gpu engine: the trials of the agents engine, bit for bit, eight lanes each.
//
// `agents` takes word k of its schedule from lane k mod 8 of the generator. Here lane j of a trial
// is that generator lane: in a round in which no meeting is pending, each lane draws one word and
// so one meeting. The trial executes the longest prefix of its pending meetings in which no two
// share an agent; these do not see each other, so that executing them at once is executing them in
// order. The rest stays pending. A meeting that the tally must hear of, or that asks for a random
// number, is settled in its turn; the one that ends the trial is the last that is executed.
//
//     lane      0    1    2    3    4    5    6    7
//     meeting  3,9  4,7  1,2  9,5  8,6  0,3  2,4  7,1     the first three are executed,
//                              ^ shares agent 9           then 9,5 8,6 0,3 2,4 7,1, ...
//
// The file is long because a round is told in all its steps, which share the variables of the
// lanes.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/warp.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::gpu {

// A protocol whose trials can be run on a device: on the complete graph, with a tally that counts
// states, everything it needs inside itself. Its functions must be constexpr, which is what a CUDA
// compiler takes for "also on the device".
template <class P>
concept DeviceProtocol = PopulationProtocol<P> && topology_of<P>
!= Topology::directed_ring&& CensusTallyOf<typename TallyFor<P>::type, P>&&
        std::is_trivially_copyable_v<P>&& std::is_trivially_copyable_v<typename TallyFor<P>::type>&&
            std::is_trivially_copyable_v<typename Stored<P>::type>;

// The streams of one trial, as the host names them. The device changes them.
struct TrialStreams {
  Lanes::State schedule;
  Lanes::State start;
  Lanes::State transition;
  std::uint32_t next_start = 0;
  std::uint32_t next_transition = 0;
};

// How a trial went. Tally and interactions are as of convergence, or of the end without one.
template <DeviceProtocol P>
struct Finished {
  typename TallyFor<P>::type tally;
  std::uint64_t interactions;
  std::uint64_t held;  // interactions since convergence, where holding is measured
  Ending ending;
  bool is_violated;
};

// What all warps of a batch share. Trial i reads streams[i] and writes finished[i].
template <DeviceProtocol P>
struct Batch {
  const P* protocol;
  std::uint32_t n;
  std::size_t start;
  std::uint64_t limit;  // on interactions
  std::uint64_t trials;
  TrialStreams* streams;
  Finished<P>* finished;
  std::uint64_t* next_trial;        // the first that no warp has taken
  const volatile bool* is_stopped;  // trials under way then end as interrupted
};

// The place of one trial at a time: its agents, and its tally where all its lanes reach it.
template <DeviceProtocol P>
struct Place {
  typename Stored<P>::type* agents;
  typename TallyFor<P>::type* tally;
};

template <DeviceProtocol P, class Warp>
class TrialLoop {
  using State = typename P::State;
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Tally = typename TallyFor<P>::type;
  template <class T>
  using Own = typename Warp::template Own<T>;

 public:
  // `place(lane)` is the Place of the lane's trial, the same for its eight lanes.
  template <class PlaceOf>
  CONCLAVE_HOST_DEVICE TrialLoop(const Batch<P>& batch, Warp warp, PlaceOf place)
      : batch_(batch),
        protocol_(*batch.protocol),
        warp_(warp),
        biased_(static_cast<std::uint32_t>((1ull << 32) % batch.n)) {
    warp_.each([&](int lane) { place_[lane] = place(lane); });
  }

  // Runs trials until none is left. What is rare (the tally must hear of something, a random number
  // is asked for, a limit is near) is looked into only in rounds in which some lane of the warp
  // says so: votes are what a round waits for most.
  CONCLAVE_HOST_DEVICE void run() {
    warp_.each([&](int lane) { is_busy_[lane] = true; });
    take_trials([](int) { return true; });
    for (std::uint32_t round = 0; end_trials(round); ++round) {
      bool is_calm = true;
      do {
        draw();
        find_runnable();
        is_calm = meet();
        if (!is_calm) settle();
        write();
        ++round;
      } while (is_calm && round % rounds_between_looks != 0);
    }
  }

 private:
  static constexpr std::uint32_t rounds_between_looks = 1u << 12;

  // Gives their next trial to the lanes of those trials that are over.
  template <class IsOver>
  CONCLAVE_HOST_DEVICE void take_trials(IsOver is_over) {
    Own<std::uint64_t> taken;
    warp_.each([&](int lane) {
      if (is_over(lane) && place_of(lane) == 0) taken[lane] = warp_.take_one(batch_.next_trial);
    });
    taken = warp_.from_first(taken);
    warp_.each([&](int lane) {
      if (!is_over(lane)) return;
      is_busy_[lane] = taken[lane] < batch_.trials;
      pending_[lane] = 0;
      if (is_busy_[lane]) begin(lane, taken[lane]);
    });
    warp_.sync();
  }

  // The first lane draws the start, in the order in which `agents` does.
  CONCLAVE_HOST_DEVICE void begin(int lane, std::uint64_t trial) {
    trial_[lane] = trial;
    done_[lane] = 0;
    converged_at_[lane] = 0;
    is_holding_[lane] = is_over_[lane] = false;
    TrialStreams& streams = batch_.streams[trial];
    generator_[lane] = LaneGenerator::of(streams.schedule, place_of(lane));
    if (place_of(lane) != 0) return;
    LaneStream choice(streams.start[0].data(), &streams.next_start);
    Tally tally(*batch_.protocol);
    for (std::uint32_t agent = 0; agent < batch_.n; ++agent) {
      const State state = protocol_.initial(batch_.start, agent, choice);
      place_[lane].agents[agent] = Storage::pack(protocol_, state);
      tally.add(state);
    }
    *place_[lane].tally = tally;
  }

  // Eight words of the schedule for trials without pending meetings; those that would bias the pair
  // are dropped, as base/detail/lanes.cpp does.
  CONCLAVE_HOST_DEVICE void draw() {
    Own<bool> is_fair;
    warp_.each([&](int lane) {
      is_fair[lane] = false;
      if (!is_busy_[lane] || pending_[lane] != 0) return;
      const std::uint64_t word = generator_[lane].next();
      const std::uint64_t first = (word >> 32) * batch_.n;
      const std::uint64_t second = (word & 0xffffffffu) * batch_.n;
      initiator_[lane] = static_cast<std::uint32_t>(first >> 32);
      responder_[lane] = static_cast<std::uint32_t>(second >> 32);
      is_fair[lane] = initiator_[lane] != responder_[lane] &&
                      static_cast<std::uint32_t>(first) >= biased_ &&
                      static_cast<std::uint32_t>(second) >= biased_;
    });
    const auto fair = warp_.ballot([&](int lane) { return is_fair[lane]; });
    warp_.each([&](int lane) {
      if (is_busy_[lane] && pending_[lane] == 0) pending_[lane] = fair[lane];
    });
  }

  // The longest prefix of the pending meetings without a common agent, within the limit.
  CONCLAVE_HOST_DEVICE void find_runnable() {
    Own<std::uint32_t> sharers;  // lanes below whose meeting shares an agent
    warp_.each([&](int lane) { sharers[lane] = 0; });
    if (batch_.n <= 1u << 16) {
      find_sharers_in_halves(sharers);
    } else {
      find_sharers(sharers);
    }
    const auto blocked = warp_.ballot([&](int lane) {
      return (pending_[lane] >> place_of(lane) & 1u) != 0 && (sharers[lane] & pending_[lane]) != 0;
    });
    warp_.each([&](int lane) {
      const std::uint32_t before_first = (blocked[lane] & (0 - blocked[lane])) - 1;  // all if none
      running_[lane] = within_limit(lane, pending_[lane] & before_first);
    });
  }

  CONCLAVE_HOST_DEVICE void find_sharers(Own<std::uint32_t>& sharers) {
    for (int distance = 1; distance < lanes_per_trial; ++distance) {
      const auto u = warp_.from_below(initiator_, distance);
      const auto v = warp_.from_below(responder_, distance);
      warp_.each([&](int lane) {
        const bool shares = u[lane] == initiator_[lane] || u[lane] == responder_[lane] ||
                            v[lane] == initiator_[lane] || v[lane] == responder_[lane];
        if (shares && place_of(lane) >= distance)
          sharers[lane] |= 1u << (place_of(lane) - distance);
      });
    }
  }

  // The same with both agents in one word, and so half as many exchanges: they share an agent if
  // half of one word is a half of the other.
  CONCLAVE_HOST_DEVICE void find_sharers_in_halves(Own<std::uint32_t>& sharers) {
    Own<std::uint32_t> both;
    warp_.each([&](int lane) { both[lane] = initiator_[lane] << 16 | responder_[lane]; });
    for (int distance = 1; distance < lanes_per_trial; ++distance) {
      const auto other = warp_.from_below(both, distance);
      warp_.each([&](int lane) {
        const std::uint32_t straight = other[lane] ^ both[lane];
        const std::uint32_t crossed = other[lane] ^ (both[lane] << 16 | both[lane] >> 16);
        const bool shares = straight >> 16 == 0 || (straight & 0xffffu) == 0 ||
                            crossed >> 16 == 0 || (crossed & 0xffffu) == 0;
        if (shares && place_of(lane) >= distance)
          sharers[lane] |= 1u << (place_of(lane) - distance);
      });
    }
  }

  CONCLAVE_HOST_DEVICE std::uint32_t within_limit(int lane, std::uint32_t lanes) const {
    const std::uint64_t left = batch_.limit - done_[lane];
    if (left >= lanes_per_trial) return lanes;
    std::uint32_t kept = 0;
    for (std::uint64_t i = 0; i < left; ++i) {
      kept |= lanes & (0 - lanes);
      lanes &= lanes - 1;
    }
    return kept;
  }

  CONCLAVE_HOST_DEVICE bool is_running(int lane) const {
    return (running_[lane] >> place_of(lane) & 1u) != 0;
  }

  // Computes the new states, and which meetings must be settled in their turn; says whether there
  // is nothing to look into. The protocol's branch-free shortcut applies only where the tally need
  // not hear of it.
  CONCLAVE_HOST_DEVICE bool meet() {
    warp_.each([&](int lane) {
      is_asking_[lane] = is_heard_[lane] = false;
      if (!is_running(lane)) return;
      old_u_[lane] = place_[lane].agents[initiator_[lane]];
      old_v_[lane] = place_[lane].agents[responder_[lane]];
      if constexpr (HasShortcut<P>) {
        const auto next = protocol_.shortcut(old_u_[lane], old_v_[lane]);
        if (next.applies != 0 && next.leaders_lost == 0) {
          new_u_[lane] = next.u;
          new_v_[lane] = next.v;
          return;
        }
      }
      NoticedChoice choice;
      interact(lane, choice);
      is_asking_[lane] = choice.is_asked;
    });
    bool is_any = false;
    waiting_ = warp_.ballot([&](int lane) { return is_asking_[lane] || is_heard_[lane]; }, is_any);
    return !is_any && !warp_.any([&](int lane) { return is_near_limit(lane); });
  }

  CONCLAVE_HOST_DEVICE bool is_near_limit(int lane) const {
    return is_busy_[lane] && batch_.limit - done_[lane] <= lanes_per_trial;
  }

  template <class C>
  CONCLAVE_HOST_DEVICE void interact(int lane, C& choice) {
    const State u = Storage::unpack(protocol_, old_u_[lane]);
    const State v = Storage::unpack(protocol_, old_v_[lane]);
    State new_u = u;
    State new_v = v;
    protocol_.interact(new_u, new_v, choice);
    new_u_[lane] = Storage::pack(protocol_, new_u);
    new_v_[lane] = Storage::pack(protocol_, new_v);
    is_heard_[lane] = must_hear(*place_[lane].tally, u, v, new_u, new_v);
  }

  CONCLAVE_HOST_DEVICE static bool must_hear(const Tally& tally, const State& u, const State& v,
                                             const State& new_u, const State& new_v) {
    if constexpr (HasMilestones<Tally, P>) {
      if (tally.milestone_of(new_u, new_v) > tally.milestone()) return true;
    }
    return tally.is_counted(u, v, new_u, new_v);
  }

  // One after the other, in their order: draws random numbers, tells the tally, and keeps whatever
  // comes after the end of a trial from being executed.
  CONCLAVE_HOST_DEVICE void settle() {
    while (warp_.any([&](int lane) { return waiting_[lane] != 0; })) {
      const auto ends = warp_.ballot([&](int lane) {
        const bool is_first = (waiting_[lane] & (0 - waiting_[lane])) == 1u << place_of(lane);
        return is_first && settle_one(lane);
      });
      warp_.sync();
      warp_.each([&](int lane) {
        waiting_[lane] &= waiting_[lane] - 1;
        if (ends[lane] == 0) return;
        is_over_[lane] = true;
        running_[lane] &= (ends[lane] << 1) - 1;
        waiting_[lane] = 0;
      });
    }
  }

  // Whether this meeting ends the trial.
  CONCLAVE_HOST_DEVICE bool settle_one(int lane) {
    if (is_asking_[lane]) {
      TrialStreams& streams = batch_.streams[trial_[lane]];
      LaneStream choice(streams.transition[0].data(), &streams.next_transition);
      interact(lane, choice);
      if (!is_heard_[lane]) return false;
    }
    Tally& tally = *place_[lane].tally;
    tally.replace(
        Storage::unpack(protocol_, old_u_[lane]), Storage::unpack(protocol_, old_v_[lane]),
        Storage::unpack(protocol_, new_u_[lane]), Storage::unpack(protocol_, new_v_[lane]));
    return is_at_end(lane, tally);
  }

  CONCLAVE_HOST_DEVICE bool is_at_end(int lane, const Tally& tally) const {
    if constexpr (MeasuresHolding<P>) {
      if (is_holding_[lane]) return tally.violated();
    }
    return tally.converged() || tally.hopeless();
  }

  CONCLAVE_HOST_DEVICE void write() {
    warp_.each([&](int lane) {
      if (is_running(lane)) {
        place_[lane].agents[initiator_[lane]] = new_u_[lane];
        place_[lane].agents[responder_[lane]] = new_v_[lane];
      }
      done_[lane] += static_cast<std::uint64_t>(std::popcount(running_[lane]));
      pending_[lane] &= ~running_[lane];
    });
    warp_.sync();
  }

  // Trials that are over, at their limit or stopped are noted, and others take their place, as long
  // as there are any; false if the warp has nothing left to do. A trial that has converged goes on
  // where its protocol measures how long that holds.
  CONCLAVE_HOST_DEVICE bool end_trials(std::uint32_t round) {
    const bool is_stopped =
        round % rounds_between_looks == 0 && warp_.any([&](int) { return *batch_.is_stopped; });
    Own<bool> ends;
    for (;;) {  // a trial may be over at its start
      warp_.each([&](int lane) { ends[lane] = is_busy_[lane] && (is_stopped || has_ended(lane)); });
      if (!warp_.any([&](int lane) { return ends[lane]; })) break;
      if constexpr (MeasuresHolding<P>) {
        if (protocol_.measures_holding()) hold(ends, is_stopped);
      }
      warp_.each([&](int lane) {
        if (ends[lane] && place_of(lane) == 0) note(lane, is_stopped);
      });
      warp_.sync();
      if (is_stopped) return false;
      take_trials([&](int lane) { return ends[lane]; });
    }
    return warp_.any([&](int lane) { return is_busy_[lane]; });
  }

  CONCLAVE_HOST_DEVICE bool has_ended(int lane) const {
    return is_over_[lane] || done_[lane] >= batch_.limit ||
           (done_[lane] == 0 && is_at_end(lane, *place_[lane].tally));
  }

  // Of the trials that would end, those that have just converged begin to hold.
  CONCLAVE_HOST_DEVICE void hold(Own<bool>& ends, bool is_stopped) {
    Own<bool> begins;
    warp_.each([&](int lane) {
      begins[lane] = ends[lane] && !is_holding_[lane] && place_[lane].tally->converged();
    });
    warp_.sync();
    warp_.each([&](int lane) {
      if (!begins[lane]) return;
      is_holding_[lane] = true;
      is_over_[lane] = false;
      converged_at_[lane] = done_[lane];
      ends[lane] = done_[lane] >= batch_.limit || is_stopped;
      if (place_of(lane) != 0) return;
      batch_.finished[trial_[lane]].tally = *place_[lane].tally;
      place_[lane].tally->hold();
    });
    warp_.sync();
  }

  CONCLAVE_HOST_DEVICE void note(int lane, bool is_stopped) {
    const Tally& tally = *place_[lane].tally;
    Finished<P>& result = batch_.finished[trial_[lane]];
    const bool has_converged = is_holding_[lane] || tally.converged();
    result.interactions = is_holding_[lane] ? converged_at_[lane] : done_[lane];
    result.held = done_[lane] - converged_at_[lane];
    result.is_violated = false;
    if constexpr (MeasuresHolding<P>) result.is_violated = is_holding_[lane] && tally.violated();
    if (!is_holding_[lane]) result.tally = tally;
    result.ending = has_converged ? Ending::converged : Ending::limit;
    if (!has_converged && tally.hopeless()) result.ending = Ending::hopeless;
    const bool is_complete = is_over_[lane] || done_[lane] >= batch_.limit;
    if (is_stopped && !is_complete) result.ending = Ending::interrupted;
  }

  Batch<P> batch_;
  P protocol_;  // a copy, which the compiler can keep in registers
  Warp warp_;
  std::uint32_t biased_;  // words whose product is below it would bias the pair
  Own<Place<P>> place_;
  Own<LaneGenerator> generator_;
  Own<std::uint64_t> trial_;
  Own<std::uint64_t> done_;  // interactions
  Own<std::uint64_t> converged_at_;
  Own<bool> is_busy_;
  Own<bool> is_holding_;
  Own<bool> is_over_;
  Own<std::uint32_t> pending_;  // lanes whose meetings are still to be executed
  Own<std::uint32_t> running_;  // those to be executed in this round
  Own<std::uint32_t> initiator_;
  Own<std::uint32_t> responder_;
  Own<Packed> old_u_;
  Own<Packed> old_v_;
  Own<Packed> new_u_;
  Own<Packed> new_v_;
  Own<bool> is_asking_;         // for a random number
  Own<bool> is_heard_;          // by the tally
  Own<std::uint32_t> waiting_;  // lanes whose meetings are to be settled
};

}  // namespace conclave::gpu
