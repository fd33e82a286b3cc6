// Independent delays, uniform in (0, 1].
#pragma once

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Uniform final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{"uniform", "independent delays, uniform in (0, 1]"};

  Uniform(NodeCount, const StreamName& name) : stream_(name.with(Purpose::delay)) {}
  Ticks delay(const Parcel&, const NetworkView&) override { return 1 + (stream_.word() >> 32); }

 private:
  Stream stream_;
};

}  // namespace conclave::network
