// Every node hears nothing for a whole unit and then everything at once, each at its own moment of
// the unit.
#pragma once

#include <cstdint>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Burst final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "burst", "a node receives all that was sent to it once per unit, at its own moment"};

  Burst(NodeCount, const StreamName& name) : key_(Stream(name.with(Purpose::delay)).word()) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const Ticks moment = mixed(key_, parcel.to) >> 32;
    return unit - (view.now() + unit - moment) % unit;
  }

 private:
  std::uint64_t key_;
};

}  // namespace conclave::network
