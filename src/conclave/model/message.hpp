// Message passing on complete networks, rings and other graphs. A protocol is a plain struct that
// knows n and its parameters; it takes a node's state and an event and gives effects. It owns no
// socket, clock, thread, generator or container, so that one and the same code runs in the
// simulated network, between real processes, and under a tool that walks through all orders of
// delivery.
//
// Hosts guarantee this. A node has one port per neighbour, 0 ... n-2 in a complete network, and
// does not know where they lead; the two ends of an edge may have different numbers. Where edges go
// one way only, ports that messages leave by come first (network_of below). Edges are FIFO and lose
// nothing. A node is woken by the environment at most once, and only while it sleeps; a message
// wakes it too. Events of one node are handled one at a time, and all effects of an event are
// carried out in the order in which they were given, before the node's next event. A node has one
// timer; the host owns time, and sends the node a Timeout when the timer runs out.
//
// Protocols guarantee this. Everything random goes through `choice`; nothing but the node's state,
// the event and the choices decides what happens; a state is all that must be kept of a node. What
// a node would send to itself is handled at once, inside, without a message.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "conclave/base/choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave {

using NodeCount = std::uint64_t;
using Port = std::uint32_t;        // one of a node's edges, from 0 on
using Identifier = std::uint32_t;  // 0 for every node of an anonymous network

inline constexpr Port no_port = 0xffffffff;

// Time in whole ticks, so that equal times are equal. A unit is the longest time that a message can
// take.
using Ticks = std::uint64_t;
inline constexpr Ticks ticks_per_unit = Ticks{1} << 32;

// Events.
struct WakeUp {};   // the environment wakes the node
struct Timeout {};  // the node's timer has run out, and is not set any more

// A message has arrived by this port of the node.
template <class Message>
struct Received {
  Port port = no_port;
  Message message{};
};

// One round of a synchronous network at one node: all that was sent to it in the round before, in
// no particular order. An awake node gets one in every round, a sleeper when there is something to
// get. A node woken in this round gets WakeUp first.
template <class Message>
struct Round {
  std::span<const Received<Message>> inbox;
};

// Effects go into a sink that the host passes in.
template <class E, class Message>
concept EffectsOf = requires(E& effects, Port port, std::uint32_t count, const Message& message,
                             AnyChoice& choice) {
  effects.send(port, message);
  effects.broadcast(message);  // over all ports that messages leave by; costs the node O(1)
  // Over `count` different ports, every set of that many equally likely, drawn with `choice`. The
  // host has the memory that drawing without repetition needs. In complete networks only.
  effects.send_to_some(count, message, choice);
};

// Hosts of protocols with a timer offer this besides. A timer that is set while it runs is set
// anew.
template <class E, class Message>
concept TimedEffectsOf = EffectsOf<E, Message> &&
    requires(E& effects, Ticks (*delay)(AnyChoice&), AnyChoice& choice) {
  // The timer runs out after delay(choice) ticks, which are also returned. A host that tries all
  // orders of events has no notion of time: it does not evaluate the delay, and returns 0.
  { effects.set_timer(delay, choice) } -> std::same_as<Ticks>;
  effects.cancel_timer();  // no effect where none is set
};

// The archetype: declared only, for use in concepts.
template <class Message>
struct AnyEffects {
  void send(Port port, const Message& message);
  void broadcast(const Message& message);
  template <class C>
  void send_to_some(std::uint32_t count, const Message& message, C& choice);
  template <class Delay, class C>
  Ticks set_timer(const Delay& delay, C& choice);
  void cancel_timer();
};

// Where a node stands in the election. Unless the protocol has terms (HasTerms), it never goes back
// to an earlier one of these.
enum class Standing : std::uint8_t { asleep, candidate, retired, elected };

// The public part of a node's state, for tables, pictures, and an adversary that sees all coin
// flips of the past. Candidates are ordered by phase, then rank, then id.
struct NodeView {
  Standing standing = Standing::asleep;
  bool is_informed = false;  // it knows the leader (one elected knows itself)
  std::uint32_t phase = 0;
  std::uint64_t rank = 0;
  Identifier id = 0;
  std::uint32_t awaited = 0;  // answers without which a candidate does not go on

  friend bool operator==(const NodeView&, const NodeView&) = default;
};

// The order of candidates: by phase, then rank, then identifier.
constexpr bool is_ahead(const NodeView& left, const NodeView& right) {
  if (left.phase != right.phase) return left.phase > right.phase;
  return left.rank != right.rank ? left.rank > right.rank : left.id > right.id;
}

