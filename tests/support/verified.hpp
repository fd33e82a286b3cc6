// Verified reports and what is asked of them; small instances of the protocols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "conclave/exact/verifier.hpp"
#include "conclave/protocols/population/lemmas/ppl.hpp"
#include "conclave/protocols/population/lemmas/prl.hpp"

namespace conclave::tests {

template <class P>
exact::Report verified(const P& protocol, const exact::Network& network,
                       const exact::VerifyOptions& options = {}, std::size_t start = 0) {
  exact::Verifier<P> verification(protocol, network, options, start);
  return verification.run();
}

inline exact::Verdict verdict(const exact::Report& report, const std::string& claim) {
  for (const exact::ClaimReport& one : report.claims) {
    if (one.name == claim) return one.verdict;
  }
  ADD_FAILURE() << "no claim " << claim;
  return exact::Verdict::fails;
}

inline bool holds(const exact::Report& report, const std::string& claim) {
  return verdict(report, claim) == exact::Verdict::holds;
}

inline const exact::ClaimReport& failing(const exact::Report& report, const std::string& claim) {
  for (const exact::ClaimReport& one : report.claims) {
    if (one.name == claim && one.fails()) return one;
  }
  ADD_FAILURE() << claim << " holds";
  return report.claims.front();
}

inline protocols::Prl prl(std::uint64_t n, std::uint64_t bound) {
  return protocols::Prl(protocols::Prl::Parameters{.upper_bound = bound}, n);
}

template <class P>
P pll(std::uint64_t n, std::uint64_t c_max, std::uint64_t k,
      typename P::Reading reading = P::Reading::corrected) {
  typename P::Parameters parameters;
  parameters.c_max = c_max;
  parameters.k = k;
  parameters.reading = reading;
  return P(parameters, n);
}

inline protocols::Ppl ppl(std::uint64_t n, std::uint64_t t_max, std::uint64_t t_virus,
                          std::uint64_t t_emit) {
  protocols::Ppl::Parameters parameters;
  parameters.t_max = t_max;
  parameters.t_virus = t_virus;
  parameters.t_emit = t_emit;
  return protocols::Ppl(parameters, n);
}

}  // namespace conclave::tests
