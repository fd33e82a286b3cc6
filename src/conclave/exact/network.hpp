// Who can meet whom in a small population, and which of its configurations are the same up to
// renaming agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/exact/pair_outcomes.hpp"
#include "conclave/model/graph.hpp"

namespace conclave::exact {

enum class Symmetry : std::uint8_t {
  none,
  rotation,     // agent i can be called i + 1 mod n
  permutation,  // agents are told apart by their states alone
};

std::string_view name_of(Symmetry symmetry);

class Network {
 public:
  using Pair = Digraph::Pair;

  static Network complete(AgentCount n);
  static Network directed_ring(AgentCount n);
  // Modulo rotation, if that leaves the graph as it is.
  static Network of(const Digraph& graph);

  std::size_t agents() const { return agents_; }
  Symmetry symmetry() const { return symmetry_; }
  bool is_directed_ring() const { return is_directed_ring_; }
  // How many equally likely ordered pairs there are.
  std::uint64_t pairs() const;
  // The largest number of different meetings in a configuration.
  std::uint64_t most_meetings() const { return pairs(); }

  // Calls visit(initiator, responder, ways) for all meetings in a canonical configuration; `ways`
  // of the equally likely pairs look like this one.
  template <class Visit>
  void for_each_meeting(std::span<const StateNumber> configuration, Visit&& visit) const {
    if (symmetry_ != Symmetry::permutation) {
      for (const auto& [u, v] : arcs_) visit(std::size_t{u}, std::size_t{v}, std::uint64_t{1});
      return;
    }
    for (std::size_t u = 0; u < agents_; u = past(configuration, u)) {
      for (std::size_t v = 0; v < agents_; v = past(configuration, v)) {
        const std::size_t others = past(configuration, v) - v - (u == v ? 1 : 0);
        if (others == 0) continue;
        visit(u, u == v ? v + 1 : v, std::uint64_t{past(configuration, u) - u} * others);
      }
    }
  }

  // Renames the agents so that all configurations that are the same become equal.
  void canonicalize(std::span<StateNumber> configuration) const;
  // How many configurations are the same as this one, itself included.
  double orbit(std::span<const StateNumber> configuration) const;

 private:
  explicit Network(AgentCount n) : agents_(n) {}

  // Behind the last agent in the same state as the one at `index`, in a sorted configuration.
  static std::size_t past(std::span<const StateNumber> configuration, std::size_t index) {
    std::size_t end = index + 1;
    while (end < configuration.size() && configuration[end] == configuration[index]) ++end;
    return end;
  }

  bool is_rotatable() const;

  std::size_t agents_;
  std::vector<Pair> arcs_;  // of the complete graph: none
  Symmetry symmetry_ = Symmetry::none;
  bool is_directed_ring_ = false;
};

}  // namespace conclave::exact
