// A message in as few bytes as its contents need: a byte for its kind and their number, and its
// members one after the other, without those zeros that come last if seven bytes are enough for the
// rest. Or as one number, without the kind, if it fits into eight bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "conclave/base/fields.hpp"

namespace conclave::network::detail {

template <Described Message>
class Wire {
 public:
  static constexpr std::size_t most_bytes = std::apply(
      [](const auto& kind, const auto&... field) {
        static_assert(sizeof(Message{}.*kind.member) == 1, "the first member is the kind");
        return (std::size_t{0} + ... + sizeof(Message{}.*field.member));
      },
      Message::fields);
  static_assert(most_bytes < 16);

  // Writes the message with its kind, which is below 8, and returns the end of what matters. Eight
  // bytes beyond that may be written, too.
  [[gnu::always_inline]] static std::uint8_t* write(const Message& message, std::uint8_t* out) {
    const auto [word, fits] = as_word(message);
    const auto kind = static_cast<unsigned>(message.kind);
    const std::size_t length = (static_cast<std::size_t>(std::bit_width(word)) + 7) / 8;
    if (!fits || length == sizeof(word)) {
      *out = static_cast<std::uint8_t>(kind | whole << 4);
      return write_whole(message, out + 1);
    }
    *out = static_cast<std::uint8_t>(kind | length << 4);
    std::memcpy(out + 1, &word, sizeof(word));
    return out + 1 + length;
  }

  // Reads what was written and returns its end. Eight bytes beyond it are read, too.
  [[gnu::always_inline]] static const std::uint8_t* read(const std::uint8_t* in, Message& message) {
    const unsigned kind = *in & 7u;
    const std::size_t length = *in++ >> 4;
    std::uint64_t word = 0;
    if (length >= sizeof(word)) return read_whole(kind, in, message);
    std::memcpy(&word, in, sizeof(word));
    message = of_word(kind, word & ((std::uint64_t{1} << 8 * length) - 1));
    return in + length;
  }

  // The number whose lowest byte is the first one, if the message is no longer than that.
  struct Word {
    std::uint64_t bits = 0;
    bool fits = true;
  };
  [[gnu::always_inline]] static Word as_word(const Message& message) {
    std::size_t position = 0;
    Word word;
    for_each_but_kind([&](const auto& field) __attribute__((always_inline)) {
      const auto& value = message.*field.member;
      if (position + sizeof(value) <= sizeof(word.bits)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(value));
        word.bits |= bits << 8 * position;
      } else {
        word.fits = word.fits && value == std::remove_cvref_t<decltype(value)>{};
      }
      position += sizeof(value);
    });
    return word;
  }

  // The message of which as_word() gave this word.
  [[gnu::always_inline]] static Message of_word(std::uint64_t kind, std::uint64_t word) {
    Message message = with_kind(static_cast<std::uint8_t>(kind));
    std::size_t position = 0;
    for_each_but_kind([&](const auto& field) __attribute__((always_inline)) {
      auto& value = message.*field.member;
      if (position + sizeof(value) <= sizeof(word)) {
        const std::uint64_t bits = word >> 8 * position;
        std::memcpy(&value, &bits, sizeof(value));
      }
      position += sizeof(value);
    });
    return message;
  }

 private:
  static constexpr std::size_t whole = 15;  // stands for a length

  static std::uint8_t* write_whole(const Message& message, std::uint8_t* out) {
    for_each_but_kind([&](const auto& field) {
      const auto& value = message.*field.member;
      std::memcpy(out, &value, sizeof(value));
      out += sizeof(value);
    });
    return out;
  }

  static const std::uint8_t* read_whole(unsigned kind, const std::uint8_t* in, Message& message) {
    message = with_kind(static_cast<std::uint8_t>(kind));
    for_each_but_kind([&](const auto& field) {
      auto& value = message.*field.member;
      std::memcpy(&value, in, sizeof(value));
      in += sizeof(value);
    });
    return in;
  }

  static Message with_kind(std::uint8_t kind) {
    Message message{};
    auto& member = message.*std::get<0>(Message::fields).member;
    member = static_cast<std::remove_reference_t<decltype(member)>>(kind);
    return message;
  }

  [[gnu::always_inline]] static void for_each_but_kind(const auto& visit) {
    [&]<std::size_t... i>(std::index_sequence<i...>) __attribute__((always_inline)) {
      (visit(std::get<i + 1>(Message::fields)), ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(Message::fields)> - 1>{});
  }
};

}  // namespace conclave::network::detail
