// What makes coalescence a leader election: the leader that is left walks on, so that outputs
// change for ever, but there is always exactly one.
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
