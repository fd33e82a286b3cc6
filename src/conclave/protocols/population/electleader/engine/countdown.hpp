// A part of the engine inside the protocol, not a part of the algorithm: the countdowns of rankers,
// for stretches in which meetings do little else than count them down.
//
// Once all agents have found their ranks, an interaction takes one off the countdowns of both and
// does nothing else (Protocol 1 with types "ranked"), until the first countdown gets to 0: that is
// most of the C_max (n/r) ln n interactions of every agent. During that time the countdowns are
// stored here side by side, four bytes each, and a meeting costs little more than drawing it;
// otherwise they lie in the agents. Same meetings, same result: nothing is drawn, left out or
// rounded.
//
// Two bits of each are a mark, for labelling.hpp: a meeting whose marks together are both bits is
// left to the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/protocols/population/electleader/agent.hpp"

namespace conclave::protocols::electleader {

class Countdown {
 public:
  static constexpr std::uint32_t longest = (std::uint32_t{1} << 30) - 1;

  bool is_running() const { return !left_.empty(); }

  // All agents rank, with countdowns of at most `longest`; from now on these are here, with marks
  // of 0. O(n).
  void begin(std::span<const Agent> agents) {
    left_.resize(agents.size());
    std::ranges::transform(agents, left_.begin(),
                           [](const Agent& agent) { return agent.ranker.countdown; });
  }

  // The same where there will be no marks.
  void begin_unmarked(std::span<const Agent> agents) {
    begin(agents);
    if (std::ranges::all_of(left_, [](std::uint32_t left) { return left >= margin; })) {
      lower_all(margin);
    }
  }

  // Gives the countdowns back, if they are here. O(n) then.
  void end(std::span<Agent> agents) {
    lower_all(0);
    for (std::size_t u = 0; u < left_.size(); ++u) agents[u].ranker.countdown = left_[u] & longest;
    left_.clear();
  }

  void mark(std::size_t u, std::uint32_t mark) { left_[u] = (left_[u] & longest) | mark << 30; }

  // Carries out the meetings (initiator + responder * 2^32) before the first that ends a countdown
  // or whose marks are both bits; returns how many.
  std::size_t pass_marked(std::span<const std::uint64_t> meetings) {
    return pass_watching<true>(meetings);
  }

  // The same where there are no marks.
  std::size_t pass_unmarked(std::span<const std::uint64_t> meetings) {
    std::size_t done = 0;
    while (lowered_by_ > 0 && done < meetings.size()) {
      const auto some =
          meetings.subspan(done, std::min<std::size_t>(margin - 2, meetings.size() - done));
      if (pass_blindly(some)) lower_all(0);
      done += some.size();
    }
    return done + pass_watching<false>(meetings.subspan(done));
  }

  // One meeting that ends no countdown.
  void meet(std::uint64_t meeting) {
    --left_[static_cast<std::uint32_t>(meeting)];
    --left_[meeting >> 32];
  }
  bool ends_one(std::uint64_t meeting) const {
    return std::min(left(static_cast<std::uint32_t>(meeting)), left(meeting >> 32)) <= 1;
  }
  std::uint32_t left(std::size_t u) const { return left_[u] & longest; }

 private:
  // As long as all countdowns are at least the margin, none of them ends within fewer meetings, and
  // a look afterwards is enough. For so long they are stored less the margin: one that has got
  // below it shows in the highest bit.
  static constexpr std::uint32_t margin = 1024;

  void lower_all(std::uint32_t by) {
    if (by == lowered_by_) return;
    for (std::uint32_t& left : left_) left += lowered_by_ - by;
    lowered_by_ = by;
  }

  // Whether some countdown has got below the margin.
  [[gnu::noinline]] bool pass_blindly(std::span<const std::uint64_t> meetings) {
    std::uint32_t* const left = left_.data();
    std::uint32_t seen = 0;
    for (const std::uint64_t meeting : meetings) {
      seen |= --left[static_cast<std::uint32_t>(meeting)];
      seen |= --left[meeting >> 32];
    }
    return seen >> 31 != 0;
  }

  template <bool marked>
  [[gnu::noinline]] std::size_t pass_watching(std::span<const std::uint64_t> meetings) {
    std::uint32_t* const left = left_.data();
    for (std::size_t k = 0; k < meetings.size(); ++k) {
      std::uint32_t& u = left[static_cast<std::uint32_t>(meetings[k])];
      std::uint32_t& v = left[meetings[k] >> 32];
      if constexpr (marked) {
        if (std::min(u & longest, v & longest) <= 1 || (u | v) > 3 * (longest + 1)) return k;
      } else {
        if (std::min(u, v) <= 1) return k;
      }
      --u;
      --v;
    }
    return meetings.size();
  }

  std::vector<std::uint32_t> left_;  // by agent, below its mark; empty unless it is running
  std::uint32_t lowered_by_ = 0;     // the margin, or 0
};

}  // namespace conclave::protocols::electleader
