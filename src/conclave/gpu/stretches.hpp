// The schedule of a trial that a cluster runs (cluster_loop.hpp), in stretches. Who interacts does
// not depend on the states, so the blocks of the cluster draw a stretch each, all at once, and
// arrange it in layers (layers.hpp); then all of them together execute these stretches, one after
// the other. That is a turn:
//
//     words of the schedule    | stretch | stretch | stretch | stretch | stretch | ...
//     drawn by, in turn 0        block 0   block 1   block 2
//     in turn 1                                                block 0   block 1 ...
//
// Each thread of a block draws from a lane of the generator at a place of its own. When its words
// are drawn, the lane jumps to the stretch of the block in the next turn (base/jump.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conclave/base/check.hpp"
#include "conclave/base/jump.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/layers.hpp"

namespace conclave::gpu {

// How long a stretch is: so many streams, each of eight lanes, a thread for each lane, and from
// each lane the same number of words.
struct StretchSize {
  static constexpr std::uint32_t windows = 8;
  static constexpr std::uint32_t agents_per_pair = 40;  // of a window, at least if n is large

  std::uint32_t streams;
  std::uint32_t words_per_lane;

  // For n agents, as the threads of a block say.
  template <class Crew>
  static StretchSize of(std::uint32_t n) {
    constexpr std::uint32_t window = Crew::words_per_lane * lanes_per_trial / windows;
    const std::uint32_t fitting = n / (window * agents_per_pair);
    return {std::clamp(fitting, 1u, Crew::most_streams), Crew::words_per_lane};
  }
  // Words of all lanes of a stream, of all streams, and of an eighth of those: a window.
  CONCLAVE_HOST_DEVICE std::uint32_t words_per_stream() const {
    return words_per_lane * lanes_per_trial;
  }
  CONCLAVE_HOST_DEVICE std::uint32_t words() const { return streams * words_per_stream(); }
  CONCLAVE_HOST_DEVICE std::uint32_t window() const { return words() / windows; }
  // Words for a list of its pairs, and a window more.
  CONCLAVE_HOST_DEVICE std::uint32_t list() const { return words() + window(); }
  // Words for the ends of its layers, at most.
  CONCLAVE_HOST_DEVICE std::uint32_t ends() const { return words() + windows + 1; }
};

// From the beginning of the schedule to every stream of the first turn, and from the end of the
// words of a stream to its words in the next turn. Some milliseconds to make.
struct TurnJumps {
  static constexpr int bits = 10;  // a turn has at most 2^10 streams

  Jump doubled[bits];  // 1, 2, 4 ... streams further
  Jump to_next;

