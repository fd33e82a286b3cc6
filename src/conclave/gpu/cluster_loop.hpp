// Few large trials on a device: a cluster of blocks runs one trial, bit for bit that of the agents
// engine, and a few of them fill the device. So the agents lie in its second cache, and each trial
// is many times as fast as on eight lanes.
//
// The blocks prepare stretches of the schedule (stretches.hpp), whose interactions lie in layers.
// All blocks together execute the layers, one after the other, with a barrier after each:
//
//     block 0    |  a part of layer 0  |  a part of layer 1  | ...
//     block 1    |  a part of layer 0  |  a part of layer 1  | ...
//
// The tally is notified after each stretch, in the order of the interactions. Unlike the eight
// lanes of trial_loop.hpp, threads thus execute interactions beyond the one that ends the trial,
// which does no harm: states do not matter after the end. What does harm is an interaction that
// draws a random number, since whose turn it is in that stream depends on all earlier ones. A trial
// in which one does is given up, for a warp to run it (Finished::has_drawn).
#pragma once

#include <cstddef>
#include <cstdint>

#include "conclave/gpu/course.hpp"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/layers.hpp"
#include "conclave/gpu/stretches.hpp"
#include "conclave/model/brief_words.hpp"

namespace conclave::gpu {

// Populations whose agents have a place in a PlacedPair.
inline constexpr std::uint32_t most_agents_of_clusters = PlacedPair::agent_mask;

// An interaction that the tally must be notified of.
template <class Packed>
struct ClusterEvent {
  Packed u, v;           // before it; what becomes of them can be computed again
  std::uint64_t number;  // first its position in the stretch, then its number in the trial
};

// Events of a stretch lie in buckets, by their position, so that they are soon put in order.
struct Buckets {
  static constexpr std::uint32_t size = 256;
  // As many as a stretch has words for, the last perhaps not full.
  CONCLAVE_HOST_DEVICE static std::uint32_t count(StretchSize stretch) {
    return (stretch.words() + size - 1) / size;
  }
};

// By which the blocks of a cluster know how the trial is going.
struct ClusterNotes {
  CourseState course;
  std::uint32_t events[2];  // how many, of stretches of even and of odd number
  bool has_drawn;           // some interaction has asked for a random number
};

// The memory of a cluster, all of which its blocks share, except that `protocol` may be a copy near
// the threads that use it. Whoever has made it owns the memory.
template <ClusterProtocol P, class Cluster>
struct ClusterPlace {
  using Packed = typename Stored<P>::type;
  Schedule schedule;
  const P* protocol;
  Packed* agents;
  DeviceTallyFor<P>* tally;
  std::uint64_t* tally_words;
  ClusterNotes* notes;
  std::uint32_t* in_bucket;      // how many events of a stretch
  ClusterEvent<Packed>* events;  // of a stretch, by buckets
  ClusterEvent<Packed>* ordered;
  StretchMemory stretches;

  // All but its agents and the protocol, for so many words of its tally and so many blocks, by
  // `take(count, pointer)`, which sets the pointer to so many items, all of them zero.
  static ClusterPlace taken(const Schedule& schedule, std::size_t tally_words, std::uint32_t blocks,
                            auto&& take) {
    const std::size_t buckets = Buckets::count(schedule.size);
    ClusterPlace place{};
    place.schedule = schedule;
    take(1, place.tally);
    take(tally_words, place.tally_words);
    take(1, place.notes);
    take(buckets, place.in_bucket);
    take(buckets * Buckets::size, place.events);
    take(schedule.size.words(), place.ordered);
    place.stretches = StretchMemory::taken(schedule.size, blocks, Cluster::Crew::threads, take);
    return place;
  }
};

template <ClusterProtocol P, class Cluster>
class ClusterLoop {
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Crew = typename Cluster::Crew;
  using Event = ClusterEvent<Packed>;
  using Place = ClusterPlace<P, Cluster>;

