// The linear equations of hitting times. With q_ij the probability to step from i to another state
// j, the expected cost x until the target satisfies, for every i outside the target,
//     sum over j of q_ij (x_i - x_j) = cost_i,   x = 0 in the target.
// Self-loops do not occur: they take what the other transitions leave. So rows that miss 1 by a
// rounding do no harm, and slow chains lose no digits in 1 - q_ii.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/chain/detail/unknowns.hpp"
#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain {

class Equations {
 public:
  Equations(const MarkovChain& chain, const StateSet& target);

  const MarkovChain& chain() const { return chain_; }
  const StateSet& target() const { return target_; }
  std::size_t size() const { return chain_.size(); }

  // One over the probability to leave the state; 0 in the target, infinite where there is no way.
  double waiting(StateIndex state) const { return waiting_[state]; }
  bool leads_upwards() const { return leads_upwards_; }  // most transitions go to larger numbers

  // sum over j of q_ij (x_i - x_j).
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

    // Of its absolute value.
    double bound() const;
  };

  // cost - flow in long double arithmetic.
  Residual residual(StateIndex state, long double cost, const Unknowns& x) const;

 private:
  const MarkovChain& chain_;
  const StateSet& target_;
  std::vector<double> waiting_;
  bool leads_upwards_ = false;
};

// What one residual product proves about x. If every |residual| is at most e times its cost and
// e < 1, then the flow of x is positive everywhere, so that the equations' matrix is a nonsingular
// M-matrix: the target is reached from everywhere, and the inverse is nonnegative, which turns
// |residual| <= e cost into |x - exact| <= e exact.
struct Certificate {
  double residual = 0;        // the largest
  double relative_error = 0;  // the largest relative to its cost

  // Counts one equation in. What is not a number counts as infinite: it proves nothing.
  void take(double residual_bound, double cost);
};

// Over the states outside the target with finite x. O(transitions).
Certificate certify(const Equations& equations, std::span<const double> cost, const Unknowns& x);

}  // namespace conclave::chain
