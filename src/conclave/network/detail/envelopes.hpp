// A message on its way in eight bytes: its receiver, its sender, its kind and what it says, if that
// fits, as in most answers. The contents of others are kept here, once for all copies of a message
// that is sent to many, until the last copy has arrived.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/network/detail/large_pages.hpp"
#include "conclave/network/detail/wire.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

template <class Message>
class Envelopes {
 public:
  using Envelope = std::uint64_t;

  explicit Envelopes(NodeCount n)
      : node_bits_(static_cast<unsigned>(std::bit_width(n))),
        node_mask_((Envelope{1} << node_bits_) - 1) {
    CONCLAVE_CHECK(node_bits_ <= 32);
    const unsigned used_bits = 2 * node_bits_ + 4;
    if (used_bits < 64) word_limit_ = Envelope{1} << (64 - used_bits);
  }

  // An envelope without a receiver, that is good for so many copies.
  [[gnu::always_inline]] Envelope seal(NodeIndex from, const Message& message,
                                       std::uint32_t copies) {
    const auto kind = static_cast<Envelope>(message.kind);
    const auto [word, fits] = Wire<Message>::as_word(message);
    if (!fits || word >= word_limit_) return sealed_apart(from, message, copies);
    return ((word << node_bits_ | from) << 4 | kind) << node_bits_;
  }
  static Envelope addressed(Envelope sealed, NodeIndex to) { return sealed | to; }

  unsigned kind(Envelope envelope) const {
    return static_cast<unsigned>(envelope >> node_bits_ & 7);
  }
  NodeIndex to(Envelope envelope) const { return node_in(envelope); }
  NodeIndex from(Envelope envelope) const {
    const Envelope rest = envelope >> node_bits_;
    return (rest & is_kept) != 0 ? slot(rest).from : node_in(rest >> 4);
  }
  // The sender and the contents of one copy, which has arrived.
  void open(Envelope envelope, NodeIndex& sender, Message& contents) {
    const Envelope rest = envelope >> node_bits_;
    if ((rest & is_kept) != 0) {
      Slot& kept = slot(rest);
      sender = kept.from;
      contents = kept.message;
      if (--kept.copies == 0) {
        kept.copies = std::exchange(spare_, static_cast<std::uint32_t>(rest >> 4));
      }
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
    __builtin_prefetch(&slot(rest & (0 - (rest / is_kept & 1))), 1);
  }

  std::size_t bytes() const { return slabs_.size() * per_slab * sizeof(Slot); }

 private:
  static constexpr Envelope is_kept = 8;
  static constexpr std::uint32_t none = (1u << 28) - 1;  // beyond all numbers of slots
  static constexpr std::uint32_t per_slab = 1u << 12;
  static constexpr std::size_t at_once = 16;

  struct alignas(std::bit_ceil(sizeof(Message) + 8)) Slot {  // on one line of memory
    Message message;
    NodeIndex from;
    std::uint32_t copies;  // or, when there are none, the next slot that is free
  };

  NodeIndex node_in(Envelope bits) const { return static_cast<NodeIndex>(bits & node_mask_); }
  Slot& slot(Envelope rest) { return slabs_[rest >> 4 >> slab_bits][rest >> 4 & (per_slab - 1)]; }
  const Slot& slot(Envelope rest) const {
    return slabs_[rest >> 4 >> slab_bits][rest >> 4 & (per_slab - 1)];
  }
  static constexpr unsigned slab_bits = std::countr_zero(per_slab);

  [[gnu::noinline]] Envelope sealed_apart(NodeIndex from, Message message, std::uint32_t copies) {
    const auto kind = static_cast<Envelope>(message.kind);
    return (Envelope{keep(from, message, copies)} << 4 | is_kept | kind) << node_bits_;
  }

  std::uint32_t keep(NodeIndex from, const Message& message, std::uint32_t copies) {
    const std::uint32_t number = spare_ == none ? used_++ : spare_;
    if (number == slabs_.size() * per_slab) add_slabs();
    CONCLAVE_CHECK(number < none);
    Slot& place = slot(Envelope{number} << 4);
    if (number == spare_) spare_ = place.copies;
    place = {message, from, copies};
    return number;
  }

  // One slab at a time; in large networks many, which lie on large pages.
  [[gnu::noinline]] void add_slabs() {
    const std::size_t count = slabs_.size() < at_once ? 1 : at_once;
    chunks_.emplace_back(count * per_slab);
    for (std::size_t i = 0; i < count; ++i) slabs_.push_back(&chunks_.back()[i * per_slab]);
  }

  unsigned node_bits_;
  Envelope node_mask_;
  std::uint64_t word_limit_ = 0;  // contents below this fit into an envelope
  std::vector<std::vector<Slot, LargePages<Slot>>> chunks_;
  std::vector<Slot*> slabs_;  // in the chunks
  std::uint32_t used_ = 0;
  std::uint32_t spare_ = none;
};

}  // namespace conclave::network::detail
