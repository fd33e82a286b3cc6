// The synchronous network: in every round a node gets all that was sent to it in the round before,
// and acts. A run ends when no message is on its way, no wake-up is left, and no node has changed
// its state in a round: a node that waits must therefore count the rounds in its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/network_state.hpp"

namespace conclave::network {

template <SynchronousProtocol P>
class Synchronous {
 public:
  using Message = typename P::Message;

  // The adversary must outlive the network. 1 <= n < 2^32.
  Synchronous(const P& protocol, NodeCount n, const StreamName& name, WakeupAdversary& wakeup,
              const NetworkOptions& options = {})
      : state_(protocol, n, name, options), wakeup_(wakeup), mail_(n), next_mail_(n) {}
  Synchronous(const Synchronous&) = delete;
  Synchronous& operator=(const Synchronous&) = delete;

  // Runs until quiescence; an empty result, `interrupted`, if keep_going says no. Once only. O(n +
  // messages) per round.
  TrialResult run(const KeepGoing& keep_going) {
    keep_going_ = &keep_going;
    waking_ = wakeup_.next();
    first_round_ = waking_ ? waking_->at / unit : 0;
    for (std::uint64_t round = first_round_; goes_on(0); ++round) {
      state_.set_now(round * unit);
      const bool has_woken = wake_all(round);
      next_mail_.sort([this](std::size_t index) { return goes_on(index); });
      std::swap(mail_, next_mail_);
      next_mail_.clear();
      const bool has_changed = play_round();
      const bool is_quiet = mail_.is_empty() && next_mail_.is_empty() && !has_woken && !waking_;
      if (is_quiet && !has_changed && !is_stopped_) return result();
    }
    return {};
  }

  // The nodes and counts, for tests and benchmarks; before, during and after the run.
  const NetworkState<P>& state() const { return state_; }

 private:
  // In a large network a round takes seconds, so that it asks after every thousand nodes or
  // messages. Once the answer was no, the rest of the round is left out, and nothing of it is kept.
  bool goes_on(std::uint64_t visited) {
    if (!is_stopped_ && visited % 1024 == 0) {
      is_stopped_ = !(*keep_going_)(state_.accounts().messages());
    }
    return !is_stopped_;
  }

  // All messages of one round. Broadcasts are stored once.
  class Mail {
   public:
    explicit Mail(NodeCount n) : n_(n) {}

    void add(NodeIndex from, NodeIndex to, const Message& message) {
      messages_.push_back({from, to, message});
    }
    void add_for_all(NodeIndex from, const Message& message) {
      broadcasts_.push_back({from, message});
    }
    bool is_empty() const { return messages_.empty() && broadcasts_.empty(); }
    void clear() {
      messages_.clear();
      broadcasts_.clear();
    }

    // Groups the messages by receiver, as long as goes_on(index) is true.
    template <class GoesOn>
    void sort(GoesOn goes_on) {
      if (messages_.empty()) return;
      begins_.assign(n_ + 1, 0);
      for (std::size_t i = 0; i < messages_.size() && goes_on(i); ++i) ++begins_[messages_[i].to];
      std::uint32_t sum = 0;
      for (std::uint32_t& begin : begins_) begin = sum += begin;
      order_.resize(messages_.size());
      for (std::size_t i = messages_.size(); i-- > 0 && goes_on(i);) {
        order_[--begins_[messages_[i].to]] = static_cast<std::uint32_t>(i);
      }
    }

    void collect(NodeIndex to, const auto& ports, std::vector<Received<Message>>& inbox) const {
      inbox.clear();
      for (const Broadcast& each : broadcasts_) {
        if (each.from != to) inbox.push_back({ports.port(to, each.from), each.message});
      }
      if (messages_.empty()) return;
      for (std::uint32_t i = begins_[to]; i < begins_[to + std::size_t{1}]; ++i) {
        const QueuedMessage& queued = messages_[order_[i]];
        inbox.push_back({ports.port(to, queued.from), queued.message});
      }
    }

