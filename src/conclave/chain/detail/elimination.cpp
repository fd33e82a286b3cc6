#include "conclave/chain/detail/elimination.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace conclave::chain {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

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
  std::vector<std::uint64_t> lengths(upper.size());
  for (std::size_t i = 0; i < upper.size(); ++i) {
    lengths[i] += upper[i].size();
    for (const std::uint32_t j : upper[i]) ++lengths[j];
  }
  for (const std::uint64_t length : lengths) full.starts.push_back(full.starts.back() + length);
  full.columns.resize(full.starts.back());
  std::vector<std::uint64_t> ends(full.starts.begin(), full.starts.end() - 1);
  for (std::uint32_t i = 0; i < upper.size(); ++i) {
    for (const std::uint32_t j : upper[i]) full.columns[ends[j]++] = i;
  }
  for (std::size_t i = 0; i < upper.size(); ++i) {
    std::ranges::copy(upper[i], full.columns.begin() + static_cast<std::ptrdiff_t>(ends[i]));
  }
  return full;
}

double zero_like(const std::vector<double>&) { return 0; }

// With the same number of bits.
mpf_class zero_like(const std::vector<mpf_class>& numbers) {
  return {0, numbers.empty() ? 64 : numbers.front().get_prec()};
}

}  // namespace

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
            std::vector<std::uint32_t>(system.size(), nobody)};
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

// What comes to the diagonal is a self-loop, which nobody reads.
template <class Real>
void BasicFactors<Real>::add_row(const Real& multiplier, std::size_t k, Work& work) const {
  if (multiplier == 0) return;
  for (std::uint64_t m = middles_[k]; m < pattern_.starts[k + 1]; ++m) {
    work.values[pattern_.columns[m]] += multiplier * values_[m];
  }
}

// Returns what fell outside of row i's pattern. A row k that is much longer than row i, of a state
// that leads almost everywhere, is searched rather than read.
template <class Real>
Real BasicFactors<Real>::add_row_within(const Real& multiplier, std::size_t k, std::uint32_t i,
                                        Work& work) const {
  Real lost = zero_like(exits_);
  const auto long_row = pattern_.row(k).subspan(middles_[k] - pattern_.starts[k]);
  const auto short_row = pattern_.row(i);
  if (long_row.size() > much_longer * short_row.size()) {
    for (const std::uint32_t j : short_row) {
      const auto found = std::ranges::lower_bound(long_row, j);
      if (found == long_row.end() || *found != j) continue;
      const auto place = static_cast<std::uint64_t>(found - long_row.begin());
      work.values[j] += multiplier * values_[middles_[k] + place];
    }
    return multiplier * (1 / waiting_[k] - exits_[k]);
  }
  for (std::uint64_t m = middles_[k]; m < pattern_.starts[k + 1]; ++m) {
    const std::uint32_t j = pattern_.columns[m];
    if (j == i) continue;
    (work.owners[j] == i ? work.values[j] : lost) += multiplier * values_[m];
  }
  return lost;
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

}  // namespace conclave::chain
