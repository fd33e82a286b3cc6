// A checksum for stored text.
#pragma once

#include <cstdint>
#include <string_view>

namespace conclave {

// FNV-1a, 64 bits; the same on every machine. Not cryptographic: it detects accidents and careless
// edits, not attacks.
constexpr std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

}  // namespace conclave
