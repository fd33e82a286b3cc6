// Solves the equations one strongly connected component after the other, each after those it leads
// to: for chains of any structure. A component of one state takes one division; a larger one is a
// system of its own, in which the values of the components behind it are known. Also finds the
// states from which the target can be missed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/method_choice.hpp"

namespace conclave::chain::detail {

class ComponentwiseSolver {
 public:
  // Finds the components in O(transitions). Keeps a reference to the equations.
  explicit ComponentwiseSolver(const Equations& equations);

  // Zero in the target, infinite where it may be missed, otherwise unknown and 0 as well.
  DoubleDoubleVector start() const;

  // Solves and refines until every residual is at most `tolerance` times its cost or no longer
  // falls. The method is that of the components with more than one state. Throws Error if it is not
  // Method::automatic and applies to none of them.
  Solution solve(std::span<const double> cost, double tolerance, Method method) const;

 private:
  bool may_miss(std::size_t component, const std::vector<double>& values) const;
  void solve_single(StateIndex state, double cost, DoubleDoubleVector& x) const;
  void refine(std::size_t component, std::span<const double> cost, double tolerance,
              ComponentSolver& solver, DoubleDoubleVector& x) const;

  const Equations& equations_;
  Components components_;
  std::vector<std::uint32_t> places_;  // of the states in components_.order
};

}  // namespace conclave::chain::detail
