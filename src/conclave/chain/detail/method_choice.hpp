// The one place where a method is chosen: for the whole chain by solve(), and within it for each
// strongly connected component by ComponentSolver. All thresholds that steer the choice stand at
// the head of method_choice.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conclave/chain/components.hpp"
#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/equations.hpp"
#include "conclave/chain/method.hpp"

namespace conclave::chain::detail {

struct Solution {
  DoubleDoubleVector x;
  Certificate certificate;
  std::vector<MethodUse> uses;
};

// Bounds the relative error of the solution once its values are rounded to doubles. Where some
// steps cost nothing, this takes a second solution, for the number of steps.
double certified_error(const Equations& equations, std::span<const double> cost,
                       const Solution& solution);

// Solves by the given method or, for Method::automatic, by the first that certifies the tolerance.
// The certificate says what was reached, which may be less. Throws Error if the method given cannot
// be applied to this chain. Time: that of the methods; for `auto` at most some minutes.
Solution solve(const Equations& equations, std::span<const double> cost, double tolerance,
               Method method);

// Solves the equations of one component for any number of right-hand sides: by the given method
// where it can be applied, otherwise by the methods of its ladder, each of which is tried when
// those before it do not apply or have stalled.
class ComponentSolver {
 public:
  // `method` is Method::automatic or one that solves components. O(size of the system), and the
  // time to set up the method.
  ComponentSolver(LocalSystem system, Method method);
  ComponentSolver(const ComponentSolver&) = delete;
  ComponentSolver& operator=(const ComponentSolver&) = delete;

  // An approximate solution, good to about eight digits where a method was successful; refinement
  // by further right-hand sides makes it better. Zero once every method has stalled.
  std::vector<double> solve(std::span<const double> right);

  // The method that solve() used last, or would use first, and why.
  Method method() const;
  std::string_view reason() const;

 private:
  // Writes an approximate solution into x; false if the method stalled.
  using Attempt = std::function<bool(std::span<const double> right, std::span<double> x)>;

  struct Rung {
    Method method;
    std::string_view reason;
    Attempt (*begin)(ComponentSolver&);  // an empty attempt where the method does not apply
  };
  static std::span<const Rung> ladder();

  void begin_next();
  Attempt begin(Method method);
  // In the order given, and in minimum-degree order; both up to a limit of multiplications.
  Attempt eliminate(double limit);
  Attempt eliminate_reordered(double limit);
  Attempt iterate(int most_iterations, int most_attempts);
  Attempt correct_clusters();

  double entries() const { return static_cast<double>(system_.values.size()); }

  LocalSystem system_;
  Method asked_for_;
  std::size_t tried_ = 0;             // rungs of the ladder, the present one included
  Attempt attempt_;                   // attempts refer to this object
  std::vector<std::uint32_t> order_;  // of minimum degree, once it was needed
};

// Solves the equations one strongly connected component after the other, each after those it leads
// to, and finds the states from which the target can be missed.
class ComponentwiseSolver {
 public:
  // Keeps a reference to the equations, whose components are given.
  ComponentwiseSolver(const Equations& equations, Components components);

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

// Solves for x until `tolerance` is certified; costs outside the target must be positive. Nothing
// if that takes more than a few dozen sweeps: the chain has structure that sweeps are blind to, or
// the target can be missed. A sweep takes O(transitions); chains that mix well need some 30, others
// are given up after about 20.
std::optional<Certificate> sweep(const Equations& equations, std::span<const double> cost,
                                 double tolerance, DoubleDoubleVector& x);

// Solves for the states with finite x and overwrites these, rounded to two doubles each; `estimate`
// says how large they are about. The certificate is that of the values before rounding. Nothing if
// the elimination takes more than `most_work` multiplications, of which some 10^7 are done a
// second, if the chain has more than 2*10^6 states, or if an expectation is too large for a double.
std::optional<Certificate> solve_in_multiprecision(const Equations& equations,
                                                   std::span<const double> cost,
                                                   const DoubleDoubleVector& estimate,
                                                   double most_work, DoubleDoubleVector& x);

}  // namespace conclave::chain::detail
