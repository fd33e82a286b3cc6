#include "conclave/chain/detail/elimination.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include "conclave/chain/detail/counting_sort.hpp"

namespace conclave::chain::detail {
namespace {

constexpr std::uint32_t no_row = std::numeric_limits<std::uint32_t>::max();

constexpr std::size_t much_longer = 64;
constexpr std::size_t most_entries = 100'000'000;  // of one half; both with values take 2.4 GB

using Rows = std::vector<std::vector<std::uint32_t>>;

// Per row, the columns behind it of the pattern and of its mirror image.
Rows symmetric_upper(const Pattern& pattern) {
  Rows upper(pattern.size());
  for (std::uint32_t i = 0; i < pattern.size(); ++i) {
    for (const std::uint32_t j : pattern.row(i)) upper[std::min(i, j)].push_back(std::max(i, j));
  }
  return upper;
}

void sort_and_merge(std::vector<std::uint32_t>& columns) {
  std::ranges::sort(columns);
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
}

// Both halves of a symmetric pattern, from the upper one.
Pattern mirrored(const Rows& upper) {
  Pattern full;
  std::size_t entries = 0;
  for (const auto& row : upper) entries += 2 * row.size();
  full.columns.resize(entries);
  const auto for_each_entry = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < upper.size(); ++i) {
      for (const std::uint32_t j : upper[i]) visit(j, i);
    }
    for (std::uint32_t i = 0; i < upper.size(); ++i) {
      for (const std::uint32_t j : upper[i]) visit(i, j);
    }
  };
  full.starts = counting_sort(
      upper.size(), for_each_entry,
      [&](std::uint64_t place, std::uint32_t column) { full.columns[place] = column; });
  return full;
}

double zero_like(const std::vector<double>&) { return 0; }

// With the same number of bits.
mpf_class zero_like(const std::vector<mpf_class>& numbers) {
  return {0, numbers.empty() ? 64 : numbers.front().get_prec()};
}

}  // namespace

void LocalSystem::end_row(double exit) {
  double sum = exit;
  for (std::uint64_t k = pattern.starts.back(); k < values.size(); ++k) sum += values[k];
  exits.push_back(exit);
  leaving.push_back(sum);
  pattern.starts.push_back(pattern.columns.size());
}

void LocalSystem::residual(std::span<const double> x, std::span<const double> right,
                           std::span<double> result) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto columns = pattern.row(i);
    const auto row = row_values(i);
    double sum = right[i] - leaving[i] * x[i];
    for (std::size_t k = 0; k < columns.size(); ++k) sum += row[k] * x[columns[k]];
    result[i] = sum;
  }
}

void LocalSystem::multiply(std::span<const double> x, std::span<double> result) const {
  for (std::size_t i = 0; i < size(); ++i) {
    const auto columns = pattern.row(i);
    const auto row = row_values(i);
    double sum = leaving[i] * x[i];
    for (std::size_t k = 0; k < columns.size(); ++k) sum -= row[k] * x[columns[k]];
    result[i] = sum;
  }
}

void LocalSystem::add_row(std::vector<Entry>& entries, double exit) {
  std::ranges::sort(entries);
  for (const auto& [column, value] : entries) {
    pattern.columns.push_back(column);
    values.push_back(value);
  }
  end_row(exit);
}

std::vector<std::uint32_t> places_of(std::span<const StateIndex> states, std::size_t chain_size) {
  std::vector<std::uint32_t> places(chain_size, nowhere);
  for (std::uint32_t place = 0; place < states.size(); ++place) places[states[place]] = place;
  return places;
}

LocalSystem local_system(const MarkovChain& chain, std::span<const StateIndex> states,
                         std::span<const std::uint32_t> places, std::uint32_t first) {
  LocalSystem system;
  std::vector<LocalSystem::Entry> row;
  for (const StateIndex state : states) {
    const auto successors = chain.successors(state);
    const auto probabilities = chain.probabilities(state);
    double exit = 0;
    row.clear();
    for (std::size_t k = 0; k < successors.size(); ++k) {
      if (successors[k] == state) continue;
      const std::uint32_t local = places[successors[k]] - first;  // wraps where it is outside
      if (local < states.size()) {
        row.emplace_back(local, probabilities[k]);
      } else {
        exit += probabilities[k];
      }
    }
    system.add_row(row, exit);
  }
  return system;
}

