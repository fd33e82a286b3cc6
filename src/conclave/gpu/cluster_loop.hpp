// The trials of very large populations on a device: a cluster of blocks runs one trial, bit for bit
// that of the agents engine. Few trials are enough to fill the device, so that their agents lie in
// its second cache, and each of them is many times as fast as on eight lanes or on one block.
//
// A phase of the trial has two parts. First, each block draws a stretch of the schedule, the first
// block the first stretch and so on, and arranges its meetings in layers (layers.hpp). For that,
// each thread has a lane of the generator at a place of its own, and when it has drawn its words it
// jumps to its place in the next phase (jump.hpp). Then all blocks together execute the layers of
// all stretches, one after the other, with a barrier after each.
//
//     block 0    draw 0   arrange 0 |  layers of stretch 0   |  layers of stretch 1   | ...
//     block 1    draw 1   arrange 1 |   a part of each       |   a part of each       | ...
//
// As in block_loop.hpp, meetings beyond the one that ends the trial may be executed, which does no
// harm: the tally is notified in the order of the meetings, after each stretch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/course.hpp"
#include "conclave/gpu/jump.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/layers.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// Populations whose agents have a place in a PlacedMeeting.
inline constexpr std::uint32_t most_agents_of_clusters = PlacedMeeting::agent_mask;

// How much of the schedule each block of a cluster draws at a time: so many streams, each of eight
// lanes, a thread for each lane, and from each lane the same number of words.
template <class Cluster>
struct Stretches {
  static constexpr std::uint32_t words_per_lane = 128;
  static constexpr std::uint32_t words_per_stream = words_per_lane * lanes_per_trial;
  static constexpr std::uint32_t windows = 4;
  static constexpr std::uint32_t most_streams = Cluster::Crew::most_streams;
  static constexpr std::uint32_t agents_per_meeting = 40;  // of a window, at least if n is large

  std::uint32_t streams;

  static Stretches of(std::uint32_t n) {
    const std::uint32_t fitting = n / (words_per_stream / windows * agents_per_meeting);
    return {std::clamp(fitting, 1u, most_streams)};
  }
  CONCLAVE_HOST_DEVICE std::uint32_t size() const { return streams * words_per_stream; }
  CONCLAVE_HOST_DEVICE std::uint32_t window() const { return size() / windows; }
  // Words for a list of its meetings, and a window more.
  CONCLAVE_HOST_DEVICE std::uint32_t list() const { return size() + window(); }
  // Words for the ends of its layers, at most.
  CONCLAVE_HOST_DEVICE std::uint32_t ends() const { return size() + windows + 1; }
};

// From the beginning of the schedule to every stream of the first phase, and from the end of the
// words of a stream to its words in the next phase.
template <class Cluster>
struct Jumps {
  static constexpr int bits = 11;
  static_assert(Cluster::blocks * Stretches<Cluster>::most_streams <= 1u << bits);

  Jump doubled[bits];  // 1, 2, 4 ... streams further
  Jump to_next_phase;

  explicit Jumps(Stretches<Cluster> stretches) {
    doubled[0] = Jump::of(Stretches<Cluster>::words_per_lane);
    for (int bit = 1; bit < bits; ++bit) doubled[bit] = doubled[bit - 1].then(doubled[bit - 1]);
    const std::uint32_t further = Cluster::blocks * stretches.streams - 1;
    for (int bit = 0; bit < bits; ++bit) {
      if ((further >> bit & 1) != 0) to_next_phase = to_next_phase.then(doubled[bit]);
    }
  }
  CONCLAVE_HOST_DEVICE void advance(LaneGenerator& generator, std::uint32_t streams) const {
    for (int bit = 0; bit < bits; ++bit) {
      if ((streams >> bit & 1) != 0) doubled[bit].advance(generator);
    }
  }
};

// A meeting that the tally must hear of.
template <class Packed>
struct ClusterEvent {
  Packed u, v;
  std::uint64_t number;  // first its position in the stretch, then its number in the trial
};

// Notes by which the blocks of a cluster know how the trial stands.
struct ClusterNotes {
  CourseState course;
  std::uint32_t events[2];  // how many, of stretches of even and of odd number
};

// The memory of a cluster, all of which its blocks share. Stretches have so many words in each.
template <BlockProtocol P>
struct ClusterPlace {
  using Packed = typename Stored<P>::type;
  Packed* agents;
  DeviceTallyFor<P>* tally;
  ClusterNotes* notes;
  LaneGenerator* generators;     // one per thread
  std::uint64_t* meetings[4];    // drawn and arranged, contested, twice waiting; of each block
  std::uint32_t* ends;           // of each block
  std::uint32_t* layers;         // how many; of each block
  std::uint32_t* dropped;        // positions of words that would bias the pair; of each block
  std::uint32_t* drops;          // how many; of each block
  ClusterEvent<Packed>* events;  // of a stretch; unordered
  ClusterEvent<Packed>* ordered;
};

