// Estimates of rare failures of a catalog entry: the hook between a request and module `rare`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conclave/catalog/catalog.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/rare/prepared.hpp"

namespace conclave::catalog {

struct RareRequest {
  RunRequest run;  // n, parameters, start and seed
  rare::Choice choice{};
};

// The description of the protocol that a request names, as rows show it, without ways and
// functions.
rare::Subject rare_subject(const RareRequest& request, AgentCount n, std::string_view protocol,
                           std::string_view start, std::span<const ParameterValue> parameters);

// Throws Error if a request has options that rare events do not support: a limit only where
// failures are counted by attempts.
void check_rare_request(std::string_view protocol, const RareRequest& request, bool by_attempt);

// Throws Error if the rare failures of a protocol are not known.
void require_rare(const Entry& entry);

}  // namespace conclave::catalog
