// For chains that are so slow that doubles lose the equations: elimination in numbers of as many
// bits as it takes. A walk against the drift needs 2^n steps, and two doubles per state no longer
// tell whether it moved.
#include <gmpxx.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/method_choice.hpp"

namespace conclave::chain::detail {
namespace {

constexpr std::size_t most_states = 2'000'000;  // of some hundred bytes, and those of their factors
constexpr double spare_bits = 100;
constexpr mp_bitcnt_t most_bits = 1400;  // enough for what a double can hold

// The equations of all unknown states as one system, whose ways out lead to the target.
struct WholeSystem {
  std::vector<StateIndex> states;
  std::vector<std::uint32_t> places;
  LocalSystem system;
};

WholeSystem in_good_order(const Equations& equations, const DoubleDoubleVector& x) {
  std::vector<StateIndex> states;
  for (StateIndex state = 0; state < x.size(); ++state) {
    if (!equations.target().contains(state) && !std::isinf(x[state])) states.push_back(state);
  }
  const MarkovChain& chain = equations.chain();
  WholeSystem whole;
  const auto places = places_of(states, chain.size());
  for (const std::uint32_t i : elimination_order(local_system(chain, states, places))) {
    whole.states.push_back(states[i]);
  }
  whole.places = places_of(whole.states, chain.size());
  whole.system = local_system(chain, whole.states, whole.places);
  return whole;
}

class Elimination {
 public:
  Elimination(const Equations& equations, const WholeSystem& whole, mp_bitcnt_t bits)
      : equations_(equations), whole_(whole), zero_(0, bits) {}

  void solve(std::span<const double> cost, Pattern filled) {
    const BasicFactors<mpf_class> factors(whole_.system, exits(), std::move(filled),
                                          BasicFactors<mpf_class>::Extent::complete);
    x_.assign(whole_.states.size(), zero_);
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = cost[whole_.states[i]];
    factors.solve(x_);
  }

  // As certify() does it. An operation of GMP loses less than one unit in the last of its bits.
  Certificate certificate(std::span<const double> cost) const {
    Certificate result;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      result.take(residual_bound(i, cost[whole_.states[i]]), cost[whole_.states[i]]);
    }
    return result;
  }

  bool fit_doubles() const {
    return std::ranges::none_of(x_, [](const mpf_class& x) { return std::isinf(x.get_d()); });
  }

  void write(DoubleDoubleVector& x) const {
    x.extend();
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const double high = x_[i].get_d();
      const mpf_class low = x_[i] - high;
      x.set(whole_.states[i], static_cast<long double>(high) + low.get_d());
    }
  }

 private:
  double residual_bound(std::size_t i, double cost) const {
    const auto successors = equations_.chain().successors(whole_.states[i]);
    const auto probabilities = equations_.chain().probabilities(whole_.states[i]);
    mpf_class sum(zero_);
    sum = cost;
    mpf_class size(sum);
    for (std::size_t k = 0; k < successors.size(); ++k) {
      const std::uint32_t place = whole_.places[successors[k]];
      const mpf_class& other = place == nowhere ? zero_ : x_[place];
      sum -= (x_[i] - other) * probabilities[k];
      size += (x_[i] + other) * probabilities[k];
    }
    mpf_div_2exp(size.get_mpf_t(), size.get_mpf_t(), zero_.get_prec() - 2);
    const mpf_class bound = abs(sum) + size * (2 * successors.size() + 10);
    return bound.get_d() * (1 + 8 * rounding) + std::numeric_limits<double>::min();
  }

  // Into the target, without rounding to doubles.
  std::vector<mpf_class> exits() const {
    std::vector<mpf_class> result(whole_.states.size(), zero_);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto successors = equations_.chain().successors(whole_.states[i]);
      const auto probabilities = equations_.chain().probabilities(whole_.states[i]);
      for (std::size_t k = 0; k < successors.size(); ++k) {
        if (whole_.places[successors[k]] == nowhere) result[i] += probabilities[k];
      }
    }
    return result;
  }

  const Equations& equations_;
  const WholeSystem& whole_;
  mpf_class zero_;
  std::vector<mpf_class> x_;
};

// Eliminating without subtractions loses as many bits as the expectations and the square of their
// number have; the equations of x need those of x again.
mp_bitcnt_t enough_bits(const WholeSystem& whole, const DoubleDoubleVector& estimate) {
  double largest = 1;
  for (const StateIndex state : whole.states) {
    if (!std::isfinite(estimate[state])) return most_bits;
    largest = std::max(largest, std::abs(estimate[state]));
  }
  return static_cast<mp_bitcnt_t>(spare_bits + std::log2(largest) +
                                  2 * std::log2(static_cast<double>(estimate.size())));
}

}  // namespace

std::optional<Certificate> solve_in_multiprecision(const Equations& equations,
                                                   std::span<const double> cost,
                                                   const DoubleDoubleVector& estimate,
                                                   double most_work, DoubleDoubleVector& x) {
  if (equations.size() > most_states) return std::nullopt;
  const WholeSystem whole = in_good_order(equations, x);
  auto filled = filled_pattern(whole.system.pattern, most_work);
  if (!filled) return std::nullopt;
  Elimination method(equations, whole, enough_bits(whole, estimate));
  method.solve(cost, *std::move(filled));
  if (!method.fit_doubles()) return std::nullopt;
  method.write(x);
  return method.certificate(cost);
}

}  // namespace conclave::chain::detail
