// When the copies of a message to all others arrive, side by side: four bytes each and no search,
// where a table of edges would take 32 and a look at a random place. Of one broadcast at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/large_pages.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network::detail {

class BroadcastArrivals {
 public:
  // A broadcast of this sender begins, unless another one is on its way. O(n).
  void begin(Ticks now, NodeIndex from, NodeCount n) {
    if (over_ > now) return;
    from_ = from;
    over_ = now + unit;
    delays_.assign(n, 0);
  }

  // Notes a message sent now that arrives then, within a unit, if it belongs to the broadcast or
  // follows it at once; tells whether it does. To be called in the order of sending.
  bool note(Ticks now, NodeIndex from, NodeIndex to, Ticks arrival) {
    if (from != from_ || over_ != now + unit) return false;
    delays_[to] = static_cast<std::uint32_t>(arrival - now - 1);
    return true;
  }

  // When the last message that was noted on this edge arrives. If there is none, a time before
  // which no later message of this sender can arrive anyway, or 0.
  Ticks find(NodeIndex from, NodeIndex to) const {
    return over_ != 0 && from == from_ ? over_ - unit + 1 + delays_[to] : 0;
  }

  std::size_t bytes() const { return delays_.capacity() * sizeof(delays_[0]); }

 private:
  NodeIndex from_ = 0;
  Ticks over_ = 0;                                                // then all copies have arrived
  std::vector<std::uint32_t, LargePages<std::uint32_t>> delays_;  // less one tick
};

}  // namespace conclave::network::detail
