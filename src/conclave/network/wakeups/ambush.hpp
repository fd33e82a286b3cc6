// Latecomers for kmpp-sync: as soon as a candidate is active, half of the sleepers are woken in the
// next round and the others in the one after, so that they become active while the election is
// being decided (Lemma 10).
#pragma once

#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Ambush final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{
      "ambush", "one node; once a candidate is active, half of the others, then the rest"};

  Ambush(NodeCount n, const StreamName& name) : sleepers_(n, name) {}

  std::optional<Waking> next() override {
    const bool is_first = !begun_;
    begun_ = true;
    return is_first ? std::optional(Waking{0, sleepers_.first()}) : std::nullopt;
  }

  bool is_adaptive() const override { return true; }

  std::optional<NodeIndex> before(const Parcel*, const NetworkView& view) override {
    if (!springs_at_) {
      const auto leader = view.front_runner();
      if (!leader || view.node(*leader).phase == 0) return std::nullopt;
      springs_at_ = view.now();
      left_for_later_ = view.asleep() / 2;
    }
    if (view.now() < *springs_at_ + unit && view.asleep() <= left_for_later_) {
      return std::nullopt;
    }
    return sleepers_.next(view);
  }

 private:
  Sleepers sleepers_;
  bool begun_ = false;
  std::optional<Ticks> springs_at_;
  NodeCount left_for_later_ = 0;
};

}  // namespace conclave::network
