// One node, at random.
#pragma once

#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class One final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{"one", "one random node at time 0, nobody else"};

  One(NodeCount n, const StreamName& name)
      : node_(static_cast<NodeIndex>(Stream(name.with(Purpose::wakeup)).below64(n))) {}

  std::optional<Waking> next() override {
    const bool is_first = !done_;
    done_ = true;
    return is_first ? std::optional(Waking{0, node_}) : std::nullopt;
  }

 private:
  NodeIndex node_;
  bool done_ = false;
};

}  // namespace conclave::network
