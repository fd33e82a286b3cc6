// Made for the three attempts of kmpp-sync: waves of the sizes n^(4/9), n^(7/9) and all the rest,
// three rounds apart, so that as many as the proof of Lemma 11 can allow toss in the same round
// with the probabilities 1, n^(-1/3) and n^(-2/3).
#pragma once

#include <cmath>
#include <optional>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class ThreeWaves final : public WakeupAdversary {
 public:
  static constexpr AdversaryInfo info{
      "three-waves", "n^(4/9) nodes at time 0, n^(7/9) in all at 3, everybody else at 6"};

  ThreeWaves(NodeCount n, const StreamName& name)
      : n_(n),
        first_(std::ceil(std::pow(static_cast<double>(n), 4.0 / 9))),
        second_(std::ceil(std::pow(static_cast<double>(n), 7.0 / 9))),
        order_(n, Stream(name.with(Purpose::wakeup)).word()) {}

  std::optional<Waking> next() override {
    if (woken_ == n_) return std::nullopt;
    const auto rank = static_cast<double>(woken_);
    const Ticks at = rank < first_ ? 0 : rank < second_ ? 3 * unit : 6 * unit;
    return Waking{at, static_cast<NodeIndex>(order_(woken_++))};
  }

 private:
  NodeCount n_;
  double first_;
  double second_;
  Permutation order_;
  NodeCount woken_ = 0;
};

}  // namespace conclave::network
