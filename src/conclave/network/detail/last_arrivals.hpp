// Keeps edges FIFO: tells when the last message on each edge arrives, as long as it is on its way.
// The entries of one sender lie together, eight bytes per message in four lines of memory, so that
// a message costs no search and the lines are known long before it is sent. Edges of those who send
// to many at once, as in a broadcast, are kept in a table instead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/edge_table.hpp"
#include "conclave/network/detail/large_pages.hpp"

namespace conclave::network::detail {

class LastArrivals {
 public:
  explicit LastArrivals(NodeCount n) : senders_(n) {}

  // Records a message that would arrive then, at most one unit after now. Returns when it does: no
  // earlier than the one before it on its edge. Time never goes back.
  Ticks take(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    Sender& sender = senders_[from];
    if (sender.busy_until <= now) {
      sender.begin(now);
    } else if (now - sender.swept >= 2 * unit || sender.count == most_records) {
      sender.sweep(now);
    }
    const std::size_t place = sender.find(to);
    if (place < sender.count) {
      arrival = std::max(arrival, sender.arrival(place));
      sender.set_arrival(place, arrival);
    } else if (sender.is_crowded != 0) {
      Ticks& last = crowded_.at(from, to, [now](Ticks other) { return other <= now; });
      arrival = last = std::max(last, arrival);
    } else {
      sender.append(to, arrival);
    }
    sender.busy_until = std::max(sender.busy_until, arrival);
    return arrival;
  }

  // A sender that probably sends soon. The times are only written, which does not wait.
  [[gnu::always_inline]] void prefetch(NodeIndex from) const {
    __builtin_prefetch(&senders_[from], 1);
    __builtin_prefetch(&senders_[from].receivers[most_records / 2], 1);
  }
  // Edges that are used at once.
  [[gnu::always_inline]] void prefetch(NodeIndex from, std::span<const NodeIndex> to) const {
    if (senders_[from].is_crowded == 0) return;
    for (const NodeIndex node : to) crowded_.prefetch(from, node);
  }

  // Memory needed so far at most, approximately, since the table may shrink.
  std::size_t bytes() const { return senders_.size() * sizeof(Sender) + crowded_.bytes(); }

 private:
  static constexpr std::size_t most_records = 28;

  // A record is a receiver and the lowest 34 bits of a time. The sweep forgets what has arrived. As
  // it comes at least every two units and a message takes at most one, these bits tell the time.
  struct alignas(64) Sender {
    Ticks busy_until = 0;     // nothing is on its way afterwards
    Ticks swept = 0;          // all records are of later arrivals
    std::uint64_t high = 0;   // bits 32 and 33 of the times, two per record
    std::uint32_t count = 0;  // of records
    std::uint32_t is_crowded = 0;
    std::array<NodeIndex, most_records> receivers{};
    std::array<std::uint32_t, most_records> low{};  // bits of the times

    void begin(Ticks now) {
      swept = now;
      count = is_crowded = 0;
    }

    // The place of a receiver's record, or at least `count`. All places are compared, because a
    // loop of a fixed length is a few vector instructions.
    std::size_t find(NodeIndex to) const {
      std::uint32_t is_there = 0;
      for (const NodeIndex each : receivers) is_there |= each == to ? 1u : 0u;
      if (is_there == 0) return most_records;
      const auto end = receivers.begin() + count;
      return static_cast<std::size_t>(std::find(receivers.begin(), end, to) - receivers.begin());
    }

    Ticks arrival(std::size_t place) const {
      const Ticks stored = (high >> 2 * place & 3) << 32 | low[place];
      return swept + ((stored - swept) & (4 * unit - 1));
    }
    void set_arrival(std::size_t place, Ticks arrival) {
      low[place] = static_cast<std::uint32_t>(arrival);
      high = (high & ~(std::uint64_t{3} << 2 * place)) | (arrival >> 32 & 3) << 2 * place;
    }
    void append(NodeIndex to, Ticks arrival) {
      receivers[count] = to;
      set_arrival(count++, arrival);
    }

    // Where that makes no room, further edges go into the table.
    void sweep(Ticks now) {
      std::uint32_t kept = 0;
      for (std::uint32_t place = 0; place < count; ++place) {
        const Ticks arrives = arrival(place);
        if (arrives <= now) continue;
        receivers[kept] = receivers[place];
        set_arrival(kept++, arrives);
      }
      count = kept;
      swept = now;
      if (count == most_records) is_crowded = 1;
    }
  };
  static_assert(sizeof(Sender) == 256);

  std::vector<Sender, LargePages<Sender>> senders_;
  EdgeTable crowded_;
};

}  // namespace conclave::network::detail
