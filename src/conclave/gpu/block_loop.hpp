// The trials of large populations on a device: a whole block of threads runs one trial, bit for bit
// that of the agents engine.
//
// Among n agents, some sqrt(n) meetings in a row have mostly no agent in common. So each of 256
// threads has a meeting, and in a pass every thread claims both agents of its own. The earliest
// meeting wins, and those that have won both are executed at once: no earlier meeting is left that
// shares an agent with them. The others claim again in the next pass, in which the threads that are
// free take the next meetings in their order. Agents are claimed in a small table by the low bits
// of their numbers, which makes some meetings wait in vain and none go wrong.
//
//     thread         0         1         2         3         4
//     first pass     0: 3,9    1: 4,7    2: 9,5    3: 7,1    4: 8,6    done: 0, 1, 4
//     second pass    5: 2,8    6: 5,4    2: 9,5    3: 7,1    7: 6,3    done: 2, 3, 5, 7
//     third pass     8: 9,3    6: 5,4    ...
//
// Unlike the eight lanes of trial_loop.hpp, threads may execute meetings beyond the one that ends
// the trial. That does no harm: the tally is notified in the order of the meetings, and states do
// not matter after the end. Only transitions that draw random numbers would do harm, so this is for
// protocols with a shortcut, which draw none. Before the tally can be notified, all earlier
// meetings must be over. So passes form rounds: as soon as the tally must be notified of something,
// no new meetings are taken until all are done, and the round ends.
//
// Eight threads more draw words ahead meanwhile, each those of one lane of the generator. One trial
// is some ten times as fast as with eight lanes, so a few trials are enough to fill a device, and
// their agents may stay in its caches.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/block.hpp"
#include "conclave/gpu/block_shared.hpp"
#include "conclave/gpu/course.hpp"
#include "conclave/gpu/lane_stream.hpp"
#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// As few claims as the population has agents, as many as that share little by accident.
inline constexpr std::uint32_t most_claims = 1u << 14;

template <BlockProtocol P, class Block>
class BlockLoop {
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
        biased_(DrawnPair::biased(batch.n)) {}

  // Runs trials until none is left.
  CONCLAVE_HOST_DEVICE void run() {
    for (;;) {
      block_.first([&] { trial().trial = block_.take_one(batch_.next_trial); });
      block_.sync();
      if (trial().trial >= batch_.trials) return;
      begin();
      while (!trial().is_over) round();
      block_.sync();  // all have seen that it is over
      block_.first([&] {
        Finished<P>& result = batch_.finished[trial().trial];
        course().note(result);
        block_.publish(&result.is_complete);
      });
    }
  }

 private:
  static constexpr std::uint32_t rounds_between_looks = 1u << 5;
  static constexpr std::uint32_t passes_that_take = 30;  // in a round
  static constexpr int position_bits = 13;               // of a claim, below the number of the pass
  static constexpr std::uint32_t last_pass = (1u << (32 - position_bits)) - 1;
  static constexpr std::uint32_t passes_of_a_round = passes_that_take + threads_per_block;
  static_assert(passes_that_take * threads_per_block <= Shared::positions);
  static_assert(Shared::positions <= 1u << position_bits);

  CONCLAVE_HOST_DEVICE CourseState& trial() const { return shared_->course; }
  CONCLAVE_HOST_DEVICE Course<P> course() const { return {batch_, &shared_->course, tally_}; }

  CONCLAVE_HOST_DEVICE void begin() {
    block_.draw([&](int lane) {
      const LaneNames names{batch_.seed, batch_.first_trial + trial().trial, lane};
      names.generator(Purpose::schedule).save(shared_->schedule, lane);
      draw_words(lane, 0);
      draw_words(lane, threads_per_block);
    });
    block_.each([&](int thread) { is_pending_[thread] = false; });
    forget_claims();
    block_.sync();
    block_.first([&] {
      course().begin(agents_);
      for (typename Shared::Pass& each : shared_->passes) each.free.all_say_yes();
      shared_->drops = shared_->events_noted = 0;
    });
    round_ = done_ = 0;
    head_ = taken_ = parity_ = 0;
    drawn_ = 2 * threads_per_block;
    free_ = threads_per_block;
    block_.sync();
  }

