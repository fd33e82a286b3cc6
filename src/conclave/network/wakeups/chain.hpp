// A chain of challengers: just before the front runner gets the last answer of a phase, and thus
// wins it, a fresh node is woken to run against it. In rounds: a fresh node in every round.
#pragma once

#include <optional>
#include <utility>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Chain final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{
      "chain", "one node; then a fresh one whenever the front runner is about to win its phase"};

  Chain(NodeCount n, const StreamName& name) : sleepers_(n, name) {}

  std::optional<Waking> next() override {
    const bool is_first = !begun_;
    begun_ = true;
    return is_first ? std::optional(Waking{0, sleepers_.first()}) : std::nullopt;
  }

  bool is_adaptive() const override { return true; }

  std::optional<NodeIndex> before(const Parcel* parcel, const NetworkView& view) override {
    if (!begun_) return std::nullopt;
    const Moment moment = parcel != nullptr ? about_to_win(*parcel, view) : Moment{0, view.now()};
    if (moment == last_ || moment == never) return std::nullopt;
    last_ = moment;
    return sleepers_.next(view);
  }

 private:
  using Moment = std::pair<NodeIndex, Ticks>;  // the front runner and its phase, or the round
  static constexpr Moment never{0, 0};

  static Moment about_to_win(const Parcel& parcel, const NetworkView& view) {
    const NodeView node = view.node(parcel.to);
    if (node.standing != Standing::candidate || node.awaited != 1) return never;
    if (view.front_runner() != parcel.to) return never;
    return {parcel.to, node.phase};
  }

  Sleepers sleepers_;
  bool begun_ = false;
  Moment last_ = never;
};

}  // namespace conclave::network
