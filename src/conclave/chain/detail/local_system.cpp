#include "conclave/chain/detail/local_system.hpp"

#include <algorithm>
#include <utility>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace conclave::chain {

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

LocalSystem reordered(const LocalSystem& system, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  LocalSystem result;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (const std::uint32_t old : order) {
    row.clear();
    const auto columns = system.pattern.row(old);
    const auto values = system.row_values(old);
    for (std::size_t k = 0; k < columns.size(); ++k) row.emplace_back(place[columns[k]], values[k]);
    std::ranges::sort(row);
    for (const auto& [column, value] : row) {
      result.pattern.columns.push_back(column);
      result.values.push_back(value);
    }
    result.end_row(system.exits[old]);
  }
  return result;
}

Transposed transposed(const LocalSystem& system) {
  Transposed result;
  result.pattern.starts.assign(system.size() + 1, 0);
  for (const std::uint32_t j : system.pattern.columns) ++result.pattern.starts[j + 1];
  for (std::size_t j = 0; j < system.size(); ++j) {
    result.pattern.starts[j + 1] += result.pattern.starts[j];
  }
  std::vector<std::uint64_t> ends(result.pattern.starts.begin(), result.pattern.starts.end() - 1);
  result.pattern.columns.resize(system.values.size());
  result.values.resize(system.values.size());
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      const std::uint64_t place = ends[system.pattern.columns[k]]++;
      result.pattern.columns[place] = i;
      result.values[place] = system.values[k];
    }
  }
  return result;
}

std::vector<std::uint32_t> elimination_order(const LocalSystem& system) {
  const auto n = static_cast<Eigen::Index>(system.size());
  std::vector<Eigen::Triplet<signed char>> entries;
  entries.reserve(2 * system.values.size() + system.size());
  for (std::size_t i = 0; i < system.size(); ++i) {
    entries.emplace_back(static_cast<int>(i), static_cast<int>(i), 1);  // AMD skips rows without
    for (const std::uint32_t j : system.pattern.row(i)) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(j), 1);
      entries.emplace_back(static_cast<int>(j), static_cast<int>(i), 1);
    }
  }
  Eigen::SparseMatrix<signed char> symmetric(n, n);
  symmetric.setFromTriplets(entries.begin(), entries.end());
  Eigen::AMDOrdering<int>::PermutationType permutation;
  Eigen::AMDOrdering<int>()(symmetric, permutation);
  std::vector<std::uint32_t> order(system.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<std::uint32_t>(permutation.indices()[static_cast<Eigen::Index>(i)]);
  }
  return order;
}

}  // namespace conclave::chain
