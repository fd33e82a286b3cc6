// A message on its way in eight bytes: its receiver, its sender, its kind and what it says, if that
// fits, as in most answers. The contents of others are kept here, once for all copies of a message
// that is sent to many. They are kept for a unit from their sending on, since no copy takes longer,
// and are not written again: nobody counts how many copies have arrived.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/large_pages.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/wire.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

template <class Message>
class Envelopes {
 public:
  using Envelope = std::uint64_t;

  // For a network of n < 2^32 nodes.
  explicit Envelopes(NodeCount n)
      : node_bits_(static_cast<unsigned>(std::bit_width(n))),
        node_mask_((Envelope{1} << node_bits_) - 1) {
    CONCLAVE_CHECK(node_bits_ <= 32);
    const unsigned used_bits = 2 * node_bits_ + 4;
    if (used_bits < 64) word_limit_ = Envelope{1} << (64 - used_bits);
  }

  // An envelope without a receiver, for any number of copies, which arrive within a unit from now
  // on. Time never goes back.
  [[gnu::always_inline]] Envelope seal(Ticks now, NodeIndex from, const Message& message) {
    const auto kind = static_cast<Envelope>(message.kind);
    const auto [word, fits] = Wire<Message>::as_word(message);
    if (!fits || word >= word_limit_) return sealed_apart(now, from, message);
    return ((word << node_bits_ | from) << 4 | kind) << node_bits_;
  }
  static Envelope addressed(Envelope sealed, NodeIndex to) { return sealed | to; }

  // The kind of the message, its receiver and its sender; O(1). The sender is readable until the
  // copy has arrived.
  unsigned kind(Envelope envelope) const {
    return static_cast<unsigned>(envelope >> node_bits_ & 7);
  }
  NodeIndex to(Envelope envelope) const { return node_in(envelope); }
  NodeIndex from(Envelope envelope) const {
    const Envelope rest = envelope >> node_bits_;
    return (rest & is_kept) != 0 ? slot(rest).from : node_in(rest >> 4);
  }
  // The sender and the contents of one copy, which arrives now.
  void open(Envelope envelope, NodeIndex& sender, Message& contents) const {
    const Envelope rest = envelope >> node_bits_;
    if ((rest & is_kept) != 0) {
      const Slot& kept = slot(rest);
      sender = kept.from;
      contents = std::bit_cast<Message>(kept.message);
    } else {
      sender = node_in(rest >> 4);
      contents = Wire<Message>::of_word(rest & 7, rest >> 4 >> node_bits_);
    }
  }

  // Inlined by force: GCC 12 drops calls of functions that only prefetch. Without a branch that
  // depends on the envelope, which no processor could predict: the first slot stands for none.
  [[gnu::always_inline]] void prefetch(Envelope envelope) const {
    if (slabs_.empty()) return;
    const Envelope rest = envelope >> node_bits_;
    __builtin_prefetch(&slot(rest & (0 - (rest / is_kept & 1))));
  }

  // Memory of the messages that do not fit into an envelope.
  std::size_t bytes() const { return slabs_.size() * lines_per_slab * sizeof(Line); }

 private:
  static constexpr Envelope is_kept = 8;

  // As many slots as fit lie on a line of memory. A slot's number is that of its line and, in the
  // last bits, its place there; so some numbers name no slot, and nothing need be divided.
  struct Slot {
    std::array<std::byte, sizeof(Message)> message;  // bytes need no alignment
    NodeIndex from;
  };
  static constexpr std::size_t line_bytes = std::bit_ceil(std::max<std::size_t>(64, sizeof(Slot)));
  static constexpr std::uint32_t per_line = line_bytes / sizeof(Slot);
  static constexpr std::uint32_t numbers_per_line = std::bit_ceil(per_line);
  struct alignas(line_bytes) Line {
    std::array<Slot, per_line> slots;
  };

  static constexpr std::uint32_t lines_per_slab = 1u << 11;
  static constexpr std::uint32_t numbers_per_slab = lines_per_slab * numbers_per_line;
  static constexpr std::uint32_t most_numbers = 1u << 28;
  static constexpr std::size_t slabs_at_once = 16;

  struct FullSlab {
    std::uint32_t first_number;
    Ticks since;  // nothing in it was sealed later
  };

  NodeIndex node_in(Envelope bits) const { return static_cast<NodeIndex>(bits & node_mask_); }
  const Slot& slot(Envelope rest) const { return slot_at(rest >> 4); }
  Slot& slot_at(std::uint64_t number) const {
    Line& line = slabs_[number / numbers_per_slab][number / numbers_per_line % lines_per_slab];
    return line.slots[number % numbers_per_line];
  }

  [[gnu::noinline]] Envelope sealed_apart(Ticks now, NodeIndex from, Message message) {
    if (next_ == end_) begin_slab(now);
    slot_at(next_) = {std::bit_cast<std::array<std::byte, sizeof(Message)>>(message), from};
    const auto kind = static_cast<Envelope>(message.kind);
    const Envelope number = next_++;
    if (next_ % numbers_per_line == per_line) next_ += numbers_per_line - per_line;
    return (number << 4 | is_kept | kind) << node_bits_;
  }

  // Goes on to a slab of which everything has arrived, or to a new one.
  [[gnu::noinline]] void begin_slab(Ticks now) {
    if (end_ > 0) full_.push_back({end_ - numbers_per_slab, now});
    if (!full_.empty() && full_.front().since + unit < now) {
      next_ = full_.front().first_number;
      full_.pop_front();
    } else {
      if (begun_ == slabs_.size()) add_slabs();
      next_ = begun_++ * numbers_per_slab;
    }
    end_ = next_ + numbers_per_slab;
    CONCLAVE_CHECK(end_ <= most_numbers);
  }

  // One slab at a time; in large networks many, which lie on large pages.
  void add_slabs() {
    const std::size_t count = slabs_.size() < slabs_at_once ? 1 : slabs_at_once;
    chunks_.emplace_back(count * lines_per_slab);
    for (std::size_t i = 0; i < count; ++i) slabs_.push_back(&chunks_.back()[i * lines_per_slab]);
  }

  unsigned node_bits_;
  Envelope node_mask_;
  std::uint64_t word_limit_ = 0;  // contents below this fit into an envelope
  std::vector<std::vector<Line, LargePages<Line>>> chunks_;
  std::vector<Line*> slabs_;   // in the chunks
  std::uint32_t begun_ = 0;    // slabs
  std::deque<FullSlab> full_;  // the oldest first
  std::uint32_t next_ = 0;     // number to be given, in the slab that ends before end_
  std::uint32_t end_ = 0;
};

}  // namespace conclave::network::detail
