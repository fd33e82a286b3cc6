// When the last message on each edge arrives, as long as it is on its way. What a sender has sent
// lies together: a head that tells whether there can be a record of an edge, and cache lines of
// records. So a message costs few lines of memory, known long before it is sent. Edges of those who
// send to many at once, as in a broadcast, are kept in a table instead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/edge_table.hpp"
#include "conclave/network/detail/large_pages.hpp"

namespace conclave::network::detail {

class LastArrivals {
 public:
  explicit LastArrivals(NodeCount n) : senders_(n) {}

  // Records a message that would arrive then. Returns when it does: no earlier than the one before
  // it on its edge.
  Ticks take(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    Sender& sender = senders_[from];
    if (sender.busy_until <= now) forget(sender);
    Ticks& last = sender.is_crowded ? crowded_edge(now, from, to) : record(now, from, to);
    last = std::max(last, arrival);
    sender.busy_until = std::max(sender.busy_until, last);
    return last;
  }

  // A sender that probably sends soon.
  void prefetch(NodeIndex from) const {
    __builtin_prefetch(&senders_[from], 1);
    __builtin_prefetch(&senders_[from].tags[32], 1);
  }
  // The same once more, when that has arrived.
  void prefetch_records(NodeIndex from) const {
    if (senders_[from].count > 0) __builtin_prefetch(&line(senders_[from].last), 1);
  }
  // Edges that are used at once.
  void prefetch(NodeIndex from, std::span<const NodeIndex> to) const {
    if (!senders_[from].is_crowded) return;
    for (const NodeIndex node : to) crowded_.prefetch(from, node);
  }

  // Memory needed so far at most, approximately, since the table may shrink.
  std::size_t bytes() const {
    return senders_.size() * sizeof(Sender) + used_lines_ * sizeof(Line) + crowded_.bytes();
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::size_t most_records = 54;
  static constexpr std::size_t most_kept = 32;  // or there would be no room again too soon
  static constexpr std::size_t per_line = 5;
  static constexpr std::size_t per_slab = std::size_t{1} << 15;  // of 2 MiB

  struct Sender {
    Ticks busy_until = 0;  // nothing is on its way afterwards
    std::uint32_t first = none;
    std::uint32_t last = none;
    std::uint8_t count = 0;
    bool is_crowded = false;
    std::array<std::uint16_t, most_records> tags{};  // per record, some bits of its receiver
  };
  struct Line {
    std::array<Ticks, per_line> arrivals{};
    std::array<NodeIndex, per_line> receivers{};
    std::uint32_t next = none;
  };
  static_assert(sizeof(Sender) == 128 && sizeof(Line) == 64);

  static std::uint16_t tag_of(NodeIndex to) {
    return static_cast<std::uint16_t>(to * 0x9e3779b1u >> 16);
  }

  Line& line(std::uint32_t number) { return slabs_[number / per_slab][number % per_slab]; }
  const Line& line(std::uint32_t number) const {
    return slabs_[number / per_slab][number % per_slab];
  }

  Line& line_of(const Sender& sender, std::size_t place) {
    std::uint32_t number = sender.first;
    for (std::size_t skip = place / per_line; skip > 0; --skip) number = line(number).next;
    return line(number);
  }

  // The record of an edge, a new one of time 0 if there is none.
  Ticks& record(Ticks now, NodeIndex from, NodeIndex to) {
    Sender& sender = senders_[from];
    const std::uint16_t tag = tag_of(to);
    for (std::size_t place = 0; place < sender.count; ++place) {
      if (sender.tags[place] != tag) continue;
      Line& records = line_of(sender, place);
      if (records.receivers[place % per_line] == to) return records.arrivals[place % per_line];
    }
    if (sender.count == most_records) make_room(now, from);
    return sender.is_crowded ? crowded_edge(now, from, to) : append(sender, to);
  }

  Ticks& append(Sender& sender, NodeIndex to) {
    const std::size_t place = sender.count % per_line;
    if (place == 0) add_line(sender);
    sender.tags[sender.count++] = tag_of(to);
    Line& records = line(sender.last);
    records.receivers[place] = to;
    return records.arrivals[place] = 0;
  }

  void add_line(Sender& sender) {
    const std::uint32_t added = spare_ == none ? new_line() : spare_;
    spare_ = std::exchange(line(added).next, none);
    (sender.count == 0 ? sender.first : line(sender.last).next) = added;
    sender.last = added;
  }

  std::uint32_t new_line() {
    if (used_lines_ == slabs_.size() * per_slab) slabs_.emplace_back(per_slab);
    return used_lines_++;
  }

  void forget(Sender& sender) {
    if (sender.count > 0) line(sender.last).next = std::exchange(spare_, sender.first);
    sender.count = 0;
    sender.is_crowded = false;
  }

  Ticks& crowded_edge(Ticks now, NodeIndex from, NodeIndex to) {
    return crowded_.at(from, to, [now](Ticks arrival) { return arrival <= now; });
  }

  // Keeps what is still on its way; in the table, if that is much.
  void make_room(Ticks now, NodeIndex from) {
    Sender& sender = senders_[from];
    std::vector<std::pair<NodeIndex, Ticks>> kept;
    std::uint32_t number = sender.first;
    for (std::size_t place = 0; place < sender.count; ++place) {
      if (place > 0 && place % per_line == 0) number = line(number).next;
      const Ticks arrival = line(number).arrivals[place % per_line];
      if (arrival > now) kept.emplace_back(line(number).receivers[place % per_line], arrival);
    }
    forget(sender);
    sender.is_crowded = kept.size() > most_kept;
    for (const auto& [to, arrival] : kept) {
      (sender.is_crowded ? crowded_edge(now, from, to) : append(sender, to)) = arrival;
    }
  }

  std::vector<Sender, LargePages<Sender>> senders_;
  std::vector<std::vector<Line, LargePages<Line>>> slabs_;
  std::uint32_t used_lines_ = 0;
  std::uint32_t spare_ = none;  // the first line of the chain of those free again
  EdgeTable crowded_;
};

}  // namespace conclave::network::detail
