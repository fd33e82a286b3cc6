// Disputes take as long as they may: DECIDE and the replies to it a whole unit, all else is fast.
// So referees sit in states C2 and C3 while requests pour in.
#pragma once

#include "conclave/network/adversary.hpp"

namespace conclave::network {

struct SlowDecide final : DelayAdversary {
  static constexpr AdversaryInfo info{"slow-decide",
                                      "DECIDE, WINS and LOSES take 1, all other messages 1/1024"};

  SlowDecide(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView&) override {
    const bool is_dispute =
        parcel.kind == "DECIDE" || parcel.kind == "WINS" || parcel.kind == "LOSES";
    return is_dispute ? unit : soon;
  }
};

}  // namespace conclave::network
