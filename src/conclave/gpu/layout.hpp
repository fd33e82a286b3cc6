// How the kernel of warps is launched, and where the agents of its trials are stored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "conclave/gpu/trial_loop.hpp"

namespace conclave::gpu {

// For trials of eight lanes each.
template <DeviceProtocol P>
struct Layout {
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t tally_bytes = rounded(sizeof(DeviceTallyFor<P>));

  Memory memory = Memory::near;
  std::size_t agent_bytes = 0;  // of a trial, rounded
  std::size_t tally_words = 0;  // of a trial, beside its tally
  int threads = 0;              // per block
  int blocks = 0;

  constexpr int trials_per_block() const { return threads / lanes_per_trial; }
  constexpr std::size_t shared_per_trial() const {
    return tally_bytes + (memory == Memory::near ? agent_bytes : 0);
  }
  constexpr std::size_t shared_bytes() const {
    return shared_per_trial() * static_cast<std::size_t>(trials_per_block());
  }
  // No more blocks than this many trials need.
  Layout for_trials(std::uint64_t trials) const {
    Layout fewer = *this;
    const auto each = static_cast<std::uint64_t>(trials_per_block());
    fewer.blocks =
        static_cast<int>(std::min(static_cast<std::uint64_t>(blocks), (trials + each - 1) / each));
    return fewer;
  }
  constexpr std::size_t far_bytes() const {
    return memory == Memory::far ? places() * agent_bytes : 0;
  }
  constexpr std::uint64_t places() const {
    return static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(trials_per_block());
  }
};

}  // namespace conclave::gpu
