// The equations of one strongly connected component, whose ways out lead to known values:
//     sum over j of q_ij (x_i - x_j) + exit_i x_i = right_i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace conclave::chain {

// Which columns a row has, ascending and without the row itself.
struct Pattern {
  std::vector<std::uint64_t> starts{0};
  std::vector<std::uint32_t> columns;

  std::size_t size() const { return starts.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t i) const {
    return {columns.data() + starts[i], columns.data() + starts[i + 1]};
  }
};

struct LocalSystem {
  Pattern pattern;
  std::vector<double> values;   // one per column of the pattern
  std::vector<double> exits;    // per row, the probability to leave the component
  std::vector<double> leaving;  // per row, the sum of its values and its exit

  std::size_t size() const { return exits.size(); }
  std::span<const double> row_values(std::size_t i) const {
    return {values.data() + pattern.starts[i], values.data() + pattern.starts[i + 1]};
  }

  // Appends row number size(). Its columns are ascending; `exit` goes elsewhere.
  void end_row(double exit);

  // right - (the left side at x), into `result`.
  void residual(std::span<const double> x, std::span<const double> right,
                std::span<double> result) const;

  // The left side at x, into `result`.
  void multiply(std::span<const double> x, std::span<double> result) const;
};

// The same equations with row order[i] in place i.
LocalSystem reordered(const LocalSystem& system, std::span<const std::uint32_t> order);

// Entry (j, i) for every entry (i, j).
struct Transposed {
  Pattern pattern;
  std::vector<double> values;
};

Transposed transposed(const LocalSystem& system);

// An order in which elimination fills in little: approximate minimum degree.
std::vector<std::uint32_t> elimination_order(const LocalSystem& system);

}  // namespace conclave::chain
