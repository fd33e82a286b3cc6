// The asynchronous network: wake-ups, deliveries and timers one after the other, in order of time,
// until no message is on its way, no timer is set and no wake-up is left. At equal times, wake-ups
// come first, then messages in the order of their sending, then timers in the order of their
// setting.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversarial_transit.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/network_state.hpp"

namespace conclave::network::detail {

// The timers of all nodes, at most one each, in order of time; those that run out at the same time
// leave in the order in which they were set. O(log n) amortized per timer that is set. A timer that
// was set anew or cancelled stays in the heap until it comes to the top or the heap is cleared of
// such timers, which keeps it below three times the number of nodes.

class Timers {
 public:
  struct Due {
    Ticks at = 0;
    std::uint64_t number = 0;  // in the order of setting, from 1 on
    NodeIndex node = 0;
  };

  // No timer is set.
  explicit Timers(NodeCount n) : current_(n) {}

  // The node's timer runs out then; one that was set before is forgotten.
  void set(NodeIndex node, Ticks at) {
    if (heap_.size() > 2 * current_.size() + 64) clear_stale();
    current_[node] = ++number_;
    heap_.push_back({at, number_, node});
    std::ranges::push_heap(heap_, later);
  }

  // The node has no timer from now on; nothing happens if it had none. O(1).
  void cancel(NodeIndex node) { current_[node] = 0; }

  // The first timer to run out, or nothing. Valid until the next call of any member.
  const Due* next() {
    while (!heap_.empty() && is_stale(heap_.front())) {
      std::ranges::pop_heap(heap_, later);
      heap_.pop_back();
    }
    return heap_.empty() ? nullptr : &heap_.front();
  }

  // Memory that it takes now.
  std::size_t bytes() const {
    return current_.size() * sizeof(std::uint64_t) + heap_.capacity() * sizeof(Due);
  }

 private:
  static bool later(const Due& left, const Due& right) {
    return left.at != right.at ? left.at > right.at : left.number > right.number;
  }
  bool is_stale(const Due& due) const { return current_[due.node] != due.number; }

  void clear_stale() {
    std::erase_if(heap_, [this](const Due& due) { return is_stale(due); });
    std::ranges::make_heap(heap_, later);
  }

