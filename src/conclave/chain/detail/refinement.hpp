// The solution of integer equations as binary fractions, by iterative refinement: an approximate
// solver in doubles gives some bits at a time, and what they leave of the right-hand sides is known
// exactly. The last remainder proves the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conclave/chain/detail/fractions.hpp"
#include "conclave/chain/detail/lifting.hpp"

namespace conclave::chain::detail {

struct RefinementGoal {
  double largest = 1;    // no unknown is larger
  std::size_t bits = 0;  // the errors are to be less than 2^-bits
};

// The values of the given unknowns. Nothing if no solver gains enough bits at a time.
std::optional<BinaryFractions> refine(const IntegerEquations& equations,
                                      std::span<const std::uint32_t> unknowns,
                                      const RefinementGoal& goal);

}  // namespace conclave::chain::detail
