#include "conclave/chain/detail/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "conclave/chain/detail/counting_sort.hpp"
#include "conclave/chain/detail/krylov.hpp"

namespace conclave::chain::detail {
namespace {

// The constants below belong to the method; when it is used is decided in method_choice.cpp.
constexpr std::uint32_t no_group = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t small_system = 1000;
constexpr int balancing_sweeps = 8;
constexpr int more_balancing_sweeps = 40;
constexpr double weak = 1e-3;                    // a transition, relative to all from its state
constexpr std::size_t least_cluster = 10;        // states, on average
constexpr double most_work_on_last_level = 1e9;  // multiplications for the last level
constexpr double shrinks_well = 0.4;             // transitions that a level has of those above
constexpr double most_transitions = 3;           // of all levels, relative to the first
constexpr KrylovLimits outermost{.gain = 1e-8, .most_iterations = 50};

// How often the walk is in each state, roughly: some steps towards the balance of coming and going.
// Equations with these weights are those of a flow, near to symmetric, for which sums over groups
// say what matters.
std::vector<double> visits(const LocalSystem& system, int sweeps) {
  const Transposed incoming = transposed(system);
  std::vector<double> weights(system.size(), 1.0);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t j = 0; j < system.size(); ++j) {
      double coming = 0;
      for (std::uint64_t k = incoming.pattern.starts[j]; k < incoming.pattern.starts[j + 1]; ++k) {
        coming += weights[incoming.pattern.columns[k]] * incoming.values[k];
      }
      weights[j] = (weights[j] + coming / system.leaving[j]) / 2;
    }
  }
  return weights;
}

// The same equations, each times its weight.
LocalSystem weighted(LocalSystem system, const std::vector<double>& weights) {
  for (std::size_t i = 0; i < system.size(); ++i) {
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      system.values[k] *= weights[i];
    }
    system.exits[i] *= weights[i];
    system.leaving[i] *= weights[i];
  }
  return system;
}

struct Groups {
  std::vector<std::uint32_t> of;  // per state
  std::uint32_t count = 0;
};

// Joins each state with the one that it is coupled to most strongly, of those still alone.
Groups pairs(const LocalSystem& system) {
  const Transposed incoming = transposed(system);
  Groups groups{std::vector<std::uint32_t>(system.size(), no_group), 0};
  std::vector<double> coupling(system.size(), 0.0);
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    if (groups.of[i] != no_group) continue;
    const auto both_ways = [&](auto&& visit) {
      for (const auto* part : {&system.pattern, &incoming.pattern}) {
        const auto& values = part == &system.pattern ? system.values : incoming.values;
        for (std::uint64_t k = part->starts[i]; k < part->starts[i + 1]; ++k) {
          visit(part->columns[k], values[k]);
        }
      }
    };
    both_ways([&](std::uint32_t j, double value) { coupling[j] += value; });
    std::uint32_t best = no_group;
    both_ways([&](std::uint32_t j, double) {
      if (groups.of[j] != no_group || j == i) return;
      if (best == no_group || coupling[j] > coupling[best]) best = j;
    });
    both_ways([&](std::uint32_t j, double) { coupling[j] = 0; });
    groups.of[i] = groups.count;
    if (best != no_group) groups.of[best] = groups.count;
    ++groups.count;
  }
  return groups;
}

// States that are joined by transitions that are not weak.
Groups clusters(const LocalSystem& system) {
  std::vector<std::uint32_t> parents(system.size());
  std::iota(parents.begin(), parents.end(), 0u);
  const auto root = [&](std::uint32_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
  };
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      if (system.values[k] < weak * system.leaving[i]) continue;
      parents[root(system.pattern.columns[k])] = root(i);
    }
  }
  Groups groups{std::vector<std::uint32_t>(system.size(), no_group), 0};
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    std::uint32_t& group = groups.of[root(i)];
    if (group == no_group) group = groups.count++;
    groups.of[i] = group;
  }
  return groups;
}

// The states of each group, group by group.
struct Members {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint32_t> states;
};

Members members(const Groups& groups) {
  Members result{{}, std::vector<std::uint32_t>(groups.of.size())};
  const auto for_each_state = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < groups.of.size(); ++i) visit(groups.of[i], i);
  };
  result.starts = counting_sort(
      groups.count, for_each_state,
      [&](std::uint64_t place, std::uint32_t state) { result.states[place] = state; });
  return result;
}

// The sums of the equations of each group, for values that are equal within groups.
LocalSystem grouped(const LocalSystem& system, const Groups& groups) {
  const Members all = members(groups);
  LocalSystem result;
  std::vector<double> sums(groups.count, 0.0);
  std::vector<std::uint32_t> columns;
  for (std::uint32_t g = 0; g < groups.count; ++g) {
    double exit = 0;
    columns.clear();
    for (std::uint64_t m = all.starts[g]; m < all.starts[g + 1]; ++m) {
      const std::uint32_t i = all.states[m];
      exit += system.exits[i];
      for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
        const std::uint32_t to = groups.of[system.pattern.columns[k]];
        if (to == g) continue;
        if (sums[to] == 0) columns.push_back(to);
        sums[to] += system.values[k];
      }
    }
    std::ranges::sort(columns);
    for (const std::uint32_t to : columns) {
      result.pattern.columns.push_back(to);
      result.values.push_back(std::exchange(sums[to], 0.0));
    }
    result.end_row(exit);
  }
  return result;
}

