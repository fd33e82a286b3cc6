#include "conclave/chain/detail/deflated_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

#include "conclave/chain/detail/krylov.hpp"

namespace conclave::chain::detail {
namespace {

constexpr int most_power_steps = 150;
constexpr int most_sweeps = 60;
constexpr double settled = 1e-15;

// Scales to a largest entry of 1; returns what it was.
double normalize(std::span<double> v) {
  const double size = largest(v);
  for (double& value : v) value /= size;
  return size;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// An order in which most successors come before their predecessors, so that a sweep carries values
// far: next is always the state with the most probability to come from the others that are left,
// less that to go there (after Eades, Lin and Smyth 1993).
std::vector<std::uint32_t> sweeping_order(const LocalSystem& system) {
  const Transposed incoming = transposed(system);
  std::vector<double> surplus(system.size(), 0.0);
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      const double probability = system.values[k] / system.leaving[i];
      surplus[system.pattern.columns[k]] += probability;
      surplus[i] -= probability;
    }
  }
  std::priority_queue<std::pair<double, std::uint32_t>> queue;
  for (std::uint32_t i = 0; i < system.size(); ++i) queue.emplace(surplus[i], i);
  std::vector<bool> is_placed(system.size(), false);
  std::vector<std::uint32_t> order;
  const auto change = [&](std::uint32_t j, double by) {
    surplus[j] += by;
    if (!is_placed[j]) queue.emplace(surplus[j], j);
  };
  while (!queue.empty()) {
    const auto [value, i] = queue.top();
    queue.pop();
    if (is_placed[i] || value != surplus[i]) continue;  // an entry from before a change
    is_placed[i] = true;
    order.push_back(i);
    for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
      change(system.pattern.columns[k], -system.values[k] / system.leaving[i]);
    }
    const auto& from = incoming.pattern;
    for (std::uint64_t k = from.starts[i]; k < from.starts[i + 1]; ++k) {
      change(from.columns[k], incoming.values[k] / system.leaving[from.columns[k]]);
    }
  }
  return order;
}

}  // namespace

std::optional<DeflatedSweeps> DeflatedSweeps::of(const LocalSystem& system, int bits) {
  DeflatedSweeps sweeps(system);
  sweeps.find_mode();
  if (!(sweeps.contraction_ < 1)) return std::nullopt;
  const double needed = -bits / std::log2(sweeps.contraction_) + 2;
  if (!(needed <= most_sweeps)) return std::nullopt;
  sweeps.sweeps_ = static_cast<int>(std::ceil(needed));
  sweeps.find_weights();
  return sweeps;
}

DeflatedSweeps::DeflatedSweeps(const LocalSystem& given)
    : order_(sweeping_order(given)), start_(given.size()), rest_(given.size()) {
  const LocalSystem system = reordered(given, order_);
  for (std::size_t i = 0; i < system.size(); ++i) {
    const auto columns = system.pattern.row(i);
    const auto values = system.row_values(i);
    const double waiting = 1 / system.leaving[i];
    for (std::size_t k = 0; k < columns.size(); ++k) {
      values_.push_back(values[k] * waiting);
      columns_.push_back(columns[k]);
    }
    starts_.push_back(static_cast<std::uint32_t>(values_.size()));
    waiting_.push_back(waiting);
  }
}

void DeflatedSweeps::sweep(std::span<double> x) const {
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = start_[i];
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      sum += values_[k] * x[columns_[k]];
    }
    x[i] = sum;
  }
}

// By the power method. How fast it settles is the contraction of everything but the mode.
void DeflatedSweeps::find_mode() {
  std::ranges::fill(start_, 0.0);
  mode_.assign(start_.size(), 1.0);
  double first = 0;
  for (int step = 0; step < most_power_steps; ++step) {
    std::vector<double> before = mode_;
    sweep(mode_);
    mode_factor_ = normalize(mode_);
    const double change = distance(mode_, before);
    if (step == 2) first = change;
    if (step > 2) contraction_ = std::pow(change / first, 1.0 / (step - 2));
    if (!(change > settled)) return;
  }
  contraction_ = 1;
}

// With M the part of the matrix up to the diagonal, whose inverse a sweep from 0 applies, one sweep
// multiplies errors by inverse(M) U; U is what is behind the diagonal.
std::vector<double> DeflatedSweeps::transposed_sweep(std::vector<double> weights) const {
  std::vector<double> result(weights.size(), 0.0);
  for (std::size_t i = weights.size(); i-- > 0;) {
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      const std::uint32_t j = columns_[k];
      (j < i ? weights : result)[j] += values_[k] * weights[i];
    }
  }
  return result;
}

void DeflatedSweeps::find_weights() {
  weights_.assign(mode_.size(), 1.0);
  for (int step = 0; step < most_power_steps; ++step) {
    const std::vector<double> before = weights_;
    weights_ = transposed_sweep(weights_);
    normalize(weights_);
    if (!(distance(weights_, before) > settled)) break;
  }
  const double product = dot(weights_, mode_);
  for (double& weight : weights_) weight /= product;
  // The right-hand side whose solution is the mode, over the diagonal.
  start_of_mode_ = mode_;
  for (std::size_t i = 0; i < mode_.size(); ++i) {
    long double sum = mode_[i];
    for (std::uint32_t k = starts_[i]; k < starts_[i + 1]; ++k) {
      sum -= static_cast<long double>(values_[k]) * mode_[columns_[k]];
    }
    start_of_mode_[i] = static_cast<double>(sum);
  }
}

// First how much of the mode the solution holds, then the rest.
void DeflatedSweeps::solve(std::span<const double> right, std::span<long double> x) {
  for (std::size_t i = 0; i < right.size(); ++i) start_[i] = right[order_[i]] * waiting_[i];
  std::ranges::fill(rest_, 0.0);
  sweep(rest_);
  const double of_mode = dot(weights_, rest_) / (1 - mode_factor_);
  add(start_, -of_mode, start_of_mode_);
  add(rest_, -of_mode * (1 - mode_factor_), mode_);
  for (int k = 1; k < sweeps_; ++k) sweep(rest_);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[order_[i]] = static_cast<long double>(of_mode) * mode_[i] + rest_[i];
  }
}

}  // namespace conclave::chain::detail
