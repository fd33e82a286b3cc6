// Elections by messages a second time, written from their descriptions, in another style and
// without the engines: whatever is under way lies in one list, the message that arrives first is
// taken out next, and nodes are numbers in arrays. O(messages under way) per message, which is
// enough for samples of small networks.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"

namespace conclave::tests::by_mail {

using Identifiers = std::vector<std::size_t>;  // of the nodes; on rings in the ring's direction

// Messages in all and the time of the last sending; `elected` where it may be other than 1.
struct Sent {
  std::size_t messages = 0;
  double time = 0;
  std::size_t elected = 1;
};

// All orders of 1 ... n are equally likely.
inline Identifiers shuffled(std::size_t n, Stream& coins) {
  Identifiers order(n);
  std::iota(order.begin(), order.end(), std::size_t{1});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[coins.below64(i)]);
  return order;
}

struct Letter {
  using Text = std::array<std::size_t, 5>;
  double at;
  std::size_t from;
  std::size_t to;
  Text text;
};

// The list of what is under way. Edges are FIFO; of two messages that arrive at the same time the
// one that was sent first is read first.
class Post {
 public:
  // Without coins every message takes a unit, with coins a time uniform in (0, 1).
  explicit Post(Stream* coins) : coins_(coins) {}

  void send(std::size_t from, std::size_t to, const Letter::Text& text) {
    double& last = last_arrival_[{from, to}];
    last = std::max(last, now_ + delay());
    letters_.push_back({last, from, to, text});
    ++sent_.messages;
    sent_.time = now_;
  }

  template <class Read>
  Sent deliver_all(Read read) {
    while (!letters_.empty()) {
      const auto first = std::ranges::min_element(letters_, {}, &Letter::at);
      const Letter letter = *first;
      letters_.erase(first);
      now_ = letter.at;
      read(letter);
    }
    return sent_;
  }

 private:
  double delay() {
    return coins_ == nullptr ? 1.0 : static_cast<double>(coins_->word() >> 11) * 0x1p-53;
  }

  Stream* coins_;
  std::vector<Letter> letters_;
  std::map<std::pair<std::size_t, std::size_t>, double> last_arrival_;
  double now_ = 0;
  Sent sent_;
};

// ---- complete networks

// One node is woken; everybody tells everybody its identifier as soon as it hears of anything.
inline Sent flooding(std::size_t n, Stream* delays) {
  Post post(delays);
  std::vector<bool> has_entered(n);
  const auto enter = [&](std::size_t node) {
    if (has_entered[node]) return;
    has_entered[node] = true;
    for (std::size_t other = 0; other < n; ++other) {
      if (other != node) post.send(node, other, {});
    }
  };
  enter(0);
  return post.deliver_all([&](const Letter& letter) { enter(letter.to); });
}

// Afek and Gafni, algorithm A, all awake. A candidate asks one node after the other, in an order of
// its own; its strength is the pair of how many it has captured and its identifier.
class AfekGafni {
 public:
  AfekGafni(std::size_t n, Stream& coins, Stream* delays)
      : post_(delays), ids_(shuffled(n, coins)) {
    for (std::size_t node = 0; node < n; ++node) {
      seen_.emplace_back(0, ids_[node]);
      owner_.push_back(node);
      Identifiers others = shuffled(n, coins);
      for (std::size_t& other : others) --other;
      std::erase(others, node);
      targets_.push_back(std::move(others));
    }
    captured_.resize(n);
    lives_.assign(n, true);
    knows_.resize(n);
    seeker_.resize(n);
  }

  Sent run() {
    for (std::size_t node = 0; node < ids_.size(); ++node) go_on(node);
    return post_.deliver_all([this](const Letter& letter) { read(letter); });
  }

 private:
  using Strength = std::pair<std::size_t, std::size_t>;
  enum Says : std::size_t { give_in, let_it_go, it_is_free, yours, i_lead };

  Strength strength(std::size_t node) const { return {captured_[node], ids_[node]}; }
  void say(std::size_t from, std::size_t to, Says what, Strength whose = {}) {
    post_.send(from, to, {what, whose.first, whose.second, 0, 0});
  }

  void go_on(std::size_t me) {
    if (captured_[me] < targets_[me].size()) {
      return say(me, targets_[me][captured_[me]], give_in, strength(me));
    }
    knows_[me] = true;
    for (const std::size_t other : targets_[me]) say(me, other, i_lead);
  }

  bool yields(std::size_t me, Strength to) {
    if (strength(me) > to) return false;
    lives_[me] = false;
    return true;
  }

  void change_hands(std::size_t me) {
    owner_[me] = seeker_[me];
    say(me, owner_[me], yours);
  }

