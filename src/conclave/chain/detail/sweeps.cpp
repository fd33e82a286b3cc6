// Gauss-Seidel sweeps over the whole chain, with a common factor corrected in between: the fast way
// for chains that mix well, however far the target is. They need no analysis of the chain.
#include <algorithm>
#include <cmath>
#include <limits>

#include "conclave/chain/detail/method_choice.hpp"

namespace conclave::chain::detail {
namespace {

constexpr int sweeps_between_checks = 7;
constexpr int most_checks = 16;
constexpr int steps_of_weights = 4;
constexpr double slowest_gain = 0.2;  // of the changes, from check to check

class Sweeps {
 public:
  Sweeps(const Equations& equations, std::span<const double> cost)
      : equations_(equations), cost_(cost), weights_(equations.size(), 1.0) {
    double first_guess = 0;
    for (int k = 0; k < steps_of_weights; ++k) first_guess = step_weights();
    x_.assign(equations.size(), first_guess);
    for (StateIndex state = 0; state < equations.size(); ++state) {
      if (equations.target().contains(state)) x_[state] = 0;
    }
  }

  // In double precision, until the residuals are small or the values settle. False if that is slow.
  bool settle(double tolerance) {
    double before = std::numeric_limits<double>::infinity();
    for (int check = 0; check < most_checks; ++check) {
      for (int k = 1; k < sweeps_between_checks; ++k) sweep();
      const double change = sweep();
      if (!(change <= slowest_gain * before) && check > 1) return false;
      before = change;
      if (change <= 16 * rounding || rescale() <= tolerance) return true;
    }
    return false;
  }

  std::vector<double> values() && { return std::move(x_); }

 private:
  // The largest relative change. Successors are updated before their predecessors, where possible.
  double sweep() {
    const auto n = static_cast<StateIndex>(equations_.size());
    double change = 0;
    for (StateIndex k = 0; k < n; ++k) {
      const StateIndex state = equations_.leads_upwards() ? n - 1 - k : k;
      const double step = (cost_[state] - equations_.flow(state, x_)) * equations_.waiting(state);
      x_[state] += step;
      change = std::max(change,
                        std::abs(step) - change * x_[state] > 0 ? std::abs(step / x_[state]) : 0);
    }
    return change;
  }

  // Lets the weights walk one step. They approach how often a long walk that has not yet reached
  // the target is in each state, so that cost per step over arrivals per step is a guess of the
  // mean.
  double step_weights() {
    std::vector<double> next(weights_.size(), 0.0);
    double cost = 0;
    double arrivals = 0;
    for (StateIndex state = 0; state < weights_.size(); ++state) {
      if (equations_.target().contains(state)) continue;
      cost += cost_[state] * weights_[state];
      const auto successors = equations_.chain().successors(state);
      const auto probabilities = equations_.chain().probabilities(state);
      for (std::size_t k = 0; k < successors.size(); ++k) {
        next[successors[k]] += successors[k] == state ? 0 : weights_[state] * probabilities[k];
      }
    }
    for (StateIndex state = 0; state < weights_.size(); ++state) {
      if (equations_.target().contains(state)) arrivals += next[state];
      weights_[state] = next[state] * equations_.waiting(state);
    }
    return cost / arrivals;
  }

  // Finds the factor at which costs balance on average, which sweeps alone would approach slowly.
  // Returns the largest residual relative to its cost before the values are multiplied by it.
  double rescale() {
    double wanted = 0;
    double found = 0;
    double largest = 0;
    for (StateIndex state = 0; state < equations_.size(); ++state) {
      const double flow = equations_.flow(state, x_);
      wanted += cost_[state] * weights_[state];
      found += flow * weights_[state];
      if (equations_.waiting(state) == 0) continue;
      largest = std::max(largest, std::abs(cost_[state] - flow) / cost_[state]);
    }
    const double factor = wanted / found;
    if (factor > 0 && !std::isinf(factor)) {
      for (double& value : x_) value *= factor;
    }
    return largest;
  }

  const Equations& equations_;
  std::span<const double> cost_;
  std::vector<double> weights_;
  std::vector<double> x_;
};

// One sweep in double-double arithmetic.
void fine_sweep(const Equations& equations, std::span<const double> cost, DoubleDoubleVector& x) {
  const auto n = static_cast<StateIndex>(equations.size());
  for (StateIndex k = 0; k < n; ++k) {
    const StateIndex state = equations.leads_upwards() ? n - 1 - k : k;
    if (equations.target().contains(state)) continue;
    const auto residual = static_cast<double>(equations.residual(state, cost[state], x).value);
    x.add(state, residual * equations.waiting(state));
  }
}

}  // namespace

std::optional<Certificate> sweep(const Equations& equations, std::span<const double> cost,
                                 double tolerance, DoubleDoubleVector& x) {
  Sweeps sweeps(equations, cost);
  if (!sweeps.settle(tolerance / 4)) return std::nullopt;
  std::vector<double> values = std::move(sweeps).values();
  // Not so where a state is its own only successor and the target is never reached.
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!std::ranges::all_of(values, is_finite)) return std::nullopt;
  x = DoubleDoubleVector(std::move(values));
  double before = std::numeric_limits<double>::infinity();
  while (true) {
    const Certificate certificate = certify(equations, cost, x);
    if (certificate.relative_error <= tolerance) return certificate;
    if (!(certificate.relative_error < before)) return std::nullopt;
    before = certificate.relative_error;
    x.extend();
    for (int k = 0; k < sweeps_between_checks; ++k) fine_sweep(equations, cost, x);
  }
}

}  // namespace conclave::chain::detail
