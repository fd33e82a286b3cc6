// Keeps edges FIFO: a message arrives no earlier than the one before it on its edge.
//
// The messages of one sender that may still be on their way are noted together, in two lines of
// memory and four bytes each: some bits of the receiver, and in which part of the calendar the
// message lies. That is enough to see that a message cannot overtake another, which is so for
// nearly all. Where it is not, the calendar is asked, which tells the earlier one's time exactly.
// The edges of a sender that has more messages on their way than it has room for, as after a
// broadcast, are kept in a table, and exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/edge_table.hpp"
#include "conclave/network/detail/large_pages.hpp"

namespace conclave::network::detail {

class LastArrivals {
 public:
  explicit LastArrivals(NodeCount n) : senders_(n) {}

  // Whether none of its messages is on its way.
  bool is_idle(Ticks now, NodeIndex from) const { return senders_[from].busy_until <= now; }

  // Whether there may be a message on this edge; false for nearly all, and then it is certain.
  [[gnu::always_inline]] bool may_overtake(Ticks now, NodeIndex from, NodeIndex to) const {
    const Sender& sender = senders_[from];
    return sender.busy_until > now && (sender.is_crowded != 0 || sender.mentions(to));
  }

  // When a message arrives that would arrive then, at most one unit after now: no earlier than the
  // one before it on its edge. Time never goes back. `calendar` holds all messages on their way;
  // `is_it` recognizes those on this edge.
  Ticks after_others(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival, const auto& calendar,
                     const auto& is_it) const {
    const Sender& sender = senders_[from];
    if (!may_overtake(now, from, to)) return arrival;
    if (sender.is_crowded != 0) arrival = std::max(arrival, crowded_.find(from, to));
    if (sender.mentions(to)) arrival = sender.resolve(now, to, arrival, calendar, is_it);
    return arrival;
  }

  // Notes a message that is in the calendar now, under this mark.
  [[gnu::always_inline]] void note(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival,
                                   const auto& calendar, std::uint8_t mark) {
    Sender& sender = senders_[from];
    const std::uint64_t today = calendar.bucket_of(now);
    if (sender.busy_until <= now) sender.begin(today);
    sender.busy_until = std::max(sender.busy_until, arrival);
    if (sender.note(today, to, calendar.bucket_of(arrival), mark)) return;
    sender.is_crowded = 1;
    note_in_table(now, from, to, arrival);
  }

  // A message on this edge will be noted soon, one of so many that this sender sends at once.
  [[gnu::always_inline]] void expect(NodeIndex from, NodeIndex to, std::size_t at_once) const {
    if (at_once > most_notes) crowded_.fetch(from, to);
  }

  // A sender that probably sends soon.
  [[gnu::always_inline]] void prefetch(NodeIndex from) const {
    __builtin_prefetch(&senders_[from], 1);
    __builtin_prefetch(&senders_[from].places, 1);
  }

  // Memory needed so far at most, approximately, since the table may shrink.
  std::size_t bytes() const { return senders_.size() * sizeof(Sender) + crowded_.bytes(); }

 private:
  [[gnu::noinline]] void note_in_table(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    crowded_.at(from, to, [now](Ticks other) { return other <= now; }) = arrival;
  }

  static constexpr std::size_t most_notes = 26;

  // A note is twelve bits of the receiver, twelve of the number of the bucket and a mark of eight.
  // There are 1024 buckets per unit at most, and a message is on its way for a unit at most.
  static constexpr unsigned bits = 12;
  static constexpr std::uint16_t low = (1u << bits) - 1;
  static constexpr unsigned most_ahead = (1u << bits) / 4;

  using Eight [[gnu::vector_size(16)]] = std::uint16_t;  // in one register
  using Halves [[gnu::vector_size(16)]] = std::uint64_t;
  static constexpr std::size_t last_eight = most_notes - 8;

  struct alignas(128) Sender {
    Ticks busy_until = 0;                               // nothing is on its way afterwards
    std::array<std::uint16_t, most_notes> receivers{};  // and the mark's higher bits
    std::uint16_t cleaned = 0;                          // in which bucket this was done last
    std::uint8_t count = 0;
    std::uint8_t is_crowded = 0;                     // some of its edges are in the table
    std::array<std::uint16_t, most_notes> places{};  // the bucket, and the mark's lower bits

    void begin(std::uint64_t today) {
      cleaned = static_cast<std::uint16_t>(today);
      count = is_crowded = 0;
    }

