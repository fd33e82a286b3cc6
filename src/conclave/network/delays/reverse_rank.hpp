// Higher ranks first: the lower the higher rank of its two ends, the longer a message takes. Those
// who will lose find out late and ask referees for as long as they can.
#pragma once

#include <algorithm>

#include "conclave/network/adversary.hpp"
#include "conclave/network/delays/rank_order.hpp"

namespace conclave::network {

class ReverseRank final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "reverse-rank", "the opposite of rank-order: messages of high ranks arrive first"};

  ReverseRank(NodeCount n, const StreamName& name) : order_(n, name) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    return std::max(soon, unit - order_.delay(parcel, view));
  }

 private:
  RankOrder order_;
};

}  // namespace conclave::network
