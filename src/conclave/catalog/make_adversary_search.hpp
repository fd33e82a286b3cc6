// Joins one message passing protocol with the search for bad adversaries. A generated source
// includes this once per protocol.
#pragma once

#include <cstdint>
#include <span>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/adversary_search.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/make_network_entry.hpp"
#include "conclave/network/rules.hpp"

namespace conclave::catalog {

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
