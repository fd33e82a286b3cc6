// The schedule of a trial that a cluster runs (cluster_loop.hpp), prepared ahead. Who meets whom
// does not depend on the states, so any block of the device can draw a stretch of the schedule and
// arrange its meetings in layers (layers.hpp), also one that belongs to no cluster.
//
// Stretches are numbered, and a few of them have a place, in a ring:
//
//     executed | being executed | prepared ... | being prepared ... | no room yet
//                                              a block claims the next one here
//
// Whoever waits for a stretch prepares those that nobody has claimed. So a trial waits only for
// blocks that are running, and goes on without any help. Each thread of a block has a lane of the
// generator at a place of its own, which jumps to the next stretch that has this place in the ring
// (jump.hpp) when its words are drawn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/jump.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/layers.hpp"

namespace conclave::gpu {

// How long a stretch is: so many streams, each of eight lanes, a thread for each lane, and from
// each lane the same number of words.
template <class Crew>
struct Stretches {
  static constexpr std::uint32_t words_per_lane = 384;
  static constexpr std::uint32_t words_per_stream = words_per_lane * lanes_per_trial;
  static constexpr std::uint32_t windows = 8;
  static constexpr std::uint32_t agents_per_meeting = 40;  // of a window, at least if n is large

  std::uint32_t streams;

  static Stretches of(std::uint32_t n) {
    const std::uint32_t fitting = n / (words_per_stream / windows * agents_per_meeting);
    return {std::clamp(fitting, 1u, Crew::most_streams)};
  }
  CONCLAVE_HOST_DEVICE std::uint32_t size() const { return streams * words_per_stream; }
  CONCLAVE_HOST_DEVICE std::uint32_t window() const { return size() / windows; }
  // Words for a list of its meetings, and a window more.
  CONCLAVE_HOST_DEVICE std::uint32_t list() const { return size() + window(); }
  // Words for the ends of its layers, at most.
  CONCLAVE_HOST_DEVICE std::uint32_t ends() const { return size() + windows + 1; }
};

// From the beginning of the schedule to every stream of the first stretches, and from the end of
// the words of a stream to its words in the next stretch that has the same place.
template <class Crew>
struct Jumps {
  static constexpr int bits = 10;
  static_assert(Crew::stretches_ahead * Crew::most_streams <= 1u << bits);

  Jump doubled[bits];  // 1, 2, 4 ... streams further
  Jump to_next;

  explicit Jumps(Stretches<Crew> stretches) {
    doubled[0] = Jump::of(Stretches<Crew>::words_per_lane);
    for (int bit = 1; bit < bits; ++bit) doubled[bit] = doubled[bit - 1].then(doubled[bit - 1]);
    const std::uint32_t further = Crew::stretches_ahead * stretches.streams - 1;
    for (int bit = 0; bit < bits; ++bit) {
      if ((further >> bit & 1) != 0) to_next = to_next.then(doubled[bit]);
    }
  }
  CONCLAVE_HOST_DEVICE void advance(LaneGenerator& generator, std::uint32_t streams) const {
    for (int bit = 0; bit < bits; ++bit) {
      if ((streams >> bit & 1) != 0) doubled[bit].advance(generator);
    }
  }
};

// Which schedules are prepared, the same for all trials of a batch.
template <class Crew>
struct Schedules {
  std::uint64_t seed;
  std::uint32_t n;
  Stretches<Crew> stretches;
  const Jumps<Crew>* jumps;
};

// How far the schedule of a trial is. Numbers of stretches only grow, from trial to trial, too.
struct AheadState {
  static constexpr std::uint64_t is_closed = std::uint64_t{1} << 63;

  std::uint64_t claimed;   // stretches; together with is_closed, nothing can be claimed
  std::uint64_t prepared;  // of these
  std::uint64_t room;      // the first stretch that has no place yet
  std::uint64_t begin;     // the first stretch of the trial
  std::uint64_t trial;     // its number among all trials
};

// The schedule of one cluster's trials. Each place of the ring has its part of the arrays.
template <class Crew>
class ScheduleAhead {
 public:
  static constexpr std::uint32_t places = Crew::stretches_ahead;

  struct Memory {
    AheadState* state;
    LaneGenerator* generators;  // one per thread
    std::uint64_t* lists;       // drawn and arranged meetings
    std::uint32_t* ends;        // of layers
    std::uint32_t* layers;      // how many
    std::uint32_t* dropped;     // positions of words that would bias the pair
    std::uint32_t* drops;       // how many
    std::uint64_t* ready;       // the number of the stretch that is prepared there, plus one

    // By `take(count, pointer)`, which sets the pointer to so many items, all of them zero.
    static Memory taken(Stretches<Crew> stretches, auto&& take) {
      Memory memory{};
      take(1, memory.state);
      take(std::size_t{places} * Crew::threads, memory.generators);
      take(std::size_t{places} * stretches.list(), memory.lists);
      take(std::size_t{places} * stretches.ends(), memory.ends);
      take(places, memory.layers);
      take(std::size_t{places} * stretches.size(), memory.dropped);
      take(places, memory.drops);
      take(places, memory.ready);
      return memory;
    }
  };

