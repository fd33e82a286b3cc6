#include "conclave/exact/hitting_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "conclave/base/check.hpp"
#include "conclave/exact/components.hpp"

namespace conclave::exact {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;

// (I - Q) x = cost with the self-loops left out: sum over j of q_ij (x_i - x_j) = cost_i.
class System {
 public:
  System(const MarkovChain& chain, const StateSet& target)
      : chain_(chain), components_(components(chain, target)) {}

  // Zero in the target, infinite where it may be missed, otherwise 1.
  std::vector<double> first_guess() const {
    std::vector<double> x(chain_.size(), 0.0);
    for (const StateIndex state : components_.order) x[state] = unknown;
    for (std::size_t c = 0; c < components_.count(); ++c) {
      const bool finite = leads_to_finite(c, x);
      for (const StateIndex state : components_.states(c)) x[state] = finite ? 1 : infinity;
    }
    return x;
  }

  void solve(std::span<const double> cost, std::vector<double>& x) const {
    for (std::size_t c = 0; c < components_.count(); ++c) {
      if (!std::isinf(x[components_.states(c).front()])) relax(components_.states(c), cost, x);
    }
  }

  struct Residual {
    double value;
    double uncertainty;  // what rounding may have done to it
  };

  Residual residual(StateIndex state, std::span<const double> cost,
                    std::span<const double> x) const {
    const auto successors = chain_.successors(state);
    const auto probabilities = chain_.probabilities(state);
    double flow = 0;
    double size = cost[state];
    for (std::size_t k = 0; k < successors.size(); ++k) {
      const double term = probabilities[k] * (x[state] - x[successors[k]]);
      flow += term;
      size += std::abs(term);
    }
    const double terms = static_cast<double>(successors.size()) + 4;
    return {cost[state] - flow, 2 * terms * rounding * size};
  }

 private:
  // A component without exit never reaches the target; nor surely does one that leads to such.
  bool leads_to_finite(std::size_t c, std::span<const double> x) const {
    const auto states = components_.states(c);
    bool has_exit = false;
    for (const StateIndex state : states) {
      for (const StateIndex to : chain_.successors(state)) {
        if (std::isnan(x[to])) continue;  // of the component itself
        if (std::isinf(x[to])) return false;
        has_exit = true;
      }
    }
    return has_exit;
  }

  // Gauss-Seidel sweeps until nothing moves.
  void relax(std::span<const StateIndex> states, std::span<const double> cost,
             std::vector<double>& x) const {
    double change = infinity;
    for (int sweep = 0; change > 4 * rounding && sweep < 1'000'000; ++sweep) {
      change = 0;
      for (const StateIndex state : states) {
        const double before = x[state];
        x[state] = updated(state, cost[state], x);
        change = std::max(change, std::abs(x[state] - before) / std::max(x[state], 1e-300));
      }
    }
  }

  double updated(StateIndex state, double cost, std::span<const double> x) const {
    const auto successors = chain_.successors(state);
    const auto probabilities = chain_.probabilities(state);
    double sum = cost;
    double leaving = 0;
    for (std::size_t k = 0; k < successors.size(); ++k) {
      if (successors[k] == state) continue;
      leaving += probabilities[k];
      sum += probabilities[k] * x[successors[k]];
    }
    return sum / leaving;
  }

  const MarkovChain& chain_;
  Components components_;
};

// The variance of one step's remaining time: the right-hand side of the equation of the variances.
std::vector<double> step_variances(const MarkovChain& chain, std::span<const double> mean) {
  std::vector<double> result(chain.size());
  for (StateIndex state = 0; state < chain.size(); ++state) {
    if (mean[state] == 0 || std::isinf(mean[state])) continue;
    const auto successors = chain.successors(state);
    const auto probabilities = chain.probabilities(state);
    double centre = 0;
    for (std::size_t k = 0; k < successors.size(); ++k) {
      centre += probabilities[k] * mean[successors[k]];
    }
    for (std::size_t k = 0; k < successors.size(); ++k) {
      const double distance = mean[successors[k]] - centre;
      result[state] += probabilities[k] * distance * distance;
    }
  }
  return result;
}

struct Certificate {
  double residual = 0;
  double relative_error = 0;
};

// If every |residual| is at most e * cost with e < 1, then (I - Q) x > 0 for some x > 0, so that
// (I - Q) is invertible with a nonnegative inverse, which turns the bound into |x - exact| <=
// e * exact.
Certificate certify(const System& system, std::span<const double> cost, std::span<const double> x) {
  Certificate certificate;
  for (StateIndex state = 0; state < x.size(); ++state) {
    if (x[state] == 0 || std::isinf(x[state])) continue;
    const auto [value, uncertainty] = system.residual(state, cost, x);
    const double bound = std::abs(value) + uncertainty;
    certificate.residual = std::max(certificate.residual, bound);
    certificate.relative_error = std::max(certificate.relative_error, bound / cost[state]);
  }
  return certificate;
}

}  // namespace

StateIndex HittingTimes::slowest() const {
  StateIndex best = 0;
  for (StateIndex state = 0; state < mean.size(); ++state) {
    if (!std::isinf(mean[state]) && (std::isinf(mean[best]) || mean[state] > mean[best])) {
      best = state;
    }
  }
  return best;
}

HittingTimes hitting_times(const MarkovChain& chain, const StateSet& target,
                           const HittingOptions& options) {
  CONCLAVE_CHECK(target.size() == chain.size());
  const System system(chain, target);
  std::vector<double> cost(options.costs.begin(), options.costs.end());
  if (cost.empty()) cost.assign(chain.size(), 1.0);
  HittingTimes times;
  times.mean = system.first_guess();
  times.infinite = static_cast<std::uint64_t>(
      std::ranges::count_if(times.mean, [](double mean) { return std::isinf(mean); }));
  system.solve(cost, times.mean);
  const Certificate certificate = certify(system, cost, times.mean);
  times.residual = certificate.residual;
  times.relative_error = certificate.relative_error;
  if (!(times.relative_error <= options.tolerance)) {
    throw std::runtime_error("the hitting times cannot be certified");
  }
  if (options.variance) {
    times.variance = system.first_guess();
    system.solve(step_variances(chain, times.mean), times.variance);
  }
  return times;
}

std::vector<double> hitting_distribution(const MarkovChain& chain, const StateSet& target,
                                         StateIndex from, std::size_t last_step) {
  std::vector<double> law(last_step + 1, 0.0);
  std::vector<double> now(chain.size(), 0.0);
  std::vector<double> next(chain.size());
  now[from] = 1;
  for (std::size_t step = 0; step <= last_step; ++step) {
    std::ranges::fill(next, 0.0);
    for (StateIndex state = 0; state < chain.size(); ++state) {
      if (now[state] == 0) continue;
      if (target.contains(state)) {
        law[step] += now[state];
        continue;
      }
      const auto successors = chain.successors(state);
      const auto probabilities = chain.probabilities(state);
      for (std::size_t k = 0; k < successors.size(); ++k) {
        next[successors[k]] += now[state] * probabilities[k];
      }
    }
    now.swap(next);
  }
  return law;
}

}  // namespace conclave::exact
