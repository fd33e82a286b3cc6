// A small network at one moment: its nodes, the messages under way between them, and where the
// ports lead.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"
#include "conclave/base/every_choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/schedules/search.hpp"

namespace conclave::schedules::detail {

// Where the ports of a small network lead. In a complete one, unless the protocol treats its ports
// alike, the neighbour of a port is chosen when the port is first used, so that walking through all
// choices walks through all assignments of ports. A graph's ports lead where they lead in a run.

class PortMap {
 public:
  // `is_settled`: port i leads to the i-th other node from the beginning. n is at most most_nodes.
  PortMap(std::size_t n, bool is_settled) : n_(n), is_settled_(is_settled) {
    CONCLAVE_CHECK(n <= most_nodes);
    for (auto& row : neighbours_) row.fill(open);
    leaving_.fill(static_cast<std::uint8_t>(n - 1));
    for (std::size_t node = 0; is_settled && node < n; ++node) {
      for (std::size_t port = 0; port + 1 < n; ++port) {
        neighbours_[node][port] = static_cast<std::uint8_t>(port < node ? port : port + 1);
      }
    }
  }

  // The ports of a graph of at most most_nodes nodes, all settled.
  explicit PortMap(const PortGraph& graph) : n_(graph.nodes()), is_settled_(true) {
    CONCLAVE_CHECK(n_ <= most_nodes);
    for (auto& row : neighbours_) row.fill(open);
    for (std::uint32_t node = 0; node < n_; ++node) {
      leaving_[node] = static_cast<std::uint8_t>(graph.leaving(node));
      for (Port port = 0; port < graph.leaving(node); ++port) {
        const std::uint32_t other = graph.neighbour(node, port);
        neighbours_[node][port] = static_cast<std::uint8_t>(other);
        neighbours_[other][graph.port(other, node)] = static_cast<std::uint8_t>(node);
      }
    }
  }

  // Messages leave by the ports below this.
  Port leaving(std::size_t node) const { return leaving_[node]; }

  // The node behind a port, chosen among those that no port of the node leads to if the port is
  // new.
  std::size_t neighbour(std::size_t node, Port port, Choice auto& choice) {
    CONCLAVE_CHECK(port < leaving_[node]);
    std::uint8_t& neighbour = neighbours_[node][port];
    if (neighbour == open) {
      std::array<std::uint8_t, most_nodes> free{};
      std::uint32_t count = 0;
      for (std::size_t other = 0; other < n_; ++other) {
        if (other == node || find(node, other) != no_port) continue;
        free[count++] = static_cast<std::uint8_t>(other);
      }
      neighbour = free[choice.below(count)];
    }
    return neighbour;
  }

  // The port that leads to another node, chosen among the new ones if none is known to.
  Port port_to(std::size_t node, std::size_t other, Choice auto& choice) {
    if (const Port known = find(node, other); known != no_port) return known;
    std::array<Port, most_nodes> free{};
    std::uint32_t count = 0;
    for (Port port = 0; port + 1 < n_; ++port) {
      if (neighbours_[node][port] == open) free[count++] = port;
    }
    const Port port = free[choice.below(count)];
    neighbours_[node][port] = static_cast<std::uint8_t>(other);
    return port;
  }

  // The port that is known to lead to another node, or no_port.
  Port find(std::size_t node, std::size_t other) const {
    for (Port port = 0; port + 1 < n_; ++port) {
      if (neighbours_[node][port] == other) return port;
    }
    return no_port;
  }

  // Appends the assignment as bytes; nothing if it is settled.
  void encode(std::string& bytes) const {
    for (std::size_t node = 0; node < n_ && !is_settled_; ++node) {
      for (std::size_t port = 0; port + 1 < n_; ++port) {
        bytes.push_back(static_cast<char>(neighbours_[node][port]));
      }
    }
  }

 private:
  static constexpr std::uint8_t open = 0xff;

  std::size_t n_;
  bool is_settled_;  // from the beginning, so that all configurations agree
  std::array<std::uint8_t, most_nodes> leaving_{};  // how many ports messages leave by
  std::array<std::array<std::uint8_t, most_nodes>, most_nodes> neighbours_{};
};

// A weight that is not computed.
struct NoWeight {
  NoWeight times(std::uint64_t, std::uint64_t) const { return {}; }
};
// The Choice that walks through all outcomes, for searches that do not need their probabilities.
using Outcomes = EveryChoice<NoWeight>;

// Encodes described structs as bytes, so that two encodings are equal exactly if the structs are.
// Numbers below 128 take one byte.
// Flattened, for searches spend much of their time here: a call for each byte would be felt.
[[gnu::flatten]] inline void append_number(std::uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(0x80 | (value & 0x7f)));
  bytes.push_back(static_cast<char>(value));
}

// All fields, one after the other.
template <Described T>
void append(const T& value, std::string& bytes) {
  std::apply(
      [&](const auto&... field) {
        (append_number(static_cast<std::uint64_t>(as_integer(value.*field.member)), bytes), ...);
      },
      T::fields);
}

template <class Message>
struct UnderWay {
  std::uint8_t from;
  std::uint8_t to;
  Message message;
};

template <MessageProtocol P>
struct Configuration {
  using Message = typename P::Message;

  static constexpr bool is_complete = network_of<P> == Topology::complete;

