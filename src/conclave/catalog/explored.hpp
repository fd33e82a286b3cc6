// The part of an exploration that does not depend on the protocol's type.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "conclave/catalog/exploration.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/schedules/search.hpp"
#include "conclave/schedules/trace_step.hpp"

namespace conclave::catalog {

// Explores all schedules; `trace` describes a schedule in words. Throws Error, with an estimate of
// what the whole exploration would take, if the limit is reached before a counterexample is found.
Exploration explored(
    std::string_view protocol, const ExplorationRequest& request,
    const schedules::AnySystem& system,
    const std::function<std::vector<schedules::TraceStep>(const schedules::Schedule&)>& trace);

// Throws Error: there are too many nodes to walk through all schedules. `largest` is the system of
// the largest network for which they are.
[[noreturn]] void refuse_nodes(const ProtocolInfo& info, const ExplorationRequest& request,
                               const schedules::AnySystem& largest);

}  // namespace conclave::catalog
