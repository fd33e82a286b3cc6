// AssignRanks_r (Protocols 7 to 11) with FastLeaderElect (Appendix D.2): from a clean start, one
// sheriff is elected; it splits its r badges until there are r deputies; these hand out labels; who
// has heard of n labels falls asleep and finally takes the place of its own label among all as
// rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/model/steps.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"

namespace conclave::protocols::electleader {

class AssignRanks {
 public:
  explicit AssignRanks(const Constants& constants) : constants_(constants) {}

  // Protocol 7.
  void interact(Agent& a, Agent& b, Choice auto& choice) const {
    Ranker& u = a.ranker;
    Ranker& v = b.ranker;
    if (u.type == Type::electing || v.type == Type::electing) {  // line 1
      elect_sheriff(a, b, choice);
    } else if (u.type == Type::sleeper || v.type == Type::sleeper) {  // line 3
      note(choice, "11");
      sleep(u, v);
    } else if (u.has_channel() && v.has_channel()) {
      deputize_or_label(u, v, choice);
      note(choice, "7: 8-11");
      merge_channels(u, v);
      if (u.sum == constants_.n) {
        fall_asleep(u);
        fall_asleep(v);
      }
    }
  }

 private:
  // Lines 4-7.
  void deputize_or_label(Ranker& u, Ranker& v, Choice auto& choice) const {
    if (u.type == Type::sheriff && v.type == Type::recipient) return deputize(u, v, choice);
    if (v.type == Type::sheriff && u.type == Type::recipient) return deputize(v, u, choice);
    if (u.type == Type::deputy && v.type == Type::recipient) return label(u, v, choice);
    if (v.type == Type::deputy && u.type == Type::recipient) return label(v, u, choice);
  }

  // Protocol 8.
  void elect_sheriff(Agent& a, Agent& b, Choice auto& choice) const {
    Ranker& u = a.ranker;
    Ranker& v = b.ranker;
    note(choice, u.type == v.type ? "8: 1-2" : "8: 3-4");
    if (u.type == v.type) {
      fast_leader_elect(a, b, choice);
    } else {  // which of the two becomes a recipient is erratum 11
      const bool swapped = constants_.reading == Reading::other_recipient;
      const bool u_changes = (u.type == Type::electing) != swapped;
      become_recipient(u_changes ? u : v, u_changes ? v : u);
    }
  }

  void become_recipient(Ranker& who, const Ranker& partner) const {
    Ranker fresh{.type = Type::recipient, .countdown = who.countdown};
    const Ranker& source = who.has_channel() ? who : partner;
    fresh.channel = source.channel;
    fresh.sum = source.sum;
    if (fresh.channel.empty()) fresh.channel.resize(constants_.r);
    who = std::move(fresh);
  }

  // Appendix D.2: the smallest identifier wins, once the epidemic that spreads it must be over.
  void fast_leader_elect(Agent& a, Agent& b, Choice auto& choice) const {
    for (Agent* agent : {&a, &b}) draw_identifier(*agent, choice);
    const std::uint64_t smallest = smaller(a.ranker.min_identifier, b.ranker.min_identifier);
    for (Agent* agent : {&a, &b}) {
      agent->ranker.min_identifier = smallest;
      count_down(agent->ranker);
    }
  }

  // At the first activation; derandomized, once enough coins have been seen (erratum 46).
  void draw_identifier(Agent& agent, Choice auto& choice) const {
    Ranker& u = agent.ranker;
    if (u.identifier != 0 || u.done) return;
    const std::uint32_t bits = constants_.identifier_bits();
    if (constants_.derandomize && constants_.reading != Reading::early_identifier) {
      if (u.waiting == 0) u.waiting = 2 * bits;
      if (--u.waiting > 0) return;
    }
    u.identifier =
        constants_.derandomize ? value_of_coins(agent.coins, bits) : constants_.identifier(choice);
    u.min_identifier = smaller(u.min_identifier, u.identifier);
    u.le_count = constants_.le_count;
  }

  static std::uint64_t smaller(std::uint64_t x, std::uint64_t y) {
    return x == 0 || y == 0 ? std::max(x, y) : std::min(x, y);
  }

