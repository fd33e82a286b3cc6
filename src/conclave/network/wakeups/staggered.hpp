// One more node in every unit of time, as long as any node sleeps.
#pragma once

#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Staggered final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{"staggered",
                                      "one node after the other, one per unit of time"};

  Staggered(NodeCount n, const StreamName& name)
      : n_(n), order_(n, Stream(name.with(Purpose::wakeup)).word()) {}

  std::optional<Waking> next() override {
    if (woken_ == n_) return std::nullopt;
    const Ticks at = woken_ * unit;
    return Waking{at, static_cast<NodeIndex>(order_(woken_++))};
  }

 private:
  NodeCount n_;
  Permutation order_;
  NodeCount woken_ = 0;
};

}  // namespace conclave::network
