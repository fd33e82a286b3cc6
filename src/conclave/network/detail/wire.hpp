// A message in as few bytes as its contents need: its members one after the other, without those
// zeros that come last. The kind is not among them; the reader is told. Or as one number, if these
// bytes are no more than eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
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

  // Writes up to most_bytes bytes and returns how many of them matter.
  static std::size_t encode(const Message& message, std::uint8_t* out) {
    std::size_t position = 0;
    std::size_t used = 0;
    for_each_but_kind([&](const auto& field) {
      const auto& value = message.*field.member;
      std::memcpy(out + position, &value, sizeof(value));
      position += sizeof(value);
      if (value != std::remove_cvref_t<decltype(value)>{}) used = position;
    });
    return used;
  }

  static Message decode(std::uint8_t kind, const std::uint8_t* in, std::size_t bytes) {
    Message message = with_kind(kind);
    std::size_t position = 0;
    for_each_but_kind([&](const auto& field) {
      auto& value = message.*field.member;
      if (position < bytes) std::memcpy(&value, in + position, sizeof(value));
      position += sizeof(value);
    });
    return message;
  }

  // The number whose lowest byte is the first one; nothing if the message is longer than that.
  [[gnu::always_inline]] static std::optional<std::uint64_t> as_word(const Message& message) {
    std::size_t position = 0;
    std::uint64_t word = 0;
    bool fits = true;
    for_each_but_kind([&](const auto& field) __attribute__((always_inline)) {
      const auto& value = message.*field.member;
      if (position + sizeof(value) <= sizeof(word)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof(value));
        word |= bits << 8 * position;
      } else {
        fits = fits && value == std::remove_cvref_t<decltype(value)>{};
      }
      position += sizeof(value);
    });
    return fits ? std::optional(word) : std::nullopt;
  }

  static Message of_word(std::uint64_t kind, std::uint64_t word) {
    Message message = with_kind(static_cast<std::uint8_t>(kind));
    std::size_t position = 0;
    for_each_but_kind([&](const auto& field) {
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
