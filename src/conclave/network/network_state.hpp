// The common part of the asynchronous and the synchronous network: the nodes, their coins and
// ports, the count of messages, and the view of it all that adversaries and watchers have. It does
// not know how messages travel: engines deliver them and call `act`.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/distinct_draws.hpp"
#include "conclave/base/large_pages.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/run_result.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/ports.hpp"
#include "conclave/network/watcher.hpp"

namespace conclave::network::detail {

// The states of all nodes. A node that nothing has happened to yet costs one bit, and memory of its
// own only once some node near it is touched.

template <class P>
class NodeStore {
 public:
  using Node = typename P::Node;

  // All nodes are untouched. Does not write to the memory of the nodes.
  explicit NodeStore(NodeCount n)
      : n_(n),
        untouched_(n),
        places_(LargePages<Place>{}.allocate(n)),  // not initialized
        touched_((n + 63) / 64) {}
  NodeStore(const NodeStore&) = delete;
  NodeStore& operator=(const NodeStore&) = delete;
  ~NodeStore() { LargePages<Place>{}.deallocate(places_, n_); }

  // Nodes in all, and those that nothing has happened to.
  NodeCount size() const { return n_; }
  NodeCount untouched() const { return untouched_; }
  // Whether something has happened to the node, and its state if so.
  bool is_touched(NodeIndex node) const { return (touched_[node / 64] >> node % 64 & 1) != 0; }
  const Node& operator[](NodeIndex node) const {
    return places_[node].node;  // of touched nodes only
  }
  // Inlined by force: GCC 12 drops calls that only prefetch.
  [[gnu::always_inline]] void prefetch(NodeIndex node) const {
    const auto* const bytes = reinterpret_cast<const std::byte*>(places_ + node);
    __builtin_prefetch(bytes, 1);
    if constexpr (!fits_line) __builtin_prefetch(bytes + sizeof(Node) - 1, 1);
  }
  // Memory of all nodes, touched or not.
  std::size_t bytes() const { return n_ * sizeof(Place) + touched_.size() * sizeof(touched_[0]); }

  // The node, asleep when it is touched for the first time.
  Node& touch(NodeIndex node, const auto& asleep) {
    if (untouched_ > 0 && !is_touched(node)) {
      touched_[node / 64] |= std::uint64_t{1} << node % 64;
      --untouched_;
      std::construct_at(&places_[node].node, asleep(node));
    }
    return places_[node].node;
  }

 private:
  // Nodes that nearly fill a line of memory, or a half or a quarter of one, get all of it, so that
  // they lie on one line instead of two.
  static constexpr std::size_t share = std::bit_ceil(sizeof(Node));
  static constexpr bool fits_line = share <= 64 && 4 * share <= 5 * sizeof(Node);
  struct alignas(fits_line ? share : alignof(Node)) Place {
    Node node;
  };

  NodeCount n_;
  NodeCount untouched_;
  Place* places_;
  std::vector<std::uint64_t> touched_;
};

}  // namespace conclave::network::detail

namespace conclave::network {

namespace detail {

// The live candidate ahead of all others, known at any moment: a heap of positions that are looked
// at again when they come to the top. A candidate's position only rises until it retires.
class FrontRunner {
 public:
  void saw(NodeIndex node, const NodeView& view) {
    if (view.standing != Standing::candidate) return;
    heap_.push_back({view, node});
    std::ranges::push_heap(heap_, behind);
  }

  // `view_of` tells what has become of a node.
  std::optional<NodeIndex> find(const auto& view_of) {
    while (!heap_.empty()) {
      const Seen& top = heap_.front();
      const NodeView now = view_of(top.node);
      if (now.standing == Standing::candidate && now.phase == top.view.phase) return top.node;
      std::ranges::pop_heap(heap_, behind);
      heap_.pop_back();
    }
    return std::nullopt;
  }

 private:
  struct Seen {
    NodeView view;
    NodeIndex node;
  };
  static bool behind(const Seen& left, const Seen& right) {
    return is_ahead(right.view, left.view);
  }