  // At most 2^10 streams in all, which is checked.
  TurnJumps(StretchSize size, std::uint32_t blocks) {
    CONCLAVE_CHECK(blocks * size.streams <= 1u << bits);
    doubled[0] = Jump::of(size.words_per_lane);
    for (int bit = 1; bit < bits; ++bit) doubled[bit] = doubled[bit - 1].then(doubled[bit - 1]);
    const std::uint32_t further = blocks * size.streams - 1;
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

// Which schedules are drawn, the same for all trials of a batch.
struct Schedule {
  std::uint64_t seed;
  std::uint32_t n;
  StretchSize size;
  const TurnJumps* jumps;
};

// The stretch of one block, in memory that all blocks of its cluster read.
struct StretchMemory {
  LaneGenerator* generators;  // one per thread
  std::uint64_t* list;        // drawn, and then arranged pairs
  std::uint64_t* scratch;     // three lists
  std::uint32_t* ends;        // of layers
  std::uint32_t* layers;      // how many
  std::uint32_t* dropped;     // positions of words that would bias the pair
  std::uint32_t* drops;       // how many

  // Takes that of so many blocks by `take(count, pointer)`, which sets the pointer to so many
  // items. Returns that of the first.
  static StretchMemory taken(StretchSize size, std::size_t blocks, std::size_t threads,
                             auto&& take) {
    StretchMemory memory{};
    take(blocks * threads, memory.generators);
    take(blocks * size.list(), memory.list);
    take(blocks * 3 * size.list(), memory.scratch);
    take(blocks * size.ends(), memory.ends);
    take(blocks, memory.layers);
    take(blocks * size.words(), memory.dropped);
    take(blocks, memory.drops);
    return memory;
  }
  // That of another block, from that of the first.
  CONCLAVE_HOST_DEVICE StretchMemory of(std::size_t block, StretchSize size,
                                        std::size_t threads) const {
    return {generators + block * threads,
            list + block * size.list(),
            scratch + block * 3 * size.list(),
            ends + block * size.ends(),
            layers + block,
            dropped + block * size.words(),
            drops + block};
  }
};

// One block at work on its stretches. All threads of the crew make and use it together; what it
// writes, the other blocks see after the next barrier of the cluster.
template <class Crew>
class Preparer {
 public:
  // The memory that these point to must outlive it.
  CONCLAVE_HOST_DEVICE Preparer(Crew crew, const LayersMemory& near, const Schedule& schedule,
                                const StretchMemory& stretch)
      : crew_(crew),
        near_(near),
        schedule_(schedule),
        stretch_(stretch),
        biased_(DrawnPair::biased(schedule.n)) {}

  // Goes to the stretch of this block in the first turn of a trial, by its number among all.
  CONCLAVE_HOST_DEVICE void begin(std::uint64_t trial, std::uint32_t block) {
    crew_.each([&](int thread) {
      if (thread >= drawing_threads()) return;
      const LaneNames names{schedule_.seed, trial, thread % lanes_per_trial};
      LaneGenerator generator = names.generator(Purpose::schedule);
      schedule_.jumps->advance(generator, block * schedule_.size.streams + stream_of(thread));
      stretch_.generators[thread] = generator;
    });
  }

  // Draws and arranges the stretch of this turn.
  CONCLAVE_HOST_DEVICE void prepare() {
    const StretchSize size = schedule_.size;
    std::uint64_t* const drawn = stretch_.list + size.window();
    draw(drawn);
    Layers<Crew>(crew_, near_, schedule_.n,
                 {.drawn = drawn,
                  .size = size.words(),
                  .window = size.window(),
                  .arranged = stretch_.list,
                  .contested = stretch_.scratch,
                  .waiting = stretch_.scratch + size.list(),
                  .also_waiting = stretch_.scratch + std::size_t{2} * size.list(),
                  .ends = stretch_.ends,
                  .layers = stretch_.layers})
        .arrange();
  }

 private:
  CONCLAVE_HOST_DEVICE int drawing_threads() const {
    return static_cast<int>(schedule_.size.streams) * lanes_per_trial;
  }
  CONCLAVE_HOST_DEVICE static std::uint32_t stream_of(int thread) {
    return static_cast<std::uint32_t>(thread / lanes_per_trial);
  }

  CONCLAVE_HOST_DEVICE void draw(std::uint64_t* drawn) {
    crew_.first([&] { *stretch_.drops = 0; });
    crew_.sync();
    crew_.each([&](int thread) {
      if (thread >= drawing_threads()) return;
      LaneGenerator generator = stretch_.generators[thread];
      const std::uint32_t first = stream_of(thread) * schedule_.size.words_per_stream() +
                                  static_cast<std::uint32_t>(thread % lanes_per_trial);
      for (std::uint32_t i = 0; i < schedule_.size.words_per_lane; ++i) {
        const std::uint32_t position = first + i * lanes_per_trial;
        drawn[position] = placed(generator.next(), position);
      }
      schedule_.jumps->to_next.advance(generator);
      stretch_.generators[thread] = generator;
    });
    crew_.sync();
  }

  CONCLAVE_HOST_DEVICE std::uint64_t placed(std::uint64_t word, std::uint32_t position) {
    const auto pair = DrawnPair::of(word, schedule_.n, biased_);
    if (pair.is_fair) return PlacedPair::of(pair.initiator, pair.responder, position).word;
    stretch_.dropped[Crew::take_one(stretch_.drops)] = position;
    return PlacedPair::none;
  }

  Crew crew_;
  LayersMemory near_;
  Schedule schedule_;
  StretchMemory stretch_;
  std::uint32_t biased_;
};

}  // namespace conclave::gpu