  // --- drawing ---

  // The lane's next words: every eighth, in the order of the stream. The words of a lane must be
  // drawn one after the other, which takes about as long as a pass; so nothing else is done with
  // them here.
  CONCLAVE_HOST_DEVICE void draw_words(int lane, std::uint32_t first) {
    const std::uint64_t* const state = shared_->schedule[0].data() + lane;
    LaneGenerator generator{state[0], state[8], state[16], state[24]};
    UnfinishedWord* const words = shared_->words + first % Shared::words_kept + lane;
    for (int i = 0; i < threads_per_block; i += lanes_per_trial) {
      words[i] = generator.next_unfinished();
    }
    generator.save(shared_->schedule, lane);
  }

  // The words that this pass may take are there; these are for later ones.
  CONCLAVE_HOST_DEVICE void draw_ahead() {
    if (drawn_ - (head_ + taken_) >= 2 * threads_per_block) return;
    block_.draw([&](int lane) { draw_words(lane, drawn_); });
    drawn_ += threads_per_block;
  }

  // --- a round ---

  // All threads, those that draw included, see the same after each barrier, and so count the same.
  CONCLAVE_HOST_DEVICE void round() {
    block_.work([&] { prepare_round(); });
    bool is_taking = true;
    for (std::uint32_t passes = 1; is_taking || free_ < threads_per_block; ++passes) {
      draw_ahead();
      block_.work([&] { pass(is_taking); });
      block_.sync();
      if (is_taking) taken_ += free_;
      free_ = this_pass().free.count();
      is_taking =
          is_taking && !this_pass().has_events && passes < passes_that_take && !is_limit_reached();
      parity_ = 1 - parity_;
    }
    block_.work([&] { order_events(); });
    block_.first([&] { settle(); });
    block_.sync();
    done_ = trial().done;
    head_ += taken_;
    taken_ = 0;
    ++round_;
  }

  // Notes about a pass are kept for as long as a thread may still look at them.
  CONCLAVE_HOST_DEVICE typename Shared::Pass& this_pass() const { return shared_->passes[parity_]; }
  CONCLAVE_HOST_DEVICE typename Shared::Pass& pass_before() const {
    return shared_->passes[1 - parity_];
  }
  // The flag that stops the trial is in distant memory, so reading it is slow.
  CONCLAVE_HOST_DEVICE bool is_time_to_look() const {
    return round_ % rounds_between_looks == rounds_between_looks - 1;
  }
  CONCLAVE_HOST_DEVICE bool is_limit_reached() const { return batch_.limit - done_ <= taken_; }

  CONCLAVE_HOST_DEVICE void prepare_round() {
    block_.each([&](int thread) { shared_->dropped.clear(thread); });
    if (pass_ < passes_of_a_round) forget_claims();
    block_.sync_workers();
  }

  // Executes the meetings that come before all others with one of their agents. Agents are read
  // before it is known whose turn it is: if it is not the reader's, they are read again.
  CONCLAVE_HOST_DEVICE void pass(bool is_taking) {
    block_.first([&] { this_pass().has_events = false; });
    if (is_taking) take_meetings();
    const std::uint32_t number = pass_--;
    block_.each([&](int thread) {
      if (!is_pending_[thread]) return;
      block_.lower(&claims_[initiator_[thread] & claim_mask_], claim_of(thread, number));
      block_.lower(&claims_[responder_[thread] & claim_mask_], claim_of(thread, number));
      old_u_[thread] = agents_[initiator_[thread]];
      old_v_[thread] = agents_[responder_[thread]];
    });
    block_.sync_workers();
    block_.each([&](int thread) {
      if (!is_pending_[thread] || !has_won(thread, number)) return;
      meet(thread);
      is_pending_[thread] = false;
    });
    block_.vote(this_pass().free, [&](int thread) { return !is_pending_[thread]; });
  }

