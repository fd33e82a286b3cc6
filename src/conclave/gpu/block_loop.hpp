// The trials of large populations on a device: a whole block of threads runs one trial, bit for bit
// that of the agents engine.
//
// Among n agents, some sqrt(n) meetings in a row have mostly no agent in common. So a round takes
// the next 256 meetings, one for each thread, and needs few passes. In a pass every thread that
// still has its meeting claims both of its agents, the earliest meeting wins, and those that have
// won both are executed at once: no earlier meeting is left that shares an agent with them. Agents
// are claimed in a small table by the low bits of their numbers, which makes some meetings wait in
// vain and none go wrong.
//
//     meeting      0: 3,9    1: 4,7    2: 9,5    3: 7,1    4: 8,6
//     first pass   done      done      waits     waits     done
//     second pass                      done      done
//
// Unlike the eight lanes of trial_loop.hpp, a round may execute meetings beyond the one that ends
// the trial. That does no harm: the tally is told of what it must hear in the order of the
// meetings, after the round, and states do not matter after the end. Only transitions that draw
// random numbers would, so this is for protocols with a shortcut, which draw none.
//
// Eight threads more draw the words of the next round meanwhile, each those of one lane of the
// generator. One trial is some ten times as fast as with eight lanes, so a few trials are enough to
// fill a device, and their agents may stay in its caches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/block.hpp"
#include "conclave/gpu/block_shared.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// A protocol whose interactions draw no random numbers and whose tally may hear of them late.
template <class P>
concept BlockProtocol = DeviceProtocol<P> && HasShortcut<P> && !HasMilestones<DeviceTallyFor<P>, P>;

// As few claims as the population has agents, as many as that share little by accident.
inline constexpr std::uint32_t most_claims = 1u << 14;

template <BlockProtocol P, class Block>
class BlockLoop {
  using State = typename P::State;
  using Storage = Stored<P>;
  using Packed = typename Storage::type;
  using Tally = DeviceTallyFor<P>;
  using Shared = BlockShared<P>;
  template <class T>
  using Own = typename Block::template Own<T>;

 public:
  // `claims` has room for `claim_count` words, a power of two; `agents` for the population; both,
  // the tally and `shared` are the block's alone.
  CONCLAVE_HOST_DEVICE BlockLoop(const Batch<P>& batch, Block block, Shared* shared, Tally* tally,
                                 std::uint32_t* claims, std::uint32_t claim_count, Packed* agents)
      : batch_(batch),
        protocol_(*batch.protocol),
        block_(block),
        shared_(shared),
        tally_(tally),
        claims_(claims),
        claim_mask_(claim_count - 1),
        agents_(agents),
        biased_(static_cast<std::uint32_t>((1ull << 32) % batch.n)) {}

  // Runs trials until none is left.
  CONCLAVE_HOST_DEVICE void run() {
    for (;;) {
      block_.first([&] { shared_->trial = block_.take_one(batch_.next_trial); });
      block_.sync();
      if (shared_->trial >= batch_.trials) return;
      begin();
      while (!shared_->is_over) round();
      block_.sync();  // all have seen that it is over
      block_.first([&] { note(); });
    }
  }

 private:
  static constexpr std::uint32_t rounds_between_looks = 1u << 10;
  static constexpr int index_bits = 8;  // of a claim, below the number of the pass
  static constexpr std::uint32_t last_pass = (1u << (32 - index_bits)) - 1;
  static_assert(threads_per_block == 1 << index_bits);

  CONCLAVE_HOST_DEVICE void begin() {
    block_.draw([&](int lane) {
      const LaneNames names{batch_.seed, batch_.first_trial + shared_->trial, lane};
      names.generator(Purpose::start).save(shared_->start, lane);
      names.generator(Purpose::schedule).save(shared_->schedule, lane);
      draw_words(lane, 0);
    });
    forget_claims();
    block_.sync();
    block_.first([&] { draw_start(); });
    round_ = done_ = 0;
    block_.sync();
  }

  // The first thread draws the start, in the order in which `agents` does.
  CONCLAVE_HOST_DEVICE void draw_start() {
    shared_->next_start = 0;
    LaneStream choice(shared_->start[0].data(), &shared_->next_start);
    Tally tally(*batch_.protocol);
    for (std::uint32_t agent = 0; agent < batch_.n; ++agent) {
      const State state = protocol_.initial(batch_.start, agent, choice);
      agents_[agent] = Storage::pack(protocol_, state);
      tally.add(state);
    }
    *tally_ = tally;
    shared_->done = shared_->converged_at = 0;
    for (typename Shared::Round& each : shared_->rounds) forget(each);
    for (bool& each : shared_->has_event) each = false;
    shared_->again = 0;
    shared_->is_holding = false;
    shared_->is_over = ends_at(0) || batch_.limit == 0;
  }

  // --- drawing ---

