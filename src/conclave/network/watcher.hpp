// The interface through which a run reports everything that happens in it, for traces, pictures and
// tests that check every step; and the recorder of traces.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

// Called by the thread that runs the trial, in the order of events.
class Watcher {
 public:
  virtual ~Watcher() = default;

  // A message leaves at `sent` and will arrive at `arrives`. In a synchronous network, rounds are
  // whole units, and what is sent in one arrives in the next.
  virtual void sent(Ticks sent, Ticks arrives, const Parcel& parcel) = 0;
  // The view of a node has changed: it has been woken, begun a phase, retired, ...
  virtual void changed(Ticks now, NodeIndex node, const NodeView& before,
                       const NodeView& after) = 0;
  // The timer of a node runs out; `before` is the node's view until then. What the node does about
  // it is reported afterwards.
  virtual void timed_out(Ticks /*now*/, NodeIndex /*node*/, const NodeView& /*before*/) {}
};

// Writes down what happens in a run, for a trace.
class Recorder final : public Watcher {
 public:
  void sent(Ticks sent, Ticks arrives, const Parcel& parcel) override {
    events_.push_back({.time = in_units(arrives),
                       .event = "deliver",
                       .node = parcel.to,
                       .peer = parcel.from,
                       .message = parcel.kind,
                       .sent = in_units(sent)});
  }

  void changed(Ticks now, NodeIndex node, const NodeView& before, const NodeView& after) override {
    const auto add = [&](std::string_view event) {
      events_.push_back(
          {.time = in_units(now), .event = event, .node = node, .phase = after.phase});
    };
    const bool was_asleep = before.standing == Standing::asleep;
    if (was_asleep) add(after.standing == Standing::retired ? "join" : "wake");
    if (after.phase > before.phase) add("phase");
    const bool stands_again =
        before.standing == Standing::retired && after.standing == Standing::candidate;
    if (stands_again) add("stand");
    if (before.standing == after.standing || after.standing == Standing::candidate) return;
    if (after.standing == Standing::elected) add("elect");
    if (after.standing == Standing::retired && !was_asleep) add("retire");
  }

  void timed_out(Ticks now, NodeIndex node, const NodeView& before) override {
    events_.push_back(
        {.time = in_units(now), .event = "timeout", .node = node, .phase = before.phase});
  }

  // In order of time.
  std::vector<NetworkEvent> events() && {
    std::ranges::stable_sort(events_, {}, &NetworkEvent::time);
    return std::move(events_);
  }

 private:
  std::vector<NetworkEvent> events_;
};

}  // namespace conclave::network
