// Keeps edges FIFO: a message arrives no earlier than the one before it on its edge.
//
// The messages of one sender that may still be on their way are noted together, in two lines of
// memory and four bytes each: some bits of the receiver, and in which part of the calendar the
// message lies. That is enough to see that a message cannot overtake another, which is so for
// nearly all. Where it is not, the calendar is asked, which tells the earlier one's time exactly.
// Where a sender has more messages on their way than it has room for, the others' edges are kept in
// a table, and exactly; those of a broadcast in an array (broadcast_arrivals.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "conclave/base/large_pages.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

// When the copies of a message to all others arrive, side by side: four bytes each and no search,
// where a table of edges would take 32 and a look at a random place. Of one broadcast at a time.
class BroadcastArrivals {
 public:
  // A broadcast of this sender begins, unless another one is on its way. O(n).
  void begin(Ticks now, NodeIndex from, NodeCount n) {
    if (over_ > now) return;
    from_ = from;
    over_ = now + unit;
    delays_.assign(n, 0);
  }

  // Notes a message sent now that arrives then, within a unit, if it belongs to the broadcast or
  // follows it at once; tells whether it does. To be called in the order of sending.
  bool note(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    if (from != from_ || over_ != now + unit) return false;
    delays_[to] = static_cast<std::uint32_t>(arrival - now - 1);
    return true;
  }

  // When the last message that was noted on this edge arrives. If there is none, a time before
  // which no later message of this sender can arrive anyway, or 0.
  Ticks find(NodeIndex from, NodeIndex to) const {
    return over_ != 0 && from == from_ ? over_ - unit + 1 + delays_[to] : 0;
  }

  // Memory that it takes now.
  std::size_t bytes() const { return delays_.capacity() * sizeof(delays_[0]); }

 private:
  NodeIndex from_ = 0;
  Ticks over_ = 0;                                                // then all copies have arrived
  std::vector<std::uint32_t, LargePages<std::uint32_t>> delays_;  // less one tick
};

class LastArrivals {
  struct Sender;
  using Eight [[gnu::vector_size(16)]] = std::uint16_t;  // in one register, like these
  using Sixteen [[gnu::vector_size(16)]] = std::uint8_t;
  using EightBytes [[gnu::vector_size(8)]] = std::uint8_t;
  using Signed [[gnu::vector_size(16)]] = std::int8_t;
  using Halves [[gnu::vector_size(16)]] = std::uint64_t;

 public:
  // O(n) bytes until messages are noted.
  explicit LastArrivals(NodeCount n) : senders_(n) {}

  class Sending;

  // When a message arrives that would arrive then, at most one unit after now: no earlier than the
  // one before it on its edge. Time never goes back. `calendar` holds all messages on their way;
  // `is_it` recognizes those on this edge.
  Ticks after_others(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival, const auto& calendar,
                     const auto& is_it) const {
    const Sender& sender = senders_[from];
    if (sender.is_crowded != 0) {
      arrival = std::max({arrival, crowded_.find(from, to), broadcast_.find(from, to)});
    }
    return sender.resolve(now, to, arrival, calendar, is_it);
  }

  // This sender sends to all others now.
  void begin_broadcast(Ticks now, NodeIndex from) {
    if (senders_.size() > most_notes) broadcast_.begin(now, from, senders_.size());
  }

  // Whether so many messages of a sender at once are more than it has room for; and one of them, on
  // this edge, will be noted soon.
  static bool is_crowd(std::size_t at_once) { return at_once > most_notes; }
  [[gnu::always_inline]] void expect(NodeIndex from, NodeIndex to) const {
    crowded_.fetch(from, to);
  }

  // A sender that probably sends soon.
  [[gnu::always_inline]] void prefetch(NodeIndex from) const {
    __builtin_prefetch(&senders_[from], 1);
    __builtin_prefetch(&senders_[from].moments, 1);
  }

  // Memory needed so far at most, approximately, since the table may shrink.
  std::size_t bytes() const {
    return senders_.size() * sizeof(Sender) + crowded_.bytes() + broadcast_.bytes();
  }

 private:
  [[gnu::noinline]] void note_apart(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    senders_[from].is_crowded = Sender::crowded_now;
    if (broadcast_.note(now, from, to, arrival)) return;
    crowded_.at(from, to, [now](Ticks other) { return other <= now; }) = arrival;
  }

