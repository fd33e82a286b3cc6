// The wake-up adversaries that `--wakeup` chooses from. Times are in ticks, `unit` of them in the
// longest delay or, in synchronous networks, in a round.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

// Everybody is awake from the start.
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

// One node, at random.
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

// One more node in every unit of time, as long as any node sleeps.
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

// Every other node, at random times within the first nine units or rounds.
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

// Made for the three attempts of kmpp-sync: waves of the sizes n^(4/9), n^(7/9) and all the rest,
// three rounds apart, so that as many as the proof of Lemma 11 can allow toss in the same round
// with the probabilities 1, n^(-1/3) and n^(-2/3).
class ThreeWaves final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{
      "three-waves", "n^(4/9) nodes at time 0, n^(7/9) in all at 3, everybody else at 6"};

  ThreeWaves(NodeCount n, const StreamName& name)
      : n_(n),
        first_(rounded_up_power(n, 4, 9)),
        second_(rounded_up_power(n, 7, 9)),
        order_(n, Stream(name.with(Purpose::wakeup)).word()) {}

  std::optional<Waking> next() override {
    if (woken_ == n_) return std::nullopt;
    const Ticks at = woken_ < first_ ? 0 : woken_ < second_ ? 3 * unit : 6 * unit;
    return Waking{at, static_cast<NodeIndex>(order_(woken_++))};
  }

 private:
  NodeCount n_;
  NodeCount first_;   // nodes of the first wave
  NodeCount second_;  // of the first two
  Permutation order_;
  NodeCount woken_ = 0;
};

// A chain of challengers: just before the front runner gets the last answer of a phase, and thus
// wins it, a fresh node is woken to run against it. In rounds: a fresh node in every round.
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

// Latecomers for kmpp-sync: as soon as a candidate is active, half of the sleepers are woken in the
// next round and the others in the one after, so that they become active while the election is
// being decided (Lemma 10).
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