  // A configuration of a complete network; below, of a graph.
  Configuration(const P& protocol, std::size_t n, bool has_ids) : size(n), ports(n, PortBlind<P>) {
    for (std::size_t i = 0; i < n; ++i) {
      nodes[i] = protocol.asleep(has_ids ? static_cast<Identifier>(i + 1) : 0);
    }
  }
  Configuration(const P& protocol, const PortGraph& graph, bool has_ids)
      : size(graph.nodes()), ports(graph), is_placed(!has_ids) {
    for (std::size_t i = 0; i < size; ++i) nodes[i] = protocol.asleep(0);
  }

  std::size_t size;
  std::array<typename P::Node, most_nodes> nodes{};
  PortMap ports;
  std::vector<UnderWay<Message>> under_way{};  // on each edge in the order of sending
  bool is_placed = true;                       // on a graph: the identifiers are handed out
  std::uint32_t rounds = 0;                    // synchronous networks: since the first wake-up
  bool is_late = false;                        // ... a message was sent after the last allowed one
  bool broke_rule = false;                     // a message came that must not come
  std::uint32_t timers = 0;                    // bit i: the timer of node i is set

  // Whether the timer of the node is set.
  bool has_timer(std::size_t node) const { return (timers >> node & 1) != 0; }

  // Appends the configuration as bytes, messages edge by edge: those on different edges have no
  // order. Equal configurations, and only they, give equal bytes.
  void encode(std::string& bytes) const {
    for (std::size_t i = 0; i < size; ++i) append(nodes[i], bytes);
    ports.encode(bytes);
    append_number(rounds, bytes);
    bytes.push_back(
        static_cast<char>((is_placed ? 0 : 4) + (is_late ? 2 : 0) + (broke_rule ? 1 : 0)));
    if constexpr (HasTimer<P>) append_number(timers, bytes);
    for (std::uint8_t edge = 0; edge < size * size; ++edge) {
      for (const auto& [from, to, message] : under_way) {
        if (from * size + to != edge) continue;
        bytes.push_back(static_cast<char>(edge));
        append(message, bytes);
      }
    }
  }
};

// The beginning of all schedules: all nodes sleep. `graph` is null in a complete network.
template <MessageProtocol P>
Configuration<P> beginning_of(const P& protocol, std::size_t n, bool has_ids,
                              const PortGraph* graph) {
  if constexpr (Configuration<P>::is_complete) return {protocol, n, has_ids};
  CONCLAVE_CHECK(graph != nullptr && graph->nodes() == n);
  return {protocol, *graph, has_ids};
}

// On a graph it matters who has which identifier: the first step of a schedule hands them out, in
// each of the n! ways. Calls `visit` with each configuration after that step.
template <MessageProtocol P>
void for_each_placement(const P& protocol, const Configuration<P>& beginning, const auto& visit) {
  std::array<Identifier, most_nodes> identifiers{};
  const auto end = identifiers.begin() + static_cast<std::ptrdiff_t>(beginning.size);
  std::iota(identifiers.begin(), end, Identifier{1});
  do {
    Configuration<P> next = beginning;
    next.is_placed = true;
    for (std::size_t i = 0; i < next.size; ++i) next.nodes[i] = protocol.asleep(identifiers[i]);
    visit(next);
  } while (std::next_permutation(identifiers.begin(), end));
}

// Receives the messages that one node sends while it handles an event.
template <MessageProtocol P, Choice C>
class Sink {
 public:
  using Message = typename P::Message;

  // Keeps references to the configuration and the choice. Ports that are used for the first time
  // are drawn from it.
  Sink(Configuration<P>& configuration, std::size_t node, C& choice)
      : configuration_(configuration), node_(node), choice_(choice) {}

  // Appends the message to those under way, behind the others on its edge.
  void send(Port port, const Message& message) {
    put(configuration_.ports.neighbour(node_, port, choice_), message);
  }

  // The same to every neighbour.
  void broadcast(const Message& message) {
    if constexpr (!Configuration<P>::is_complete) {
      const Port leaving = configuration_.ports.leaving(node_);
      for (Port port = 0; port < leaving; ++port) send(port, message);
      return;
    }
    for (std::size_t other = 0; other < configuration_.size; ++other) {
      if (other != node_) put(other, message);
    }
  }

  // Chooses the ports one after the other: each is taken or left, as long as both are possible.
  void send_to_some(std::uint32_t count, const Message& message, C&) {
    auto left = static_cast<std::uint32_t>(configuration_.size - 1);
    for (Port port = 0; count > 0; ++port, --left) {
      if (count < left && choice_.below(2) == 0) continue;
      send(port, message);
      --count;
    }
  }

  // The timer runs out when the schedule says so: there is no delay to draw.
  Ticks set_timer(const auto&, C&) {
    configuration_.timers |= 1u << node_;
    return 0;
  }
  void cancel_timer() { configuration_.timers &= ~(1u << node_); }

 private:
  void put(std::size_t to, const Message& message) {
    configuration_.under_way.push_back(
        {static_cast<std::uint8_t>(node_), static_cast<std::uint8_t>(to), message});
  }

  Configuration<P>& configuration_;
  std::size_t node_;
  C& choice_;
};

}  // namespace conclave::schedules::detail