  void read(const Letter& letter) {
    const std::size_t me = letter.to;
    if (knows_[me]) return;
    const Strength whose{letter.text[1], letter.text[2]};
    switch (letter.text[0]) {
      case give_in:
        if (whose <= seen_[me]) return;
        seen_[me] = whose;
        seeker_[me] = letter.from;
        if (owner_[me] != me) return say(me, owner_[me], let_it_go, whose);
        if (yields(me, whose)) change_hands(me);
        return;
      case let_it_go:
        if (yields(me, whose)) say(me, letter.from, it_is_free, whose);
        return;
      case it_is_free:
        if (whose == seen_[me]) change_hands(me);
        return;
      case yours:
        captured_[me] += lives_[me] ? 1 : 0;
        if (lives_[me]) go_on(me);
        return;
      default:
        knows_[me] = true;
    }
  }

  Post post_;
  Identifiers ids_;
  std::vector<Strength> seen_;
  std::vector<std::size_t> owner_;
  std::vector<std::vector<std::size_t>> targets_;
  std::vector<std::size_t> captured_;
  std::vector<bool> lives_;
  std::vector<bool> knows_;
  std::vector<std::size_t> seeker_;
};

// Afek and Gafni in rounds, all awake, so that all candidates have the same level and identifiers
// decide: in step i everybody who is left asks c^i further nodes. `time` counts rounds.
inline Sent afek_gafni_in_rounds(std::size_t n, std::size_t c, Stream& coins) {
  Identifiers owner = shuffled(n, coins);
  std::map<std::size_t, std::vector<std::size_t>> left;  // by identifier: whom it has not asked yet
  for (std::size_t node = 0; node < n; ++node) {
    Identifiers others = shuffled(n, coins);
    std::erase(others, node + 1);
    left[owner[node]] = others;
  }
  Sent sent;
  for (std::size_t wanted = 1; !left.begin()->second.empty(); wanted *= c) {
    std::map<std::size_t, std::size_t> strongest;  // by node
    const std::size_t asked = std::min(wanted, left.begin()->second.size());
    for (auto& [id, others] : left) {
      for (std::size_t i = 0; i < asked; ++i, others.pop_back()) {
        std::size_t& best = strongest[others.back()];
        best = std::max(best, id);
        ++sent.messages;
      }
    }
    std::map<std::size_t, std::size_t> gained;
    for (const auto& [node, id] : strongest) {
      if (id < owner[node - 1]) continue;
      owner[node - 1] = id;
      ++gained[id];
      ++sent.messages;
    }
    std::erase_if(left, [&](const auto& each) { return gained[each.first] < asked; });
    sent.time += 2;
  }
  sent.messages += n - 1;
  ++sent.time;
  return sent;
}

// Kutten et al., implicit election: candidates ask `referees` others, who answer the highest rank.
// Ranks are the order of a shuffle, so that no two are equal.
inline Sent sublinear(std::size_t n, double chance, std::size_t referees, Stream& coins) {
  const Identifiers rank = shuffled(n, coins);
  std::vector<std::size_t> answered(n);  // by referee: the highest rank that has asked
  std::map<std::size_t, std::vector<std::size_t>> asked;  // by rank
  for (std::size_t node = 0; node < n; ++node) {
    if (static_cast<double>(coins.word() >> 11) * 0x1p-53 >= chance) continue;
    Identifiers others = shuffled(n, coins);
    std::erase(others, node + 1);
    others.resize(referees);
    for (const std::size_t each : others) {
      answered[each - 1] = std::max(answered[each - 1], rank[node]);
    }
    asked[rank[node]] = others;
  }
  Sent sent{.elected = 0};
  sent.messages = n - static_cast<std::size_t>(std::ranges::count(answered, std::size_t{0}));
  for (const auto& [candidate, others] : asked) {
    sent.messages += others.size();
    const std::size_t mine = candidate;
    const bool has_all =
        std::ranges::all_of(others, [&](std::size_t each) { return answered[each - 1] == mine; });
    sent.elected += has_all ? 1 : 0;
  }
  return sent;
}

// ---- any graph

// Flooding with the maximum: messages, and the last round with one as `time`. `known` begins with
// everybody's identifier and ends with what everybody knows. With `news_only` a node is silent
// where it has learnt nothing.
using Arcs = std::vector<std::pair<std::size_t, std::size_t>>;
inline Sent flood_max(const Arcs& arcs, Identifiers& known, std::size_t rounds, bool news_only) {
  Identifiers told_before(known.size());
  Sent sent;
  for (std::size_t round = 0; round < rounds; ++round) {
    const Identifiers told = known;
    for (const auto& [from, to] : arcs) {
      if (news_only && told[from] == told_before[from]) continue;
      known[to] = std::max(known[to], told[from]);
      ++sent.messages;
      sent.time = static_cast<double>(round + 1);
    }
    told_before = told;
  }
  return sent;
}

// ---- rings, all awake; the leader's announcement goes once round

enum RingSays : std::size_t { token, second, reply, leader };