  // A note is twelve bits of the receiver, the moment of arrival in 64ths of a unit, of which eight
  // bits are kept, two more of the number of the bucket and a mark of ten. There are 256 buckets
  // per unit at most, and a message is on its way for a unit at most.
  static constexpr std::size_t most_notes = 30;
  static constexpr unsigned receiver_bits = 12;
  static constexpr unsigned receiver_mask = (1u << receiver_bits) - 1;
  static constexpr unsigned low_mark_bits = 6;
  static constexpr Ticks moment = unit / 64;
  static constexpr std::uint8_t most_ahead = unit / moment;
  static std::uint8_t moment_of(Ticks at) { return static_cast<std::uint8_t>(at / moment); }

  template <class Some>
  static Some read(const auto& notes, std::size_t first) {
    Some some;
    std::memcpy(&some, &notes[first], sizeof(some));
    return some;
  }
  static std::uint64_t any_bit(Eight bits) {
    const Halves halves = reinterpret_cast<Halves>(bits);
    return halves[0] | halves[1];
  }

  // Sets of notes are bits of a word.
  static constexpr std::uint32_t all_notes = (std::uint32_t{1} << most_notes) - 1;
  static constexpr std::size_t last_ones = most_notes - 16;
  // The lowest bit of each byte.
  static std::uint32_t lowest_bits(Signed bytes) {
    const auto halves = reinterpret_cast<Halves>(bytes) & 0x0101010101010101;
    const Halves collected = halves * 0x0102040810204080 >> 56;
    return static_cast<std::uint32_t>(collected[0] | collected[1] << 8);
  }

  struct alignas(128) Sender {
    std::array<std::uint16_t, most_notes> receivers{};  // and the mark's higher bits
    std::uint32_t used = 0;  // the notes of messages that were on their way when last cleaned
    std::array<std::uint8_t, most_notes> moments{};
    std::array<std::uint8_t, most_notes> places{};  // two bits of the bucket, the rest of the mark
    std::uint16_t next_cleaning = 0;                // in moments
    // Some of its edges are in the table or the array. Counts down with the cleanings, since those
    // messages have arrived when two are due.
    std::uint8_t is_crowded = 0;
    static constexpr std::uint8_t crowded_now = 2;

    // All receivers, the last eight of which overlap with those before.
    struct Receivers {
      Eight first, second, third, last;

      // Not zero if one of them may be this one. Shifting drops the bits of the mark.
      [[gnu::always_inline]] std::uint64_t about(NodeIndex to) const {
        constexpr unsigned shift = 16 - receiver_bits;
        const Eight wanted = Eight{} + static_cast<std::uint16_t>(to << shift);
        return any_bit((first << shift == wanted) | (second << shift == wanted) |
                       (third << shift == wanted) | (last << shift == wanted));
      }
    };
    [[gnu::always_inline]] Receivers all_receivers() const {
      return {read<Eight>(receivers, 0), read<Eight>(receivers, 8), read<Eight>(receivers, 16),
              read<Eight>(receivers, most_notes - 8)};
    }

    // The notes that are behind by at most two units: the sign tells. Those that are over are not
    // older if `clean` is called once per unit. If older ones are taken for messages on their way,
    // nothing is lost but time.
    std::uint32_t those_over(Ticks now) const {
      const Sixteen today = Sixteen{} + moment_of(now);
      const auto is_over = [&](std::size_t first) {
        return lowest_bits(reinterpret_cast<Signed>(read<Sixteen>(moments, first) - today) < 0);
      };
      return is_over(0) | is_over(last_ones) << last_ones;
    }

    [[gnu::always_inline]] void write(std::size_t place, NodeIndex to, Ticks arrival,
                                      std::uint64_t bucket, unsigned mark) {
      receivers[place] =
          static_cast<std::uint16_t>((to & receiver_mask) | mark >> low_mark_bits << receiver_bits);
      moments[place] = moment_of(arrival);
      places[place] = static_cast<std::uint8_t>((bucket & 3) | mark << 2);
    }

    Ticks resolve(Ticks now, NodeIndex to, Ticks arrival, const auto& calendar,
                  const auto& is_it) const {
      for (std::size_t first = 0; first < most_notes; first += 8) {
        const std::size_t from = std::min(first, most_notes - 8);
        for (std::uint64_t found = those_about(to, now, from); found != 0; found &= found - 1) {
          const std::size_t note = from + static_cast<std::size_t>(std::countr_zero(found)) / 8;
          const std::uint64_t bucket = bucket_of(note, now, calendar);
          if (bucket < calendar.bucket_of(arrival)) continue;
          arrival = std::max(arrival, calendar.last_in(bucket, mark_of(note), is_it));
        }
      }
      return arrival;
    }