template <BlockProtocol P, class Cluster>
class ClusterLoop {
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Crew = typename Cluster::Crew;
  using Event = ClusterEvent<Packed>;

 public:
  CONCLAVE_HOST_DEVICE ClusterLoop(const Batch<P>& batch, Cluster& cluster,
                                   Stretches<Cluster> stretches, const Jumps<Cluster>* jumps,
                                   const ClusterPlace<P>& place)
      : batch_(batch),
        protocol_(*batch.protocol),
        cluster_(cluster),
        stretches_(stretches),
        size_(stretches.size()),
        jumps_(jumps),
        place_(place),
        biased_(DrawnPair::biased(batch.n)) {}

  // Runs trials until none is left.
  CONCLAVE_HOST_DEVICE void run() {
    CourseState& state = place_.notes->course;
    for (;;) {
      cluster_.first([&] { state.trial = cluster_.take_one(batch_.next_trial); });
      cluster_.sync();
      const std::uint64_t trial = cluster_.load(&state.trial);
      if (trial >= batch_.trials) return;
      begin(trial);
      while (!is_over_) phase();
      cluster_.first([&] {
        Finished<P>& result = batch_.finished[trial];
        course().note(result);
        cluster_.publish(&result.is_complete);
      });
    }
  }

 private:
  static constexpr std::uint32_t all_threads = Cluster::blocks * Crew::threads;
  // Meetings of a thread: it waits for their agents together.
  static constexpr std::uint32_t at_once = 2;

  CONCLAVE_HOST_DEVICE Course<P> course() const {
    return {batch_, &place_.notes->course, place_.tally};
  }

  CONCLAVE_HOST_DEVICE void begin(std::uint64_t trial) {
    cluster_.first([&] {
      course().begin(place_.agents);
      place_.notes->events[0] = place_.notes->events[1] = 0;
    });
    cluster_.each_block([&](Crew crew, int block, LayersShared*) {
      crew.each([&](int thread) {
        if (thread >= static_cast<int>(stretches_.streams) * lanes_per_trial) return;
        const LaneNames names{batch_.seed, batch_.first_trial + trial, thread % lanes_per_trial};
        LaneGenerator generator = names.generator(Purpose::schedule);
        const auto stream = static_cast<std::uint32_t>(thread / lanes_per_trial);
        jumps_->advance(generator, static_cast<std::uint32_t>(block) * stretches_.streams + stream);
        place_.generators[block * Crew::threads + thread] = generator;
      });
    });
    cluster_.sync();
    done_ = 0;
    is_over_ = cluster_.load(&place_.notes->course.is_over);
  }

  CONCLAVE_HOST_DEVICE void phase() {
    cluster_.each_block([&](Crew crew, int block, LayersShared* shared) {
      std::uint64_t* const arranged = list_of(block, 0);
      std::uint64_t* const drawn = arranged + stretches_.window();
      draw(crew, block, drawn);
      Layers<Crew>(crew, shared, batch_.n,
                   {.drawn = drawn,
                    .size = size_,
                    .window = stretches_.window(),
                    .arranged = arranged,
                    .contested = list_of(block, 1),
                    .waiting = list_of(block, 2),
                    .also_waiting = list_of(block, 3),
                    .ends = ends_of(block),
                    .layers = place_.layers + block})
          .arrange();
    });
    cluster_.sync();
    for (int stretch = 0; stretch < Cluster::blocks && !is_over_; ++stretch) execute(stretch);
  }

