// The asynchronous network: wake-ups and deliveries one after the other, in order of time, until no
// message is on its way and no wake-up is left. At equal times, wake-ups come first, then messages
// in the order of their sending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversarial_transit.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/network_state.hpp"

namespace conclave::network {

// Transit is ConstantTransit, where all messages take one unit, or AdversarialTransit.
template <AsynchronousProtocol P, template <class> class Transit>
class Asynchronous {
 public:
  using Message = typename P::Message;

  // The adversaries must outlive the network. `delay` may be null for ConstantTransit, which does
  // not ask. 1 <= n < 2^32.
  Asynchronous(const P& protocol, NodeCount n, const StreamName& name, DelayAdversary* delay,
               WakeupAdversary& wakeup, const NetworkOptions& options = {})
      : state_(protocol, n, name, options), wakeup_(wakeup), transit_(n, delay, &state_) {}
  Asynchronous(const Asynchronous&) = delete;
  Asynchronous& operator=(const Asynchronous&) = delete;

  // Runs until quiescence; an empty result, `interrupted`, if keep_going says no. Once only. Exact,
  // O(1) expected time per message.
  TrialResult run(const KeepGoing& keep_going) {
    const auto prefetch = [this](NodeIndex node) { state_.prefetch(node); };
    std::optional<Waking> waking = wakeup_.next();
    for (std::uint64_t steps = 0;; ++steps) {
      if (steps % look_up == 0 && !keep_going(state_.accounts().messages())) return {};
      const Delivery<Message>* delivery = transit_.next(prefetch);
      if (waking && state_.asleep() == 0) waking.reset();  // all are awake
      if (waking && (delivery == nullptr || waking->at <= delivery->at)) {
        state_.set_now(waking->at);
        wake(waking->node);
        waking = wakeup_.next();
      } else if (delivery != nullptr) {
        const Delivery<Message> due = *delivery;
        transit_.drop();
        deliver(due);
      } else {
        return state_.result();
      }
    }
  }

  const NetworkState<P>& state() const { return state_; }
  // Memory of the nodes and of the messages on their way, at most so far.
  std::size_t bytes() const {
    return state_.n() * sizeof(typename P::Node) + state_.n() / 8 + transit_.bytes();
  }

 private:
  static constexpr std::uint64_t look_up = 1 << 20;

  // The effects of a node's events.
  struct Effects {
    Asynchronous& network;
    NodeIndex from;

    void send(Port port, const Message& message) {
      network.send(from, network.state_.neighbour(from, port), message);
    }
    void broadcast(const Message& message) { network.broadcast(from, message); }
    void send_to_some(std::uint32_t count, const Message& message, Choice auto& choice) {
      if (count + 1 == network.state_.n()) return broadcast(message);
      network.multicast(from, network.state_.some_neighbours(from, count, choice), message);
    }
  };

  void wake(NodeIndex node) {
    Effects effects{*this, node};
    state_.wake(node, effects);
  }

  void deliver(const Delivery<Message>& due) {
    state_.set_now(due.at);
    if (is_adaptive_) challenge(due);
    Effects effects{*this, due.to};
    state_.act(due.to, Received<Message>{state_.ports().port(due.to, due.from), due.message},
               effects);
  }

  void challenge(const Delivery<Message>& due) {
    const Parcel parcel{due.from, due.to, P::kinds[static_cast<std::size_t>(due.message.kind)]};
    while (const auto node = wakeup_.before(&parcel, state_)) wake(*node);
  }

  void send(NodeIndex from, NodeIndex to, const Message& message) {
    state_.account(message, 1);
    post(from, to, message);
  }

  void post(NodeIndex from, NodeIndex to, const Message& message) {
    const Ticks arrives = transit_.post(state_.now(), from, to, message);
    if (state_.is_followed()) state_.follow(from, to, message, arrives);
  }

  void multicast(NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    state_.account(message, to.size());
    if (!state_.is_followed()) return transit_.post_some(state_.now(), from, to, message);
    for (const NodeIndex each : to) post(from, each, message);
  }

  void broadcast(NodeIndex from, const Message& message) {
    if constexpr (!NetworkState<P>::is_complete) {
      return state_.for_each_neighbour(from, [&](NodeIndex to) { send(from, to, message); });
    }
    state_.account(message, state_.n() - 1);
    if (!state_.is_followed()) return transit_.post_all(state_.now(), from, message);
    for (NodeCount step = 1; step < state_.n(); ++step) {
      post(from, static_cast<NodeIndex>((from + step) % state_.n()), message);
    }
  }

  NetworkState<P> state_;
  WakeupAdversary& wakeup_;
  bool is_adaptive_ = wakeup_.is_adaptive();
  Transit<P> transit_;
};

}  // namespace conclave::network
