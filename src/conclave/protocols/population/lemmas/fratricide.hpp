// The claims that make fratricide a leader election.
#pragma once

#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/fratricide.hpp"

namespace conclave::protocols {

inline Claims<Fratricide::State> claims_of(const Fratricide& protocol) {
  Claims<Fratricide::State> claims;
  claims.claims = resigning_claims(protocol);
  claims.claims.push_back({"safety", "with one leader left, outputs never change again",
                           ClaimKind::safe, std::string(converged_set)});
  claims.notation = [](const Fratricide::State& s) { return s.leader ? "L" : "F"; };
  return claims;
}

}  // namespace conclave::protocols
