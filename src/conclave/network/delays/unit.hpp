// Every message takes exactly one unit of time.
#pragma once

#include "conclave/network/adversary.hpp"

namespace conclave::network {

struct Unit final : DelayAdversary {
  static constexpr AdversaryInfo info{"unit", "every message takes exactly one unit of time"};

  Unit(NodeCount, const StreamName&) {}
  Ticks delay(const Parcel&, const NetworkView&) override { return unit; }
};

}  // namespace conclave::network
