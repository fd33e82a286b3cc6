// The asynchronous network: wake-ups and deliveries one after the other, in order of time, until
// nothing is on its way and nobody is left to wake. At equal times, wake-ups come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/adversarial_transit.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/stage.hpp"

namespace conclave::network {

// Transit is ConstantTransit, where all messages take one unit, or AdversarialTransit.
template <AsynchronousProtocol P, template <class> class Transit>
class Asynchronous {
 public:
  using Message = typename P::Message;

  // The delay adversary may be missing where nothing is left to its decision.
  Asynchronous(const P& protocol, NodeCount n, const StreamName& name, DelayAdversary* delay,
               WakeupAdversary& wakeup, const StageOptions& options = {})
      : stage_(protocol, n, name, options), wakeup_(wakeup), transit_(n, delay, &stage_) {}
  Asynchronous(const Asynchronous&) = delete;
  Asynchronous& operator=(const Asynchronous&) = delete;

  // Runs until quiescence. Exact, O(1) expected per message.
  TrialResult run(const KeepGoing& keep_going) {
    const auto prefetch = [this](NodeIndex node) { stage_.prefetch(node); };
    std::optional<Waking> waking = wakeup_.next();
    for (std::uint64_t steps = 0;; ++steps) {
      if (steps % look_up == 0 && !keep_going(stage_.accounts().messages())) return {};
      const Delivery<Message>* delivery = transit_.next(prefetch);
      if (waking && stage_.asleep() == 0) waking.reset();  // nobody is left to wake
      if (waking && (delivery == nullptr || waking->at <= delivery->at)) {
        stage_.set_now(waking->at);
        wake(waking->node);
        waking = wakeup_.next();
      } else if (delivery != nullptr) {
        const Delivery<Message> due = *delivery;
        transit_.drop();
        deliver(due);
      } else {
        return stage_.result();
      }
    }
  }

  const Stage<P>& stage() const { return stage_; }
  // Memory of the nodes and of the messages on their way, at most so far.
  std::size_t bytes() const {
    return stage_.n() * sizeof(typename P::Node) + stage_.n() / 8 + transit_.bytes();
  }

 private:
  static constexpr std::uint64_t look_up = 1 << 20;

  // What a node's events do.
  struct Effects {
    Asynchronous& network;
    NodeIndex from;

    void send(Port port, const Message& message) {
      network.send(from, network.stage_.neighbour(from, port), message);
    }
    void broadcast(const Message& message) { network.broadcast(from, message); }
    void send_to_some(std::uint32_t count, const Message& message, Choice auto& choice) {
      if (count + 1 == network.stage_.n()) return broadcast(message);
      network.multicast(from, network.stage_.some_neighbours(from, count, choice), message);
    }
  };

  void wake(NodeIndex node) {
    Effects effects{*this, node};
    stage_.wake(node, effects);
  }

  void deliver(const Delivery<Message>& due) {
    stage_.set_now(due.at);
    if (is_adaptive_) challenge(due);
    Effects effects{*this, due.to};
    stage_.act(due.to, Received<Message>{stage_.ports().port(due.to, due.from), due.message},
               effects);
  }

  void challenge(const Delivery<Message>& due) {
    const Parcel parcel{due.from, due.to, P::kinds[static_cast<std::size_t>(due.message.kind)]};
    while (const auto node = wakeup_.before(&parcel, stage_)) wake(*node);
  }

  void send(NodeIndex from, NodeIndex to, const Message& message) {
    stage_.account(message, 1);
    post(from, to, message);
  }

  void post(NodeIndex from, NodeIndex to, const Message& message) {
    const Ticks arrives = transit_.post(stage_.now(), from, to, message);
    if (stage_.is_followed()) stage_.follow(from, to, message, arrives);
  }

  void multicast(NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    stage_.account(message, to.size());
    if (!stage_.is_followed()) return transit_.post_some(stage_.now(), from, to, message);
    for (const NodeIndex each : to) post(from, each, message);
  }

  void broadcast(NodeIndex from, const Message& message) {
    stage_.account(message, stage_.n() - 1);
    if (!stage_.is_followed()) return transit_.post_all(stage_.now(), from, message);
    for (NodeCount step = 1; step < stage_.n(); ++step) {
      post(from, static_cast<NodeIndex>((from + step) % stage_.n()), message);
    }
  }

  Stage<P> stage_;
  WakeupAdversary& wakeup_;
  bool is_adaptive_ = wakeup_.is_adaptive();
  Transit<P> transit_;
};

}  // namespace conclave::network
