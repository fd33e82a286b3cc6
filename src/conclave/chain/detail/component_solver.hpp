// Solves the equations of one component, for any right-hand side, by the method that suits it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/frontal_factors.hpp"
#include "conclave/chain/detail/krylov.hpp"
#include "conclave/chain/detail/local_system.hpp"
#include "conclave/chain/detail/multigrid.hpp"

namespace conclave::chain {

// Elimination where it fills in little, as on lines, trees and narrow bands, or where the component
// is small; otherwise BiCGSTAB; if that is slow, BiCGSTAB with corrections for clusters, if there
// are some; then elimination in a better order or, where that takes too much work, multigrid; at
// last elimination at almost any price, or BiCGSTAB for a minute.
class ComponentSolver {
 public:
  explicit ComponentSolver(LocalSystem system);

  // An approximate solution; refinement makes it exact.
  std::vector<double> solve(std::span<const double> right);

 private:
  bool eliminate_as_given(double most_work);
  bool eliminate_in_good_order(double most_work);
  bool iterate(std::span<const double> right, std::span<double> x,
               const KrylovLimits& limits) const;
  bool take_next_method();

  LocalSystem system_;
  std::optional<Factors> factors_;        // in the order given
  std::optional<FrontalFactors> fronts_;  // in a better order
  std::optional<Factors> incomplete_;
  std::optional<Fronts> plan_;
  std::optional<Multigrid> multigrid_;
  enum class Method : std::uint8_t { simple, clusters, neighbours, none_left };
  Method method_ = Method::simple;
  int long_attempts_ = 0;
};

}  // namespace conclave::chain
