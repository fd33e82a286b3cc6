// The meetings of a stretch of the schedule in layers. No two meetings of a layer share an agent,
// and of two meetings that do, the earlier one is in an earlier layer. So the meetings of a layer
// can be executed at once, in any order. Who meets whom does not depend on the states, so this is
// done ahead, by the threads of one block for a stretch of its own.
//
// Among n agents, a window of some n / 40 meetings holds few that share an agent. So each window
// makes a layer, but for those of its meetings that must wait for an earlier one: they go into the
// next. A first look finds the agents that occur more than once, with one bit per agent. Most
// meetings have none of them. The others claim their agents, and the earliest meeting wins:
//
//     window      0: 3,9    1: 4,7    2: 9,5    3: 8,6      9 occurs twice: 0 and 2 claim it
//     layer       0: 3,9    1: 4,7    3: 8,6                2 waits for the next window
//
// Different agents may have a bit or a claim in common. That makes some meetings wait in vain and
// none go wrong. Therefore agents are claimed in two tables, and it is enough to win in one: who
// shares the agent itself is in both.
#pragma once

#include <bit>
#include <cstdint>

#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// A meeting in one word: both agents, and its position in the stretch.
struct PlacedMeeting {
  static constexpr int agent_bits = 23;
  static constexpr std::uint64_t agent_mask = (1u << agent_bits) - 1;
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  std::uint64_t word;