LocalSystem reordered(const LocalSystem& system, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  LocalSystem result;
  std::vector<LocalSystem::Entry> row;
  for (const std::uint32_t old : order) {
    row.clear();
    const auto columns = system.pattern.row(old);
    const auto values = system.row_values(old);
    for (std::size_t k = 0; k < columns.size(); ++k) row.emplace_back(place[columns[k]], values[k]);
    result.add_row(row, system.exits[old]);
  }
  return result;
}

BreadthFirst breadth_first(const Pattern& pattern) {
  BreadthFirst result;
  std::vector<bool> is_seen(pattern.size(), false);
  const auto see = [&](std::uint32_t i) {
    if (!is_seen[i]) result.order.push_back(i);
    is_seen[i] = true;
  };
  for (std::uint32_t root = 0; root < pattern.size(); ++root) {
    std::size_t next = result.order.size();
    see(root);
    for (std::size_t level = 1; next < result.order.size(); ++level) {
      result.levels = std::max(result.levels, level);
      for (const std::size_t end = result.order.size(); next < end; ++next) {
        for (const std::uint32_t j : pattern.row(result.order[next])) see(j);
      }
    }
  }
  return result;
}

std::vector<std::uint32_t> elimination_order(const LocalSystem& system) {
  const std::vector<std::uint32_t> first = breadth_first(system.pattern).order;
  std::vector<int> place(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) place[first[i]] = static_cast<int>(i);
  std::vector<Eigen::Triplet<signed char>> entries;
  entries.reserve(2 * system.values.size() + system.size());
  for (std::size_t i = 0; i < system.size(); ++i) {
    entries.emplace_back(place[i], place[i], 1);  // AMD skips rows without
    for (const std::uint32_t j : system.pattern.row(i)) {
      entries.emplace_back(place[i], place[j], 1);
      entries.emplace_back(place[j], place[i], 1);
    }
  }
  const auto n = static_cast<Eigen::Index>(system.size());
  Eigen::SparseMatrix<signed char> symmetric(n, n);
  symmetric.setFromTriplets(entries.begin(), entries.end());
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(symmetric, permutation);
  std::vector<std::uint32_t> order(system.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const int chosen = permutation.indices()[static_cast<Eigen::Index>(i)];
    order[i] = first[static_cast<std::size_t>(chosen)];
  }
  return order;
}

// Eliminating a state joins all its neighbours; it is enough to hand them on to the first of them.
std::optional<Pattern> filled_pattern(const Pattern& pattern, double most_work) {
  Rows upper = symmetric_upper(pattern);
  double work = 0;
  std::size_t entries = 0;
  for (std::size_t i = 0; i < upper.size(); ++i) {
    sort_and_merge(upper[i]);
    if (upper[i].empty()) continue;
    const auto length = static_cast<double>(upper[i].size());
    work += length * length;
    entries += upper[i].size();
    if (work > most_work || entries > most_entries) return std::nullopt;
    auto& heir = upper[upper[i].front()];
    heir.insert(heir.end(), upper[i].begin() + 1, upper[i].end());
  }
  return mirrored(upper);
}

template <class Real>
BasicFactors<Real>::BasicFactors(const LocalSystem& system, std::vector<Real> exits,
                                 Pattern pattern, Extent extent)
    : pattern_(std::move(pattern)),
      values_(pattern_.columns.size(), Real(zero_like(exits))),
      exits_(std::move(exits)) {
  Work work{std::vector<Real>(system.size(), zero_like(exits_)),
            std::vector<std::uint32_t>(system.size(), no_row)};
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    load_row(i, system, work);
    eliminate_row(i, extent, work);
  }
}

template <class Real>
void BasicFactors<Real>::load_row(std::uint32_t i, const LocalSystem& system, Work& work) const {
  for (const std::uint32_t j : pattern_.row(i)) {
    work.values[j] = 0;
    work.owners[j] = i;
  }
  const auto columns = system.pattern.row(i);
  const auto values = system.row_values(i);
  for (std::size_t k = 0; k < columns.size(); ++k) work.values[columns[k]] = values[k];
}