  std::vector<std::uint64_t> current_;  // of each node: the number of its timer; 0: not set
  std::vector<Due> heap_;
  std::uint64_t number_ = 0;
};

// Stands for Timers where a protocol has none.
struct NoTimers {
  explicit NoTimers(NodeCount) {}
  static constexpr std::size_t bytes() { return 0; }
};

}  // namespace conclave::network::detail

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
      : state_(protocol, n, name, options),
        wakeup_(wakeup),
        transit_(n, delay, &state_),
        timers_(n) {}
  Asynchronous(const Asynchronous&) = delete;
  Asynchronous& operator=(const Asynchronous&) = delete;

  // Runs until quiescence; an empty result, `interrupted`, if keep_going says no. Once only. Exact,
  // O(1) expected time per message, O(log n) per timer.
  TrialResult run(const KeepGoing& keep_going) {
    std::optional<Waking> waking = wakeup_.next();
    for (;;) {
      if (until_look_ <= 0) {
        until_look_ = look_up;
        if (!keep_going(state_.accounts().messages())) return {};
      }
      if (waking && state_.asleep() == 0) waking.reset();  // all are awake
      if (waking && waking->at <= state_.now()) {          // nothing can come before it
        wake_next(waking);
        continue;
      }
      const Ticks arrival = transit_.next(prefetching());
      if constexpr (HasTimer<P>) {
        if (fire_before(arrival, waking)) continue;
      }
      if (waking && waking->at <= arrival) {
        state_.set_now(waking->at);
        wake_next(waking);
      } else if (arrival != never) {
        deliver_before(waking ? waking->at : never);
      } else {
        return state_.result();
      }
    }
  }

  // The nodes and counts, for tests and benchmarks; before, during and after the run.
  const NetworkState<P>& state() const { return state_; }
  // Memory of the nodes and of the messages on their way, at most so far.
  std::size_t bytes() const { return state_.node_bytes() + transit_.bytes() + timers_.bytes(); }

 private:
  static constexpr std::int64_t look_up = 1 << 14;  // events and messages between two looks

  // The effects of a node's events.
  struct Effects {
    Asynchronous& network;
    NodeIndex from;

    [[gnu::always_inline]] void send(Port port, const Message& message) {
      network.send(from, port, message);
    }
    void broadcast(const Message& message) { network.broadcast(from, message); }
    void send_to_some(std::uint32_t count, const Message& message, Choice auto& choice) {
      if (count + 1 == network.state_.n()) return broadcast(message);
      network.multicast(from, network.state_.some_neighbours(from, count, choice), message);
    }
    Ticks set_timer(const auto& delay, Choice auto& choice) {
      const Ticks ticks = delay(choice);
      network.timers_.set(from, network.state_.now() + ticks);
      return ticks;
    }
    void cancel_timer() { network.timers_.cancel(from); }
  };

  void wake_next(std::optional<Waking>& waking) {
    wake(waking->node);
    waking = wakeup_.next();
    --until_look_;
  }

  void wake(NodeIndex node) {
    Effects effects{*this, node};
    state_.wake(node, effects);
  }

  // Fires the first timer if it comes before the next delivery and wake-up; tells whether it did.
  bool fire_before(Ticks arrival, const std::optional<Waking>& waking) {
    const detail::Timers::Due* const first = timers_.next();
    if (first == nullptr || arrival <= first->at) return false;
    if (waking && waking->at <= first->at) return false;
    const detail::Timers::Due due = *first;
    timers_.cancel(due.node);
    state_.set_now(due.at);
    Effects effects{*this, due.node};
    state_.time_out(due.node, effects);
    --until_look_;
    return true;
  }

  // Inlined by force: GCC 12 drops calls that only prefetch.
  auto prefetching() const {
    return [this](NodeIndex node) __attribute__((always_inline)) { state_.prefetch(node); };
  }

  // Delivers messages until one arrives at this time or later, or it is time for a look. The inner
  // loop, in one function but for what is rare and for sending.
  [[gnu::noinline]] void deliver_before(Ticks until) {
    // A timer may run out before the next delivery.
    const auto visit = [this](Delivery<Message> & due) __attribute__((always_inline)) {
      deliver(due);
      return --until_look_ > 0 && !HasTimer<P>;
    };
    transit_.deliver(until, prefetching(), visit);
  }

  // The event is handed on where it lies: a copy would wait for the last of its parts.
  [[gnu::always_inline]] void deliver(Delivery<Message>& due) {
    state_.set_now(due.at);
    if (is_adaptive_) challenge(due);
    Effects effects{*this, due.to};
    due.event.port = state_.ports().port(due.to, due.from);
    state_.act(due.to, due.event, effects);
  }

  [[gnu::noinline]] void challenge(const Delivery<Message>& due) {
    const auto kind = static_cast<std::size_t>(due.event.message.kind);
    const Parcel parcel{due.from, due.to, P::kinds[kind]};
    while (const auto node = wakeup_.before(&parcel, state_)) wake(*node);
  }

  // Not inlined, since protocols send from many places; a short message comes in registers.
  [[gnu::noinline]] void send(NodeIndex from, Port port, Message message) {
    send_to(from, state_.neighbour(from, port), message);
  }

  [[gnu::always_inline]] void send_to(NodeIndex from, NodeIndex to, const Message& message) {
    state_.account(message, 1);
    if (state_.counts_edges()) state_.count_edge(from, to);
    post(from, to, message);
  }

  [[gnu::always_inline]] void post(NodeIndex from, NodeIndex to, const Message& message) {
    const Ticks arrives = transit_.post(state_.now(), from, to, message);
    if (state_.has_watcher()) state_.follow(from, to, message.kind, arrives);
  }

  void multicast(NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    state_.account(message, to.size());
    until_look_ -= static_cast<std::int64_t>(to.size());
    if (state_.counts_edges()) {
      for (const NodeIndex each : to) state_.count_edge(from, each);
    }
    if (!state_.has_watcher()) return transit_.post_some(state_.now(), from, to, message);
    for (const NodeIndex each : to) post(from, each, message);
  }

  void broadcast(NodeIndex from, const Message& message) {
    if constexpr (!NetworkState<P>::is_complete) {
      return state_.for_each_neighbour(from, [&](NodeIndex to) { send_to(from, to, message); });
    }
    state_.account(message, state_.n() - 1);
    until_look_ -= static_cast<std::int64_t>(state_.n());
    if (state_.counts_edges()) {
      for_each_other(from, [&](NodeIndex to) { state_.count_edge(from, to); });
    }
    if (!state_.has_watcher()) return transit_.post_all(state_.now(), from, message);
    for_each_other(from, [&](NodeIndex to) { post(from, to, message); });
  }

  void for_each_other(NodeIndex from, const auto& visit) const {
    for (NodeCount step = 1; step < state_.n(); ++step) {
      visit(static_cast<NodeIndex>((from + step) % state_.n()));
    }
  }

  NetworkState<P> state_;
  WakeupAdversary& wakeup_;
  bool is_adaptive_ = wakeup_.is_adaptive();
  Transit<P> transit_;
  [[no_unique_address]] std::conditional_t<HasTimer<P>, detail::Timers, detail::NoTimers> timers_;
  std::int64_t until_look_ = 0;  // events and messages until it is asked whether to keep going
};

}  // namespace conclave::network
