// Many small trials on a device: the trials of the agents engine, bit for bit, on eight lanes of a
// warp each. The file is long because all steps of a round share the variables of the lanes.
//
// `agents` takes word k of its schedule from lane k mod 8 of the generator. Here lane j of a trial
// is that generator lane, so that the trial always has its next eight interactions, one in each
// lane; the first of them is in lane `head`, and the others follow around the circle. In a round
// all eight are computed. If no two of them share an agent they do not see each other, and doing
// them at once is doing them in order. Otherwise those before the first that shares an agent with
// an earlier one are done, and the rest waits for the next round beside the words that the lanes
// of the others draw.
//
//     lane    0    1    2    3    4    5    6    7
//     pair   3,9  4,7  1,2  9,5  8,6  0,3  2,4  7,1     the first three are done,
//                            ^ shares agent 9           then 9,5 8,6 0,3 2,4 and two new ones
//
// Votes and exchanges between lanes are what a round waits for most. So a round has a single vote:
// does any lane of the warp share an agent with another, or is there an interaction that the tally
// must be notified of, that draws a random number, or that the protocol's shortcut leaves to its
// general function? Only then does a round with care find out which these are, and settles them in
// their order; the one that ends a trial is the last that is executed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conclave/base/choice.hpp"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/warp.hpp"
#include "conclave/model/brief_words.hpp"
#include "conclave/model/population.hpp"

namespace conclave::gpu {

// The streams of one trial besides its schedule, whose generators the lanes keep.
struct TrialStreams {
  Lanes::State start;
  Lanes::State transition;
  std::uint32_t next_start;
  std::uint32_t next_transition;
};

// The place of one trial at a time: its agents, and where all its lanes reach them its tally and
// streams.
template <DeviceProtocol P>
struct Place {
  typename Stored<P>::type* agents;
  DeviceTallyFor<P>* tally;
  TrialStreams* streams;
  std::uint64_t* words;  // of the tally
};

// Where the agents are stored: in the shared memory of a multiprocessor (trials of fewer than 2^16
// agents) or in the memory of the device.
enum class Memory : std::uint8_t { near, far };

template <DeviceProtocol P, class Warp, Memory memory>
class TrialLoop {
  using State = typename P::State;
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Tally = DeviceTallyFor<P>;
  template <class T>
  using Own = typename Warp::template Own<T>;

 public:
  // `place(lane)` is the Place of the lane's trial, the same for its eight lanes.
  template <class PlaceOf>
  CONCLAVE_HOST_DEVICE TrialLoop(const Batch<P>& batch, Warp warp, PlaceOf place)
      : batch_(batch),
        protocol_(*batch.protocol),
        warp_(warp),
        biased_(static_cast<decltype(biased_)>(is_ring ? (0 - std::uint64_t{batch.n}) % batch.n
                                                       : (1ull << 32) % batch.n)) {
    warp_.each([&](int lane) { place_[lane] = place(lane); });
  }

  // Runs trials until none is left.
  CONCLAVE_HOST_DEVICE void run() {
    take_trials([](int) { return true; });
    while (end_trials()) {
      std::uint32_t rounds = rounds_within_limits();
      if (rounds == 0) {
        round<true>();
      } else {
        while (!round<false>() && --rounds != 0) {
        }
      }
      gather();
    }
  }

 private:
  static constexpr std::uint32_t rounds_between_checks = 1u << 12;
  static constexpr bool is_ring = topology_of<P> == Topology::directed_ring;

  // Gives their next trial to the lanes of those trials that are over.
  template <class IsOver>
  CONCLAVE_HOST_DEVICE void take_trials(IsOver is_over) {
    Own<std::uint64_t> taken;
    warp_.each([&](int lane) {
      if (is_over(lane) && place_of(lane) == 0) taken[lane] = warp_.take_one(batch_.next_trial);
    });
    taken = warp_.from_first(taken);
    Own<bool> begins;
    warp_.each([&](int lane) {
      begins[lane] = is_over(lane) && taken[lane] < batch_.trials;
      if (is_over(lane)) reset(lane, taken[lane]);
    });
    warp_.sync();
    warp_.each([&](int lane) {
      if (!is_over(lane) || place_of(lane) != 0) return;
      if (begins[lane]) {
        draw_start(lane);
      } else {
        stay_idle(lane);
      }
    });
    warp_.sync();
  }

