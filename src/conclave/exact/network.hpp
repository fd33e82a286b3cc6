// Which agents of a small population can meet, and which of its configurations are the same up to
// renaming agents. Exploring one configuration of each class of equal ones is enough: on the
// complete graph up to n! times fewer, on a ring up to n times fewer.
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

// "none", "rotation", "permutation".
std::string_view name_of(Symmetry symmetry);

// The functions that make one throw Error above 2^20 agents.
class Network {
 public:
  using Pair = Digraph::Pair;

  // Every ordered pair of agents can interact; in a ring, agent i with i + 1.
  static Network complete(AgentCount n);
  static Network directed_ring(AgentCount n);
  // Uses the symmetry of rotation if it maps the arcs onto themselves, otherwise none.
  static Network of(const Digraph& graph);

  // The number of agents, what is done about symmetry, and whether it is a ring of one direction.
  std::size_t agents() const { return agents_; }
  Symmetry symmetry() const { return symmetry_; }
  bool is_directed_ring() const { return is_directed_ring_; }
  // The arcs, each (initiator, responder); none for the complete graph.
  std::span<const Pair> arcs() const { return arcs_; }
  // The number of ordered pairs of agents that can meet, all equally likely.
  std::uint64_t pairs() const;
  // An upper bound on the different meetings in one configuration.
  std::uint64_t most_meetings() const { return pairs(); }

  // Calls visit(initiator, responder, ways) for each different meeting in a canonical
  // configuration, where `ways` is the number of equally likely pairs that amount to this one.
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

  // Renames the agents so that configurations that are the same up to symmetry become equal.
  void canonicalize(std::span<StateNumber> configuration) const;
  // The number of configurations that are the same as a canonical one up to symmetry, itself
  // included; rounded above 2^53.
  double orbit(std::span<const StateNumber> configuration) const;

 private:
  explicit Network(AgentCount n) : agents_(n) {}

  // The place after the last agent in the same state as the one at `index`, in a sorted
  // configuration.
  static std::size_t past(std::span<const StateNumber> configuration, std::size_t index) {
    std::size_t end = index + 1;
    while (end < configuration.size() && configuration[end] == configuration[index]) ++end;
    return end;
  }

  bool is_rotatable() const;

  std::size_t agents_;
  std::vector<Pair> arcs_;  // empty for the complete graph
  Symmetry symmetry_ = Symmetry::none;
  bool is_directed_ring_ = false;
};

}  // namespace conclave::exact
