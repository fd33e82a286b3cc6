// The linear equations of hitting times, and the proof that a solution is right. With q_ij the
// probability to step from i to another state j, the expected cost x until the target satisfies,
// for every i outside the target,
//     sum over j of q_ij (x_i - x_j) = cost_i,   x = 0 in the target.
// Self-loops do not occur: they take what the other transitions leave. So rows that miss 1 by a
// rounding do no harm, and slow chains lose no digits in 1 - q_ii.
//
// Solutions are vectors of double-doubles: a double per state and, where those are too coarse, a
// second one that continues it. Without it a mean of 10^9 steps could not be certified to nine
// digits: a double near 10^9 is known to 10^-7 only, and the equations compare it with the cost of
// one step.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain::detail {

// Half the distance from 1 to the next number.
inline constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
inline constexpr long double fine_rounding = std::numeric_limits<long double>::epsilon() / 2;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// Numbers of about 100 bits, as sums of two doubles; only the high ones until extend() is called.
class DoubleDoubleVector {
 public:
  explicit DoubleDoubleVector(std::vector<double> values) : high_(std::move(values)) {}

  // The number of states; whether there are second doubles; and extend(), which adds them.
  std::size_t size() const { return high_.size(); }
  bool has_low_parts() const { return !low_.empty(); }
  void extend() { low_.resize(high_.size(), 0.0); }

  // The values rounded to doubles.
  double operator[](std::size_t state) const { return high_[state]; }
  std::span<const double> rounded() const { return high_; }

  // Each rounded once.
  std::vector<double> release() && {
    for (std::size_t state = 0; state < low_.size(); ++state) {
      if (!std::isinf(high_[state])) high_[state] = static_cast<double>(value(state));
    }
    return std::move(high_);
  }

  // Rounded to one double, or to two after extend().
  void set(std::size_t state, long double value) {
    high_[state] = static_cast<double>(value);
    if (has_low_parts()) {
      low_[state] = static_cast<double>(value - static_cast<long double>(high_[state]));
    }
  }

  // Knuth's exact sum for the high parts; about 100 bits of a continued result are right.
  void add(std::size_t state, double step) {
    const double sum = high_[state] + step;
    if (has_low_parts()) {
      const double part = sum - high_[state];
      const double rest = low_[state] + ((high_[state] - (sum - part)) + (step - part));
      high_[state] = sum + rest;
      low_[state] = rest - (high_[state] - sum);
    } else {
      high_[state] = sum;
    }
  }

  // The value, rounded once.
  long double value(std::size_t state) const {
    return static_cast<long double>(high_[state]) + low(state);
  }

  struct Difference {
    long double value;
    long double size;  // at least that of every number that occurred on the way
  };

  // Rounded thrice.
  Difference difference(std::size_t a, std::size_t b) const {
    const long double high =
        static_cast<long double>(high_[a]) - static_cast<long double>(high_[b]);
    if (!has_low_parts()) return {high, std::abs(high)};
    return {high + (low(a) - low(b)), std::abs(high) + std::abs(low(a)) + std::abs(low(b))};
  }

 private:
  long double low(std::size_t state) const {
    return has_low_parts() ? static_cast<long double>(low_[state]) : 0.0L;
  }

  std::vector<double> high_;
  std::vector<double> low_;  // empty until the values are continued
};

// Keeps references to the chain and the target, which must have the same size.
class Equations {
 public:
  Equations(const MarkovChain& chain, const StateSet& target);

  // The chain, the states where the walk ends, and the number of states.
  const MarkovChain& chain() const { return chain_; }
  const StateSet& target() const { return target_; }
  std::size_t size() const { return chain_.size(); }

  // One over the probability to leave the state; 0 in the target, infinite where there is no way.
  double waiting(StateIndex state) const { return waiting_[state]; }
  bool leads_upwards() const { return leads_upwards_; }  // most transitions go to larger numbers

  // sum over j of q_ij (x_i - x_j), in doubles.
  double flow(StateIndex state, std::span<const double> x) const {
    const auto successors = chain_.successors(state);
    const auto probabilities = chain_.probabilities(state);
    const double own = x[state];
    double sum = 0;
    for (std::size_t k = 0; k < successors.size(); ++k) {
      sum += probabilities[k] * (own - x[successors[k]]);
    }
    return sum;
  }

  struct Residual {
    long double value;
    long double error;  // what rounding may have done to it, at most

    // At least the absolute value of the exact residual.
    double bound() const;
  };

  // cost - flow in long double arithmetic.
  Residual residual(StateIndex state, long double cost, const DoubleDoubleVector& x) const;

 private:
  const MarkovChain& chain_;
  const StateSet& target_;
  std::vector<double> waiting_;
  bool leads_upwards_ = false;
};

// A proof about x from one product with the matrix. If every |residual| is at most e times its cost
// and e < 1, then the flow of x is positive everywhere, so that the equations' matrix is a
// nonsingular M-matrix: the target is reached from everywhere, and the inverse is nonnegative,
// which turns |residual| <= e cost into |x - exact| <= e exact.
struct Certificate {
  double residual = 0;        // the largest
  double relative_error = 0;  // the largest relative to its cost

  // Includes one equation. A NaN counts as infinite: it proves nothing.
  void take(double residual_bound, double cost);
};

// The certificate of x over the states outside the target with finite x. O(transitions).
Certificate certify(const Equations& equations, std::span<const double> cost,
                    const DoubleDoubleVector& x);

}  // namespace conclave::chain::detail