  CONCLAVE_HOST_DEVICE std::uint64_t* list_of(int block, int list) const {
    return place_.meetings[list] + static_cast<std::size_t>(block) * stretches_.list();
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* ends_of(int block) const {
    return place_.ends + static_cast<std::size_t>(block) * stretches_.ends();
  }

  // --- drawing ---

  CONCLAVE_HOST_DEVICE void draw(Crew crew, int block, std::uint64_t* drawn) {
    crew.first([&] { place_.drops[block] = 0; });
    crew.sync();
    crew.each([&](int thread) {
      if (thread >= static_cast<int>(stretches_.streams) * lanes_per_trial) return;
      LaneGenerator generator = place_.generators[block * Crew::threads + thread];
      const auto stream = static_cast<std::uint32_t>(thread / lanes_per_trial);
      const auto lane = static_cast<std::uint32_t>(thread % lanes_per_trial);
      for (std::uint32_t i = 0; i < Stretches<Cluster>::words_per_lane; ++i) {
        const std::uint32_t position =
            stream * Stretches<Cluster>::words_per_stream + i * lanes_per_trial + lane;
        drawn[position] = meeting_of(generator.next(), position, block);
      }
      jumps_->to_next_phase.advance(generator);
      place_.generators[block * Crew::threads + thread] = generator;
    });
    crew.sync();
  }

  CONCLAVE_HOST_DEVICE std::uint64_t meeting_of(std::uint64_t word, std::uint32_t position,
                                                int block) {
    const auto pair = DrawnPair::of(word, batch_.n, biased_);
    if (pair.is_fair) return PlacedMeeting::of(pair.initiator, pair.responder, position).word;
    place_.dropped[std::size_t{size_} * static_cast<std::size_t>(block) +
                   cluster_.take_one(&place_.drops[block])] = position;
    return PlacedMeeting::none;
  }

  // --- executing ---

  // The next layer's meetings are looked up before the barrier, their agents after it.
  CONCLAVE_HOST_DEVICE void execute(int stretch) {
    const std::uint64_t* const arranged = list_of(stretch, 0);
    const std::uint32_t layers = cluster_.load(&place_.layers[stretch]);
    const std::uint32_t* const ends = ends_of(stretch);
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
        look_up(arranged, end + thread, next_end, thread);
      });
      cluster_.sync();
      begin = end;
      end = next_end;
    }
    settle(stretch);
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

  CONCLAVE_HOST_DEVICE void meet(int stretch, std::uint32_t thread) {
    const Some some = next_[thread];
    Packed u[at_once];
    Packed v[at_once];
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.meetings[k].word == PlacedMeeting::none) continue;
      u[k] = cluster_.load(&place_.agents[some.meetings[k].initiator()]);
      v[k] = cluster_.load(&place_.agents[some.meetings[k].responder()]);
    }
    for (std::uint32_t k = 0; k < at_once; ++k) {
      if (some.meetings[k].word == PlacedMeeting::none) continue;
      meet(stretch, some.meetings[k], u[k], v[k]);
    }
  }

  CONCLAVE_HOST_DEVICE void meet(int stretch, PlacedMeeting meeting, Packed u, Packed v) {
    const auto next = protocol_.shortcut(u, v);
    Packed new_u = next.u;
    Packed new_v = next.v;
    if (next.applies == 0 || next.leaders_lost != 0) {
      const auto full = course().meeting_of(u, v);
      new_u = Storage::pack(protocol_, full.new_u);
      new_v = Storage::pack(protocol_, full.new_v);
      if (place_.tally->is_counted(full.u, full.v, full.new_u, full.new_v)) {
        const std::uint32_t event = cluster_.take_one(&place_.notes->events[stretch % 2]);
        place_.events[event] = {u, v, meeting.position()};
      }
    }
    cluster_.store(&place_.agents[meeting.initiator()], new_u);
    cluster_.store(&place_.agents[meeting.responder()], new_v);
  }

  // --- after a stretch ---

  // A thread that is ahead may note events of the next stretch already: those are counted apart.
  CONCLAVE_HOST_DEVICE void settle(int stretch) {
    std::uint32_t* const events = &place_.notes->events[stretch % 2];
    const std::uint32_t count = cluster_.load(events);
    const std::uint32_t drops = cluster_.load(&place_.drops[stretch]);
    const std::uint64_t done = done_ + size_ - drops;
    const bool ends_phase = stretch + 1 == Cluster::blocks;
    if (count != 0 || done >= batch_.limit || ends_phase) {
      order_events(stretch, count, drops);
      cluster_.sync();
      cluster_.first([&] {
        for (std::uint32_t i = 0; i < count; ++i) {
          const Event* const event = &place_.ordered[i];
          course().hear_of(cluster_.load(&event->u), cluster_.load(&event->v),
                           cluster_.load(&event->number));
        }
        course().reach(done, ends_phase && *batch_.is_stopped);
        *events = 0;
      });
      cluster_.sync();
      is_over_ = cluster_.load(&place_.notes->course.is_over);
    }
    done_ = done;
  }

  CONCLAVE_HOST_DEVICE void order_events(int stretch, std::uint32_t count, std::uint32_t drops) {
    const std::uint32_t* const dropped =
        place_.dropped + std::size_t{size_} * static_cast<std::size_t>(stretch);
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
  Stretches<Cluster> stretches_;
  std::uint32_t size_;  // of a stretch
  const Jumps<Cluster>* jumps_;
  ClusterPlace<P> place_;
  std::uint32_t biased_;
  std::uint64_t done_ = 0;  // interactions before this stretch
  bool is_over_ = false;
  typename Cluster::template Own<Some> next_;
};

}  // namespace conclave::gpu
