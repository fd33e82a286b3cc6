// `auto` reads from top to bottom: first the thresholds, then the ladder of methods for one
// component, then solve() for the whole chain.
#include "conclave/chain/detail/method_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/krylov.hpp"

namespace conclave::chain::detail {
namespace {

// From this many states on, sweeps are tried before components of several states are solved; below,
// finding the components costs nothing.
constexpr std::size_t large_chain = 50'000;

// Work is counted in multiplications, of which a core does 10^9 a second. Elimination in the given
// order may take this many per transition; lines, trees and narrow bands take fewer, and need no
// other order.
constexpr double little_work = 30;
// The same in minimum-degree order, in small components and, once BiCGSTAB has stalled, in others.
constexpr double modest_work = 1000;
constexpr double fair_work = 7'000;
// Two minutes: the last resort, and for users who ask for elimination.
constexpr double most_elimination_work = 1e11;
// Elimination with numbers of many bits does some 10^7 a second: ten seconds at most.
constexpr double most_multiprecision_work = 1e8;

// Up to this many states an order of elimination is found faster than BiCGSTAB fails.
constexpr std::size_t small_component = 5000;
// Up to this many it is found in seconds, whatever the component looks like; beyond, only where a
// search from any state takes many steps to see all: on grids, and not on random graphs.
constexpr std::size_t orderable_component = 100'000;
constexpr std::size_t levels_of_grids = 64;

// BiCGSTAB gains eight digits or stalls. The last resort takes 3*10^10 multiplications, a minute.
constexpr double gain = 1e-8;
constexpr int few_iterations = 30;
constexpr double work_of_long_attempt = 3e10;
constexpr int long_attempts = 3;

constexpr std::string_view requested_reason = "it was requested";

// std::function must be able to copy what it holds, and factors are large.
template <class Factorization>
std::shared_ptr<const Factorization> shared(Factorization factors) {
  return std::make_shared<const Factorization>(std::move(factors));
}

// Sweeps compare residuals with costs, so every step must cost something.
std::optional<Solution> solve_by_sweeps(const Equations& equations, std::span<const double> cost,
                                        double tolerance) {
  if (std::ranges::min(cost) <= 0) return std::nullopt;
  DoubleDoubleVector x(std::vector<double>(equations.size(), 0.0));
  const auto certificate = sweep(equations, cost, tolerance, x);
  if (!certificate) return std::nullopt;
  const MethodUse use{Method::sweeps, equations.size(),
                      "the chain is large, and its values settle quickly"};
  return Solution{std::move(x), *certificate, {use}};
}

std::optional<Solution> solve_by_more_bits(const Equations& equations, std::span<const double> cost,
                                           DoubleDoubleVector start,
                                           const DoubleDoubleVector& estimate) {
  const auto certificate =
      solve_in_multiprecision(equations, cost, estimate, most_multiprecision_work, start);
  if (!certificate) return std::nullopt;
  const MethodUse use{Method::multiprecision, equations.size(),
                      "the expectations are too large for equations in doubles"};
  return Solution{std::move(start), *certificate, {use}};
}

// Whether nothing can be paid from this state, given that this is so for all others without value.
bool costs_nothing(const Equations& equations, std::span<const double> cost,
                   const DoubleDoubleVector& x, StateIndex state) {
  return cost[state] == 0 && std::ranges::all_of(equations.chain().successors(state),
                                                 [&](StateIndex to) { return x[to] == 0; });
}

int most_iterations(const LocalSystem& system) {
  const double work = 10 * static_cast<double>(system.values.size() + system.size());
  return static_cast<int>(std::min(3000.0, work_of_long_attempt / work));
}

}  // namespace

// The methods that `auto` tries for a component, in this order.
std::span<const ComponentSolver::Rung> ComponentSolver::ladder() {
  using Self = ComponentSolver;
  static constexpr std::array rungs{
      Rung{Method::elimination, "elimination in the order given fills in little",
           [](Self& self) { return self.eliminate(little_work * self.entries()); }},
      Rung{Method::elimination, "the component is small, and elimination takes little work",
           [](Self& self) {
             const bool is_small = self.system_.size() <= small_component;
             return is_small ? self.eliminate_reordered(modest_work * self.entries()) : Attempt();
           }},
      Rung{Method::bicgstab, "elimination would fill in much, and BiCGSTAB converges quickly",
           [](Self& self) { return self.iterate(few_iterations, 1); }},
      Rung{Method::clusters, "BiCGSTAB stalls, and there are clusters that the walk rarely leaves",
           [](Self& self) { return self.correct_clusters(); }},
      Rung{Method::elimination, "BiCGSTAB stalls, and elimination takes moderate work",
           [](Self& self) {
             const bool is_soon_ordered =
                 self.system_.size() <= orderable_component ||
                 breadth_first(self.system_.pattern).levels >= levels_of_grids;
             return is_soon_ordered ? self.eliminate_reordered(fair_work * self.entries())
                                    : Attempt();
           }},
      Rung{Method::bicgstab, "elimination takes much work, and other iterations stall",
           [](Self& self) { return self.iterate(most_iterations(self.system_), 1); }},
      Rung{Method::elimination, "every iteration stalls",
           [](Self& self) {
             const bool has_order = !self.order_.empty();
             return has_order ? self.eliminate_reordered(most_elimination_work) : Attempt();
           }},
      Rung{Method::bicgstab, "every other method stalls or is too much work",
           [](Self& self) { return self.begin(Method::bicgstab); }},
  };
  return rungs;
}

// The methods without the conditions of the ladder, for those that the user names.
ComponentSolver::Attempt ComponentSolver::begin(Method method) {
  switch (method) {
    case Method::elimination: {
      Attempt attempt = eliminate(little_work * entries());
      return attempt ? attempt : eliminate_reordered(most_elimination_work);
    }
    case Method::bicgstab:
      return iterate(most_iterations(system_), long_attempts);
    case Method::clusters:
      return correct_clusters();
    default:
      return {};
  }
}

// The whole chain: sweeps where they may pay, then component by component, then with more bits.
Solution solve(const Equations& equations, std::span<const double> cost, double tolerance,
               Method method) {
  const bool is_automatic = method == Method::automatic;
  const bool is_large = is_automatic && equations.size() >= large_chain;
  std::optional<Components> parts;
  if (is_large) parts = nearly_single_components(equations.chain(), equations.target());
  if (method == Method::sweeps || (is_large && !parts)) {
    if (auto found = solve_by_sweeps(equations, cost, tolerance)) return *std::move(found);
    if (!is_automatic) throw Error("the values do not settle by sweeps; auto takes other methods");
  }
  const bool is_last = method == Method::multiprecision;
  if (!parts) parts = conclave::chain::components(equations.chain(), equations.target());
  const ComponentwiseSolver components(equations, *std::move(parts));
  Solution solution = components.solve(cost, tolerance / 4, is_last ? Method::automatic : method);
  if (!is_automatic && !is_last) return solution;
  if (is_automatic && certified_error(equations, cost, solution) <= tolerance) return solution;
  if (auto found = solve_by_more_bits(equations, cost, components.start(), solution.x)) {
    return *std::move(found);
  }
  if (is_last) {
    throw Error("the chain is too large for multiprecision, or an expectation for a double");
  }
  return solution;
}

ComponentSolver::ComponentSolver(LocalSystem system, Method method)
    : system_(std::move(system)), asked_for_(method) {
  attempt_ = begin(method);
  if (attempt_) return;
  asked_for_ = Method::automatic;
  begin_next();
}

// Leaves no attempt where nothing is left to be tried.
void ComponentSolver::begin_next() {
  attempt_ = {};
  if (asked_for_ != Method::automatic) return;
  while (!attempt_ && tried_ < ladder().size()) attempt_ = ladder()[tried_++].begin(*this);
}

Method ComponentSolver::method() const {
  return asked_for_ != Method::automatic ? asked_for_ : ladder()[tried_ - 1].method;
}

std::string_view ComponentSolver::reason() const {
  return asked_for_ != Method::automatic ? requested_reason : ladder()[tried_ - 1].reason;
}

std::vector<double> ComponentSolver::solve(std::span<const double> right) {
  std::vector<double> x(right.size(), 0.0);
  while (attempt_ && !attempt_(right, x)) begin_next();
  return x;
}

ComponentSolver::Attempt ComponentSolver::eliminate(double limit) {
  auto pattern = filled_pattern(system_.pattern, limit);
  if (!pattern) return {};
  return [factors = shared(Factors(system_, *std::move(pattern), Factors::Extent::complete))](
             std::span<const double> right, std::span<double> x) {
    std::ranges::copy(right, x.begin());
    factors->solve(x);
    return true;
  };
}

ComponentSolver::Attempt ComponentSolver::eliminate_reordered(double limit) {
  if (order_.empty()) order_ = elimination_order(system_);
  const LocalSystem ordered = reordered(system_, order_);
  auto pattern = filled_pattern(ordered.pattern, limit);
  if (!pattern) return {};
  return [this, factors = shared(Factors(ordered, *std::move(pattern), Factors::Extent::complete))](
             std::span<const double> right, std::span<double> x) {
    std::vector<double> values(right.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = right[order_[i]];
    factors->solve(values);
    for (std::size_t i = 0; i < values.size(); ++i) x[order_[i]] = values[i];
    return true;
  };
}

// The attempts before the last may stall: what they gained is the start of the next one.
ComponentSolver::Attempt ComponentSolver::iterate(int most_iterations, int most_attempts) {
  return [this, most_iterations, left = most_attempts,
          factors = shared(Factors(system_, system_.pattern, Factors::Extent::incomplete))](
             std::span<const double> right, std::span<double> x) mutable {
    const auto precondition = [&](std::span<double> v) { factors->solve(v); };
    const bool is_done = bicgstab(system_, precondition, right, x, {gain, most_iterations});
    return is_done || --left > 0;
  };
}

ComponentSolver::Attempt ComponentSolver::correct_clusters() {
  auto clusters = Clusters::of(system_);
  if (!clusters) return {};
  return [this, clusters = shared(*std::move(clusters))](std::span<const double> right,
                                                         std::span<double> x) {
    return clusters->solve(system_, right, x);
  };
}

// Where some steps cost nothing, residuals cannot be compared with costs. But they are at most R
// times those of the expected number of steps, so the errors are at most R times that number.
double error_by_steps(const Equations& equations, std::span<const double> cost,
                      const Solution& solution) {
  if (std::isinf(solution.certificate.residual)) return infinity;
  const std::vector<double> ones(equations.size(), 1.0);
  const Solution steps = solve(equations, ones, 1e-3, Method::automatic);
  if (!(steps.certificate.relative_error < 0.5)) return infinity;
  double largest = 0;
  for (StateIndex state = 0; state < equations.size(); ++state) {
    const double value = solution.x[state];
    if (equations.target().contains(state) || std::isinf(value)) continue;
    if (value == 0 && costs_nothing(equations, cost, solution.x, state)) continue;
    largest = std::max(largest, steps.x[state] / std::abs(value));
  }
  const double error = 2 * largest * solution.certificate.residual;  // relative to what was found
  return error < 0.5 ? error / (1 - error) : infinity;
}

double certified_error(const Equations& equations, std::span<const double> cost,
                       const Solution& solution) {
  double error = solution.certificate.relative_error;
  if (std::isinf(error) && std::ranges::min(cost) == 0) {
    error = error_by_steps(equations, cost, solution);
  }
  return (error + rounding) * (1 + 1e-6);  // for the product of both and for the last operations
}

}  // namespace conclave::chain::detail
