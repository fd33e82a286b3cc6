// The contents of messages on their way, in four bytes each. Short ones, as of most answers, fit
// into them. Others are kept here, once for all copies of a message that is sent to many, until the
// last copy has arrived.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/network/detail/large_pages.hpp"
#include "conclave/network/detail/wire.hpp"

namespace conclave::network::detail {

template <class Message>
class Contents {
 public:
  using Name = std::uint32_t;  // what stands for a message

  // A name that is good for so many copies.
  Name add(const Message& message, std::uint32_t copies) {
    std::array<std::uint8_t, 16> bytes{};
    const std::size_t length = Wire<Message>::encode(message, bytes.data());
    const auto kind = static_cast<Name>(message.kind);
    if (length > most_inline) return keep(message, copies) << 4 | is_kept | kind;
    return Name{bytes[2]} << 24 | Name{bytes[1]} << 16 | Name{bytes[0]} << 8 |
           static_cast<Name>(length) << 4 | kind;
  }

  Message message(Name name) const {
    if ((name & is_kept) != 0) return slot(name >> 4).message;
    const std::array<std::uint8_t, most_inline> bytes{static_cast<std::uint8_t>(name >> 8),
                                                      static_cast<std::uint8_t>(name >> 16),
                                                      static_cast<std::uint8_t>(name >> 24)};
    return Wire<Message>::decode(name & 7, bytes.data(), name >> 4 & 3);
  }

  // Inlined by force: GCC 12 drops calls of functions that only prefetch.
  [[gnu::always_inline]] void prefetch(Name name) const {
    if ((name & is_kept) != 0) __builtin_prefetch(&slot(name >> 4), 1);
  }

  // One copy has arrived.
  void drop(Name name) {
    if ((name & is_kept) == 0) return;
    Slot& emptied = slot(name >> 4);
    if (--emptied.copies == 0) emptied.copies = std::exchange(spare_, name >> 4);
  }

  std::size_t bytes() const { return slabs_.size() * per_slab * sizeof(Slot); }

 private:
  static constexpr Name is_kept = 8;
  static constexpr std::size_t most_inline = 3;
  static constexpr std::uint32_t none = (1u << 28) - 1;  // beyond all numbers of slots
  static constexpr std::uint32_t per_slab = 1u << 12;

  struct alignas(std::bit_ceil(sizeof(Message) + 4)) Slot {  // on one line of memory
    Message message;
    std::uint32_t copies;  // or, when there are none, the next slot that is free
  };

  Slot& slot(std::uint32_t number) { return slabs_[number / per_slab][number % per_slab]; }
  const Slot& slot(std::uint32_t number) const {
    return slabs_[number / per_slab][number % per_slab];
  }

  std::uint32_t keep(const Message& message, std::uint32_t copies) {
    const std::uint32_t number = spare_ == none ? used_++ : spare_;
    if (number == slabs_.size() * per_slab) slabs_.emplace_back(per_slab);
    CONCLAVE_CHECK(number < none);
    if (number == spare_) spare_ = slot(number).copies;
    slot(number) = {message, copies};
    return number;
  }

  std::vector<std::vector<Slot>> slabs_;
  std::uint32_t used_ = 0;
  std::uint32_t spare_ = none;
};

}  // namespace conclave::network::detail
