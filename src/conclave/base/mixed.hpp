// Hashes of whole words.
#pragma once

#include <cstdint>

namespace conclave {

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which every bit of the
// result depends on every bit of the argument. The same on every machine; 0 stays 0.
constexpr std::uint64_t mixed(std::uint64_t word) {
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
  word = (word ^ word >> 27) * 0x94d049bb133111ebu;
  return word ^ word >> 31;
}

}  // namespace conclave
