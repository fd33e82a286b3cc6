// The adversary: it decides how long each message takes and whom it wakes when, and it knows all
// that has happened so far, coin flips included. It does not choose where ports lead (ports.hpp).
//
// A delay adversary is a class in delays.hpp, a wake-up adversary one in wakeups.hpp, each with
// `info`, a constructor from (n, StreamName), and one function; adversaries.cpp lists them all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "conclave/base/random.hpp"
#include "conclave/model/message.hpp"
#include "conclave/network/ports.hpp"

namespace conclave::network {

using conclave::Ticks;
// A message takes 1 ... unit ticks.
inline constexpr Ticks unit = ticks_per_unit;
// Later than all that happens.
inline constexpr Ticks never = ~Ticks{0};
// The delay of fast messages, under adversaries that slow others down.
inline constexpr Ticks soon = unit >> 10;

// Time in units of the longest delay, rounded to a double.
inline double in_units(Ticks ticks) {
  return static_cast<double>(ticks) / static_cast<double>(unit);
}

// The name and meaning of an adversary for users; they live as long as the program.
struct AdversaryInfo {
  std::string_view name;
  std::string_view meaning;
};

// The network as the adversary sees it: everything that has happened so far, nothing of the future.
class NetworkView {
 public:
  virtual ~NetworkView() = default;

  // The number of nodes, the present time, and the view of a node: its standing, phase and
  // identifier.
  virtual NodeCount n() const = 0;
  virtual Ticks now() const = 0;
  virtual NodeView node(NodeIndex index) const = 0;
  virtual NodeCount asleep() const = 0;  // how many have never been woken
  // The live candidate that is ahead of all others, if there is one. O(log n) amortized per phase.
  virtual std::optional<NodeIndex> front_runner() const = 0;
};

// A message on its way from one node to another.
struct Parcel {
  NodeIndex from = 0;
  NodeIndex to = 0;
  std::string_view kind{};
};

// Decides how long each message takes. It is asked once per message, at the time of sending, in the
// order in which messages are sent; one object serves one trial.
class DelayAdversary {
 public:
  virtual ~DelayAdversary() = default;
  // In 1 ... unit. A message that would overtake an earlier one on its edge arrives together with
  // it.
  virtual Ticks delay(const Parcel& parcel, const NetworkView& view) = 0;
  // An adversary that looks at nothing may tell beforehand, for speed, how long the next messages
  // will take: then it fills the span and says true, and `delay` goes on after these.
  virtual bool foretell(std::span<Ticks>) { return false; }
};

// The environment wakes this node at this time.
struct Waking {
  Ticks at = 0;
  NodeIndex node = 0;
};

// Decides which nodes are woken, and when. One object serves one trial.
class WakeupAdversary {
 public:
  virtual ~WakeupAdversary() = default;

  // The next of those wake-ups whose times are fixed beforehand, in order of time; nothing when
  // there are no more. Waking a node that is awake has no effect.
  virtual std::optional<Waking> next() = 0;

  // Whether to be asked, besides, before every delivery (before every round, without a parcel,
  // until the answer is nothing), which node to wake at this moment.
  virtual bool is_adaptive() const { return false; }
  virtual std::optional<NodeIndex> before(const Parcel*, const NetworkView&) {
    return std::nullopt;
  }
};

// Sleeping nodes in random order, for adversaries that wake fresh ones.
class Sleepers {
 public:
  // The order is drawn from the stream of wake-ups; O(1) to make.
  Sleepers(NodeCount n, const StreamName& name)
      : n_(n), order_(n, Stream(name.with(Purpose::wakeup)).word()) {}

  // A node that still sleeps, or nothing if all are awake. O(n) for all calls together.
  std::optional<NodeIndex> next(const NetworkView& view) {
    while (seen_ < n_ && view.asleep() > 0) {
      const auto node = static_cast<NodeIndex>(order_(seen_++));
      if (view.node(node).standing == Standing::asleep) return node;
    }
    return std::nullopt;
  }

  // The first node of the order, for before any is awake.
  NodeIndex first() { return static_cast<NodeIndex>(order_(seen_++)); }

 private:
  NodeCount n_;
  Permutation order_;
  NodeCount seen_ = 0;
};

// An adversary that --delay or --wakeup can choose.
template <class Adversary>
struct AdversaryEntry {
  AdversaryInfo info;
  std::unique_ptr<Adversary> (*make)(NodeCount n, const StreamName& name);
};

// All of them, sorted by name.
std::span<const AdversaryEntry<DelayAdversary>> delays();
std::span<const AdversaryEntry<WakeupAdversary>> wakeups();

}  // namespace conclave::network
