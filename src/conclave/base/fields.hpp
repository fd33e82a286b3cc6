// One line in a struct names its members, and everything that reads structs (printing, state
// tables, traces) works from that line.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace conclave {

template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::*member;
};
template <class Owner, class T>
Field(const char*, T Owner::*) -> Field<Owner, T>;

template <class T>
concept Described = std::regular<T> && std::is_trivially_copyable_v<T> && requires {
  T::fields;
};

// "leader=1 epoch=2": for messages of tests and counterexamples.
template <Described T>
std::string to_text(const T& value) {
  std::string text;
  const auto append = [&](const auto& field) {
    if (!text.empty()) text += ' ';
    text += field.name;
    text += '=' + std::to_string(static_cast<long long>(value.*field.member));
  };
  std::apply([&](const auto&... field) { (append(field), ...); }, T::fields);
  return text;
}

}  // namespace conclave
