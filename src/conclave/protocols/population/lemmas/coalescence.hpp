// The claims that make coalescence a leader election: the last leader walks on, so outputs change
// for ever, but there is always exactly one leader.
#pragma once

#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/coalescence.hpp"

namespace conclave::protocols {

inline Claims<Coalescence::State> claims_of(const Coalescence& protocol) {
  Claims<Coalescence::State> claims;
  claims.claims = resigning_claims(protocol);
  claims.claims.push_back(
      {"closure", "one leader stays one leader", ClaimKind::closed, std::string(converged_set)});
  claims.notation = [](const Coalescence::State& s) { return s.leader ? "L" : "F"; };
  return claims;
}

}  // namespace conclave::protocols
