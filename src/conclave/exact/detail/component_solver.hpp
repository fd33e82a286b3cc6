// Solves the equations of one component, for any right-hand side, by the method that suits it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/exact/detail/elimination.hpp"
#include "conclave/exact/detail/krylov.hpp"
#include "conclave/exact/detail/local_system.hpp"
#include "conclave/exact/detail/multigrid.hpp"

namespace conclave::exact {

// Elimination where it fills in little, as on lines, trees and narrow bands, or where the component
// is small; otherwise BiCGSTAB; if that is slow, multigrid; if that is slow too, elimination in a
// better order, which costs more.
class ComponentSolver {
 public:
  explicit ComponentSolver(LocalSystem system);

  // An approximate solution; refinement makes it exact.
  std::vector<double> solve(std::span<const double> right);

 private:
  bool eliminate(const LocalSystem& system, double most_work);
  bool eliminate_in_good_order(double most_work);
  bool iterate(std::span<const double> right, std::span<double> x,
               const KrylovLimits& limits) const;
  std::vector<double> by_factors(std::span<const double> right) const;

  LocalSystem system_;
  std::vector<std::uint32_t> order_;  // of the elimination; empty if as given
  std::optional<Factors> factors_;
  std::optional<Factors> incomplete_;
  std::optional<Multigrid> multigrid_;
  bool everything_tried_ = false;
};

}  // namespace conclave::exact
