// The interactions of a stretch of the schedule in layers. No two interactions of a layer share an
// agent, and of two interactions that do, the earlier one is in an earlier layer. So the
// interactions of a layer can be executed at once, in any order. Who interacts does not depend on
// the states, so this is done ahead, by the threads of one block for a stretch of its own.
//
// Among n agents, a window of some n / 40 interactions holds few that share an agent. So each
// window makes a layer, but for those of its interactions that must wait for an earlier one: they
// go into the next. A first pass finds the agents that occur more than once, with one bit per
// agent. Most interactions have none of them. The others claim their agents, and the earliest one
// wins:
//
//     window      0: 3,9    1: 4,7    2: 9,5    3: 8,6      9 occurs twice: 0 and 2 claim it
//     layer       0: 3,9    1: 4,7    3: 8,6                2 waits for the next window
//
// Different agents may have a bit or a claim in common. That makes some interactions wait in vain
// and none go wrong. Therefore agents are claimed in two tables, and it is enough to win in one:
// who shares the agent itself is in both.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// An interaction in one word: both agents, and its position in the stretch.
struct PlacedPair {
  static constexpr int agent_bits = 23;
  static constexpr std::uint64_t agent_mask = (1u << agent_bits) - 1;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t word;

  // Agents must be below 2^agent_bits; the position is the word's in its stretch.
  CONCLAVE_HOST_DEVICE static PlacedPair of(std::uint32_t initiator, std::uint32_t responder,
                                            std::uint32_t position) {
    return {(std::uint64_t{position} << agent_bits | responder) << agent_bits | initiator};
  }
  CONCLAVE_HOST_DEVICE std::uint32_t initiator() const {
    return static_cast<std::uint32_t>(word & agent_mask);
  }
  CONCLAVE_HOST_DEVICE std::uint32_t responder() const {
    return static_cast<std::uint32_t>(word >> agent_bits & agent_mask);
  }
  CONCLAVE_HOST_DEVICE std::uint32_t position() const {
    return static_cast<std::uint32_t>(word >> 2 * agent_bits);
  }
};

// The memory of the block that arranges a stretch, near its threads. The larger it is, the fewer
// agents share a bit.
struct LayersMemory {
  // How many pairs have found a place, must be settled, or wait for a later layer.
  struct Counts {
    std::uint32_t arranged, contested, waiting;
  };
  std::uint32_t* seen;      // agents of the window; then two tables of claims
  std::uint32_t words;      // of `seen`: a power of two, 64 at least
  std::uint32_t* doubtful;  // a quarter as many: agents that occur more than once
  Counts* counts;

  // The bytes of a memory with this many words in `seen`.
  static constexpr std::size_t bytes(std::uint32_t words) {
    return (words + words / 4) * sizeof(std::uint32_t) + sizeof(Counts);
  }
  // In so many bytes that the caller owns.
  CONCLAVE_HOST_DEVICE static LayersMemory in(std::uint32_t* first, std::uint32_t words) {
    std::uint32_t* const doubtful = first + words;
    return {first, words, doubtful, reinterpret_cast<Counts*>(doubtful + words / 4)};
  }
};

// A stretch, and where its layers are to be written.
struct Stretch {
  const std::uint64_t* drawn;  // in order; PlacedPair::none for words that name no pair
  std::uint32_t size;          // whole windows
  std::uint32_t window;
  std::uint64_t* arranged;  // layer by layer; may begin a window before `drawn`
  std::uint64_t* contested;
  std::uint64_t* waiting;
  std::uint64_t* also_waiting;
  std::uint32_t* ends;  // of the layers, after a 0: room for one per interaction and window
  std::uint32_t* layers;
};

// One use arranges one stretch. All threads of the crew make and use it together.
template <class Crew>
class Layers {
 public:
  // `memory` and what the stretch points to must outlive it. n agents, whose numbers the stretch
  // has.
  CONCLAVE_HOST_DEVICE Layers(Crew crew, const LayersMemory& memory, std::uint32_t n,
                              const Stretch& stretch)
      : crew_(crew),
        memory_(memory),
        stretch_(stretch),
        seen_mask_(mask_for(n, memory.words * 32)),
        doubtful_mask_(mask_for(n, memory.words * 8)),
        claim_mask_(mask_for(n, memory.words / 2)),
        claim_shift_(32 - std::popcount(claim_mask_)) {}

