// One line in a struct names its members, and everything that reads structs (printing, state
// tables, hashes, traces) works from that line:
//
//   struct State {
//     bool leader = true;
//     std::uint8_t epoch = 1;
//     friend bool operator==(const State&, const State&) = default;
//     static constexpr std::tuple fields{Field{"leader", &State::leader},
//                                        Field{"epoch", &State::epoch}};
//   };
//
// A member that is not listed is compared by ==, but neither printed nor hashed.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <type_traits>

namespace conclave {

// A member and its name, which must outlive it: a literal.
template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::*member;
};
template <class Owner, class T>
Field(const char*, T Owner::*) -> Field<Owner, T>;

// A plain struct with such a line.
template <class T>
concept Described = std::regular<T> && std::is_trivially_copyable_v<T> && requires {
  T::fields;
};

// A member as an integer that std::to_string can print without change of sign.
template <class T>
constexpr auto as_integer(T value) {
  if constexpr (std::is_enum_v<T>)
    return as_integer(static_cast<std::underlying_type_t<T>>(value));
  else if constexpr (std::is_unsigned_v<T>)
    return static_cast<unsigned long long>(value);
  else
    return static_cast<long long>(value);
}

// A hash of all members; the same on every machine.
template <Described T>
constexpr std::uint64_t hash_of(const T& value) {
  std::uint64_t hash = 0x9e3779b97f4a7c15;
  const auto mix = [&](const auto& field) {
    hash =
        (hash ^ static_cast<std::uint64_t>(as_integer(value.*field.member))) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  std::apply([&](const auto&... field) { (mix(field), ...); }, T::fields);
  return hash;
}

// Orders by the members, the first one first.
template <Described T>
constexpr bool comes_before(const T& a, const T& b) {
  int order = 0;
  const auto compare = [&](const auto& field) {
    if (order == 0)
      order = (a.*field.member > b.*field.member) - (a.*field.member < b.*field.member);
  };
  std::apply([&](const auto&... field) { (compare(field), ...); }, T::fields);
  return order < 0;
}

// "leader=1 epoch=2": for messages of tests and counterexamples.
template <Described T>
std::string to_text(const T& value) {
  std::string text;
  const auto append = [&](const auto& field) {
    if (!text.empty()) text += ' ';
    text += field.name;
    text += '=' + std::to_string(as_integer(value.*field.member));
  };
  std::apply([&](const auto&... field) { (append(field), ...); }, T::fields);
  return text;
}

// Reads what to_text writes: every member once, in their order, each with a value that it can hold.
// Nothing for any other text.
template <Described T>
std::optional<T> from_text(std::string_view text) {
  T value{};
  bool is_right = true;
  bool is_first = true;
  const auto read = [&](const auto& field) {
    if (!is_right) return;
    if (!is_first && !text.empty() && text.front() == ' ') text.remove_prefix(1);
    is_first = false;
    const std::string_view head = text.substr(0, text.find('='));
    const std::string_view number = text.substr(std::min(text.size(), head.size() + 1))
                                        .substr(0, text.find(' ', head.size()) - head.size() - 1);
    using Member = std::remove_reference_t<decltype(value.*field.member)>;
    decltype(as_integer(Member{})) integer{};
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), integer);
    const bool is_number = error == std::errc{} && end == number.data() + number.size();
    value.*field.member = static_cast<Member>(integer);
    is_right = head == field.name && is_number && as_integer(value.*field.member) == integer;
    text.remove_prefix(std::min(text.size(), head.size() + 1 + number.size()));
  };
  std::apply([&](const auto&... field) { (read(field), ...); }, T::fields);
  return is_right && text.empty() ? std::optional(value) : std::nullopt;
}

}  // namespace conclave
