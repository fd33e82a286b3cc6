// The Choice that walks through all outcomes, for searches that do not need their probabilities.
#pragma once

#include <cstdint>

#include "conclave/base/every_choice.hpp"

namespace conclave::schedules::detail {

// A weight that is not computed.
struct NoWeight {
  NoWeight times(std::uint64_t, std::uint64_t) const { return {}; }
};
using Outcomes = EveryChoice<NoWeight>;

}  // namespace conclave::schedules::detail
