// What it takes to walk through all schedules of a message-passing protocol, and what comes of it.
#pragma once

#include <cstdint>
#include <functional>
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
  std::uint64_t most_configurations = 4'000'000;
  std::function<bool()> keep_going{};  // none: never stops
};

struct ExploredProperty {
  std::string_view name;
  bool holds = true;
  std::vector<schedules::TraceStep> counterexample{};  // a shortest schedule, then where it ends
};

struct Exploration {
  std::uint64_t n = 0;
  std::vector<ParameterValue> parameters{};
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;
  double schedules = 0;  // exact up to 2^53; 0 where the walk was broken off
  std::uint64_t longest = 0;
  bool is_complete = false;  // false: interrupted, or broken off after what was found
  std::vector<ExploredProperty> properties{};
};

}  // namespace conclave::catalog
