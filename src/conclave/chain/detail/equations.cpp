#include "conclave/chain/detail/equations.hpp"

#include <algorithm>
#include <limits>

#include "conclave/base/check.hpp"

namespace conclave::chain::detail {
Equations::Equations(const MarkovChain& chain, const StateSet& target)
    : chain_(chain), target_(target), waiting_(chain.size(), 0.0) {
  CONCLAVE_CHECK(target.size() == chain.size());
  std::uint64_t upwards = 0;
  for (StateIndex state = 0; state < chain.size(); ++state) {
    if (target.contains(state)) continue;
    const auto successors = chain.successors(state);
    const auto probabilities = chain.probabilities(state);
    double leaving = 0;
    for (std::size_t k = 0; k < successors.size(); ++k) {
      leaving += successors[k] == state ? 0 : probabilities[k];
      upwards += successors[k] > state ? 1 : 0;
    }
    waiting_[state] = 1 / leaving;
  }
  leads_upwards_ = upwards > chain.transitions() / 2;
}

// For each successor, the difference errs by 3 roundings of the larger of its parts, each product
// and each sum by one more; the sizes themselves by as many, which the factor 2 covers.
Equations::Residual Equations::residual(StateIndex state, long double cost,
                                        const DoubleDoubleVector& x) const {
  const auto successors = chain_.successors(state);
  const auto probabilities = chain_.probabilities(state);
  long double sum = cost;
  long double size = std::abs(cost);
  for (std::size_t k = 0; k < successors.size(); ++k) {
    const DoubleDoubleVector::Difference difference = x.difference(state, successors[k]);
    const long double probability = probabilities[k];
    sum -= probability * difference.value;
    size += probability * difference.size;
  }
  const auto roundings = static_cast<long double>(2 * successors.size() + 10);
  return {sum, roundings * fine_rounding * size + std::numeric_limits<double>::min()};
}

double Equations::Residual::bound() const {
  return static_cast<double>(std::abs(value) + error) * (1 + 4 * rounding);
}

void Certificate::take(double residual_bound, double cost) {
  const double relative = residual_bound / cost;
  residual = std::max(residual, std::isnan(residual_bound) ? infinity : residual_bound);
  relative_error = std::max(relative_error, std::isnan(relative) ? infinity : relative);
}

Certificate certify(const Equations& equations, std::span<const double> cost,
                    const DoubleDoubleVector& x) {
  Certificate certificate;
  for (StateIndex state = 0; state < x.size(); ++state) {
    if (equations.target().contains(state) || std::isinf(x[state])) continue;
    certificate.take(equations.residual(state, cost[state], x).bound(), cost[state]);
  }
  return certificate;
}

}  // namespace conclave::chain::detail
