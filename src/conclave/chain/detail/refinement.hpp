// The solution of integer equations as binary fractions, by iterative refinement: an approximate
// solver in doubles gives some bits at a time, and what they leave of the right-hand sides is known
// exactly. The last remainder proves the error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/fractions.hpp"
#include "conclave/chain/detail/lifting.hpp"

namespace conclave::chain::detail {

struct RefinementGoal {
  double largest = 1;    // no unknown is larger
  std::size_t bits = 0;  // the errors are to be less than 2^-bits
};

// Gauss-Seidel sweeps for chains that mix well and are slow in one way only: the target is far.
// This slow mode is found once and taken out of every right-hand side, so that some 23 sweeps give
// as many bits as doubles have. Beside BiCGSTAB, which refine() falls back on, they halve the time:
// 0.85 instead of 1.85 CPU seconds for five random successors of small weights in 5000 states.
class DeflatedSweeps {
 public:
  // For sweeps until about `bits` bits are right. Nothing if that takes too many sweeps.
  static std::optional<DeflatedSweeps> of(const LocalSystem& system, int bits);

  void solve(std::span<const double> right, std::span<long double> x);

 private:
  explicit DeflatedSweeps(const LocalSystem& given);

  void sweep(std::span<double> x) const;
  void find_mode();
  void find_weights();
  std::vector<double> transposed_sweep(std::vector<double> weights) const;

  std::vector<std::uint32_t> order_;  // of the sweeps; everything below is in this order
  // Row i: x_i = start_i + sum over its columns of value * x_column.
  std::vector<std::uint32_t> starts_{0};
  std::vector<std::uint32_t> columns_;
  std::vector<double> values_;
  std::vector<double> waiting_;

  std::vector<double> mode_;     // what a sweep multiplies by mode_factor_
  std::vector<double> weights_;  // the same for the transposed sweep; weights times mode is 1
  std::vector<double> start_of_mode_;
  double mode_factor_ = 0;
  double contraction_ = 1;  // of everything else, per sweep
  int sweeps_ = 0;

  std::vector<double> start_, rest_;  // of a solve
};

// The values of the given unknowns. Nothing if no solver gains enough bits at a time.
std::optional<BinaryFractions> refine(const IntegerEquations& equations,
                                      std::span<const std::uint32_t> unknowns,
                                      const RefinementGoal& goal);

}  // namespace conclave::chain::detail
