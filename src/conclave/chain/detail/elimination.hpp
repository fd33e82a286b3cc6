// The equations of one strongly connected component, whose ways out lead to known values,
//     sum over j of q_ij (x_i - x_j) + exit_i x_i = right_i,
// and their elimination state by state, as Grassmann, Taksar and Heyman do it: the probability to
// leave a state is always the sum of those to go elsewhere, never 1 minus something. Nothing is
// subtracted, so every number keeps its relative accuracy, however slow the chain is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "conclave/chain/markov_chain.hpp"

namespace conclave::chain::detail {

// Which columns a row has, ascending and without the row itself.
struct Pattern {
  std::vector<std::uint64_t> starts{0};
  std::vector<std::uint32_t> columns;

  // The number of rows, and the columns of one.
  std::size_t size() const { return starts.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t i) const {
    return {columns.data() + starts[i], columns.data() + starts[i + 1]};
  }
};

// Rows are added one after the other. Copies are deep.
struct LocalSystem {
  Pattern pattern;
  std::vector<double> values;   // one per column of the pattern
  std::vector<double> exits;    // per row, the probability to leave the component
  std::vector<double> leaving;  // per row, the sum of its values and its exit

  // The number of rows, and the values of one, in the order of its columns.
  std::size_t size() const { return exits.size(); }
  std::span<const double> row_values(std::size_t i) const {
    return {values.data() + pattern.starts[i], values.data() + pattern.starts[i + 1]};
  }

  // Appends row number size(). Its columns are ascending; `exit` goes elsewhere.
  void end_row(double exit);

  using Entry = std::pair<std::uint32_t, double>;  // column and value
  // The same with entries in any order, which are sorted in place.
  void add_row(std::vector<Entry>& entries, double exit);

  // right - (the left side at x), into `result`.
  void residual(std::span<const double> x, std::span<const double> right,
                std::span<double> result) const;

  // The left side at x, into `result`.
  void multiply(std::span<const double> x, std::span<double> result) const;
};

inline constexpr std::uint32_t nowhere = UINT32_MAX;

// For each state of a chain of `chain_size` states, its place among the given ones, or `nowhere`.
std::vector<std::uint32_t> places_of(std::span<const StateIndex> states, std::size_t chain_size);

// The equations of the given states; all others have known values. The place of state i of them in
// `places` is first + i, and no other state has such a place. O(transitions of the states).
LocalSystem local_system(const MarkovChain& chain, std::span<const StateIndex> states,
                         std::span<const std::uint32_t> places, std::uint32_t first = 0);

// The same equations with row order[i] in place i.
LocalSystem reordered(const LocalSystem& system, std::span<const std::uint32_t> order);

// A breadth-first search through all rows, from the first one of each part.
struct BreadthFirst {
  std::vector<std::uint32_t> order;  // in which the rows are seen
  std::size_t levels = 0;            // steps that it takes; of the longest part
};
BreadthFirst breadth_first(const Pattern& pattern);

// An order in which elimination fills in little: approximate minimum degree (Eigen), with ties
// broken in breadth-first order, which saves a third of the entries on large squares. Fast for
// grids and other sparse neighbourhoods; for random graphs of 10^5 states it takes minutes.
std::vector<std::uint32_t> elimination_order(const LocalSystem& system);

// The places that elimination in the given order fills, as if transitions went both ways; nothing
// if it takes more than `most_work` multiplications, of which a core does 10^9 a second, or some
// gigabytes.
std::optional<Pattern> filled_pattern(const Pattern& pattern, double most_work);

// The factors of a system, computed once and used for any number of right-hand sides. Real is
// double, or mpf_class where doubles are too coarse.
template <class Real>
class BasicFactors {
 public:
  // Complete: `pattern` is filled_pattern(), in the order of which the rows are eliminated.
  // Incomplete: what falls outside of the pattern is taken to leave the component, an approximation
  // for iterative methods.
  enum class Extent : std::uint8_t { complete, incomplete };

  // `exits` are those of the system, in case doubles do not hold them.
  // O(multiplications of the elimination); see BasicFactors.
  BasicFactors(const LocalSystem& system, std::vector<Real> exits, Pattern pattern, Extent extent);

  // Overwrites the right-hand side by the solution; O(entries of the pattern).
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
  Real add_long_row_within(const Real& multiplier, std::size_t k, std::uint32_t i,
                           Work& work) const;

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

}  // namespace conclave::chain::detail
