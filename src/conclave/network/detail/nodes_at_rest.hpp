// The nodes of a network that has come to rest, counted, and the result of the run that follows.
#pragma once

#include <cstdint>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::network::detail {

// Is told of every node that has been awake.
class NodesAtRest {
 public:
  // Whether the protocol's parameters ask for its candidates by phase.
  NodesAtRest(NodeCount n, bool is_watched) : n_(n), is_watched_(is_watched) {}

  void add(const NodeView& node, bool is_settled);

  // The result without times and observations. `outcome` knows the messages, of which there were so
  // many.
  TrialResult result(NetworkOutcome outcome, std::uint64_t messages) const;
  // Adds the observations: those of every network, the protocol's own, and the candidates by phase.
  void observe(std::uint64_t candidates, std::uint64_t largest_bits, std::vector<Observation> own,
               TrialResult& result) const;

 private:
  NodeCount n_;
  bool is_watched_;
  std::uint64_t elected_ = 0;
  std::uint64_t informed_ = 0;
  std::uint64_t settled_ = 0;
  std::uint32_t last_phase_ = 0;
  std::vector<std::uint64_t> ended_in_;  // nodes by the last phase that they have begun
};

}  // namespace conclave::network::detail
