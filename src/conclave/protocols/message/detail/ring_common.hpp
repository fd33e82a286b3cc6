// Ring elections share the bound of an identifier on the wire, and how rings are described.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

#include "conclave/model/message.hpp"

namespace conclave::protocols::detail {

inline constexpr std::string_view ring_convergence =
    "quiescence with exactly one node elected and all n informed";
inline constexpr std::string_view ring_announcement =
    "the elected node informs all: n messages more, LEADER, which the literature leaves out";
inline constexpr std::string_view ring_sleepers =
    "a node that a message reaches before it is woken does not compete and passes messages on";

// The bits of an identifier among n.
constexpr std::uint32_t identifier_bits(NodeCount n) {
  return static_cast<std::uint32_t>(std::bit_width(n));
}

}  // namespace conclave::protocols::detail
