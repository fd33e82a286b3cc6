// BiCGSTAB (van der Vorst 1992) with any preconditioner. Deterministic: sums are taken in the same
// order on every machine, so that results have the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

struct KrylovLimits {
  double gain = 1e-8;  // the residual to reach, relative to the right-hand side
  // Two products and two preconditioning steps each. Given up after half of them if a quarter of
  // the digits is not yet gained.
  int most_iterations = 100;
};

// Overwrites a right-hand side by an approximate solution.
using Preconditioner = std::function<void(std::span<double>)>;

// Solves the system from x = 0. Writes into `x` the best that it found; true if the largest
// residual fell by the gain, or as far as rounding allows. The preconditioner must be a fixed
// linear map.
bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits);

// Aggregation and disaggregation for components that nearly fall apart: clusters within which the
// walk mixes soon, and which it rarely leaves. An iteration settles the values within a cluster in
// a few steps, but their common level only after as many as the walk stays there, 10^7 perhaps. So
// every step is followed by a correction of one number per cluster, which solves the small chain
// whose states are the clusters (Courtois 1977; Koury, McAllister and Stewart 1984).

// Holds the chain of clusters, but not the system that it was built for, which every call is given.
class Clusters {
 public:
  // The clusters are joined by transitions that take at least a thousandth of what leaves a state.
  // Nothing if these join everything, or fewer than ten states on average, or if the chain of
  // clusters cannot be eliminated in a second. O(40 transitions) besides.
  static std::optional<Clusters> of(const LocalSystem& system);

  // BiCGSTAB with the correction as its preconditioner. Writes an approximate solution into `x`;
  // true if the residual fell by eight digits, or as far as rounding allows. `system` is that of
  // the construction.
  bool solve(const LocalSystem& system, std::span<const double> right, std::span<double> x) const;

 private:
  Clusters(std::vector<std::uint32_t> cluster_of, std::vector<double> weights, std::size_t count,
           Factors factors)
      : cluster_of_(std::move(cluster_of)),
        weights_(std::move(weights)),
        count_(count),
        factors_(std::move(factors)) {}

  // Overwrites a right-hand side by an approximate solution: a sweep, a correction that is equal
  // within clusters, a sweep back.
  void correct(const LocalSystem& system, std::span<double> right) const;

  std::vector<std::uint32_t> cluster_of_;  // per state
  std::vector<double> weights_;            // per state: how often the walk is there, roughly
  std::size_t count_;                      // of clusters
  Factors factors_;                        // of the chain of clusters
};

}  // namespace conclave::chain::detail