  CONCLAVE_HOST_DEVICE ScheduleAhead(const Memory& memory, Stretches<Crew> stretches)
      : memory_(memory), stretches_(stretches) {}

  // --- for one thread of the cluster ---

  // From here on, no stretch is prepared.
  CONCLAVE_HOST_DEVICE void close() const {
    AheadState* const state = memory_.state;
    const std::uint64_t claimed =
        Crew::set_bits(&state->claimed, AheadState::is_closed) & ~AheadState::is_closed;
    while (Crew::acquire(&state->prepared) != claimed) Crew::pause();
  }

  // Stretches of this trial can be claimed; returns the number of the first.
  CONCLAVE_HOST_DEVICE std::uint64_t open(std::uint64_t trial) const {
    AheadState* const state = memory_.state;
    const std::uint64_t begin = Crew::load(&state->claimed) & ~AheadState::is_closed;
    state->begin = begin;
    state->trial = trial;
    Crew::release(&state->room, begin + places);
    Crew::release(&state->claimed, begin);
    return begin;
  }

  // Everybody is done with this stretch.
  CONCLAVE_HOST_DEVICE void leave(std::uint64_t number) const {
    Crew::release(&memory_.state->room, number + 1 + places);
  }

  // --- for the threads of blocks ---

  CONCLAVE_HOST_DEVICE bool is_ready(std::uint64_t number) const {
    return Crew::acquire(&memory_.ready[number % places]) == number + 1;
  }
  CONCLAVE_HOST_DEVICE std::uint64_t* list(std::uint64_t number) const {
    return memory_.lists + number % places * stretches_.list();
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* ends(std::uint64_t number) const {
    return memory_.ends + number % places * stretches_.ends();
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* layers(std::uint64_t number) const {
    return memory_.layers + number % places;
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* dropped(std::uint64_t number) const {
    return memory_.dropped + number % places * stretches_.size();
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* drops(std::uint64_t number) const {
    return memory_.drops + number % places;
  }
  CONCLAVE_HOST_DEVICE LaneGenerator* generator(std::uint64_t number, int thread) const {
    return memory_.generators + number % places * Crew::threads + thread;
  }
  CONCLAVE_HOST_DEVICE const AheadState& state() const { return *memory_.state; }

  static constexpr std::uint64_t none = ~std::uint64_t{0};
  // The number of a stretch that the caller must prepare, or none.
  CONCLAVE_HOST_DEVICE std::uint64_t claim() const {
    AheadState* const state = memory_.state;
    std::uint64_t claimed = Crew::acquire(&state->claimed);
    while (claimed < Crew::acquire(&state->room)) {
      if (Crew::replace(&state->claimed, claimed, claimed + 1)) return claimed;
    }
    return none;
  }
  CONCLAVE_HOST_DEVICE void note_prepared(std::uint64_t number) const {
    Crew::release(&memory_.ready[number % places], number + 1);
    Crew::take_one(&memory_.state->prepared);
  }

 private:
  Memory memory_;
  Stretches<Crew> stretches_;
};

// The memory of a block that prepares stretches.
struct PreparerShared {
  LayersShared layers;
  std::uint64_t task;
};
struct PreparerRoom {
  std::uint64_t* contested;  // a list of meetings each
  std::uint64_t* waiting;
  std::uint64_t* also_waiting;

  // Words for one.
  template <class Crew>
  CONCLAVE_HOST_DEVICE static std::size_t size(Stretches<Crew> stretches) {
    return std::size_t{3} * stretches.list();
  }
  // One of several that lie there side by side.
  template <class Crew>
  CONCLAVE_HOST_DEVICE static PreparerRoom of(std::uint64_t* all, Stretches<Crew> stretches,
                                              std::uint32_t which) {
    std::uint64_t* const first = all + size(stretches) * which;
    return {first, first + stretches.list(), first + 2 * stretches.list()};
  }
};

// A block that prepares stretches.
template <class Crew>
class Preparer {
  using Ahead = ScheduleAhead<Crew>;

 public:
  CONCLAVE_HOST_DEVICE Preparer(Crew crew, PreparerShared* shared, const Schedules<Crew>& schedules,
                                const PreparerRoom& room)
      : crew_(crew),
        shared_(shared),
        schedules_(schedules),
        room_(room),
        biased_(DrawnPair::biased(schedules.n)) {}

  // Waits for this stretch, and prepares others or this one meanwhile.
  CONCLAVE_HOST_DEVICE void await(const Ahead& ahead, std::uint64_t number) {
    while (!do_next(ahead, [&] { return ahead.is_ready(number); })) {
    }
  }

  // Prepares a stretch, if there is one to prepare and `is_over()` does not hold; returns what that
  // says. All threads of the block call it.
  CONCLAVE_HOST_DEVICE bool do_next(const Ahead& ahead, const auto& is_over) {
    constexpr std::uint64_t over = Ahead::none - 1;
    crew_.sync();
    crew_.first([&] { shared_->task = is_over() ? over : ahead.claim(); });
    crew_.sync();
    const std::uint64_t task = shared_->task;
    if (task == over) return true;
    if (task == Ahead::none) {
      Crew::pause();
    } else {
      prepare(ahead, task);
    }
    return false;
  }

 private:
  CONCLAVE_HOST_DEVICE void prepare(const Ahead& ahead, std::uint64_t number) {
    const Stretches<Crew> stretches = schedules_.stretches;
    std::uint64_t* const arranged = ahead.list(number);
    std::uint64_t* const drawn = arranged + stretches.window();
    draw(ahead, number, drawn);
    Layers<Crew>(crew_, &shared_->layers, schedules_.n,
                 {.drawn = drawn,
                  .size = stretches.size(),
                  .window = stretches.window(),
                  .arranged = arranged,
                  .contested = room_.contested,
                  .waiting = room_.waiting,
                  .also_waiting = room_.also_waiting,
                  .ends = ahead.ends(number),
                  .layers = ahead.layers(number)})
        .arrange();
    crew_.first([&] { ahead.note_prepared(number); });
  }

  CONCLAVE_HOST_DEVICE void draw(const Ahead& ahead, std::uint64_t number, std::uint64_t* drawn) {
    crew_.first([&] { *ahead.drops(number) = 0; });
    crew_.sync();
    crew_.each([&](int thread) {
      if (thread >= static_cast<int>(schedules_.stretches.streams) * lanes_per_trial) return;
      LaneGenerator generator = generator_for(ahead, number, thread);
      const auto stream = static_cast<std::uint32_t>(thread / lanes_per_trial);
      const auto lane = static_cast<std::uint32_t>(thread % lanes_per_trial);
      for (std::uint32_t i = 0; i < Stretches<Crew>::words_per_lane; ++i) {
        const std::uint32_t position =
            stream * Stretches<Crew>::words_per_stream + i * lanes_per_trial + lane;
        drawn[position] = meeting_of(generator.next(), position, ahead, number);
      }
      schedules_.jumps->to_next.advance(generator);
      *ahead.generator(number, thread) = generator;
    });
    crew_.sync();
  }

  // The generator that another block has left there, perhaps, or at first a new one.
  CONCLAVE_HOST_DEVICE LaneGenerator generator_for(const Ahead& ahead, std::uint64_t number,
                                                   int thread) const {
    const std::uint64_t before = number - Crew::load(&ahead.state().begin);
    if (before >= Ahead::places) {
      const LaneGenerator* const left = ahead.generator(number, thread);
      return {Crew::load(&left->s0), Crew::load(&left->s1), Crew::load(&left->s2),
              Crew::load(&left->s3)};
    }
    const LaneNames names{schedules_.seed, Crew::load(&ahead.state().trial),
                          thread % lanes_per_trial};
    LaneGenerator generator = names.generator(Purpose::schedule);
    const auto stream = static_cast<std::uint32_t>(thread / lanes_per_trial);
    schedules_.jumps->advance(
        generator, static_cast<std::uint32_t>(before) * schedules_.stretches.streams + stream);
    return generator;
  }

  CONCLAVE_HOST_DEVICE std::uint64_t meeting_of(std::uint64_t word, std::uint32_t position,
                                                const Ahead& ahead, std::uint64_t number) {
    const auto pair = DrawnPair::of(word, schedules_.n, biased_);
    if (pair.is_fair) return PlacedMeeting::of(pair.initiator, pair.responder, position).word;
    ahead.dropped(number)[Crew::take_one(ahead.drops(number))] = position;
    return PlacedMeeting::none;
  }

  Crew crew_;
  PreparerShared* shared_;
  Schedules<Crew> schedules_;
  PreparerRoom room_;
  std::uint32_t biased_;
};

// A block that belongs to no cluster prepares stretches for several of them, until none is left
// that runs trials. `first` says whose turn it is first.
template <class Crew>
CONCLAVE_HOST_DEVICE void help(Preparer<Crew> preparer, const Schedules<Crew>& schedules,
                               const typename ScheduleAhead<Crew>::Memory* clusters,
                               std::uint32_t count, const std::uint32_t* running,
                               std::uint32_t first) {
  for (std::uint32_t i = first % count;; i = (i + 1) % count) {
    const ScheduleAhead<Crew> ahead(clusters[i], schedules.stretches);
    if (preparer.do_next(ahead, [&] { return Crew::acquire(running) == 0; })) return;
  }
}

}  // namespace conclave::gpu
