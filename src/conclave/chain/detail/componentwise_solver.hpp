// Solves the equations of one component, for any right-hand side, by the method that suits it.
// Solves the equations component by component, each after those it leads to: for chains of any
// structure. Finds the states from which the target can be missed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/detail/frontal_elimination.hpp"
#include "conclave/chain/detail/krylov.hpp"
#include "conclave/chain/detail/multigrid.hpp"

namespace conclave::chain::detail {

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

class ComponentwiseSolver {
 public:
  explicit ComponentwiseSolver(const Equations& equations);

  // Zero in the target, infinite where it may be missed, otherwise unknown and 0 as well.
  DoubleDoubleVector start() const;

  // From start(): solves and refines until every residual is at most `tolerance` times its cost or
  // no longer falls.
  void solve(std::span<const double> cost, double tolerance, DoubleDoubleVector& x) const;

 private:
  bool may_miss(std::size_t component, const std::vector<double>& values) const;
  void solve_single(StateIndex state, double cost, DoubleDoubleVector& x) const;
  void solve_component(std::size_t component, std::span<const double> cost, double tolerance,
                       DoubleDoubleVector& x) const;
  LocalSystem local_system(std::size_t component) const;

  const Equations& equations_;
  Components components_;
  std::vector<std::uint32_t> places_;  // of the states in components_.order
};

}  // namespace conclave::chain::detail
