// The search for bad adversaries of message passing: what is searched for is a table of rules by
// which an adaptive adversary delays messages and wakes nodes (network/rules.hpp). A generated
// source includes this once per protocol; the search itself knows the protocol only by its kinds of
// messages and by how a trial ends.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/function_ref.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/make_network_entry.hpp"
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

// Throws Error for synchronous protocols, which have no delays, and for large networks.
template <MessageProtocol P>
Searched search_adversary(const SearchRequest& request) {
  if constexpr (SynchronousProtocol<P>) {
    throw Error(fmt::format("{} is synchronous: there are no delays to search for", P::info.name));
  } else {
    const PreparedNetwork<P> run(request.run);  // checks the request
    return search_rules(
        request, run, P::kinds,
        [&](const network::Situations& situations, std::span<const network::Rule> table,
            std::uint64_t trial) { return run.run_ruled(situations, table, trial); });
  }
}

}  // namespace conclave::catalog