    // Which of eight notes are about this receiver and not over: one bit in the byte of each.
    std::uint64_t those_about(NodeIndex to, Ticks now, std::size_t first) const {
      const Eight wanted = Eight{} + static_cast<std::uint16_t>(to & receiver_mask);
      const auto is_same = (read<Eight>(receivers, first) & receiver_mask) == wanted;
      const EightBytes ahead = read<EightBytes>(moments, first) - moment_of(now);
      const auto is_near = reinterpret_cast<EightBytes>(ahead <= most_ahead);
      const auto both = __builtin_convertvector(is_same, EightBytes) & is_near;
      return std::bit_cast<std::uint64_t>(both) & 0x0101010101010101;
    }

    std::uint64_t bucket_of(std::size_t note, Ticks now, const auto& calendar) const {
      const unsigned ahead = (unsigned{moments[note]} - moment_of(now)) % 256;
      const std::uint64_t bucket = calendar.bucket_of((now / moment + ahead) * moment);
      return bucket + ((places[note] - bucket) & 3);
    }
    std::uint16_t mark_of(std::size_t note) const {
      const unsigned high = unsigned{receivers[note]} >> receiver_bits << low_mark_bits;
      return static_cast<std::uint16_t>(high | places[note] >> 2);
    }

    // Also if it has never been done.
    bool must_be_cleaned(Ticks now) const {
      return static_cast<std::uint16_t>(now / moment - next_cleaning) < 0x10000 - between_cleanings;
    }
    // Looks which notes are over. When that is due, a message sent before the last time that it was
    // due has arrived; and all have if it is due for a unit.
    [[gnu::noinline]] void clean(Ticks now) {
      used &= ~those_over(now);
      if (!must_be_cleaned(now)) return;
      const auto overdue = static_cast<std::uint16_t>(now / moment - next_cleaning);
      if (overdue >= most_ahead) used = is_crowded = 0;
      is_crowded /= 2;
      next_cleaning = static_cast<std::uint16_t>(now / moment + between_cleanings);
    }
    // More than a unit, whenever in its moment a cleaning is done.
    static constexpr unsigned between_cleanings = most_ahead + 1;
  };
  static_assert(sizeof(Sender) == 128);

 public:
  // A sender that sends one message now, or several to different nodes. What it notes is not read
  // again meanwhile, since a processor waits before it reads what was just written piece by piece.
  class Sending {
   public:
    [[gnu::always_inline]] Sending(LastArrivals& all, Ticks now, NodeIndex from, std::size_t count)
        : all_(all), sender_(all.senders_[from]), now_(now), from_(from) {
      const bool may_lack_room = count > 1 || sender_.used == all_notes;
      if (may_lack_room || sender_.must_be_cleaned(now)) sender_.clean(now);
      used_ = sender_.used;
      receivers_ = sender_.all_receivers();
      is_crowded_ = sender_.is_crowded;
      is_idle_ = (used_ | is_crowded_) == 0;
    }

    // Whether there may be a message on this edge; false for nearly all, and then it is certain.
    [[gnu::always_inline]] bool may_overtake(NodeIndex to) const {
      return !is_idle_ && (receivers_.about(to) | is_crowded_) != 0;
    }

    // Notes a message that is in the calendar now, in this bucket and under this mark.
    [[gnu::always_inline]] void note(NodeIndex to, Ticks arrival, std::uint64_t bucket,
                                     std::uint16_t mark) {
      if (used_ == all_notes) return all_.note_apart(now_, from_, to, arrival);
      sender_.write(static_cast<std::size_t>(__builtin_ctz(~used_)), to, arrival, bucket, mark);
      used_ |= used_ + 1;
      sender_.used = used_;
    }

   private:
    LastArrivals& all_;
    Sender& sender_;
    Ticks now_;
    NodeIndex from_;
    std::uint32_t used_;           // notes
    Sender::Receivers receivers_;  // as they were before, like these
    std::uint64_t is_crowded_;
    bool is_idle_;
  };

 private:
  ZeroedArray<Sender> senders_;
  EdgeTable crowded_;  // edges of senders that have no room for a note
  BroadcastArrivals broadcast_;
};

}  // namespace conclave::network::detail
