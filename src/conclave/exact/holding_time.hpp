// The exact expected time until a population fails, on the complete graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/exact/configuration_chain.hpp"
#include "conclave/exact/lumped_states.hpp"
#include "conclave/exact/start_law.hpp"
#include "conclave/exact/state_table.hpp"

namespace conclave::exact {

struct HoldingLimits {
  std::size_t states = 1024;               // of an agent, before they are merged
  std::uint64_t configurations = 600'000;  // of merged states
};

struct HoldingTime {
  // 1 / (failures in this way per interaction), where the population begins anew after a failure in
  // any way; infinite if it cannot fail so.
  double mean = 0;
  double relative_error = 0;  // certified
};

// One object belongs to one thread.
class HoldingTimes {
 public:
  // `start` is an index among the protocol's starts. Throws Error if an agent has too many states.
  HoldingTimes(std::unique_ptr<NumberedStates> table, std::unique_ptr<FailureQuestion> question,
               std::size_t start, AgentCount n, const HoldingLimits& limits,
               ProgressCallback progress = {});

  // Whether the population can fail in this way; how long that takes. Both throw Error if there are
  // too many configurations, and Interrupted.
  bool is_possible(std::size_t way);
  HoldingTime until(std::size_t way);
  // How many have been explored.
  std::uint64_t configurations() const { return index_->size(); }

 private:
  MarkovChain chain_until(std::size_t way);

  std::unique_ptr<NumberedStates> table_;
  std::unique_ptr<FailureQuestion> question_;
  Network network_;
  HoldingLimits limits_;
  ProgressCallback progress_;
  MeetingStates members_;
  LumpedStates states_;
  std::unique_ptr<ConfigurationIndex> index_;
  std::vector<double> start_;  // the distribution of the start
};

}  // namespace conclave::exact
