// Where the ports of a small network lead. In a complete one, unless the protocol treats its ports
// alike, the neighbour of a port is chosen when the port is first used, so that walking through all
// choices walks through all assignments of ports. A graph's ports lead where they lead in a run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "conclave/base/check.hpp"
#include "conclave/base/choice.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/port_graph.hpp"
#include "conclave/schedules/search.hpp"

namespace conclave::schedules::detail {

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

}  // namespace conclave::schedules::detail
