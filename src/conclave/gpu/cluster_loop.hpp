// The trials of very large populations on a device: a cluster of blocks runs one trial, bit for bit
// that of the agents engine. Few trials are enough to fill the device, so that their agents lie in
// its second cache, and each of them is many times as fast as on eight lanes or on one block.
//
// The schedule is prepared ahead (schedule_ahead.hpp), in stretches whose meetings lie in layers.
// All blocks together execute the layers, one after the other, with a barrier after each:
//
//     block 0    |  a part of layer 0  |  a part of layer 1  | ...
//     block 1    |  a part of layer 0  |  a part of layer 1  | ...
//
// A block that has to wait for a stretch prepares stretches itself. As in block_loop.hpp, meetings
// beyond the one that ends the trial may be executed, which does no harm: the tally is notified in
// the order of the meetings, after each stretch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/gpu/course.hpp"
#include "conclave/gpu/layers.hpp"
#include "conclave/gpu/schedule_ahead.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// Populations whose agents have a place in a PlacedMeeting.
inline constexpr std::uint32_t most_agents_of_clusters = PlacedMeeting::agent_mask;

// A meeting that the tally must hear of.
template <class Packed>
struct ClusterEvent {
  Packed u, v;
  std::uint64_t number;  // first its position in the stretch, then its number in the trial
};

// Notes by which the blocks of a cluster know how the trial stands.
struct ClusterNotes {
  CourseState course;
  std::uint32_t events[2];      // how many, of stretches of even and of odd number
  std::uint64_t first_stretch;  // of the trial
};

// The memory of a cluster, all of which its blocks share.
template <BlockProtocol P, class Cluster>
struct ClusterPlace {
  using Packed = typename Stored<P>::type;
  using Crew = typename Cluster::Crew;
  Schedules<Crew> schedules;
  Packed* agents;
  DeviceTallyFor<P>* tally;
  ClusterNotes* notes;
  ClusterEvent<Packed>* events;  // of a stretch; unordered
  ClusterEvent<Packed>* ordered;
  typename ScheduleAhead<Crew>::Memory ahead;
  std::uint64_t* rooms;  // of its blocks

  // All but its agents, by `take(count, pointer)`, which sets the pointer to so many items, all of
  // them zero.
  static ClusterPlace taken(const Schedules<Crew>& schedules, auto&& take) {
    const Stretches<Crew> stretches = schedules.stretches;
    ClusterPlace place{};
    place.schedules = schedules;
    take(1, place.tally);
    take(1, place.notes);
    take(stretches.size(), place.events);
    take(stretches.size(), place.ordered);
    place.ahead = ScheduleAhead<Crew>::Memory::taken(stretches, take);
    take(Cluster::blocks * PreparerRoom::size(stretches), place.rooms);
    return place;
  }
};

template <BlockProtocol P, class Cluster>
class ClusterLoop {
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Crew = typename Cluster::Crew;
  using Event = ClusterEvent<Packed>;
  using Place = ClusterPlace<P, Cluster>;
  using Ahead = ScheduleAhead<Crew>;

 public:
  // The place and batch.protocol stay where they are, which should be near: registers are scarce.
  CONCLAVE_HOST_DEVICE ClusterLoop(const Batch<P>& batch, Cluster& cluster, const Place& place)
      : batch_(batch),
        protocol_(*batch.protocol),
        cluster_(cluster),
        place_(place),
        agents_(place.agents) {}

  // Runs trials until none is left.
  CONCLAVE_HOST_DEVICE void run() {
    CourseState& state = place_.notes->course;
    for (;;) {
      cluster_.first([&] { state.trial = cluster_.take_one(batch_.next_trial); });
      cluster_.sync();
      const std::uint64_t trial = cluster_.load(&state.trial);
      if (trial >= batch_.trials) return;
      begin(trial);
      while (!is_over_) execute(number_++);
      cluster_.first([&] {
        ahead().close();
        Finished<P>& result = batch_.finished[trial];
        course().note(result);
        cluster_.publish(&result.is_complete);
      });
    }
  }

