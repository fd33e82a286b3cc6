// Made for the three attempts of kmpp-sync: waves of the sizes n^(4/9), n^(7/9) and all the rest,
// three rounds apart, so that as many as the proof of Lemma 11 can allow toss in the same round
// with the probabilities 1, n^(-1/3) and n^(-2/3).
#pragma once

#include <optional>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

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

}  // namespace conclave::network
