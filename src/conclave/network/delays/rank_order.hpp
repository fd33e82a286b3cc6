// Lower ranks first: the higher the rank of its sender or receiver, the longer a message takes. So
// candidates that cannot win get far before those that will beat them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class RankOrder final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "rank-order", "in proportion to the higher rank of sender and receiver: low ranks first"};

  RankOrder(NodeCount, const StreamName&) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    const std::uint64_t rank = std::max(view.node(parcel.from).rank, view.node(parcel.to).rank);
    highest_ = std::max(highest_, rank);
    const double share = static_cast<double>(rank) / static_cast<double>(highest_);
    return std::clamp(static_cast<Ticks>(share * static_cast<double>(unit)), soon, unit);
  }

 private:
  std::uint64_t highest_ = 1;  // rank seen so far
};

}  // namespace conclave::network