 private:
  static constexpr std::uint32_t all_threads = Cluster::blocks * Crew::threads;
  // Meetings of a thread: it waits for their agents together.
  static constexpr std::uint32_t at_once = 3;
  // Stretches after which it is known how far the trial is, and whether it shall stop.
  static constexpr std::uint64_t between_looks = 16;

  CONCLAVE_HOST_DEVICE static Ahead ahead_of(const Place& place) {
    return Ahead(place.ahead, place.schedules.stretches);
  }
  CONCLAVE_HOST_DEVICE Ahead ahead() const { return ahead_of(place_); }

  CONCLAVE_HOST_DEVICE Course<P> course() const {
    return {batch_, &place_.notes->course, place_.tally};
  }

  CONCLAVE_HOST_DEVICE void begin(std::uint64_t trial) {
    ClusterNotes& notes = *place_.notes;
    cluster_.first([&] {
      notes.first_stretch = ahead().open(batch_.first_trial + trial);
      notes.events[0] = notes.events[1] = 0;
      course().begin(place_.agents);
    });
    cluster_.sync();
    number_ = cluster_.load(&notes.first_stretch);
    done_ = 0;
    is_over_ = cluster_.load(&notes.course.is_over);
  }

  // --- executing ---

  // Compiled apart, so that it takes no registers from the layers: those that a thread keeps in
  // memory are far away after each barrier, which empties the first cache.
  CONCLAVE_HOST_DEVICE_APART static void await(Crew crew, std::uint32_t block,
                                               PreparerShared* shared, const Place& place,
                                               std::uint64_t stretch) {
    const auto room = PreparerRoom::of(place.rooms, place.schedules.stretches, block);
    Preparer<Crew>(crew, shared, place.schedules, room).await(ahead_of(place), stretch);
  }

  // The next layer's meetings are looked up while threads wait for each other, their agents after
  // that.
  CONCLAVE_HOST_DEVICE void execute(std::uint64_t stretch) {
    cluster_.each_block([&](Crew crew, std::uint32_t block, PreparerShared* shared) {
      await(crew, block, shared, place_, stretch);
    });
    const Ahead ahead = this->ahead();
    const std::uint64_t* const arranged = ahead.list(stretch);
    const std::uint32_t layers = cluster_.load(ahead.layers(stretch));
    const std::uint32_t drops = cluster_.load(ahead.drops(stretch));
    const std::uint32_t* const ends = ahead.ends(stretch);
    std::uint32_t begin = 0;
    std::uint32_t end = cluster_.load(&ends[1]);
    cluster_.each([&](std::uint32_t thread) { look_up(arranged, begin + thread, end, thread); });
    for (std::uint32_t layer = 1; layer <= layers; ++layer) {
      const std::uint32_t next_end = layer < layers ? cluster_.load(&ends[layer + 1]) : end;
      cluster_.each([&](std::uint32_t thread) {
        std::uint32_t first = begin + thread;
        meet(stretch, thread);
        for (first += at_once * all_threads; first < end; first += at_once * all_threads) {
          look_up(arranged, first, end, thread);
          meet(stretch, thread);
        }
      });
      cluster_.sync([&] {
        cluster_.each(
            [&](std::uint32_t thread) { look_up(arranged, end + thread, next_end, thread); });
      });
      begin = end;
      end = next_end;
    }
    settle(stretch, drops);
  }

  // Some meetings of one thread in a layer.
  struct Some {
    PlacedMeeting meetings[at_once];
  };
  CONCLAVE_HOST_DEVICE void look_up(const std::uint64_t* arranged, std::uint32_t first,
                                    std::uint32_t end, std::uint32_t thread) {
    for (std::uint32_t k = 0; k < at_once; ++k) {
      const std::uint32_t i = first + k * all_threads;
      next_[thread].meetings[k].word = i < end ? cluster_.load(&arranged[i]) : PlacedMeeting::none;
    }
  }

