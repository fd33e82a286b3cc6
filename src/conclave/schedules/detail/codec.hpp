// Encodes described structs as bytes, so that two encodings are equal exactly if the structs are.
// Numbers below 128 take one byte.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "conclave/base/fields.hpp"

namespace conclave::schedules::detail {

// Flattened, for searches spend much of their time here: a call for each byte would be felt.
[[gnu::flatten]] inline void append_number(std::uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(0x80 | (value & 0x7f)));
  bytes.push_back(static_cast<char>(value));
}

template <Described T>
void append(const T& value, std::string& bytes) {
  std::apply(
      [&](const auto&... field) {
        (append_number(static_cast<std::uint64_t>(as_integer(value.*field.member)), bytes), ...);
      },
      T::fields);
}

}  // namespace conclave::schedules::detail