// One Gauss-Seidel step for state i.
void relax(const LocalSystem& system, std::span<const double> right, std::span<double> x,
           std::size_t i) {
  const auto columns = system.pattern.row(i);
  const auto values = system.row_values(i);
  double sum = right[i];
  for (std::size_t k = 0; k < columns.size(); ++k) sum += values[k] * x[columns[k]];
  x[i] = sum / system.leaving[i];
}

}  // namespace

std::optional<Multigrid> Multigrid::of_clusters(const LocalSystem& system) {
  Groups groups = clusters(system);
  if (groups.count < 2 || groups.count * least_cluster > system.size()) return std::nullopt;
  std::vector<double> weights = visits(system, more_balancing_sweeps);
  LocalSystem coarse = grouped(weighted(system, weights), groups);
  std::vector<Level> levels;
  levels.push_back({std::move(groups.of), std::move(weights), std::move(coarse)});
  return with_last_level_eliminated(std::move(levels));
}

std::optional<Multigrid> Multigrid::of_neighbours(const LocalSystem& system) {
  std::vector<Level> levels;
  const LocalSystem* above = &system;
  double transitions = 0;
  while (above->size() > small_system) {
    std::vector<double> weights = visits(*above, balancing_sweeps);
    const LocalSystem flow = weighted(*above, weights);
    const Groups first = pairs(flow);
    const LocalSystem half = grouped(flow, first);
    const Groups second = pairs(half);
    Level level{std::vector<std::uint32_t>(above->size()), std::move(weights),
                grouped(half, second)};
    for (std::size_t i = 0; i < above->size(); ++i) level.group_of[i] = second.of[first.of[i]];
    transitions += static_cast<double>(level.system.values.size());
    if (transitions > most_transitions * static_cast<double>(system.values.size())) break;
    levels.push_back(std::move(level));
    above = &levels.back().system;
  }
  if (levels.empty()) return std::nullopt;
  return with_last_level_eliminated(std::move(levels));
}

std::optional<Multigrid> Multigrid::with_last_level_eliminated(std::vector<Level> levels) {
  auto filled = filled_pattern(levels.back().system.pattern, most_work_on_last_level);
  if (!filled) return std::nullopt;
  Factors last(levels.back().system, *std::move(filled), Factors::Extent::complete);
  return Multigrid(std::move(levels), std::move(last));
}

bool Multigrid::solve(const LocalSystem& system, std::span<const double> right,
                      std::span<double> x) const {
  const auto precondition = [&](std::span<double> v) { cycle(0, system, v); };
  return bicgstab(system, precondition, right, x, outermost);
}

// One sweep, a correction that is equal within groups, one sweep back.
void Multigrid::cycle(std::size_t depth, const LocalSystem& system, std::span<double> right) const {
  const auto& [group_of, weights, groups] = levels_[depth];
  std::vector<double> x(right.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) relax(system, right, x, i);
  std::vector<double> rest(right.size());
  system.residual(x, right, rest);
  std::vector<double> correction(groups.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) correction[group_of[i]] += weights[i] * rest[i];
  solve_groups(depth, correction);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += correction[group_of[i]];
  for (std::size_t i = x.size(); i-- > 0;) relax(system, right, x, i);
  std::ranges::copy(x, right.begin());
}

// Two steps where the groups are much fewer, which makes the number of iterations independent of
// the depth (Notay's K-cycle).
void Multigrid::solve_groups(std::size_t depth, std::span<double> right) const {
  if (depth + 1 == levels_.size()) return last_.solve(right);
  const LocalSystem& system = coarse(depth);
  const Step first = step(depth, right);
  const double kept = static_cast<double>(coarse(depth + 1).values.size()) /
                      static_cast<double>(system.values.size());
  if (kept > shrinks_well) {
    std::ranges::copy(first.direction, right.begin());
    return;
  }
  std::vector<double> rest(right.begin(), right.end());
  add(rest, -dot(first.direction, right) / dot(first.direction, first.image), first.image);
  combine(first, step(depth, rest), right);
}

Multigrid::Step Multigrid::step(std::size_t depth, std::span<const double> right) const {
  Step result{std::vector<double>(right.begin(), right.end()), std::vector<double>(right.size())};
  cycle(depth + 1, coarse(depth), result.direction);
  coarse(depth).multiply(result.direction, result.image);
  return result;
}

// Overwrites the right-hand side by the combination that leaves nothing in either direction.
void Multigrid::combine(const Step& first, const Step& second, std::span<double> right) {
  const double a = dot(first.direction, first.image);
  const double b = dot(first.direction, second.image);
  const double c = dot(second.direction, first.image);
  const double d = dot(second.direction, second.image);
  const double along_first = dot(first.direction, right);
  const double along_second = dot(second.direction, right);
  const double factor = (along_first * d - along_second * b) / (a * d - b * c);
  const double second_factor = (a * along_second - c * along_first) / (a * d - b * c);
  const bool is_sound = std::isfinite(factor) && std::isfinite(second_factor);
  for (std::size_t i = 0; i < right.size(); ++i) {
    right[i] = is_sound ? factor * first.direction[i] + second_factor * second.direction[i]
                        : first.direction[i];
  }
}

}  // namespace conclave::chain::detail
