// The tally of a trial on a device. Most tallies are a few counts and go as they are. One that
// needs memory in proportion to the population names a form that borrows it:
//
//   using OnDevice = ...;                                        // made of (protocol, n, words)
//   static constexpr std::size_t words(const P&, AgentCount n);  // of 8 bytes, zero at the start
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "conclave/gpu/warp.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"

namespace conclave::gpu {

template <class P>
struct DeviceTally {
  using type = typename TallyFor<P>::type;
  // How many words of memory the tally borrows, and the tally over them, which must be 0.
  static constexpr std::size_t words(const P&, AgentCount) { return 0; }
  CONCLAVE_HOST_DEVICE static type make(const P& protocol, AgentCount, std::uint64_t*) {
    return type(protocol);
  }
};

template <class P>
  requires requires { typename TallyFor<P>::type::OnDevice; }
struct DeviceTally<P> {
  using type = typename TallyFor<P>::type::OnDevice;
  static constexpr std::size_t words(const P& protocol, AgentCount n) {
    return type::words(protocol, n);
  }
  // NOLINTNEXTLINE(readability-non-const-parameter): the tally writes into these words
  CONCLAVE_HOST_DEVICE static type make(const P& protocol, AgentCount n, std::uint64_t* words) {
    return type(protocol, n, words);
  }
};

template <class P>
using DeviceTallyFor = typename DeviceTally<P>::type;

// A tally for protocols on rings, where it matters which agents have which states.
template <class P>
inline constexpr bool is_positional = PositionalTallyOf<DeviceTallyFor<P>, P>;

}  // namespace conclave::gpu
