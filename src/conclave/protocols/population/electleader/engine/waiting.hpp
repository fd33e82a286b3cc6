// A part of the engine inside the protocol: stretches in which meetings do next to nothing.
//
// With r far below n, most interactions are between agents that are all ranked and only count down
// (Countdown), and most of the others between deputies and recipients that have nothing for
// each other but news of labels (hearsay.hpp): the last recipients wait (n/2r) ln n rounds for a
// deputy. While all agents are ranked, or while all are recipients and deputies that know of each
// other, the countdowns lie here and channels are not computed; a meeting that does more than that
// ends the stretch. The agents are then as if all meetings had been carried out in turn.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/census.hpp"
#include "conclave/protocols/population/electleader/engine/hearsay.hpp"

namespace conclave::protocols::electleader {

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

  // Two bits; replaces the mark of this agent.
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
  // Whether this interaction ends the countdown of one of the two, and so must not go to `meet`.
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

// One trial's stretches of waiting, with the countdowns and channels that lie here meanwhile.
class Waiting {
 public:
  // There is no waiting, and all does nothing, with derandomized agents or another reading.
  explicit Waiting(const Constants& constants)
      : n_(constants.n),
        r_(constants.r),
        labels_(constants.labels),
        is_possible_(!constants.derandomize && constants.reading == Reading::working &&
                     constants.countdown <= Countdown::longest) {}

  bool is_running() const { return countdown_.is_running(); }

  // Carries out the meetings (initiator + responder * 2^32) before the first that does more than
  // wait, and returns how many; 0 if this is no time of waiting.
  std::size_t pass(const Census& census, std::span<const std::uint64_t> meetings,
                   std::span<Agent> agents) {
    if (!is_running() && !begin(census, agents)) return 0;
    const std::size_t passed =
        is_labelling_ ? label(meetings, agents) : countdown_.pass_unmarked(meetings);
    if (passed < meetings.size()) settle(agents);
    return passed;
  }

  // Ends the stretch, if it is one: the agents are what they would be without it. O(n), and O(r)
  // per meeting remembered where channels have to be computed.
  void settle(std::span<Agent> agents) {
    if (is_running() && is_labelling_) hearsay_.settle(agents);
    countdown_.end(agents);
  }

 private:
  static constexpr std::uint32_t no_mark = 0;
  static constexpr std::uint32_t wants_label = 1;
  static constexpr std::uint32_t has_labels = 2;

  bool begin(const Census& census, std::span<const Agent> agents) {
    if (!is_possible_) return false;
    if (census.ranked() == n_) {
      countdown_.begin_unmarked(agents);
      is_labelling_ = false;
      return true;
    }
    if (census.of_type(Type::deputy) != r_) return false;
    if (census.of_type(Type::recipient) != n_ - r_ || pause_-- > 0) return false;
    pause_ = std::int64_t{4} * n_;  // for looking takes O(n r)
    return begin_labelling(agents);
  }

  // Not before all deputies know of each other, and never where a channel is ahead of them.
  bool begin_labelling(std::span<const Agent> agents) {
    std::vector<std::uint32_t> given(r_);
    for (const Agent& agent : agents) {
      const Ranker& u = agent.ranker;
      if (u.type != Type::deputy) continue;
      if (given[u.label.deputy - 1] != 0 || u.sum < r_) return false;
      given[u.label.deputy - 1] = u.counter;
    }
    for (const Agent& agent : agents) {
      const Ranker& u = agent.ranker;
      if (!std::ranges::equal(u.channel, given, std::ranges::less_equal())) return false;
      if (u.type == Type::deputy && u.channel[u.label.deputy - 1] != u.counter) return false;
    }
    given_ = std::accumulate(given.begin(), given.end(), std::uint64_t{0});
    if (given_ >= n_) return false;
    hearsay_.begin(n_, std::move(given));
    begin_countdown(agents);
    return is_labelling_ = true;
  }

  void begin_countdown(std::span<const Agent> agents) {
    countdown_.begin(agents);
    for (std::size_t u = 0; u < agents.size(); ++u) {
      const Ranker& ranker = agents[u].ranker;
      if (ranker.type == Type::deputy) {
        if (ranker.counter < labels_) countdown_.mark(u, has_labels);
      } else if (ranker.label.is_none()) {
        countdown_.mark(u, wants_label);
      }
    }
  }

  std::size_t label(std::span<const std::uint64_t> meetings, std::span<Agent> agents) {
    std::size_t done = 0;
    while (done < meetings.size()) {
      const std::size_t passed = countdown_.pass_marked(meetings.subspan(done));
      hearsay_.note(meetings.subspan(done, passed));
      done += passed;
      if (done == meetings.size() || !give_label(meetings[done], agents)) break;
      ++done;
    }
    return done;
  }

  // Protocol 10. False if the meeting ends a countdown, or gives the last label: then channels
  // matter.
  bool give_label(std::uint64_t meeting, std::span<Agent> agents) {
    if (countdown_.ends_one(meeting) || given_ + 1 == n_) return false;
    auto deputy = static_cast<std::uint32_t>(meeting);
    auto recipient = static_cast<std::uint32_t>(meeting >> 32);
    if (agents[deputy].ranker.type != Type::deputy) std::swap(deputy, recipient);
    Ranker& w = agents[deputy].ranker;
    ++w.counter;
    ++given_;
    agents[recipient].ranker.label = {w.label.deputy, w.counter};
    hearsay_.note_label(deputy, w.label.deputy, w.counter);
    hearsay_.note({&meeting, 1});
    countdown_.meet(meeting);
    countdown_.mark(recipient, no_mark);
    if (w.counter == labels_) countdown_.mark(deputy, no_mark);
    return true;
  }

  std::uint32_t n_;
  std::uint32_t r_;
  std::uint32_t labels_;
  bool is_possible_;
  bool is_labelling_ = false;
  std::uint64_t given_ = 0;  // labels, all deputies' own included
  std::int64_t pause_ = 0;   // meetings before the next attempt to begin
  Countdown countdown_;
  Hearsay hearsay_;
};

}  // namespace conclave::protocols::electleader
