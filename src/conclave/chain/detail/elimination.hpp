// Elimination of states one by one, as Grassmann, Taksar and Heyman do it: the probability to leave
// a state is always the sum of those to go elsewhere, never 1 minus something. Nothing is
// subtracted, so every number keeps its relative accuracy, however slow the chain is.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/chain/detail/local_system.hpp"

namespace conclave::chain {

// The places that elimination in the given order fills, as if transitions went both ways; nothing
// if it takes more than `most_work` multiplications or some gigabytes.
std::optional<Pattern> filled_pattern(const Pattern& pattern, double most_work);

// Real: double, or mpf_class where doubles are too coarse.
template <class Real>
class BasicFactors {
 public:
  // Complete: `pattern` is filled_pattern(). Incomplete: what falls outside of the pattern is taken
  // to leave the component, an approximation for iterative methods.
  enum class Extent : std::uint8_t { complete, incomplete };

  // `exits` are those of the system, in case doubles do not hold them.
  BasicFactors(const LocalSystem& system, std::vector<Real> exits, Pattern pattern, Extent extent);

  // Overwrites the right-hand side by the solution.
  void solve(std::span<Real> right) const;

 private:
  // A row under elimination: its values by column and, for incomplete factors, which row the
  // values belong to.
  struct Work {
    std::vector<Real> values;
    std::vector<std::uint32_t> owners;
  };

  void load_row(std::uint32_t i, const LocalSystem& system, Work& work) const;
  void eliminate_row(std::uint32_t i, Extent extent, Work& work);
  void add_row(const Real& multiplier, std::size_t k, Work& work) const;
  Real add_row_within(const Real& multiplier, std::size_t k, std::uint32_t i, Work& work) const;

  Pattern pattern_;
  std::vector<std::uint64_t> middles_;  // per row, where the columns behind the diagonal begin
  std::vector<Real> values_;            // multipliers before the diagonal, probabilities behind it
  std::vector<Real> exits_;
  std::vector<Real> waiting_;  // one over the probability to leave
};

class Factors : public BasicFactors<double> {
 public:
  Factors(const LocalSystem& system, Pattern pattern, Extent extent)
      : BasicFactors(system, system.exits, std::move(pattern), extent) {}
};

}  // namespace conclave::chain
