// Solves the equations component by component, each after those it leads to: for chains of any
// structure. Finds the states from which the target can be missed.
#pragma once

#include <span>

#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

class Structured {
 public:
  explicit Structured(const Equations& equations);

  // Zero in the target, infinite where it may be missed, otherwise unknown and 0 as well.
  Unknowns start() const;

  // From start(): solves and refines until every residual is at most `tolerance` times its cost or
  // no longer falls.
  void solve(std::span<const double> cost, double tolerance, Unknowns& x) const;

 private:
  bool may_miss(std::size_t component, const std::vector<double>& values) const;
  void solve_single(StateIndex state, double cost, Unknowns& x) const;
  void solve_component(std::size_t component, std::span<const double> cost, double tolerance,
                       Unknowns& x) const;
  LocalSystem local_system(std::size_t component) const;

  const Equations& equations_;
  Components components_;
  std::vector<std::uint32_t> places_;  // of the states in components_.order
};

}  // namespace conclave::chain