  std::vector<Seen> heap_;
};

}  // namespace detail

struct NetworkOptions {
  bool has_identifiers = true;       // otherwise every node has identifier 0
  bool counts_edges = true;          // costs a table of all edges in use
  Watcher* watcher = nullptr;        // is the caller's, and must outlive the run
  const PortGraph* graph = nullptr;  // likewise; of protocols that are not for complete networks
  EdgeCounts* edges = nullptr;       // likewise; if given, its memory is used to count edges
};

template <MessageProtocol P>
class NetworkState final : public NetworkView {
 public:
  using Node = typename P::Node;
  using Message = typename P::Message;
  static constexpr bool is_complete = network_of<P> == Topology::complete;
  using CompletePorts = std::conditional_t<PortBlind<P>, RotatedPorts, ScatteredPorts>;
  using Ports = std::conditional_t<is_complete, CompletePorts, GraphPorts>;
  // Places matter on a graph: there all orders of the identifiers are equally likely, exactly.
  using Identifiers = std::conditional_t<is_complete, Permutation, Shuffle>;

  // All nodes sleep. The coins, the ports and the identifiers follow from the name alone. Copies
  // the protocol; O(n) memory, which is written where nodes are touched.
  NetworkState(const P& protocol, NodeCount n, const StreamName& name,
               const NetworkOptions& options)
      : protocol_(protocol),
        options_(options),
        nodes_(n),
        ports_(make_ports(n, name, options)),
        identifiers_(make_identifiers(n, name.with(Purpose::port))),
        coins_(name.with(Purpose::node)),
        accounts_(options.counts_edges, options.edges) {}

  NodeCount n() const override { return nodes_.size(); }
  Ticks now() const override { return now_; }
  NodeCount asleep() const override { return nodes_.untouched(); }
  NodeView node(NodeIndex index) const override {
    return nodes_.is_touched(index) ? protocol_.view(nodes_[index]) : NodeView{};
  }

  // The heap behind it is made when an adversary asks for the first time.
  std::optional<NodeIndex> front_runner() const override {
    if (!front_runner_) {
      front_runner_.emplace();
      is_observed_ = true;
      for (NodeIndex index = 0; index < n(); ++index) front_runner_->saw(index, node(index));
    }
    return front_runner_->find([this](NodeIndex index) { return node(index); });
  }

  // Time as engines set it; it never goes back.
  void set_now(Ticks now) { now_ = now; }
  // Access for engines; the state of a node is there once it is touched.
  const Ports& ports() const { return ports_; }
  bool is_touched(NodeIndex index) const { return nodes_.is_touched(index); }
  const Node& state(NodeIndex index) const { return nodes_[index]; }
  [[gnu::always_inline]] void prefetch(NodeIndex index) const { nodes_.prefetch(index); }
  std::size_t node_bytes() const { return nodes_.bytes(); }
  Watcher* watcher() const { return options_.watcher; }
  const detail::Accounts<P>& accounts() const { return accounts_; }

  // Lets an event happen to a node, which wakes up if it sleeps.
  template <class Event, class Effects>
  [[gnu::always_inline]] void act(NodeIndex index, const Event& event, Effects& effects) {
    Node& node = nodes_.touch(index, [this](NodeIndex which) { return sleeper(which); });
    if constexpr (KeepsRecord<P>) return act_recorded(index, node, event, effects);
    if (!is_observed_) {
      return protocol_.on(node, event, effects, coins_);
    }
    const NodeView before = protocol_.view(node);
    protocol_.on(node, event, effects, coins_);
    observe(index, before, protocol_.view(node));
  }

  // The environment wakes a node; nothing happens if it is awake.
  void wake(NodeIndex index, auto& effects) {
    if (nodes_.is_touched(index)) return;
    if (candidates_++ == 0) first_waking_ = now_;
    act(index, WakeUp{}, effects);
  }

  // The timer of a node runs out now.
  void time_out(NodeIndex index, auto& effects) {
    if (options_.watcher != nullptr) {
      options_.watcher->timed_out(now_, index, protocol_.view(nodes_[index]));
    }
    act(index, Timeout{}, effects);
  }

  // The node at the other end of a port; and those at the ends of `count` random ports, all sets
  // equally likely, in a span that is valid until the next call.
  NodeIndex neighbour(NodeIndex from, Port port) const { return ports_.neighbour(from, port); }
  std::span<const NodeIndex> some_neighbours(NodeIndex from, std::uint32_t count,
                                             Choice auto& choice) {
    const auto drawn = draws_(count, static_cast<std::uint32_t>(n() - 1), choice);
    for (std::uint32_t& each : drawn) each = ports_.neighbour(from, each);
    return drawn;
  }

