// The search for bad adversaries of message passing: what is searched for is a table of rules by
// which an adaptive adversary delays messages and wakes nodes (network/rules.hpp). It knows the
// protocol only by its kinds of messages and by how a trial ends.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "conclave/base/function_ref.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/network/rules.hpp"

namespace conclave::catalog {

// A trial of this number against the adversary of a table.
using RunRuled =
    FunctionRef<TrialResult(const network::Situations& situations,
                            std::span<const network::Rule> table, std::uint64_t trial)>;

// `run` is the prepared run of the request. Throws Error for large networks and unknown objectives.
Searched search_rules(const SearchRequest& request, const PreparedRun& run,
                      std::span<const std::string_view> kinds, RunRuled run_ruled);

}  // namespace conclave::catalog
