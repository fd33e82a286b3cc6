// Independent delays, uniform in (0, 1].
#pragma once

#include <span>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Uniform final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{"uniform", "independent delays, uniform in (0, 1]"};

  Uniform(NodeCount, const StreamName& name) : stream_(name.with(Purpose::delay)) {}
  Ticks delay(const Parcel&, const NetworkView&) override { return draw(); }
  bool foretell(std::span<Ticks> delays) override {
    for (Ticks& each : delays) each = draw();
    return true;
  }

 private:
  Ticks draw() { return 1 + (stream_.word() >> 32); }

  Stream stream_;
};

}  // namespace conclave::network