  void count_down(Ranker& u) const {
    if (u.done || u.identifier == 0) return;
    if (u.le_count > 0) --u.le_count;
    if (u.le_count > 0) return;
    u.done = true;
    if (u.identifier == u.min_identifier) {
      become_sheriff(u);
    } else if (constants_.reading == Reading::losers_leave) {  // erratum 12
      become_recipient(u, Ranker{});
    }
  }

  void become_sheriff(Ranker& u) const {
    u = {.type = Type::sheriff, .countdown = u.countdown, .low = 1, .high = constants_.r};
    u.channel.assign(constants_.r, 0);
    // A single badge is a deputy's (erratum 13).
    if (constants_.reading != Reading::split_last_badge) become_deputy_with_one_badge(u);
  }

  // Protocol 9: w the sheriff, x the recipient.
  void deputize(Ranker& w, Ranker& x, Choice auto& choice) const {
    note(choice, "9");
    x.type = Type::sheriff;  // line 2
    x.label = {};
    x.high = w.high;                                              // line 3
    w.high = (w.high + w.low) / 2;                                // line 4
    x.low = w.high + 1;                                           // line 5
    for (Ranker* z : {&x, &w}) become_deputy_with_one_badge(*z);  // lines 6-11
  }

  static void become_deputy_with_one_badge(Ranker& z) {
    if (z.low != z.high) return;
    z.type = Type::deputy;
    z.label = {.deputy = z.low, .number = 1};  // its own label (erratum 18)
    z.counter = 1;
    z.low = z.high = 0;
    set_channel(z, z.label.deputy, 1);
  }

  // Protocol 10: w the deputy, x the recipient.
  void label(Ranker& w, Ranker& x, Choice auto& choice) const {
    if (!x.label.is_none()) return;
    const bool is_guarded = constants_.reading != Reading::no_guard;
    if (is_guarded && w.sum < constants_.r) return;  // line 1: the deputy's channel (erratum 14)
    if (w.counter >= constants_.labels) return;      // line 3
    note(choice, "10");
    ++w.counter;                                // line 4
    set_channel(w, w.label.deputy, w.counter);  // line 5
    x.label = {w.label.deputy, w.counter};      // line 6
  }

  static void set_channel(Ranker& u, std::uint32_t deputy, std::uint32_t value) {
    std::uint32_t& entry = u.channel[deputy - 1];
    u.sum += value;
    u.sum -= entry;
    entry = value;
  }

  // Protocol 7, lines 8-9.
  static void merge_channels(Ranker& u, Ranker& v) {
    if (u.sum == v.sum && u.channel == v.channel) return;
    const std::size_t size = u.channel.size();
    std::uint32_t* const x = u.channel.data();
    std::uint32_t* const y = v.channel.data();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = y[i] = std::max(x[i], y[i]);
      sum += x[i];
    }
    u.sum = v.sum = sum;
  }

  // Protocol 11, for both in the same way (errata 15 to 17).
  void sleep(Ranker& u, Ranker& v) const {
    if (u.type == Type::ranked) return become_ranked(v);  // lines 2-3
    if (v.type == Type::ranked) return become_ranked(u);
    merge_channels(u, v);
    const bool expired = has_slept(u) || has_slept(v);
    for (Ranker* x : {&u, &v}) {
      if (expired) {
        become_ranked(*x);  // lines 4-5
      } else if (x->type != Type::sleeper) {
        fall_asleep(*x);  // line 7
      } else if (constants_.reading != Reading::no_sleep_timer) {
        ++x->sleep;
      }
    }
  }

  bool has_slept(const Ranker& x) const {
    return x.type == Type::sleeper && x.sleep >= constants_.sleep;
  }

  static void fall_asleep(Ranker& x) {
    x.type = Type::sleeper;
    x.sleep = 1;
    x.low = x.high = x.counter = 0;
  }

  // Labels in lexicographic order; out of range only from corrupted states (erratum 19).
  void become_ranked(Ranker& x) const {
    Ranker ranked{.type = Type::ranked, .countdown = x.countdown, .rank = x.rank};
    if (!x.label.is_none()) {
      const auto below =
          std::accumulate(x.channel.begin(), x.channel.begin() + (x.label.deputy - 1),
                          std::uint64_t{x.label.number});
      ranked.rank = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(below, 1, constants_.n));
    }
    x = std::move(ranked);
  }

  Constants constants_;
};

}  // namespace conclave::protocols::electleader