  // A lane without a trial draws interactions of agent 0 with itself, which do not count.
  CONCLAVE_HOST_DEVICE void reset(int lane, std::uint64_t trial) {
    const int place = place_of(lane);
    is_busy_[lane] = trial < batch_.trials;
    n_[lane] = is_busy_[lane] ? batch_.n : 0;
    trial_[lane] = trial;
    head_[lane] = 0;
    done_[lane] = converged_at_[lane] = 0;
    lately_[lane] = 0;
    is_holding_[lane] = is_over_[lane] = false;
    const LaneNames names{batch_.seed, batch_.first_trial + trial, place};
    generator_[lane] = names.generator(Purpose::schedule);
    look_ahead(lane);
    go_on(lane);
    if (!is_busy_[lane]) return;
    TrialStreams& streams = *place_[lane].streams;
    names.generator(Purpose::start).save(streams.start, place);
    names.generator(Purpose::transition).save(streams.transition, place);
    if (place == 0) streams.next_start = streams.next_transition = 0;
  }

  // Lanes without a trial go through the motions of a interaction. Nothing becomes of it, but what
  // they look at must be a state and a tally: a table of transitions has no room for garbage.
  CONCLAVE_HOST_DEVICE void stay_idle(int lane) {
    place_[lane].agents[0] = Storage::pack(protocol_, State{});
    *place_[lane].tally = DeviceTally<P>::make(*batch_.protocol, batch_.n, place_[lane].words);
  }

  // The first lane draws the start, in the order in which `agents` does.
  CONCLAVE_HOST_DEVICE void draw_start(int lane) {
    TrialStreams& streams = *place_[lane].streams;
    LaneStream choice(streams.start[0].data(), &streams.next_start);
    const std::size_t words = DeviceTally<P>::words(protocol_, batch_.n);
    for (std::size_t i = 0; i < words; ++i) place_[lane].words[i] = 0;
    Tally tally = DeviceTally<P>::make(*batch_.protocol, batch_.n, place_[lane].words);
    for (std::uint32_t agent = 0; agent < batch_.n; ++agent) {
      const State state = protocol_.initial(batch_.start, agent, choice);
      place_[lane].agents[agent] = Storage::pack(protocol_, state);
      tally.add(state);
    }
    if constexpr (is_positional<P>) tally.end_start(view_of(lane, 0));
    *place_[lane].tally = tally;
  }

  // Works out the interaction of a lane after the present one, so early in a round that this costs
  // nothing beside the waits for memory; `go_on` makes it the present one.
  CONCLAVE_HOST_DEVICE void look_ahead(int lane) {
    next_generator_[lane] = generator_[lane];
    const std::uint64_t word = next_generator_[lane].next();
    if constexpr (is_ring) return look_at_arc(lane, word);
    const auto pair = DrawnPair::of(word, n_[lane], static_cast<std::uint32_t>(biased_));
    next_initiator_[lane] = pair.initiator;
    next_responder_[lane] = pair.responder;
    is_next_fair_[lane] = pair.is_fair;
  }

  // On the ring, the arc of number floor(word n / 2^64).
  CONCLAVE_HOST_DEVICE void look_at_arc(int lane, std::uint64_t word) {
    const std::uint64_t low = (word & 0xffffffffu) * n_[lane];
    const std::uint64_t middle = (word >> 32) * n_[lane] + (low >> 32);
    const auto arc = static_cast<std::uint32_t>(middle >> 32);
    next_initiator_[lane] = arc;
    next_responder_[lane] = arc + 1 == n_[lane] ? 0 : arc + 1;
    is_next_fair_[lane] = n_[lane] != 0 && (middle << 32 | (low & 0xffffffffu)) >= biased_;
  }

