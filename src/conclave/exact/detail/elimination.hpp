// Elimination of states one by one, as Grassmann, Taksar and Heyman do it: the probability to leave
// a state is always the sum of those to go elsewhere, never 1 minus something. Nothing is
// subtracted, so every number keeps its relative accuracy, however slow the chain is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "conclave/exact/detail/local_system.hpp"

namespace conclave::exact {

// The places that elimination in the given order fills, as if transitions went both ways; nothing
// if it takes more than `most_work` multiplications or some gigabytes.
std::optional<Pattern> filled_pattern(const Pattern& pattern, double most_work);

class Factors {
 public:
  // Complete: `pattern` is filled_pattern(). Incomplete: what falls outside of the pattern is taken
  // to leave the component, an approximation for iterative methods.
  enum class Extent : std::uint8_t { complete, incomplete };

  Factors(const LocalSystem& system, Pattern pattern, Extent extent);

  // Overwrites the right-hand side by the solution.
  void solve(std::span<double> right) const;

 private:
  // A row under elimination: its values by column and, for incomplete factors, which row the
  // values belong to.
  struct Work {
    std::vector<double> values;
    std::vector<std::uint32_t> owners;
  };

  void load_row(std::uint32_t i, const LocalSystem& system, Work& work) const;
  void eliminate_row(std::uint32_t i, Extent extent, Work& work);
  void add_row(double multiplier, std::size_t k, Work& work) const;
  double add_row_within(double multiplier, std::size_t k, std::uint32_t i, Work& work) const;

  Pattern pattern_;
  std::vector<std::uint64_t> middles_;  // per row, where the columns behind the diagonal begin
  std::vector<double> values_;          // multipliers before the diagonal, probabilities behind it
  std::vector<double> exits_;
  std::vector<double> waiting_;  // one over the probability to leave
};

}  // namespace conclave::exact
