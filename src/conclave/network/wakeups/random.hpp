// Every other node, at random times within the first nine units or rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Random final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{
      "random", "each node with probability 1/2, at a random time in [0, 9); at least one"};

  Random(NodeCount n, const StreamName& name) {
    Stream stream(name.with(Purpose::wakeup));
    for (NodeIndex node = 0; node < n; ++node) {
      if (stream.chance(1, 2)) wakings_.push_back({stream.below64(9 * unit), node});
    }
    if (wakings_.empty()) wakings_.push_back({0, static_cast<NodeIndex>(stream.below64(n))});
    std::ranges::stable_sort(wakings_, {}, &Waking::at);
  }

  std::optional<Waking> next() override {
    return next_ < wakings_.size() ? std::optional(wakings_[next_++]) : std::nullopt;
  }

 private:
  std::vector<Waking> wakings_;
  std::size_t next_ = 0;
};

}  // namespace conclave::network
