// Exponential delays of mean 1/4, under the condition that they are at most 1: most messages are
// fast, some are not. Drawn with von Neumann's comparisons of uniform numbers (1951), which need no
// logarithm and give the same bits everywhere.
#pragma once

#include <span>

#include "conclave/network/adversary.hpp"

namespace conclave::network {

class Exponential final : public DelayAdversary {
 public:
  static constexpr AdversaryInfo info{
      "exponential", "independent exponential delays of mean 1/4, truncated to (0, 1]"};

  Exponential(NodeCount, const StreamName& name) : stream_(name.with(Purpose::delay)) {}

  Ticks delay(const Parcel&, const NetworkView&) override { return draw(); }
  bool foretell(std::span<Ticks> delays) override {
    for (Ticks& each : delays) each = draw();
    return true;
  }

 private:
  Ticks draw() {
    for (;;) {
      const Ticks quarters = standard();  // in units of a quarter
      if (quarters < 4 * unit) return quarters / 4 + 1;
    }
  }

  // A descending run of uniform numbers has odd length with probability exp(-first). So the first
  // number of an odd run is distributed like the fractional part, and every even run before it adds
  // one to the whole part.
  Ticks standard() {
    for (Ticks whole = 0;; whole += unit) {
      const Ticks first = stream_.word() >> 32;
      bool is_odd = true;
      Ticks last = first;
      for (Ticks next = stream_.word() >> 32; next < last; next = stream_.word() >> 32) {
        last = next;
        is_odd = !is_odd;
      }
      if (is_odd) return whole + first;
    }
  }

  Stream stream_;
};

}  // namespace conclave::network