    // Whether a note may be about this receiver. All are compared, eight at a time; the last eight
    // overlap with those before. Shifting drops the bits of the mark.
    [[gnu::always_inline]] bool mentions(NodeIndex to) const {
      const Eight wanted = Eight{} + static_cast<std::uint16_t>(to << (16 - bits));
      const auto about = [&](std::size_t first) {
        return eight_of(receivers, first) << (16 - bits) == wanted;
      };
      const auto found = about(0) | about(8) | about(16) | about(last_eight);
      const Halves halves = reinterpret_cast<Halves>(found);
      return (halves[0] | halves[1]) != 0;
    }
    static Eight eight_of(const std::array<std::uint16_t, most_notes>& all, std::size_t first) {
      Eight result;
      std::memcpy(&result, &all[first], sizeof(result));
      return result;
    }
    std::uint16_t is_about(std::size_t i, NodeIndex to) const {  // 0 or 1
      return static_cast<std::uint16_t>((receivers[i] ^ to) & low) == 0 ? 1 : 0;
    }

    // How many buckets are from this one to that of a note; many if it is over.
    unsigned ahead(std::size_t i, std::uint64_t today) const {
      return (static_cast<unsigned>(places[i]) - static_cast<unsigned>(today)) & low;
    }
    bool is_over(std::size_t i, std::uint64_t today) const { return ahead(i, today) > most_ahead; }

    Ticks resolve(Ticks now, NodeIndex to, Ticks arrival, const auto& calendar,
                  const auto& is_it) const {
      const std::uint64_t today = calendar.bucket_of(now);
      for (std::size_t i = 0; i < count; ++i) {
        if (is_about(i, to) == 0 || is_over(i, today)) continue;
        const std::uint64_t bucket = today + ahead(i, today);
        if (bucket < calendar.bucket_of(arrival)) continue;
        const auto mark = static_cast<std::uint8_t>(receivers[i] >> bits << 4 | places[i] >> bits);
        arrival = std::max(arrival, calendar.last_in(bucket, mark, is_it));
      }
      return arrival;
    }

    // Makes a note, or tells that there is no room.
    [[gnu::always_inline]] bool note(std::uint64_t today, NodeIndex to, std::uint64_t bucket,
                                     std::uint8_t mark) {
      if (((static_cast<unsigned>(today) - cleaned) & 0xffffu) >= most_ahead) clean(today);
      std::size_t place = count;
      if (place < most_notes) {
        ++count;
      } else {
        place = find_over(today);
        if (place == most_notes) return false;
      }
      receivers[place] = static_cast<std::uint16_t>((to & low) | (mark & 0xf0u) >> 4 << bits);
      places[place] = static_cast<std::uint16_t>((bucket & low) | (mark & 15u) << bits);
      return true;
    }

    // The first note that is over, or most_notes, when `clean` was done less than a unit ago: then
    // those that are over are behind today by at most a unit, and the sign tells.
    std::size_t find_over(std::uint64_t today) const {
      const Eight now = Eight{} + static_cast<std::uint16_t>(today << (16 - bits));
      constexpr std::uint64_t signs = 0x8000800080008000;
      for (const std::size_t first :
           {std::size_t{0}, std::size_t{8}, std::size_t{16}, last_eight}) {
        const Eight ahead = (eight_of(places, first) << (16 - bits)) - now;
        const Halves halves = reinterpret_cast<Halves>(ahead);
        if ((halves[0] & signs) != 0) return first + place_of_sign(halves[0] & signs);
        if ((halves[1] & signs) != 0) return first + 4 + place_of_sign(halves[1] & signs);
      }
      return most_notes;
    }
    static std::size_t place_of_sign(std::uint64_t signs) {
      return static_cast<std::size_t>(std::countr_zero(signs)) / 16;
    }

    // A note that is over stays so for two units more. This is done once per unit, and not later
    // than two units after the last time, since then the sender would have been idle.
    [[gnu::noinline]] void clean(std::uint64_t today) {
      for (std::size_t i = 0; i < most_notes; ++i) {
        if (is_over(i, today)) places[i] = static_cast<std::uint16_t>((today - 1) & low);
      }
      cleaned = static_cast<std::uint16_t>(today);
    }
  };
  static_assert(sizeof(Sender) == 128);

  ZeroedArray<Sender> senders_;
  EdgeTable crowded_;
};

}  // namespace conclave::network::detail