  // Calls `visit` for each neighbour that a message of this node can go to; not for complete
  // networks.
  void for_each_neighbour(NodeIndex from, const auto& visit) const {
    for (Port port = 0; port < ports_.leaving(from); ++port) visit(ports_.neighbour(from, port));
  }

  // `count` copies of a message are sent now.
  void account(const Message& message, std::uint64_t count) {
    accounts_.sent(now_, message.kind, protocol_.bits(message), count);
  }
  // Whether every single message must be passed to `count_edge`, and to `follow`.
  bool counts_edges() const { return accounts_.counts_edges(); }
  bool has_watcher() const { return options_.watcher != nullptr; }
  void count_edge(NodeIndex from, NodeIndex to) { accounts_.on_edge(from, to); }
  [[gnu::noinline]] void follow(NodeIndex from, NodeIndex to, typename P::Kind what,
                                Ticks arrives) {
    const auto kind = static_cast<std::size_t>(what);
    options_.watcher->sent(now_, arrives, {from, to, P::kinds[kind]});
  }

  // The result of a run that has come to rest. O(n).
  TrialResult result() {
    detail::NodesAtRest nodes(n(), is_watched());
    for (NodeIndex index = 0; index < n(); ++index) {
      if (!nodes_.is_touched(index)) continue;
      const NodeView view = protocol_.view(nodes_[index]);
      nodes.add(view, is_settled<P>(view));
    }
    const std::uint64_t messages = accounts_.messages();
    TrialResult result = nodes.result(accounts_.outcome(), messages);
    if (messages > 0) result.network->time = in_units(accounts_.last_sending() - first_waking_);
    nodes.observe(candidates_, accounts_.largest_bits(), own_observations(), result);
    return result;
  }

 private:
  static Ports make_ports(NodeCount n, const StreamName& name, const NetworkOptions& options) {
    if constexpr (is_complete) {
      return Ports(n, name);
    } else {
      CONCLAVE_CHECK(options.graph != nullptr && options.graph->nodes() == n);
      return Ports(options.graph);
    }
  }

  static Identifiers make_identifiers(NodeCount n, const StreamName& name) {
    if constexpr (is_complete) {
      return Identifiers(n, ~Stream(name).word());
    } else {
      return Identifiers(n, name);
    }
  }

  Node sleeper(NodeIndex index) const {
    return protocol_.asleep(
        options_.has_identifiers ? static_cast<Identifier>(identifiers_(index) + 1) : 0);
  }

  template <class Event, class Effects>
  void act_recorded(NodeIndex index, Node& node, const Event& event, Effects& effects) {
    const Node before = node;
    protocol_.on(node, event, effects, coins_);
    record_.saw(now_ - first_waking_, before, node);
    observe(index, protocol_.view(before), protocol_.view(node));
  }

  void observe(NodeIndex index, NodeView before, NodeView after) {
    before.awaited = after.awaited = 0;
    if (before == after) return;
    if (front_runner_) front_runner_->saw(index, after);
    if (options_.watcher != nullptr) options_.watcher->changed(now_, index, before, after);
  }

  // Those of the protocol's record, if it keeps one.
  std::vector<Observation> own_observations() const {
    if constexpr (KeepsRecord<P>) return record_.observations();
    return {};
  }

  // Whether the protocol's parameters ask for its candidates by phase.
  bool is_watched() const {
    if constexpr (requires { protocol_.is_watched(); }) return protocol_.is_watched();
    return false;
  }

  struct NoRecord {};
  template <class Q>
  struct RecordOf {
    using type = NoRecord;
  };
  template <KeepsRecord Q>
  struct RecordOf<Q> {
    using type = typename Q::Record;
  };

  P protocol_;
  NetworkOptions options_;
  detail::NodeStore<P> nodes_;
  Ports ports_;
  Identifiers identifiers_;
  Stream coins_;
  DistinctDraws draws_;
  detail::Accounts<P> accounts_;
  Ticks now_ = 0;
  Ticks first_waking_ = 0;
  std::uint64_t candidates_ = 0;
  mutable std::optional<detail::FrontRunner> front_runner_;
  mutable bool is_observed_ = options_.watcher != nullptr;  // by it, or for the front runner
  [[no_unique_address]] typename RecordOf<P>::type record_;
};

}  // namespace conclave::network