  CONCLAVE_HOST_DEVICE void go_on(int lane) {
    generator_[lane] = next_generator_[lane];
    initiator_[lane] = next_initiator_[lane];
    responder_[lane] = next_responder_[lane];
    is_fair_[lane] = is_next_fair_[lane];
  }

  // How many rounds can be run without passing the limit of any trial.
  CONCLAVE_HOST_DEVICE std::uint32_t rounds_within_limits() {
    std::uint32_t rounds = rounds_between_checks;
    while (rounds != 0 && warp_.any([&](int lane) {
      return is_busy_[lane] && batch_.limit - done_[lane] < std::uint64_t{rounds} * lanes_per_trial;
    })) {
      rounds /= 2;
    }
    return rounds;
  }

  // Adds up the interactions that the lanes have done since the last time.
  CONCLAVE_HOST_DEVICE void gather() {
    const auto sum = warp_.sum(lately_);
    warp_.each([&](int lane) {
      done_[lane] += sum[lane];
      lately_[lane] = 0;
    });
  }

  // Returns whether a trial of the warp has ended.
  template <bool is_near_limit>
  CONCLAVE_HOST_DEVICE bool round() {
    warp_.each([&](int lane) {
      old_u_[lane] = place_[lane].agents[initiator_[lane]];
      old_v_[lane] = place_[lane].agents[responder_[lane]];
      look_ahead(lane);
    });
    const Own<bool> shares = sharing();
    warp_.each([&](int lane) { is_rare_[lane] = !compute(lane); });
    const bool needs_care =
        warp_.any([&](int lane) { return (is_rare_[lane] && is_fair_[lane]) || shares[lane]; });
    if (is_near_limit || needs_care) return round_with_care<is_near_limit>();
    warp_.each([&](int lane) {
      if (is_fair_[lane]) write(lane);
      go_on(lane);
    });
    warp_.sync();
    return false;
  }

  CONCLAVE_HOST_DEVICE void write(int lane) {
    place_[lane].agents[initiator_[lane]] = new_u_[lane];
    place_[lane].agents[responder_[lane]] = new_v_[lane];
    ++lately_[lane];
  }

  // Which lanes share an agent with one of the four before them around the circle; if no lane does,
  // no two do. Agents of a small population are compared two at a time: two interactions share an
  // agent if half of one word is a half of the other.
  CONCLAVE_HOST_DEVICE Own<bool> sharing() const {
    Own<bool> shares;
    if (memory == Memory::near || batch_.n <= 1u << 16) {
      Own<std::uint32_t> both;
      Own<std::uint32_t> equal_halves;
      warp_.each([&](int lane) {
        both[lane] = initiator_[lane] << 16 | responder_[lane];
        equal_halves[lane] = 0;
      });
      for (int distance = 1; distance <= lanes_per_trial / 2; ++distance) {
        const auto other = warp_.from_around(both, distance);
        warp_.each([&](int lane) { equal_halves[lane] |= halves_of(other[lane], both[lane]); });
      }
      warp_.each([&](int lane) { shares[lane] = (equal_halves[lane] & 0x80008000u) != 0; });
    } else {
      warp_.each([&](int lane) { shares[lane] = false; });
      for (int distance = 1; distance <= lanes_per_trial / 2; ++distance) {
        const auto here = sharing_at(distance);
        warp_.each([&](int lane) { shares[lane] = shares[lane] || here[lane]; });
      }
    }
    return shares;
  }

  // The highest bit of a half is set if some half of a is a half of b (Mycroft's test for zeros),
  // other bits mean nothing.
  CONCLAVE_HOST_DEVICE static std::uint32_t halves_of(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t straight = a ^ b;
    const std::uint32_t crossed = a ^ (b << 16 | b >> 16);
    return ((straight - 0x00010001u) & ~straight) | ((crossed - 0x00010001u) & ~crossed);
  }