 public:
  // The place stays where it is, which should be near: registers are scarce.
  CONCLAVE_HOST_DEVICE ClusterLoop(const Batch<P>& batch, Cluster& cluster, const Place& place)
      : batch_(batch),
        protocol_(*place.protocol),
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
      while (!is_over_) take_turn();
      cluster_.first([&] {
        Finished<P>& result = batch_.finished[trial];
        course().note(result);
        cluster_.publish(&result.is_complete);
      });
    }
  }

 private:
  // Interactions of a thread: it waits for their agents together.
  static constexpr std::uint32_t at_once = 3;

  CONCLAVE_HOST_DEVICE Course<P> course() const {
    return {batch_, &place_.notes->course, place_.tally};
  }
  CONCLAVE_HOST_DEVICE static StretchMemory stretch_of(const Place& place, std::uint32_t block) {
    return place.stretches.of(block, place.schedule.size, Crew::threads);
  }

  CONCLAVE_HOST_DEVICE void begin(std::uint64_t trial) {
    ClusterNotes& notes = *place_.notes;
    cluster_.first([&] {
      notes.events[0] = notes.events[1] = 0;
      notes.has_drawn = false;
      course().begin(place_.agents, place_.tally_words);
    });
    cluster_.each_block([&](Crew crew, std::uint32_t block, LayersMemory near) {
      Preparer<Crew>(crew, near, place_.schedule, stretch_of(place_, block))
          .begin(batch_.first_trial + trial, block);
    });
    cluster_.sync();
    number_ = 0;
    done_ = 0;
    is_over_ = cluster_.load(&notes.course.is_over);
  }

  // --- executing ---

  CONCLAVE_HOST_DEVICE void take_turn() {
    cluster_.each_block([&](Crew crew, std::uint32_t block, LayersMemory near) {
      prepare(crew, near, place_, block);
    });
    cluster_.sync();
    for (std::uint32_t block = 0; block < cluster_.blocks() && !is_over_; ++block) execute(block);
    cluster_.sync();  // nobody reads these stretches any more
  }

  // Compiled apart, so that it takes no registers from the layers: those that a thread keeps in
  // memory are far away after each barrier, which empties the first cache.
  CONCLAVE_HOST_DEVICE_APART static void prepare(Crew crew, LayersMemory near, const Place& place,
                                                 std::uint32_t block) {
    Preparer<Crew>(crew, near, place.schedule, stretch_of(place, block)).prepare();
  }

  // The next layer's interactions are looked up while threads wait for each other, their agents
  // after that.
  CONCLAVE_HOST_DEVICE void execute(std::uint32_t block) {
    const StretchMemory stretch = stretch_of(place_, block);
    const std::uint32_t layers = cluster_.load(stretch.layers);
    const std::uint32_t drops = cluster_.load(stretch.drops);
    const std::uint32_t at_a_time = at_once * cluster_.threads();
    std::uint32_t begin = 0;
    std::uint32_t end = cluster_.load(&stretch.ends[1]);
    cluster_.each([&](std::uint32_t thread) { look_up(stretch.list, thread, end, thread); });
    for (std::uint32_t layer = 1; layer <= layers; ++layer) {
      const std::uint32_t next_end = layer < layers ? cluster_.load(&stretch.ends[layer + 1]) : end;
      cluster_.each([&](std::uint32_t thread) {
        interact(thread);
        for (std::uint32_t first = begin + thread + at_a_time; first < end; first += at_a_time) {
          look_up(stretch.list, first, end, thread);
          interact(thread);
        }
      });
      cluster_.sync([&] {
        cluster_.each(
            [&](std::uint32_t thread) { look_up(stretch.list, end + thread, next_end, thread); });
      });
      begin = end;
      end = next_end;
    }
    settle(block, drops);
  }

  // Some interactions of one thread in a layer.
  struct Some {
    PlacedPair pairs[at_once];
  };
  CONCLAVE_HOST_DEVICE void look_up(const std::uint64_t* list, std::uint32_t first,
                                    std::uint32_t end, std::uint32_t thread) {
    for (std::uint32_t k = 0; k < at_once; ++k) {
      const std::uint32_t i = first + k * cluster_.threads();
      next_[thread].pairs[k].word = i < end ? cluster_.load(&list[i]) : PlacedPair::none;
    }
  }

  CONCLAVE_HOST_DEVICE void interact(std::uint32_t thread) {
    const Some some = next_[thread];
    Packed u[at_once];
    Packed v[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.pairs[k].word == PlacedPair::none) continue;
      u[k] = cluster_.load(&agents_[some.pairs[k].initiator()]);
      v[k] = cluster_.load(&agents_[some.pairs[k].responder()]);
    }
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.pairs[k].word != PlacedPair::none) interact(some.pairs[k], u[k], v[k]);
    }
  }

  CONCLAVE_HOST_DEVICE void interact(PlacedPair pair, Packed u, Packed v) {
    const std::uint32_t parity = number_ % 2;
    if constexpr (HasShortcut<P>) {
      const auto next = protocol_.shortcut(u, v);
      Both both{next.u, next.v};
      if (next.applies == 0) both = in_full_apart(place_, parity, pair, u, v);
      write(pair, both);
    } else {
      if constexpr (HasNullTest<P>) {
        if (protocol_.may_change(u, v) == 0) return;
      }
      const Both both = in_full(protocol_, place_, parity, pair, u, v);
      if (!(both.u == u && both.v == v)) write(pair, both);
    }
  }

  struct Both {
    Packed u, v;
  };
  CONCLAVE_HOST_DEVICE void write(PlacedPair pair, const Both& both) {
    cluster_.store(&agents_[pair.initiator()], both.u);
    cluster_.store(&agents_[pair.responder()], both.v);
  }

  // Where a shortcut leaves few interactions to it, it is compiled apart, like `prepare`.
  CONCLAVE_HOST_DEVICE_APART static Both in_full_apart(const Place& place, std::uint32_t parity,
                                                       PlacedPair pair, Packed u, Packed v) {
    return in_full(*place.protocol, place, parity, pair, u, v);
  }
  CONCLAVE_HOST_DEVICE static Both in_full(const P& protocol, const Place& place,
                                           std::uint32_t parity, PlacedPair pair, Packed u,
                                           Packed v) {
    const auto full = Interaction<P>::of(protocol, u, v);
    if (full.has_drawn) {
      place.notes->has_drawn = true;
      Cluster::take_one(&place.notes->events[parity]);
    } else if (must_notify<P>(*place.tally, full.u, full.v, full.new_u, full.new_v)) {
      note(place, parity, pair.position(), u, v);
    }
    return {Storage::pack(protocol, full.new_u), Storage::pack(protocol, full.new_v)};
  }
  CONCLAVE_HOST_DEVICE static void note(const Place& place, std::uint32_t parity,
                                        std::uint32_t position, Packed u, Packed v) {
    const std::uint32_t bucket = position / Buckets::size;
    const std::uint32_t slot = Cluster::take_one(&place.in_bucket[bucket]);
    place.events[bucket * Buckets::size + slot] = {u, v, position};
    Cluster::take_one(&place.notes->events[parity]);
  }

  // --- after a stretch ---

  // A thread that is ahead may note events of the next stretch already, if this one has none: so
  // those are counted apart.
  CONCLAVE_HOST_DEVICE void settle(std::uint32_t block, std::uint32_t drops) {
    const std::uint32_t count = cluster_.load(&place_.notes->events[number_ % 2]);
    const std::uint64_t done = done_ + place_.schedule.size.words() - drops;
    const bool is_end_of_turn = block + 1 == cluster_.blocks();
    if (count != 0 || done >= batch_.limit || is_end_of_turn) {
      if (count != 0) put_in_order(stretch_of(place_, block).dropped, drops);
      cluster_.sync();
      cluster_.first([&] {
        notify(count);
        course().reach(done, is_end_of_turn && *batch_.is_stopped);
      });
      cluster_.sync();
      is_over_ = cluster_.load(&place_.notes->course.is_over);
    }
    done_ = done;
    ++number_;
  }

  // An event comes after those of earlier buckets and after the earlier ones of its own.
  CONCLAVE_HOST_DEVICE void put_in_order(const std::uint32_t* dropped, std::uint32_t drops) {
    const std::uint32_t room = Buckets::count(place_.schedule.size) * Buckets::size;
    cluster_.each([&](std::uint32_t thread) {
      for (std::uint32_t i = thread; i < room; i += cluster_.threads()) {
        const std::uint32_t bucket = i / Buckets::size;
        const std::uint32_t count = cluster_.load(&place_.in_bucket[bucket]);
        if (i % Buckets::size >= count) continue;
        const Event* const event = &place_.events[i];
        const std::uint64_t position = cluster_.load(&event->number);
        std::uint32_t before = 0;
        for (std::uint32_t k = 0; k < bucket; ++k) before += cluster_.load(&place_.in_bucket[k]);
        for (std::uint32_t k = 0; k < count; ++k) {
          const Event* const other = &place_.events[bucket * Buckets::size + k];
          before += cluster_.load(&other->number) < position ? 1u : 0u;
        }
        std::uint64_t number = done_ + position + 1;
        for (std::uint32_t k = 0; k < drops; ++k) {
          number -= cluster_.load(&dropped[k]) < position ? 1u : 0u;
        }
        place_.ordered[before] = {cluster_.load(&event->u), cluster_.load(&event->v), number};
      }
    });
  }

  // By one thread, which forgets the events then.
  CONCLAVE_HOST_DEVICE void notify(std::uint32_t count) {
    if (count == 0) return;
    ClusterNotes& notes = *place_.notes;
    if (cluster_.load(&notes.has_drawn)) {
      course().give_up();
      count = 0;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      const Event* const event = &place_.ordered[i];
      course().notify(cluster_.load(&event->u), cluster_.load(&event->v),
                      cluster_.load(&event->number));
    }
    notes.events[number_ % 2] = 0;
    for (std::uint32_t k = 0; k < Buckets::count(place_.schedule.size); ++k) {
      place_.in_bucket[k] = 0;
    }
  }

  Batch<P> batch_;
  P protocol_;
  Cluster& cluster_;
  const Place& place_;
  Packed* agents_;
  std::uint32_t number_ = 0;  // of the stretch in its trial
  std::uint64_t done_ = 0;    // interactions before it
  bool is_over_ = false;
  typename Cluster::template Own<Some> next_;
};

}  // namespace conclave::gpu
