// The Choice that walks through all outcomes, for searches that do not ask how likely they are.
#pragma once

#include <cstdint>

#include "conclave/base/every_choice.hpp"

namespace conclave::schedules::detail {

struct NoWeight {
  NoWeight times(std::uint64_t, std::uint64_t) const { return {}; }
};
using Outcomes = EveryChoice<NoWeight>;

}  // namespace conclave::schedules::detail
