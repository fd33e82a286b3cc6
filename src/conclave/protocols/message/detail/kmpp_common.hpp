// The common part of the asynchronous and the synchronous algorithm of Kutten, Moses, Pandurangan
// and Peleg.
#pragma once

#include <cstdint>
#include <string_view>

#include "conclave/model/message.hpp"

namespace conclave::protocols::detail {

inline constexpr std::string_view kmpp_paper =
    "S. Kutten, W. K. Moses Jr., G. Pandurangan, D. Peleg: Singularly Optimal Randomized "
    "Leader Election. 34th International Symposium on Distributed Computing (DISC), 2020";
inline constexpr std::string_view kmpp_convergence =
    "quiescence with exactly one node elected and all n informed";

// Ranks are uniform in 1 ... n^4, or as far as 64 bits go.
constexpr std::uint64_t kmpp_ranks(NodeCount n) { return n < 65536 ? n * n * n * n : UINT64_MAX; }

}  // namespace conclave::protocols::detail