  CONCLAVE_HOST_DEVICE static PlacedMeeting of(std::uint32_t initiator, std::uint32_t responder,
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

// The memory of the block that arranges a stretch.
struct LayersShared {
  static constexpr std::uint32_t most_seen = 1u << 20;
  static constexpr std::uint32_t most_doubtful = 1u << 18;
  static constexpr std::uint32_t most_claims = most_seen / 32 / 2;

  std::uint32_t seen[most_seen / 32];  // agents of the window; then two tables of claims
  std::uint32_t doubtful[most_doubtful / 32];
  std::uint32_t arranged;  // counts
  std::uint32_t contested;
  std::uint32_t waiting;
};

// A stretch, and where its layers are to be written.
struct Stretch {
  const std::uint64_t* drawn;  // in order; PlacedMeeting::none for words that are no meeting
  std::uint32_t size;          // whole windows
  std::uint32_t window;
  std::uint64_t* arranged;  // layer by layer; may begin a window before `drawn`
  std::uint64_t* contested;
  std::uint64_t* waiting;
  std::uint64_t* also_waiting;
  std::uint32_t* ends;  // of the layers, after a 0: room for one per meeting and window
  std::uint32_t* layers;
};

template <class Crew>
class Layers {
 public:
  CONCLAVE_HOST_DEVICE Layers(Crew crew, LayersShared* shared, std::uint32_t n,
                              const Stretch& stretch)
      : crew_(crew),
        shared_(shared),
        stretch_(stretch),
        seen_mask_(mask_for(n, LayersShared::most_seen)),
        doubtful_mask_(mask_for(n, LayersShared::most_doubtful)),
        claim_mask_(mask_for(n, LayersShared::most_claims)),
        claim_shift_(32 - std::popcount(claim_mask_)) {}

  // Every pass ends a layer with a meeting at least: the earliest that waits.
  CONCLAVE_HOST_DEVICE void arrange() {
    crew_.first([&] {
      shared_->arranged = shared_->contested = shared_->waiting = 0;
      stretch_.ends[0] = 0;
    });
    std::uint32_t layers = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t waiting = 0; begin < stretch_.size || waiting > 0; ++layers) {
      const bool is_even = layers % 2 == 0;
      const Meetings late{is_even ? stretch_.waiting : stretch_.also_waiting, waiting};
      std::uint64_t* const later = is_even ? stretch_.also_waiting : stretch_.waiting;
      if (begin < stretch_.size) {
        sort_out(late, {stretch_.drawn + begin, stretch_.window});
        settle({stretch_.contested, shared_->contested}, later);
        begin += stretch_.window;
      } else {
        settle(late, later);
      }
      waiting = shared_->waiting;
      crew_.first([&] { stretch_.ends[layers + 1] = shared_->arranged; });
    }
    crew_.first([&] { *stretch_.layers = layers; });
  }

 private:
  struct Meetings {
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
  CONCLAVE_HOST_DEVICE void for_each(int thread, const Meetings& some, Visit visit) const {
    constexpr std::uint32_t at_once = 4;  // so that it waits for them together
    for (std::uint32_t first = 0; first < some.count; first += at_once * Crew::threads) {
      PlacedMeeting meetings[at_once];
      for (std::uint32_t k = 0; k < at_once; ++k) {
        const std::uint32_t i = first + k * Crew::threads + static_cast<std::uint32_t>(thread);
        meetings[k].word = i < some.count ? some.words[i] : PlacedMeeting::none;
      }
      for (std::uint32_t k = 0; k < at_once; ++k) visit(meetings[k]);
    }
  }
  CONCLAVE_HOST_DEVICE void fill(std::uint32_t* words, std::uint32_t count, std::uint32_t value) {
    crew_.each([&](int thread) {
      for (auto i = static_cast<std::uint32_t>(thread); i < count; i += Crew::threads) {
        words[i] = value;
      }
    });
  }

  // Meetings of agents that occur once go into the layer; the others are contested.
  CONCLAVE_HOST_DEVICE void sort_out(const Meetings& late, const Meetings& fresh) {
    fill(shared_->seen, (seen_mask_ + 1) / 32, 0);
    fill(shared_->doubtful, (doubtful_mask_ + 1) / 32, 0);
    crew_.first([&] { shared_->contested = 0; });
    crew_.sync();
    crew_.each([&](int thread) {
      const auto look = [&](PlacedMeeting meeting) {
        if (meeting.word == PlacedMeeting::none) return;
        see(meeting.initiator());
        see(meeting.responder());
      };
      for_each(thread, late, look);
      for_each(thread, fresh, look);
    });
    crew_.sync();
    crew_.each([&](int thread) {
      const auto place = [&](PlacedMeeting meeting) {
        const bool is_any = meeting.word != PlacedMeeting::none;
        const bool is_contested =
            is_any && (is_doubtful(meeting.initiator()) || is_doubtful(meeting.responder()));
        append(meeting, is_any && !is_contested, stretch_.arranged, &shared_->arranged);
        append(meeting, is_contested, stretch_.contested, &shared_->contested);
      };
      for_each(thread, late, place);
      for_each(thread, fresh, place);
    });
    crew_.sync();
  }

  // The earliest of the contested meetings of an agent goes into the layer; others have to wait.
  CONCLAVE_HOST_DEVICE void settle(const Meetings& contested, std::uint64_t* waiting) {
    fill(shared_->seen, 2 * (claim_mask_ + 1), ~0u);
    crew_.sync();
    crew_.first([&] { shared_->waiting = 0; });
    crew_.each([&](int thread) {
      for_each(thread, contested, [&](PlacedMeeting meeting) {
        if (meeting.word == PlacedMeeting::none) return;
        claim(meeting.initiator(), meeting.position());
        claim(meeting.responder(), meeting.position());
      });
    });
    crew_.sync();
    crew_.each([&](int thread) {
      for_each(thread, contested, [&](PlacedMeeting meeting) {
        const bool is_any = meeting.word != PlacedMeeting::none;
        const bool has_won = is_any && is_first(meeting.initiator(), meeting.position()) &&
                             is_first(meeting.responder(), meeting.position());
        append(meeting, has_won, stretch_.arranged, &shared_->arranged);
        append(meeting, is_any && !has_won, waiting, &shared_->waiting);
      });
    });
    crew_.sync();
  }

  CONCLAVE_HOST_DEVICE void see(std::uint32_t agent) {
    if (!crew_.set_bit(shared_->seen, agent & seen_mask_)) return;
    crew_.set_bit(shared_->doubtful, agent & doubtful_mask_);
  }
  CONCLAVE_HOST_DEVICE bool is_doubtful(std::uint32_t agent) const {
    const std::uint32_t bit = agent & doubtful_mask_;
    return (shared_->doubtful[bit / 32] >> bit % 32 & 1) != 0;
  }

  CONCLAVE_HOST_DEVICE std::uint32_t* claim_of(std::uint32_t agent) const {
    return &shared_->seen[agent & claim_mask_];
  }
  CONCLAVE_HOST_DEVICE std::uint32_t* other_claim_of(std::uint32_t agent) const {
    constexpr std::uint32_t odd = 0x9e3779b1;
    return &shared_->seen[claim_mask_ + 1 + (agent * odd >> claim_shift_)];
  }
  CONCLAVE_HOST_DEVICE void claim(std::uint32_t agent, std::uint32_t position) {
    crew_.lower(claim_of(agent), position);
    crew_.lower(other_claim_of(agent), position);
  }
  CONCLAVE_HOST_DEVICE bool is_first(std::uint32_t agent, std::uint32_t position) const {
    return *claim_of(agent) == position || *other_claim_of(agent) == position;
  }

  CONCLAVE_HOST_DEVICE void append(PlacedMeeting meeting, bool wants, std::uint64_t* list,
                                   std::uint32_t* count) {
    const std::uint32_t place = crew_.take_one(count, wants);
    if (wants) list[place] = meeting.word;
  }

  Crew crew_;
  LayersShared* shared_;
  Stretch stretch_;
  std::uint32_t seen_mask_;
  std::uint32_t doubtful_mask_;
  std::uint32_t claim_mask_;
  int claim_shift_;
};

}  // namespace conclave::gpu