  // The lane's words of a round: every eighth, in the order of the stream. The words of a lane must
  // be drawn one after the other, which takes as long as all the rest of a round; so nothing else
  // is done with them here.
  CONCLAVE_HOST_DEVICE void draw_words(int lane, int buffer) {
    const std::uint64_t* const state = shared_->schedule[0].data() + lane;
    LaneGenerator generator{state[0], state[8], state[16], state[24]};
    for (int i = lane; i < threads_per_block; i += lanes_per_trial) {
      shared_->words[buffer][i] = generator.next();
    }
    generator.save(shared_->schedule, lane);
  }

  // --- a round ---

  // All threads keep the same count of rounds and interactions, those that draw included.
  CONCLAVE_HOST_DEVICE void round() {
    const int buffer = static_cast<int>(round_ % 2);
    block_.draw([&](int lane) { draw_words(lane, 1 - buffer); });
    block_.work([&] {
      take_meetings(buffer);
      while (pass()) {
      }
    });
    block_.sync();
    if (this_round().has_events || is_near_limit() || is_time_to_look()) {
      block_.first([&] { settle(); });
      block_.sync();
    }
    done_ += threads_per_block - this_round().drops;
    ++round_;
  }

  CONCLAVE_HOST_DEVICE typename Shared::Round& this_round() const {
    return shared_->rounds[round_ % Shared::rounds_kept];
  }
  // Whether the trial is to be stopped is written far away, and asking takes long.
  CONCLAVE_HOST_DEVICE bool is_time_to_look() const {
    return round_ % rounds_between_looks == rounds_between_looks - 1;
  }
  CONCLAVE_HOST_DEVICE bool is_near_limit() const {
    return batch_.limit - done_ <= threads_per_block;
  }
  CONCLAVE_HOST_DEVICE void forget(typename Shared::Round& round) const {
    round.dropped.clear();
    round.drops = 0;
    round.has_events = false;
  }

  // Words that would bias the pair count as none, as in base/lanes.cpp.
  CONCLAVE_HOST_DEVICE void take_meetings(int buffer) {
    block_.first([&] { forget(shared_->rounds[(round_ + 2) % Shared::rounds_kept]); });
    block_.each([&](int thread) {
      const std::uint64_t word = shared_->words[buffer][thread];
      const std::uint64_t first = (word >> 32) * batch_.n;
      const std::uint64_t second = (word & 0xffffffffu) * batch_.n;
      initiator_[thread] = static_cast<std::uint32_t>(first >> 32);
      responder_[thread] = static_cast<std::uint32_t>(second >> 32);
      is_pending_[thread] = initiator_[thread] != responder_[thread] &&
                            static_cast<std::uint32_t>(first) >= biased_ &&
                            static_cast<std::uint32_t>(second) >= biased_;
      if (is_pending_[thread]) return;
      block_.set_bit(this_round().dropped.words, thread);
      block_.add_one(&this_round().drops);
    });
    if (!is_near_limit()) return;
    block_.sync_workers();
    block_.each([&](int thread) {
      is_pending_[thread] = is_pending_[thread] && number_of(thread) <= batch_.limit;
    });
  }

  // The number of the thread's meeting among those of the trial, counted from 1.
  CONCLAVE_HOST_DEVICE std::uint64_t number_of(int thread) const {
    return done_ + static_cast<std::uint64_t>(thread) + 1 - this_round().dropped.before(thread);
  }

  // Executes the meetings that come before all others with one of their agents; whether some are
  // left. Agents are read before it is known whose turn it is: if it is not the reader's, they are
  // read again.
  CONCLAVE_HOST_DEVICE bool pass() {
    if (pass_ == 0) {
      forget_claims();
      block_.sync_workers();
    }
    const std::uint32_t number = pass_--;
    block_.each([&](int thread) {
      if (!is_pending_[thread]) return;
      const std::uint32_t claim = number << index_bits | static_cast<std::uint32_t>(thread);
      block_.lower(&claims_[initiator_[thread] & claim_mask_], claim);
      block_.lower(&claims_[responder_[thread] & claim_mask_], claim);
      old_u_[thread] = agents_[initiator_[thread]];
      old_v_[thread] = agents_[responder_[thread]];
    });
    block_.sync_workers();
    block_.each([&](int thread) {
      if (!is_pending_[thread]) return;
      const std::uint32_t claim = number << index_bits | static_cast<std::uint32_t>(thread);
      if (claims_[initiator_[thread] & claim_mask_] == claim &&
          claims_[responder_[thread] & claim_mask_] == claim) {
        meet(thread);
        is_pending_[thread] = false;
      } else {
        shared_->again = number + 1;
      }
    });
    block_.sync_workers();
    return shared_->again == number + 1;
  }

  // Claims of later passes have smaller numbers, so that they win over those that are left from
  // earlier ones, until the numbers are used up.
  CONCLAVE_HOST_DEVICE void forget_claims() {
    pass_ = last_pass - 1;
    block_.each([&](int thread) {
      for (std::uint32_t i = static_cast<std::uint32_t>(thread); i <= claim_mask_;
           i += threads_per_block) {
        claims_[i] = ~0u;
      }
    });
  }

