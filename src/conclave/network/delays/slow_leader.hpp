// Whoever is ahead is slowed down: all messages from and to the front runner take a whole unit, all
// others are fast, so that the rest of the field catches up with it.
#pragma once

#include "conclave/network/adversary.hpp"

namespace conclave::network {

struct SlowLeader final : DelayAdversary {
  static constexpr AdversaryInfo info{
      "slow-leader", "messages from and to the candidate furthest ahead take 1, others 1/1024"};

  SlowLeader(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const auto leader = view.front_runner();
    const bool concerns_it = leader && (parcel.from == *leader || parcel.to == *leader);
    return concerns_it ? unit : soon;
  }
};

}  // namespace conclave::network