  // Which lanes share an agent with the one at this distance before them around the circle.
  CONCLAVE_HOST_DEVICE Own<bool> sharing_at(int distance) const {
    const auto u = warp_.from_around(initiator_, distance);
    const auto v = warp_.from_around(responder_, distance);
    Own<bool> shares;
    warp_.each([&](int lane) {
      shares[lane] = u[lane] == initiator_[lane] || u[lane] == responder_[lane] ||
                     v[lane] == initiator_[lane] || v[lane] == responder_[lane];
    });
    return shares;
  }

  // Computes the new states; false if there is more to it. The protocol's branch-free shortcut
  // applies only where the tally need not be notified.
  CONCLAVE_HOST_DEVICE bool compute(int lane) {
    if constexpr (HasShortcut<P>) {
      const auto next = protocol_.shortcut(old_u_[lane], old_v_[lane]);
      new_u_[lane] = next.u;
      new_v_[lane] = next.v;
      return next.applies != 0;
    } else if constexpr (HasNullTest<P>) {
      new_u_[lane] = old_u_[lane];
      new_v_[lane] = old_v_[lane];
      return protocol_.may_change(old_u_[lane], old_v_[lane]) == 0;
    } else {
      return interact_in_general(lane);
    }
  }

  CONCLAVE_HOST_DEVICE bool interact_in_general(int lane) {
    NoticedChoice choice;
    interact(lane, choice);
    is_asking_[lane] = choice.is_asked;
    return !choice.is_asked && !is_notified_[lane];
  }

  // Lanes of a trial by the order of their interactions: bit i is that of lane head + i.
  CONCLAVE_HOST_DEVICE std::uint32_t in_order(std::uint32_t lanes, int lane) const {
    return ((lanes << lanes_per_trial | lanes) >> head_[lane]) & all_lanes;
  }
  CONCLAVE_HOST_DEVICE std::uint32_t order_bit(int lane) const {
    return 1u << ((static_cast<std::uint32_t>(place_of(lane)) - head_[lane]) % lanes_per_trial);
  }
  CONCLAVE_HOST_DEVICE bool is_running(int lane) const {
    return (running_[lane] & order_bit(lane)) != 0;
  }

  // The round in which lanes share agents or some interaction is rare; the new states that the
  // shortcut gives are there.
  template <bool is_near_limit>
  CONCLAVE_HOST_DEVICE bool round_with_care() {
    if constexpr (is_positional<P>) gather();  // the tally needs the time
    find_runnable<is_near_limit>();
    Own<bool> waits;
    warp_.each([&](int lane) {
      waits[lane] = false;
      if (!is_running(lane) || !is_rare_[lane]) return;
      waits[lane] = !(HasShortcut<P> || HasNullTest<P>) || !interact_in_general(lane);
    });
    waiting_ = warp_.ballot([&](int lane) { return waits[lane]; });
    warp_.each([&](int lane) { waiting_[lane] = in_order(waiting_[lane], lane); });
    settle();
    warp_.each([&](int lane) {
      if (is_running(lane)) write(lane);
      if ((passed_[lane] & order_bit(lane)) != 0) go_on(lane);
    });
    warp_.each([&](int lane) {
      head_[lane] = (head_[lane] + static_cast<std::uint32_t>(std::popcount(passed_[lane]))) %
                    lanes_per_trial;
    });
    warp_.sync();
    return warp_.any([&](int lane) { return is_over_[lane]; });
  }

