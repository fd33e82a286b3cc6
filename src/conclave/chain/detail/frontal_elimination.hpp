// The elimination of elimination.hpp carried out front by front (multifrontal elimination, Duff and
// Reid 1983): consecutive states whose remaining neighbours are the same are eliminated together.
// Their equations are a dense matrix, so that almost all work is products of dense matrices.
// Nothing is subtracted here either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

// Which states are eliminated together, and what that will take.
struct Fronts {
  static constexpr std::uint32_t none = UINT32_MAX;

  // The order of elimination: state order[i] is in place i. Everything below speaks of places.
  std::vector<std::uint32_t> order;

  std::vector<std::uint32_t> firsts{0};  // per front, its first place; one more at the end
  std::vector<std::uint32_t> parents;    // per front, the one that takes over what is left of it
  // Per front, the places behind it that it is coupled to, ascending.
  std::vector<std::uint64_t> starts{0};
  std::vector<std::uint32_t> neighbours;

  double work = 0;     // multiplications of the elimination
  double entries = 0;  // numbers to be kept

  std::size_t count() const { return parents.size(); }
  std::size_t pivots(std::size_t front) const { return firsts[front + 1] - firsts[front]; }
  std::span<const std::uint32_t> outside(std::size_t front) const {
    return {neighbours.data() + starts[front], neighbours.data() + starts[front + 1]};
  }
};

// For elimination in an order near to the given one, as if transitions went both ways.
Fronts planned_fronts(const Pattern& pattern, std::span<const std::uint32_t> order);

class FrontalFactors {
 public:
  // O(fronts.work) time, 8 * fronts.entries bytes.
  FrontalFactors(const LocalSystem& system, Fronts fronts);

  std::vector<double> solve(std::span<const double> right) const;

 private:
  class Elimination;

  struct Blocks {
    std::span<const double> own;      // per pivot, its row: multipliers, then probabilities
    std::span<const double> outside;  // per neighbour, its multipliers
  };
  Blocks blocks(std::size_t front) const;

  void forward(std::size_t front, std::span<double> x) const;
  void backward(std::size_t front, std::span<double> x, std::vector<double>& known) const;

  Fronts fronts_;
  std::vector<std::uint64_t> places_;  // per front, where its blocks begin
  std::vector<double> values_;
  std::vector<double> waiting_;  // per place, one over the probability to leave
};

}  // namespace conclave::chain::detail
