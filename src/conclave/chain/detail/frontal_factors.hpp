// The elimination of elimination.hpp carried out front by front: without a subtraction as well, and
// fast where much is filled in, because almost all work is products of dense matrices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "conclave/chain/detail/fronts.hpp"
#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

class FrontalFactors {
 public:
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

}  // namespace conclave::chain