  // The longest prefix of the interactions without a common agent, and of those the ones that
  // count.
  template <bool is_near_limit>
  CONCLAVE_HOST_DEVICE void find_runnable() {
    Own<std::uint32_t> blocked;  // by an earlier interaction
    warp_.each([&](int lane) { blocked[lane] = 0; });
    for (int distance = 1; distance <= lanes_per_trial / 2; ++distance) {
      const auto here = sharing_at(distance);
      const auto sharers = warp_.ballot([&](int lane) { return here[lane]; });
      warp_.each([&](int lane) {
        const std::uint32_t ordered = in_order(sharers[lane], lane);
        const std::uint32_t around = ordered & ((1u << distance) - 1);  // the other is the later
        blocked[lane] |= (ordered ^ around) | around << (lanes_per_trial - distance);
      });
    }
    const auto fair = warp_.ballot([&](int lane) { return is_fair_[lane]; });
    warp_.each([&](int lane) {
      passed_[lane] = ((blocked[lane] & (0 - blocked[lane])) - 1) & all_lanes;  // all if none
      running_[lane] = passed_[lane] & in_order(fair[lane], lane);
      if (is_near_limit) running_[lane] = within_limit(lane, running_[lane]);
    });
  }

  CONCLAVE_HOST_DEVICE std::uint32_t within_limit(int lane, std::uint32_t interactions) const {
    const std::uint64_t left = batch_.limit - done_[lane];
    if (left >= lanes_per_trial) return interactions;
    std::uint32_t kept = 0;
    for (std::uint64_t i = 0; i < left; ++i) {
      kept |= interactions & (0 - interactions);
      interactions &= interactions - 1;
    }
    return kept;
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
    if constexpr (is_positional<P>) {
      is_notified_[lane] = !(u == new_u && v == new_v);
    } else {
      is_notified_[lane] = must_notify<P>(*place_[lane].tally, u, v, new_u, new_v);
    }
  }

  // One after the other, in their order: draws random numbers, notifies the tally, and keeps
  // whatever comes after the end of a trial from being executed.
  CONCLAVE_HOST_DEVICE void settle() {
    while (warp_.any([&](int lane) { return waiting_[lane] != 0; })) {
      const auto ends = warp_.ballot([&](int lane) {
        const bool is_first = (waiting_[lane] & (0 - waiting_[lane])) == order_bit(lane);
        return is_first && settle_one(lane);
      });
      warp_.sync();
      warp_.each([&](int lane) {
        waiting_[lane] &= waiting_[lane] - 1;
        if (ends[lane] == 0) return;
        is_over_[lane] = true;
        const std::uint32_t up_to_the_end = (in_order(ends[lane], lane) << 1) - 1;
        running_[lane] &= up_to_the_end;
        passed_[lane] &= up_to_the_end;
        waiting_[lane] = 0;
      });
    }
  }

  // Whether this interaction ends the trial.
  CONCLAVE_HOST_DEVICE bool settle_one(int lane) {
    if (is_asking_[lane]) {
      TrialStreams& streams = *place_[lane].streams;
      LaneStream choice(streams.transition[0].data(), &streams.next_transition);
      interact(lane, choice);
      if (!is_notified_[lane]) return false;
    }
    Tally& tally = *place_[lane].tally;
    const State u = Storage::unpack(protocol_, old_u_[lane]);
    const State v = Storage::unpack(protocol_, old_v_[lane]);
    const State new_u = Storage::unpack(protocol_, new_u_[lane]);
    const State new_v = Storage::unpack(protocol_, new_v_[lane]);
    if constexpr (is_positional<P>) {  // which looks at other agents, too
      place_[lane].agents[initiator_[lane]] = new_u_[lane];
      place_[lane].agents[responder_[lane]] = new_v_[lane];
      tally.replace_at(initiator_[lane], responder_[lane], u, v, new_u, new_v,
                       view_of(lane, number_of(lane)));
    } else {
      tally.replace(u, v, new_u, new_v);
    }
    return is_at_end<P>(tally, is_holding_[lane]);
  }