// `Node` is the state of a node and `Message` what goes over an edge; both are plain. The first
// member of a message is its `kind`, an index into `kinds`, of which there are at most eight.
template <class P>
concept MessageProtocol = Described<typename P::Node> && Described<typename P::Message> &&
    requires(const P& protocol, const typename P::Node& view, const typename P::Message& message,
             const typename P::Parameters& parameters, NodeCount n, Identifier id) {
  { P::info } -> std::convertible_to<ProtocolInfo>;
  { P::kinds[0] } -> std::convertible_to<std::string_view>;
  { message.kind } -> std::convertible_to<typename P::Kind>;
  { P::objection(parameters, n) } -> std::same_as<std::string>;  // empty: they make sense for n
  P(parameters, n);
  { protocol.asleep(id) } -> std::same_as<typename P::Node>;
  { protocol.view(view) } -> std::same_as<NodeView>;
  { protocol.bits(message) } -> std::same_as<std::uint32_t>;  // its size on the wire
};

// One that acts on wake-ups and on single messages, whenever they come.
template <class P>
concept AsynchronousProtocol = MessageProtocol<P> &&
    requires(const P& protocol, typename P::Node& node, const Received<typename P::Message>& event,
             AnyEffects<typename P::Message>& effects, AnyChoice& choice) {
  { protocol.on(node, WakeUp{}, effects, choice) } -> std::same_as<void>;
  { protocol.on(node, event, effects, choice) } -> std::same_as<void>;
};

// One whose nodes also act when their timer runs out.
template <class P>
concept HasTimer = AsynchronousProtocol<P> &&
    requires(const P& protocol, typename P::Node& node, AnyEffects<typename P::Message>& effects,
             AnyChoice& choice) {
  { protocol.on(node, Timeout{}, effects, choice) } -> std::same_as<void>;
};

// One that acts once per round, on all messages of the round before.
template <class P>
concept SynchronousProtocol = MessageProtocol<P> &&
    requires(const P& protocol, typename P::Node& node, const Round<typename P::Message>& event,
             AnyEffects<typename P::Message>& effects, AnyChoice& choice) {
  { protocol.on(node, WakeUp{}, effects, choice) } -> std::same_as<void>;
  { protocol.on(node, event, effects, choice) } -> std::same_as<void>;
};

// The network that a protocol runs on, complete unless it names another as `topology`. On a
// directed ring, messages leave by port 0 and come in by port 1; on an undirected one, ports 0 and
// 1 lead to the two neighbours; `any` stands for all strongly connected graphs.
template <MessageProtocol P>
inline constexpr Topology network_of = Topology::complete;
template <MessageProtocol P>
  requires requires { P::topology; }
inline constexpr Topology network_of<P> = P::topology;

// Whether a node has done what the problem demands of it: it knows the leader or, in implicit
// election, whether it is the leader.
template <MessageProtocol P>
constexpr bool is_settled(const NodeView& view) {
  if constexpr (P::info.problem == Problem::implicit_election) {
    return view.standing == Standing::retired || view.standing == Standing::elected;
  } else {
    return view.is_informed;
  }
}

// A protocol that elects again where an election fails says so as `has_terms`. The phase of a node
// is the term of its election; there is at most one leader in a term, and an elected node retires
// when it hears of a later one. A node may give up when the terms run out.
template <class P>
concept HasTerms = MessageProtocol<P> && requires(const P& protocol, const typename P::Node& node) {
  requires P::has_terms;
  { protocol.has_given_up(node) } -> std::same_as<bool>;
};

// A protocol whose rows show more than messages and time names a `Record`. It is shown a node
// before and after each of its events, with the time since the first wake-up, and gives the
// observables that the protocol's `info` lists.
template <class P>
concept KeepsRecord = MessageProtocol<P> &&
    requires(typename P::Record& record, Ticks now, const typename P::Node& node) {
  { record.saw(now, node, node) } -> std::same_as<void>;
  record.observations();
};

// A protocol for networks whose nodes all start at once says so as `starts_together`; one that does
// not use identifiers as `is_anonymous`; one that needs them as `needs_identifiers`.
template <class P>
concept StartsTogether = MessageProtocol<P> && requires {
  requires P::starts_together;
};
template <class P>
concept Anonymous = MessageProtocol<P> && requires {
  requires P::is_anonymous;
};
template <class P>
concept NeedsIdentifiers = MessageProtocol<P> && requires {
  requires P::needs_identifiers;
};

// A protocol that treats its ports alike, as `static constexpr bool is_port_blind = true`: it draws
// ports uniformly at random or answers where a message came from, compares them for equality, and
// does nothing else with them. Then every mapping of ports to neighbours that does not depend on
// its coins gives the same law, and a host may take the simplest one.
template <class P>
concept PortBlind = MessageProtocol<P> && requires {
  requires P::is_port_blind;
};

}  // namespace conclave
