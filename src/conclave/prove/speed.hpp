// Classes of the expected time of a rank stage, by conditions that hold in every open configuration
// C, one in which some transition of U is enabled. F is the weighted sum of C, t = (p, q) in U.
//
//   n^3        always: at most O(n) firings of U, each within O(n^2) interactions
//   n^2 log n  some enabled t has a max(c_p, c_q) >= F: the sum over k of n^2 / k
//   n^2        ... a c_p >= F and a c_q >= F: the sum over k of n^2 / k^2
//   n log n    weights are 0 and 1; ... f(p) = 1, p != q, a c_p >= F, c_p + a c_q >= n
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/prove/invariants.hpp"
#include "conclave/prove/stages.hpp"

namespace conclave::prove {

// The facts must imply that U, once not enabled, is never enabled again. Gives the class and a.
std::pair<Speed, std::int64_t> speed_of(Invariants& invariants, const Net& net,
                                        const std::vector<z3::expr>& facts, const Counts& weights,
                                        const std::vector<bool>& lowering);

}  // namespace conclave::prove
