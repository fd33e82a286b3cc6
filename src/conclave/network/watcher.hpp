// Is told of everything that happens in a run: for traces, pictures and tests that check every
// step. Called by the thread that runs the trial; it must not change what it is shown.
#pragma once

#include "conclave/model/message.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network {

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
  // it is told afterwards.
  virtual void timed_out(Ticks /*now*/, NodeIndex /*node*/, const NodeView& /*before*/) {}
};

}  // namespace conclave::network