  CONCLAVE_HOST_DEVICE void meet(std::uint64_t stretch, std::uint32_t thread) {
    const Some some = next_[thread];
    Packed u[at_once];
    Packed v[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.meetings[k].word == PlacedMeeting::none) continue;
      u[k] = cluster_.load(&agents_[some.meetings[k].initiator()]);
      v[k] = cluster_.load(&agents_[some.meetings[k].responder()]);
    }
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.meetings[k].word == PlacedMeeting::none) continue;
      meet(stretch, some.meetings[k], u[k], v[k]);
    }
  }

  CONCLAVE_HOST_DEVICE void meet(std::uint64_t stretch, PlacedMeeting meeting, Packed u, Packed v) {
    auto next = protocol_.shortcut(u, v);
    if (next.applies == 0) {
      const Both both = meet_in_full(*batch_.protocol, place_, stretch, meeting, u, v);
      next.u = both.u;
      next.v = both.v;
    }
    cluster_.store(&agents_[meeting.initiator()], next.u);
    cluster_.store(&agents_[meeting.responder()], next.v);
  }

  struct Both {
    Packed u, v;
  };
  // The rest of the interactions; apart like `await`.
  CONCLAVE_HOST_DEVICE_APART static Both meet_in_full(const P& protocol, const Place& place,
                                                      std::uint64_t stretch, PlacedMeeting meeting,
                                                      Packed u, Packed v) {
    const auto full = Course<P>::meeting_of(protocol, u, v);
    if (place.tally->is_counted(full.u, full.v, full.new_u, full.new_v)) {
      const std::uint32_t event = Cluster::take_one(&place.notes->events[stretch % 2]);
      place.events[event] = {u, v, meeting.position()};
    }
    return {Storage::pack(protocol, full.new_u), Storage::pack(protocol, full.new_v)};
  }

  // --- after a stretch ---

  // A thread that is ahead may note events of the next stretch already: those are counted apart.
  CONCLAVE_HOST_DEVICE void settle(std::uint64_t stretch, std::uint32_t drops) {
    std::uint32_t* const events = &place_.notes->events[stretch % 2];
    const std::uint32_t count = cluster_.load(events);
    const std::uint64_t done = done_ + place_.schedules.stretches.size() - drops;
    const bool is_look = stretch % between_looks == 0;
    if (count != 0 || done >= batch_.limit || is_look) {
      order_events(stretch, count, drops);
      cluster_.sync();
      cluster_.first([&] {
        for (std::uint32_t i = 0; i < count; ++i) {
          const Event* const event = &place_.ordered[i];
          course().hear_of(cluster_.load(&event->u), cluster_.load(&event->v),
                           cluster_.load(&event->number));
        }
        course().reach(done, is_look && *batch_.is_stopped);
        *events = 0;
      });
      cluster_.sync();
      is_over_ = cluster_.load(&place_.notes->course.is_over);
    }
    cluster_.first([&] { ahead().leave(stretch); });
    done_ = done;
  }

  CONCLAVE_HOST_DEVICE void order_events(std::uint64_t stretch, std::uint32_t count,
                                         std::uint32_t drops) {
    const std::uint32_t* const dropped = ahead().dropped(stretch);
    cluster_.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < count; i += all_threads) {
        const std::uint64_t position = cluster_.load(&place_.events[i].number);
        std::uint32_t before = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
          before += cluster_.load(&place_.events[k].number) < position ? 1u : 0u;
        }
        std::uint64_t number = done_ + position + 1;
        for (std::uint32_t k = 0; k < drops; ++k) {
          number -= cluster_.load(&dropped[k]) < position ? 1u : 0u;
        }
        place_.ordered[before] = {cluster_.load(&place_.events[i].u),
                                  cluster_.load(&place_.events[i].v), number};
      }
    });
  }

  Batch<P> batch_;
  P protocol_;
  Cluster& cluster_;
  const Place& place_;
  Packed* agents_;
  std::uint64_t number_ = 0;  // of the next stretch
  std::uint64_t done_ = 0;    // interactions before it
  bool is_over_ = false;
  typename Cluster::template Own<Some> next_;
};

}  // namespace conclave::gpu