template <class Real>
void BasicFactors<Real>::eliminate_row(std::uint32_t i, Extent extent, Work& work) {
  std::uint64_t place = pattern_.starts[i];
  Real lost = zero_like(exits_);
  for (; place < pattern_.starts[i + 1] && pattern_.columns[place] < i; ++place) {
    const std::uint32_t k = pattern_.columns[place];
    const Real multiplier = work.values[k] * waiting_[k];
    values_[place] = multiplier;
    exits_[i] += multiplier * exits_[k];
    if (extent == Extent::complete) {
      add_row(multiplier, k, work);
    } else {
      lost += add_row_within(multiplier, k, i, work);
    }
  }
  middles_.push_back(place);
  exits_[i] += lost;
  Real leaving = exits_[i];
  for (; place < pattern_.starts[i + 1]; ++place) {
    values_[place] = work.values[pattern_.columns[place]];
    leaving += values_[place];
  }
  waiting_.push_back(Real(1 / leaving));
}

// A value on the diagonal is a self-loop and is never read.
template <class Real>
void BasicFactors<Real>::add_row(const Real& multiplier, std::size_t k, Work& work) const {
  if (multiplier == 0) return;
  for (std::uint64_t m = middles_[k]; m < pattern_.starts[k + 1]; ++m) {
    work.values[pattern_.columns[m]] += multiplier * values_[m];
  }
}

// Returns what fell outside of row i's pattern; what falls on the diagonal is a self-loop.
template <class Real>
Real BasicFactors<Real>::add_row_within(const Real& multiplier, std::size_t k, std::uint32_t i,
                                        Work& work) const {
  const std::size_t length = pattern_.starts[k + 1] - middles_[k];
  if (length > much_longer * pattern_.row(i).size()) {
    return add_long_row_within(multiplier, k, i, work);
  }
  Real lost = zero_like(exits_);
  for (std::uint64_t m = middles_[k]; m < pattern_.starts[k + 1]; ++m) {
    const std::uint32_t j = pattern_.columns[m];
    if (j == i) continue;
    (work.owners[j] == i ? work.values[j] : lost) += multiplier * values_[m];
  }
  return lost;
}

// A row k that is much longer than row i, of a state that leads almost everywhere, is searched
// rather than read. What is lost is then a difference, and not negative up to rounding.
template <class Real>
Real BasicFactors<Real>::add_long_row_within(const Real& multiplier, std::size_t k, std::uint32_t i,
                                             Work& work) const {
  const auto long_row = pattern_.row(k).subspan(middles_[k] - pattern_.starts[k]);
  Real lost = 1 / waiting_[k] - exits_[k];
  const auto take = [&](std::uint32_t j) {
    const auto found = std::ranges::lower_bound(long_row, j);
    if (found == long_row.end() || *found != j) return;
    const Real& value = values_[middles_[k] + static_cast<std::uint64_t>(found - long_row.begin())];
    lost -= value;
    if (j != i) work.values[j] += multiplier * value;
  };
  for (const std::uint32_t j : pattern_.row(i)) take(j);
  take(i);
  if (lost < 0) lost = 0;
  return multiplier * lost;
}

template <class Real>
void BasicFactors<Real>::solve(std::span<Real> right) const {
  for (std::size_t i = 0; i < right.size(); ++i) {
    Real sum = right[i];
    for (std::uint64_t k = pattern_.starts[i]; k < middles_[i]; ++k) {
      sum += values_[k] * right[pattern_.columns[k]];
    }
    right[i] = sum;
  }
  for (std::size_t i = right.size(); i-- > 0;) {
    Real sum = right[i];
    for (std::uint64_t k = middles_[i]; k < pattern_.starts[i + 1]; ++k) {
      sum += values_[k] * right[pattern_.columns[k]];
    }
    right[i] = sum * waiting_[i];
  }
}

template class BasicFactors<double>;
template class BasicFactors<mpf_class>;

}  // namespace conclave::chain::detail
