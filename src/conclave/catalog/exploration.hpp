// The question and the answer of an exploration: all schedules of a message-passing protocol on a
// few nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/schedules/trace_step.hpp"

namespace conclave::catalog {

struct ExplorationRequest {
  Interactions n;
  std::vector<Setting> settings{};
  bool has_identifiers = true;
  std::string graph{};                            // empty: the protocol's own
  std::shared_ptr<const Digraph> digraph{};       // the graph of that name, unless it is complete
  std::uint64_t most_configurations = 4'000'000;  // about 500 bytes each
  ProgressCallback progress{};
};

struct ExploredProperty {
  std::string_view name;
  bool holds = true;
  std::vector<schedules::TraceStep> counterexample{};  // a shortest schedule, then where it ends
};

struct Exploration {
  std::uint64_t n = 0;
  std::vector<ParameterValue> parameters{};
  bool has_identifiers = true;  // false also if the protocol does not use them
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;
  double schedules = 0;       // exact up to 2^53; 0 unless is_complete; may be infinity
  std::uint64_t longest = 0;  // steps; 0 unless is_complete
  bool is_complete = false;   // false: interrupted, or ended at the limit with a counterexample
  std::vector<ExploredProperty> properties{};
};

}  // namespace conclave::catalog
