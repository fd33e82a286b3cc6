// Aggregation multigrid for one component: states that lead to each other are joined into groups of
// about four, whose chain is solved in the same way. For large chains that spread slowly, such as
// walks on grids, where elimination fills in too much and other iterations need thousands of steps.
// Or clusters that the walk rarely leaves are the groups.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conclave/chain/detail/elimination.hpp"

namespace conclave::chain::detail {

// It holds the smaller systems, but not the one it was built for, which is passed to every call.
class Multigrid {
 public:
  // Groups of about four neighbours, level after level. Nothing if this soon makes the chain too
  // dense: then other methods do better.
  static std::optional<Multigrid> of_neighbours(const LocalSystem& system);

  // One level, whose groups are clusters that the walk rarely leaves. Nothing if there are none.
  static std::optional<Multigrid> of_clusters(const LocalSystem& system);

  // Writes an approximate solution into `x`; true if the residual fell by eight digits, or as far
  // as rounding allows. `system` is that of the construction.
  bool solve(const LocalSystem& system, std::span<const double> right, std::span<double> x) const;

 private:
  // The chain of groups that stands below a chain of states.
  struct Level {
    std::vector<std::uint32_t> group_of;  // per state above
    std::vector<double> weights;          // of the equations above
    LocalSystem system;
  };

  struct Step {
    std::vector<double> direction, image;
  };

  static std::optional<Multigrid> with_last_level_eliminated(std::vector<Level> levels);

  explicit Multigrid(std::vector<Level> levels, Factors last)
      : levels_(std::move(levels)), last_(std::move(last)) {}

  const LocalSystem& coarse(std::size_t depth) const { return levels_[depth].system; }
  void cycle(std::size_t depth, const LocalSystem& system, std::span<double> right) const;
  void solve_groups(std::size_t depth, std::span<double> right) const;
  Step step(std::size_t depth, std::span<const double> right) const;
  static void combine(const Step& first, const Step& second, std::span<double> right);

  std::vector<Level> levels_;
  Factors last_;  // of the last level
};

}  // namespace conclave::chain::detail