  // Every pass ends a layer with one interaction at least: the earliest that waits.
  CONCLAVE_HOST_DEVICE void arrange() {
    crew_.first([&] {
      memory_.counts->arranged = memory_.counts->contested = memory_.counts->waiting = 0;
      stretch_.ends[0] = 0;
    });
    std::uint32_t layers = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t waiting = 0; begin < stretch_.size || waiting > 0; ++layers) {
      const bool is_even = layers % 2 == 0;
      const Pairs late{is_even ? stretch_.waiting : stretch_.also_waiting, waiting};
      std::uint64_t* const later = is_even ? stretch_.also_waiting : stretch_.waiting;
      if (begin < stretch_.size) {
        sort_out(late, {stretch_.drawn + begin, stretch_.window});
        settle({stretch_.contested, memory_.counts->contested}, later);
        begin += stretch_.window;
      } else {
        settle(late, later);
      }
      waiting = memory_.counts->waiting;
      crew_.first([&] { stretch_.ends[layers + 1] = memory_.counts->arranged; });
    }
    crew_.first([&] { *stretch_.layers = layers; });
  }

 private:
  struct Pairs {
    const std::uint64_t* words;
    std::uint32_t count;
  };

  CONCLAVE_HOST_DEVICE static std::uint32_t mask_for(std::uint32_t n, std::uint32_t most) {
    std::uint32_t size = 32;
    while (size < n && size < most) size *= 2;
    return size - 1;
  }

  // All threads call it equally often, so that they can take places together.
  template <class Visit>
  CONCLAVE_HOST_DEVICE void for_each(int thread, const Pairs& some, Visit visit) const {
    constexpr std::uint32_t at_once = 4;  // so that it waits for them together
    for (std::uint32_t first = 0; first < some.count; first += at_once * Crew::threads) {
      PlacedPair pairs[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        const std::uint32_t i = first + k * Crew::threads + static_cast<std::uint32_t>(thread);
        pairs[k].word = i < some.count ? some.words[i] : PlacedPair::none;
      }
      for (std::uint32_t k = 0; k < at_once; ++k) visit(pairs[k]);
    }
  }
  CONCLAVE_HOST_DEVICE void fill(std::uint32_t* words, std::uint32_t count, std::uint32_t value) {
    crew_.each([&](int thread) {
      for (auto i = static_cast<std::uint32_t>(thread); i < count; i += Crew::threads) {
        words[i] = value;
      }
    });
  }

  // Interactions of agents that occur once go into the layer; the others are contested.
  CONCLAVE_HOST_DEVICE void sort_out(const Pairs& late, const Pairs& fresh) {
    fill(memory_.seen, (seen_mask_ + 1) / 32, 0);
    fill(memory_.doubtful, (doubtful_mask_ + 1) / 32, 0);
    crew_.first([&] { memory_.counts->contested = 0; });
    crew_.sync();
    crew_.each([&](int thread) {
      const auto mark = [&](PlacedPair pair) {
        if (pair.word == PlacedPair::none) return;
        see(pair.initiator());
        see(pair.responder());
      };
      for_each(thread, late, mark);
      for_each(thread, fresh, mark);
    });
    crew_.sync();
    crew_.each([&](int thread) {
      const auto place = [&](PlacedPair pair) {
        const bool is_any = pair.word != PlacedPair::none;
        const bool is_contested =
            is_any && (is_doubtful(pair.initiator()) || is_doubtful(pair.responder()));
        append(pair, is_any && !is_contested, stretch_.arranged, &memory_.counts->arranged);
        append(pair, is_contested, stretch_.contested, &memory_.counts->contested);
      };
      for_each(thread, late, place);
      for_each(thread, fresh, place);
    });
    crew_.sync();
  }

  // The earliest of the contested interactions of an agent goes into the layer; others have to
  // wait.
  CONCLAVE_HOST_DEVICE void settle(const Pairs& contested, std::uint64_t* waiting) {
    fill(memory_.seen, 2 * (claim_mask_ + 1), ~0u);
    crew_.sync();
    crew_.first([&] { memory_.counts->waiting = 0; });
    crew_.each([&](int thread) {
      for_each(thread, contested, [&](PlacedPair pair) {
        if (pair.word == PlacedPair::none) return;
        claim(pair.initiator(), pair.position());
        claim(pair.responder(), pair.position());
      });
    });
    crew_.sync();
    crew_.each([&](int thread) {
      for_each(thread, contested, [&](PlacedPair pair) {
        const bool is_any = pair.word != PlacedPair::none;
        const bool has_won = is_any && is_first(pair.initiator(), pair.position()) &&
                             is_first(pair.responder(), pair.position());
        append(pair, has_won, stretch_.arranged, &memory_.counts->arranged);
        append(pair, is_any && !has_won, waiting, &memory_.counts->waiting);
      });
    });
    crew_.sync();
  }

  CONCLAVE_HOST_DEVICE void see(std::uint32_t agent) {
    if (!crew_.set_bit(memory_.seen, agent & seen_mask_)) return;
    crew_.set_bit(memory_.doubtful, agent & doubtful_mask_);
  }
  CONCLAVE_HOST_DEVICE bool is_doubtful(std::uint32_t agent) const {
    const std::uint32_t bit = agent & doubtful_mask_;
    return (memory_.doubtful[bit / 32] >> bit % 32 & 1) != 0;
  }

  CONCLAVE_HOST_DEVICE std::uint32_t* claim_of(std::uint32_t agent) const {
    return &memory_.seen[agent & claim_mask_];
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* other_claim_of(std::uint32_t agent) const {
    constexpr std::uint32_t odd = 0x9e3779b1;
    return &memory_.seen[claim_mask_ + 1 + (agent * odd >> claim_shift_)];
  }
  CONCLAVE_HOST_DEVICE void claim(std::uint32_t agent, std::uint32_t position) {
    crew_.lower(claim_of(agent), position);
    crew_.lower(other_claim_of(agent), position);
  }
  CONCLAVE_HOST_DEVICE bool is_first(std::uint32_t agent, std::uint32_t position) const {
    return *claim_of(agent) == position || *other_claim_of(agent) == position;
  }

  CONCLAVE_HOST_DEVICE void append(PlacedPair pair, bool wants, std::uint64_t* list,
                                   std::uint32_t* count) {
    const std::uint32_t place = crew_.take_one(count, wants);
    if (wants) list[place] = pair.word;
  }

  Crew crew_;
  LayersMemory memory_;
  Stretch stretch_;
  std::uint32_t seen_mask_;
  std::uint32_t doubtful_mask_;
  std::uint32_t claim_mask_;
  int claim_shift_;
};

}  // namespace conclave::gpu
