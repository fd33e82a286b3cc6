// Everybody is awake from the start.
#pragma once

#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class All final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{"all", "every node at time 0"};

  All(NodeCount n, const StreamName&) : n_(n) {}

  std::optional<Waking> next() override {
    if (woken_ == n_) return std::nullopt;
    return Waking{0, static_cast<NodeIndex>(woken_++)};
  }

 private:
  NodeCount n_;
  NodeCount woken_ = 0;
};

}  // namespace conclave::network
