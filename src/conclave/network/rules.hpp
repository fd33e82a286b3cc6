// An adversary that is a table: what it does with a message depends on the situation in which it is
// sent or arrives, and on nothing else. Tables can be changed entry by entry, and so be searched
// for one that makes an election long or costly (catalog/make_exploration.hpp).
//
// A situation is the kind of the message, whether it concerns the front runner, whether its sender
// is ahead of its receiver, and whether its receiver waits for this answer alone. It is adaptive:
// ranks, phases and coin flips of the past are seen, as the model allows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

// The adversary's action in one situation.
struct Rule {
  std::uint8_t delay = 2;  // 0: 1/1024 of a unit, 1: half a unit, 2: a whole one
  // When the message arrives: 0: none is woken, 1: one sleeper, 2: sleepers, until one of them
  // outranks the front runner. In the first rule of a table, who is woken at time 0: 0: one node,
  // 1: about sqrt(n), 2: all.
  std::uint8_t wake = 0;

  friend bool operator==(const Rule&, const Rule&) = default;
  static constexpr std::tuple fields{Field{"delay", &Rule::delay}, Field{"wake", &Rule::wake}};
};

// The situations of a protocol with these kinds of messages, and their places in a table.
class Situations {
 public:
  static constexpr std::size_t per_kind = 12;

  // Keeps a reference to the names of the kinds.
  explicit Situations(std::span<const std::string_view> kinds) : kinds_(kinds) {}

  // The number of situations: the length of a table of rules.
  std::size_t count() const { return 1 + kinds_.size() * per_kind; }

  // The situation of a message that is being sent; 0 is that before the first one.
  std::size_t of(const Parcel& parcel, const NetworkView& view) const {
    const NodeView from = view.node(parcel.from);
    const NodeView to = view.node(parcel.to);
    const auto leader = view.front_runner();
    const std::size_t party = !leader                  ? 0
                              : parcel.from == *leader ? 1
                              : parcel.to == *leader   ? 2
                                                       : 0;
    const auto kind =
        static_cast<std::size_t>(std::ranges::find(kinds_, parcel.kind) - kinds_.begin());
    const bool is_ahead = std::pair{from.rank, from.id} > std::pair{to.rank, to.id};
    const bool is_last = to.standing == Standing::candidate && to.awaited == 1;
    return 1 + kind * per_kind + party * 4 + (is_ahead ? 2 : 0) + (is_last ? 1 : 0);
  }

  // The kind of messages that a situation other than 0 is about.
  std::string_view kind_of(std::size_t situation) const {
    return kinds_[(situation - 1) / per_kind];
  }
  // Whether the front runner sends it (1), receives it (2) or neither (0).
  static std::size_t party_of(std::size_t situation) { return (situation - 1) % per_kind / 4; }
  static bool is_last_awaited(std::size_t situation) { return (situation - 1) % 2 == 1; }

 private:
  std::span<const std::string_view> kinds_;
};

// For the search: any rule. A table is a "configuration" of such states.
struct AnyRule {
  using State = Rule;
  // Each of the nine rules with the same probability.
  Rule arbitrary(Choice auto& choice) const {
    return {static_cast<std::uint8_t>(choice.below(3)), static_cast<std::uint8_t>(choice.below(3))};
  }
};

// Both look at the same table, which must outlive them.
class RuledDelays final : public DelayAdversary {
 public:
  RuledDelays(const Situations& situations, std::span<const Rule> table)
      : situations_(situations), table_(table) {}

  Ticks delay(const Parcel& parcel, const NetworkView& view) override {
    constexpr std::array<Ticks, 3> delays{soon, unit / 2, unit};
    return delays[table_[situations_.of(parcel, view)].delay];
  }

 private:
  Situations situations_;
  std::span<const Rule> table_;
};

// Wakes nodes as the rules of the table say; the same table decides delays.
class RuledWakeups final : public WakeupAdversary {
 public:
  // The table has one rule per situation and must outlive the adversary.
  RuledWakeups(const Situations& situations, std::span<const Rule> table, NodeCount n,
               const StreamName& name)
      : situations_(situations), table_(table), sleepers_(n, name) {
    const auto root = static_cast<NodeCount>(std::sqrt(static_cast<double>(n)));
    early_ = std::array<NodeCount, 3>{1, std::max<NodeCount>(1, root), n}[table_[0].wake];
  }

  std::optional<Waking> next() override {
    if (early_ == 0) return std::nullopt;
    --early_;
    return Waking{0, sleepers_.first()};
  }

  bool is_adaptive() const override { return true; }

  // Asked again after every sleeper that it wakes.
  std::optional<NodeIndex> before(const Parcel* parcel, const NetworkView& view) override {
    if (parcel == nullptr || view.asleep() == 0) return std::nullopt;
    const std::uint8_t wake = table_[situations_.of(*parcel, view)].wake;
    const std::optional<NodeIndex> last = std::exchange(woken_, std::nullopt);
    const bool is_enough = wake == 0 || (last && (wake == 1 || outranks(*last, view)));
    if (is_enough) return std::nullopt;
    woken_ = sleepers_.next(view);
    return woken_;
  }

 private:
  static bool outranks(NodeIndex node, const NetworkView& view) {
    const auto leader = view.front_runner();
    if (!leader || *leader == node) return true;
    const auto strength = [&](NodeIndex who) {
      return std::pair{view.node(who).rank, view.node(who).id};
    };
    return strength(node) > strength(*leader);
  }

  Situations situations_;
  std::span<const Rule> table_;
  Sleepers sleepers_;
  NodeCount early_;
  std::optional<NodeIndex> woken_;  // for the delivery that is under way
};

// A table as one line: who is woken first, then each kind of message with its delays (f fast, h
// half a unit, u a unit) and whom its arrival wakes (- no node, s a sleeper, r a rival of higher
// rank), each in three groups: messages between others, from the front runner, to the front runner.
// In a group: to a higher rank, the same last awaited, to a lower rank, the same last awaited.
inline std::string text_of(const Situations& situations, std::span<const Rule> table) {
  constexpr std::array<std::string_view, 3> first{"one node", "sqrt(n) nodes", "all"};
  std::string text = "woken first: " + std::string(first[table[0].wake]);
  for (std::size_t kind = 1; kind < table.size(); kind += Situations::per_kind) {
    std::string delays;
    std::string wakes;
    for (std::size_t i = kind; i < kind + Situations::per_kind; ++i) {
      const bool begins_group = i > kind && (i - kind) % 4 == 0;
      delays.append(begins_group ? "/" : "").push_back("fhu"[table[i].delay]);
      wakes.append(begins_group ? "/" : "").push_back("-sr"[table[i].wake]);
    }
    text.append("; ").append(situations.kind_of(kind));
    text.append(" ").append(delays).append(" ").append(wakes);
  }
  return text;
}

}  // namespace conclave::network