  // The configuration as a tally sees it after this many interactions.
  struct View {
    const TrialLoop* loop;
    int lane;
    std::uint64_t time;
    CONCLAVE_HOST_DEVICE State operator()(AgentCount agent) const {
      return Storage::unpack(loop->protocol_, loop->place_[lane].agents[agent]);
    }
    CONCLAVE_HOST_DEVICE Interactions now() const { return Interactions(time); }
  };
  CONCLAVE_HOST_DEVICE View view_of(int lane, std::uint64_t time) const {
    return {this, lane, time};
  }
  // The number of the lane's interaction among those of the trial, counted from 1.
  CONCLAVE_HOST_DEVICE std::uint64_t number_of(int lane) const {
    const std::uint32_t before = running_[lane] & (order_bit(lane) - 1);
    return done_[lane] + static_cast<std::uint64_t>(std::popcount(before)) + 1;
  }

  // Trials that are over, at their limit or stopped are noted, and others take their place, as long
  // as there are any; false if the warp has nothing left to do. A trial that has converged goes on
  // where its protocol measures how long that holds.
  CONCLAVE_HOST_DEVICE bool end_trials() {
    const bool is_stopped = warp_.any([&](int) { return *batch_.is_stopped; });
    Own<bool> ends;
    for (;;) {  // a trial may be over at its start
      warp_.each([&](int lane) { ends[lane] = is_busy_[lane] && (is_stopped || has_ended(lane)); });
      if (!warp_.any([&](int lane) { return ends[lane]; })) break;
      if constexpr (MeasuresHolding<P>) {
        if (protocol_.measures_holding()) hold(ends, is_stopped);
      }
      warp_.each([&](int lane) {
        if (ends[lane] && place_of(lane) == 0) note(lane);
      });
      warp_.sync();
      if (is_stopped) return false;
      take_trials([&](int lane) { return ends[lane]; });
    }
    return warp_.any([&](int lane) { return is_busy_[lane]; });
  }

  CONCLAVE_HOST_DEVICE bool has_ended(int lane) const {
    return is_over_[lane] || done_[lane] >= batch_.limit ||
           (done_[lane] == 0 && is_at_end<P>(*place_[lane].tally, is_holding_[lane]));
  }

  // Trials that would end because they have just converged begin to hold.
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

  CONCLAVE_HOST_DEVICE void note(int lane) {
    Finished<P>& result = batch_.finished[trial_[lane]];
    write_result<P>(result, *place_[lane].tally,
                    {done_[lane], converged_at_[lane], is_holding_[lane]}, batch_.limit);
    warp_.publish(&result.is_complete);
  }

  Batch<P> batch_;
  P protocol_;  // a copy, which the compiler can keep in registers
  Warp warp_;
  // Words whose product is below it would bias the pair or arc.
  std::conditional_t<is_ring, std::uint64_t, std::uint32_t> biased_;
  Own<Place<P>> place_;
  Own<LaneGenerator> generator_;
  Own<std::uint64_t> trial_;
  Own<std::uint64_t> done_;    // interactions of the trial
  Own<std::uint32_t> lately_;  // those of this lane that are not among them yet
  Own<std::uint64_t> converged_at_;
  Own<std::uint32_t> n_;  // 0 without a trial
  Own<bool> is_busy_;
  Own<bool> is_holding_;
  Own<bool> is_over_;
  Own<std::uint32_t> initiator_;
  Own<std::uint32_t> responder_;
  Own<bool> is_fair_;  // the interaction counts
  Own<LaneGenerator> next_generator_;
  Own<std::uint32_t> next_initiator_;
  Own<std::uint32_t> next_responder_;
  Own<bool> is_next_fair_;
  Own<Packed> old_u_;
  Own<Packed> old_v_;
  Own<Packed> new_u_;
  Own<Packed> new_v_;
  Own<bool> is_rare_;        // more is to be done than to write the new states
  Own<bool> is_asking_;      // for a random number
  Own<bool> is_notified_;    // by the tally
  Own<std::uint32_t> head_;  // the lane of the first interaction
  // By the order of their interactions:
  Own<std::uint32_t> passed_;   // those of which no other shares an agent with an earlier one
  Own<std::uint32_t> running_;  // of these, those to be executed in this round
  Own<std::uint32_t> waiting_;  // of these, those to be settled
};

}  // namespace conclave::gpu