  CONCLAVE_HOST_DEVICE void meet(int thread) {
    const auto next = protocol_.shortcut(old_u_[thread], old_v_[thread]);
    Packed new_u = next.u;
    Packed new_v = next.v;
    if (next.applies == 0 || next.leaders_lost != 0) meet_in_general(thread, new_u, new_v);
    agents_[initiator_[thread]] = new_u;
    agents_[responder_[thread]] = new_v;
  }

  CONCLAVE_HOST_DEVICE void meet_in_general(int thread, Packed& packed_u, Packed& packed_v) {
    const State u = Storage::unpack(protocol_, old_u_[thread]);
    const State v = Storage::unpack(protocol_, old_v_[thread]);
    State new_u = u;
    State new_v = v;
    NoticedChoice none;
    protocol_.interact(new_u, new_v, none);
    packed_u = Storage::pack(protocol_, new_u);
    packed_v = Storage::pack(protocol_, new_v);
    if (!tally_->is_counted(u, v, new_u, new_v)) return;
    shared_->events[thread] = {old_u_[thread], old_v_[thread], packed_u, packed_v};
    shared_->has_event[thread] = true;
    this_round().has_events = true;
  }

  // --- after a round, by one thread ---

  CONCLAVE_HOST_DEVICE void settle() {
    if (this_round().has_events) tell_tally();
    if (shared_->is_over) return;
    shared_->done = done_ + threads_per_block - this_round().drops;
    if (shared_->done >= batch_.limit) {
      shared_->done = batch_.limit;
      shared_->is_over = true;
    }
    if (is_time_to_look() && *batch_.is_stopped) shared_->is_over = true;
  }

  CONCLAVE_HOST_DEVICE void tell_tally() {
    for (int thread = 0; thread < threads_per_block; ++thread) {
      if (!shared_->has_event[thread]) continue;
      shared_->has_event[thread] = false;
      if (!shared_->is_over) tell_tally_of(thread);
    }
  }

  CONCLAVE_HOST_DEVICE void tell_tally_of(int thread) {
    const typename Shared::Event event = shared_->events[thread];
    tally_->replace(Storage::unpack(protocol_, event.u), Storage::unpack(protocol_, event.v),
                    Storage::unpack(protocol_, event.new_u),
                    Storage::unpack(protocol_, event.new_v));
    if (!is_decided() || !ends_at(number_of(thread))) return;
    shared_->done = number_of(thread);
    shared_->is_over = true;
  }

  // Whether what the trial waits for has happened.
  CONCLAVE_HOST_DEVICE bool is_decided() const {
    if constexpr (MeasuresHolding<P>) {
      if (shared_->is_holding) return tally_->violated();
    }
    return tally_->converged() || tally_->hopeless();
  }

  // Whether the trial ends after so many interactions. A trial that has converged goes on where its
  // protocol measures how long that holds.
  CONCLAVE_HOST_DEVICE bool ends_at(std::uint64_t number) {
    if constexpr (MeasuresHolding<P>) {
      if (protocol_.measures_holding() && !shared_->is_holding && tally_->converged()) {
        shared_->is_holding = true;
        shared_->converged_at = number;
        batch_.finished[shared_->trial].tally = *tally_;
        tally_->hold();
        return false;
      }
    }
    return is_decided();
  }

  CONCLAVE_HOST_DEVICE void note() {
    Finished<P>& result = batch_.finished[shared_->trial];
    const bool has_converged = shared_->is_holding || tally_->converged();
    bool has_ended = has_converged || tally_->hopeless();
    result.interactions = shared_->is_holding ? shared_->converged_at : shared_->done;
    result.held = shared_->done - shared_->converged_at;
    result.is_violated = false;
    if constexpr (MeasuresHolding<P>) {
      result.is_violated = shared_->is_holding && tally_->violated();
      if (shared_->is_holding) has_ended = result.is_violated;
    }
    if (!shared_->is_holding) result.tally = *tally_;
    result.ending = has_converged ? Ending::converged : Ending::limit;
    if (!has_converged && tally_->hopeless()) result.ending = Ending::hopeless;
    if (!has_ended && shared_->done < batch_.limit) result.ending = Ending::interrupted;
    block_.publish(&result.is_complete);
  }

  Batch<P> batch_;
  P protocol_;
  Block block_;
  Shared* shared_;
  Tally* tally_;
  std::uint32_t* claims_;
  std::uint32_t claim_mask_;
  Packed* agents_;
  std::uint32_t biased_;
  std::uint32_t pass_ = 0;   // the number of the next one; they go down
  std::uint64_t round_ = 0;  // of the trial
  std::uint64_t done_ = 0;   // interactions before this round
  Own<std::uint32_t> initiator_;
  Own<std::uint32_t> responder_;
  Own<bool> is_pending_;
  Own<Packed> old_u_;
  Own<Packed> old_v_;
};

}  // namespace conclave::gpu