   private:
    struct QueuedMessage {
      NodeIndex from;
      NodeIndex to;
      Message message;
    };
    struct Broadcast {
      NodeIndex from;
      Message message;
    };

    NodeCount n_;
    std::vector<QueuedMessage> messages_;
    std::vector<Broadcast> broadcasts_;
    std::vector<std::uint32_t> begins_;  // of a receiver's messages in order_
    std::vector<std::uint32_t> order_;
  };

  struct Effects {
    Synchronous& network;
    NodeIndex from;

    void send(Port port, const Message& message) {
      network.state_.account(message, 1);
      network.post(from, network.state_.neighbour(from, port), message);
    }
    void broadcast(const Message& message) { network.broadcast(from, message); }
    void send_to_some(std::uint32_t count, const Message& message, Choice auto& choice) {
      network.state_.account(message, count);
      for (const NodeIndex to : network.state_.some_neighbours(from, count, choice)) {
        network.post(from, to, message);
      }
    }
  };

  bool wake_all(std::uint64_t round) {
    const NodeCount asleep = state_.asleep();
    while (waking_ && state_.asleep() > 0 && waking_->at / unit <= round &&
           goes_on(state_.asleep())) {
      wake(waking_->node);
      waking_ = wakeup_.next();
    }
    if (state_.asleep() == 0) waking_.reset();
    if (wakeup_.is_adaptive()) {
      while (const auto node = wakeup_.before(nullptr, state_)) wake(*node);
    }
    return state_.asleep() < asleep;
  }

  void wake(NodeIndex node) {
    Effects effects{*this, node};
    state_.wake(node, effects);
  }

  // Whether a node's state has changed.
  bool play_round() {
    bool has_changed = false;
    for (NodeCount index = 0; index < state_.n() && goes_on(index); ++index) {
      const auto node = static_cast<NodeIndex>(index);
      mail_.collect(node, state_.ports(), inbox_);
      if (inbox_.empty() && !state_.is_touched(node)) continue;
      const bool was_touched = state_.is_touched(node);
      const typename P::Node before = was_touched ? state_.state(node) : typename P::Node{};
      Effects effects{*this, node};
      state_.act(node, Round<Message>{inbox_}, effects);
      has_changed = has_changed || !was_touched || !(before == state_.state(node));
    }
    return has_changed;
  }

  void post(NodeIndex from, NodeIndex to, const Message& message) {
    next_mail_.add(from, to, message);
    follow(from, to, message);
  }

  void follow(NodeIndex from, NodeIndex to, const Message& message) {
    if (state_.counts_edges()) state_.count_edge(from, to);
    if (state_.has_watcher()) state_.follow(from, to, message.kind, state_.now() + unit);
  }

  void broadcast(NodeIndex from, const Message& message) {
    if constexpr (!NetworkState<P>::is_complete) {
      return state_.for_each_neighbour(from, [&](NodeIndex to) {
        state_.account(message, 1);
        post(from, to, message);
      });
    }
    state_.account(message, state_.n() - 1);
    next_mail_.add_for_all(from, message);
    if (!state_.counts_edges() && !state_.has_watcher()) return;
    for (NodeCount step = 1; step < state_.n(); ++step) {
      follow(from, static_cast<NodeIndex>((from + step) % state_.n()), message);
    }
  }

  TrialResult result() {
    TrialResult result = state_.result();
    const bool has_sent = state_.accounts().messages() > 0;
    const std::uint64_t last_round = state_.accounts().last_sending() / unit;
    result.network->rounds = has_sent ? last_round - first_round_ + 1 : 0;
    return result;
  }

  NetworkState<P> state_;
  WakeupAdversary& wakeup_;
  const KeepGoing* keep_going_ = nullptr;  // of the run that is going on
  bool is_stopped_ = false;
  std::optional<Waking> waking_;
  std::uint64_t first_round_ = 0;
  Mail mail_;  // of the round before
  Mail next_mail_;
  std::vector<Received<Message>> inbox_;
};

}  // namespace conclave::network