inline Sent chang_roberts(const Identifiers& ids, Stream* delays) {
  const std::size_t n = ids.size();
  Post post(delays);
  for (std::size_t i = 0; i < n; ++i) post.send(i, (i + 1) % n, {token, ids[i]});
  return post.deliver_all([&](const Letter& letter) {
    const auto& [says, id, a, b, c] = letter.text;
    const bool is_mine = id == ids[letter.to];
    const bool goes_on = says == leader ? !is_mine : id > ids[letter.to];
    if (goes_on) post.send(letter.to, (letter.to + 1) % n, letter.text);
    if (says == token && is_mine) post.send(letter.to, (letter.to + 1) % n, {leader, id});
  });
}

inline Sent peterson(const Identifiers& ids, Stream* delays) {
  const std::size_t n = ids.size();
  Post post(delays);
  Identifiers value = ids;
  Identifiers nearest(n);
  std::vector<bool> is_relay(n);
  for (std::size_t i = 0; i < n; ++i) post.send(i, (i + 1) % n, {token, ids[i]});
  return post.deliver_all([&](const Letter& letter) {
    const std::size_t me = letter.to;
    const std::size_t id = letter.text[1];
    const auto send = [&](const Letter::Text& text) { post.send(me, (me + 1) % n, text); };
    if (letter.text[0] == leader) {
      if (id != ids[me]) send(letter.text);
    } else if (is_relay[me]) {
      send(letter.text);
    } else if (letter.text[0] == second) {
      is_relay[me] = nearest[me] < std::max(value[me], id);
      value[me] = nearest[me];
      if (!is_relay[me]) send({token, value[me]});
    } else if (id == value[me]) {
      send({leader, ids[me]});
    } else {
      nearest[me] = id;
      send({second, std::max(value[me], id)});
    }
  });
}

// A candidate that a stronger probe has passed begins no further phase. One whose own probe comes
// home from both sides leads; in another reading the first of them is enough. Who knows the leader
// is done.
inline Sent hirschberg_sinclair(const Identifiers& ids, Stream* delays, std::size_t copies = 2) {
  const std::size_t n = ids.size();
  Post post(delays);
  std::vector<std::size_t> reach(n, 1);
  std::vector<std::size_t> replies(n);
  std::vector<std::size_t> came_home(n);
  std::vector<bool> is_out(n);
  std::vector<bool> knows(n);
  const auto probe = [&](std::size_t me) {
    post.send(me, (me + 1) % n, {token, ids[me], reach[me]});
    post.send(me, (me + n - 1) % n, {token, ids[me], reach[me]});
  };
  for (std::size_t i = 0; i < n; ++i) probe(i);
  return post.deliver_all([&](const Letter& letter) {
    const auto& [says, id, hops, a, b] = letter.text;
    const std::size_t me = letter.to;
    const std::size_t onwards = (2 * me + n - letter.from) % n;
    const bool is_mine = id == ids[me];
    if (knows[me]) return;
    if (says == leader) {
      knows[me] = true;
      post.send(me, onwards, letter.text);
    } else if (says == reply) {
      if (!is_mine) return post.send(me, onwards, letter.text);
      if (++replies[me] % 2 != 0 || is_out[me]) return;
      reach[me] *= 2;
      probe(me);
    } else if (is_mine) {
      knows[me] = ++came_home[me] == copies;
      if (knows[me]) post.send(me, (me + 1) % n, {leader, id});
    } else if (id > ids[me]) {
      is_out[me] = true;
      if (hops > 1) return post.send(me, onwards, {token, id, hops - 1});
      post.send(me, letter.from, {reply, id});
    }
  });
}

// Anonymous: identifiers 1 ... k are drawn, and drawn again where the highest tie. A token says
// round, identifier, hops and whether it has met its like.
inline Sent itai_rodeh(std::size_t n, std::size_t k, Stream& coins, Stream* delays) {
  Post post(delays);
  std::vector<std::size_t> round(n);
  std::vector<std::size_t> drawn(n);
  std::vector<bool> is_passive(n);
  const auto draw = [&](std::size_t me) {
    drawn[me] = 1 + coins.below64(k);
    post.send(me, (me + 1) % n, {token, round[me], drawn[me], 1, 0});
  };
  for (std::size_t i = 0; i < n; ++i) draw(i);
  return post.deliver_all([&](const Letter& letter) {
    const std::size_t me = letter.to;
    Letter::Text text = letter.text;
    const bool is_home = text[3] == n;
    if (text[0] == token && !is_passive[me]) {
      if (is_home && text[4] == 0) {
        return post.send(me, (me + 1) % n, {leader, 0, 0, 1, 0});
      }
      if (is_home) ++round[me];
      if (is_home) return draw(me);
      const std::pair theirs{text[1], text[2]};
      const std::pair mine{round[me], drawn[me]};
      if (theirs < mine) return;
      is_passive[me] = theirs > mine;
      text[4] = theirs == mine ? 1 : text[4];
    } else if (is_home) {
      return;  // the announcement is back
    }
    ++text[3];
    post.send(me, (me + 1) % n, text);
  });
}

}  // namespace conclave::tests::by_mail