  // Every free thread takes the next meeting.
  CONCLAVE_HOST_DEVICE void take_meetings() {
    block_.each([&](int thread) {
      if (is_pending_[thread]) return;
      position_[thread] = taken_ + pass_before().free.before(thread);
      const std::uint64_t word =
          shared_->words[(head_ + position_[thread]) % Shared::words_kept].finished();
      const auto pair = DrawnPair::of(word, batch_.n, biased_);
      initiator_[thread] = pair.initiator;
      responder_[thread] = pair.responder;
      is_pending_[thread] = pair.is_fair;
      if (is_pending_[thread]) return;
      block_.set_bit(shared_->dropped.words, position_[thread]);
      block_.take_one(&shared_->drops);
    });
  }

  // Claims of later passes have smaller numbers, so that they win over those that are left from
  // earlier ones, until the numbers are used up.
  CONCLAVE_HOST_DEVICE std::uint32_t claim_of(int thread, std::uint32_t pass) {
    return pass << position_bits | position_[thread];
  }
  CONCLAVE_HOST_DEVICE bool has_won(int thread, std::uint32_t pass) {
    const std::uint32_t claim = claim_of(thread, pass);
    return claims_[initiator_[thread] & claim_mask_] == claim &&
           claims_[responder_[thread] & claim_mask_] == claim;
  }
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
    if (next.applies == 0) meet_in_general(thread, new_u, new_v);
    agents_[initiator_[thread]] = new_u;
    agents_[responder_[thread]] = new_v;
  }

  CONCLAVE_HOST_DEVICE void meet_in_general(int thread, Packed& packed_u, Packed& packed_v) {
    const auto meeting = Course<P>::meeting_of(protocol_, old_u_[thread], old_v_[thread]);
    packed_u = Storage::pack(protocol_, meeting.new_u);
    packed_v = Storage::pack(protocol_, meeting.new_v);
    if (!tally_->is_counted(meeting.u, meeting.v, meeting.new_u, meeting.new_v)) return;
    shared_->events[block_.take_one(&shared_->events_noted)] = {old_u_[thread], old_v_[thread],
                                                                position_[thread]};
    this_pass().has_events = true;
  }

  // --- after a round ---

  // From the first pass with events on no meeting is taken, so there is at most one per thread.
  CONCLAVE_HOST_DEVICE void order_events() {
    const std::uint32_t count = shared_->events_noted;
    if (count == 0) return;
    block_.each([&](int thread) {
      if (static_cast<std::uint32_t>(thread) >= count) return;
      std::uint32_t before = 0;
      for (std::uint32_t i = 0; i < count; ++i) {
        before += shared_->events[i].position < shared_->events[thread].position ? 1u : 0u;
      }
      shared_->order[before] = static_cast<std::uint32_t>(thread);
    });
    block_.sync_workers();
  }

  // By one thread.
  CONCLAVE_HOST_DEVICE void settle() {
    for (std::uint32_t i = 0; i < shared_->events_noted; ++i) {
      const typename Shared::Event& event = shared_->events[shared_->order[i]];
      const std::uint32_t dropped = shared_->dropped.before(event.position);
      course().hear_of(event.u, event.v, done_ + event.position + 1 - dropped);
    }
    course().reach(done_ + taken_ - shared_->drops, is_time_to_look() && *batch_.is_stopped);
    shared_->events_noted = shared_->drops = 0;
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
  std::uint32_t pass_ = 0;       // the number of the next one; they go down
  std::uint32_t parity_ = 0;     // of the pass
  std::uint64_t round_ = 0;      // of the trial
  std::uint64_t done_ = 0;       // interactions before this round
  std::uint32_t head_ = 0;       // words of the stream before this round, modulo 2^32
  std::uint32_t taken_ = 0;      // words of this round that threads have taken
  std::uint32_t drawn_ = 0;      // words of the stream that are there, modulo 2^32
  std::uint32_t free_ = 0;       // threads without a meeting
  Own<std::uint32_t> position_;  // of the thread's meeting among the words of the round
  Own<std::uint32_t> initiator_;
  Own<std::uint32_t> responder_;
  Own<bool> is_pending_;
  Own<Packed> old_u_;
  Own<Packed> old_v_;
};

}  // namespace conclave::gpu
