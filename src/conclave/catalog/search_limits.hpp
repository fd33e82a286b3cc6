// The part of the search for bad starts that does not depend on a protocol's type: how large a
// population and how long a trial may be, and configurations in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "conclave/base/function_ref.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/population.hpp"

namespace conclave::catalog {

// Throws Error for populations of which some hundred configurations do not fit into memory.
AgentCount searchable_population(AgentCount n);

// Called between the chunks of one trial. Throws Interrupted if the caller ends the search, and
// Error if the trial has taken so long that it may never end.
class TrialPatience {
 public:
  TrialPatience(const SearchRequest& request, std::uint64_t trials_done);

  bool operator()(Interactions now);

 private:
  const SearchRequest& request_;
  std::uint64_t done_;
  std::uint64_t left_;
};

// The agents in their order, runs of equal ones counted: "3 x F-s.0 L-S.0".
std::string text_of_agents(std::size_t agents,
                           FunctionRef<bool(std::size_t, std::size_t)> are_equal,
                           FunctionRef<std::string(std::size_t)> notation);

}  // namespace conclave::catalog
