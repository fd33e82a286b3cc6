#include "conclave/chain/detail/krylov.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "conclave/chain/detail/counting_sort.hpp"
#include "conclave/chain/detail/equations.hpp"

namespace conclave::chain::detail {
namespace {

using Vector = std::vector<double>;

// A sum, or another fold, in four lanes that do not wait for each other.
template <class Combine>
std::array<double, 4> folded(std::size_t size, Combine combine) {
  std::array<double, 4> lanes{};
  std::size_t i = 0;
  for (; i + lanes.size() <= size; i += lanes.size()) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      lanes[lane] = combine(lanes[lane], i + lane);
    }
  }
  for (; i < size; ++i) lanes[0] = combine(lanes[0], i);
  return lanes;
}

// The largest absolute value; what is not a number does not count.
double largest(std::span<const double> v) {
  return std::ranges::max(
      folded(v.size(), [&](double most, std::size_t i) { return std::max(most, std::abs(v[i])); }));
}

double dot(std::span<const double> a, std::span<const double> b) {
  const auto sums = folded(a.size(), [&](double sum, std::size_t i) { return sum + a[i] * b[i]; });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y += factor * x.
void add(std::span<double> y, double factor, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += factor * x[i];
}

// A residual cannot be smaller than this relative to the solution, for its rounding.
constexpr double attainable = 32 * rounding;

class BiCgStab {
 public:
  BiCgStab(const LocalSystem& system, const Preconditioner& preconditioner,
           std::span<const double> right)
      : system_(system),
        preconditioner_(preconditioner),
        x_(right.size()),
        residual_(right.begin(), right.end()),
        shadow_(residual_),
        direction_(residual_),
        image_(right.size()),
        second_image_(right.size()),
        rho_(dot(shadow_, residual_)) {}

  void iterate() {
    Vector step = preconditioned(direction_);
    system_.multiply(step, image_);
    const double alpha = rho_ / dot(shadow_, image_);
    add(x_, alpha, step);
    add(residual_, -alpha, image_);
    step = preconditioned(residual_);
    system_.multiply(step, second_image_);
    const double size = dot(second_image_, second_image_);  // 0 if the first half step was exact
    const double omega = size > 0 ? dot(second_image_, residual_) / size : 0;
    add(x_, omega, step);
    add(residual_, -omega, second_image_);
    const double before = std::exchange(rho_, dot(shadow_, residual_));
    turn(rho_ / before * alpha / omega, omega);
  }

  const Vector& x() const { return x_; }
  double residual() const { return largest(residual_); }
  bool is_broken() const { return !std::isfinite(rho_); }

 private:
  Vector preconditioned(Vector v) const {
    preconditioner_(v);
    return v;
  }

  void turn(double beta, double omega) {
    for (std::size_t i = 0; i < direction_.size(); ++i) {
      direction_[i] = residual_[i] + beta * (direction_[i] - omega * image_[i]);
    }
  }

  const LocalSystem& system_;
  const Preconditioner& preconditioner_;
  Vector x_, residual_, shadow_, direction_, image_, second_image_;
  double rho_;
};

// The constants below belong to the method; when it is used is decided in method_choice.cpp.
constexpr std::uint32_t no_cluster = std::numeric_limits<std::uint32_t>::max();
constexpr int balancing_sweeps = 40;
constexpr double weak = 1e-3;              // a transition, relative to all from its state
constexpr std::size_t least_cluster = 10;  // states, on average
constexpr double most_work = 1e9;          // multiplications for the chain of clusters
constexpr KrylovLimits balanced{.gain = 1e-8, .most_iterations = 50};

// Entry (j, i) for every entry (i, j).
struct Transposed {
  Pattern pattern;
  std::vector<double> values;
};

Transposed transposed(const LocalSystem& system) {
  Transposed result;
  result.pattern.columns.resize(system.values.size());
  result.values.resize(system.values.size());
  const auto for_each_entry = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < system.size(); ++i) {
      for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
        visit(system.pattern.columns[k], i, system.values[k]);
      }
    }
  };
  result.pattern.starts = counting_sort(system.size(), for_each_entry,
                                        [&](std::uint64_t place, std::uint32_t i, double value) {
                                          result.pattern.columns[place] = i;
                                          result.values[place] = value;
                                        });
  return result;
}

// How often the walk is in each state, roughly: some steps towards the balance of coming and going.
// Equations with these weights are those of a flow, for which sums over clusters say what matters.
std::vector<double> visits(const LocalSystem& system) {
  const Transposed incoming = transposed(system);
  std::vector<double> weights(system.size(), 1.0);
  for (int sweep = 0; sweep < balancing_sweeps; ++sweep) {
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

struct Partition {
  std::vector<std::uint32_t> cluster_of;  // per state
  std::uint32_t count = 0;
};

// States that are joined by transitions that are not weak.
Partition partition(const LocalSystem& system) {
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
  Partition result{std::vector<std::uint32_t>(system.size(), no_cluster), 0};
  for (std::uint32_t i = 0; i < system.size(); ++i) {
    std::uint32_t& cluster = result.cluster_of[root(i)];
    if (cluster == no_cluster) cluster = result.count++;
    result.cluster_of[i] = cluster;
  }
  return result;
}

// The states in the order of their clusters, and where each cluster begins.
std::vector<std::uint64_t> sort_by_cluster(const Partition& parts,
                                           std::vector<std::uint32_t>& states) {
  states.resize(parts.cluster_of.size());
  const auto for_each_state = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < states.size(); ++i) visit(parts.cluster_of[i], i);
  };
  return counting_sort(parts.count, for_each_state,
                       [&](std::uint64_t place, std::uint32_t state) { states[place] = state; });
}

// The sums of the weighted equations of each cluster, for values that are equal within clusters.
LocalSystem chain_of_clusters(const LocalSystem& system, const std::vector<double>& weights,
                              const Partition& parts) {
  std::vector<std::uint32_t> states;
  const std::vector<std::uint64_t> starts = sort_by_cluster(parts, states);
  LocalSystem result;
  std::vector<double> sums(parts.count, 0.0);
  std::vector<LocalSystem::Entry> row;
  for (std::uint32_t cluster = 0; cluster < parts.count; ++cluster) {
    double exit = 0;
    row.clear();
    for (std::uint64_t m = starts[cluster]; m < starts[cluster + 1]; ++m) {
      const std::uint32_t i = states[m];
      exit += system.exits[i] * weights[i];
      for (std::uint64_t k = system.pattern.starts[i]; k < system.pattern.starts[i + 1]; ++k) {
        const std::uint32_t to = parts.cluster_of[system.pattern.columns[k]];
        if (to == cluster) continue;
        if (sums[to] == 0) row.emplace_back(to, 0.0);
        sums[to] += system.values[k] * weights[i];
      }
    }
    for (auto& [to, value] : row) value = std::exchange(sums[to], 0.0);
    result.add_row(row, exit);
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

bool bicgstab(const LocalSystem& system, const Preconditioner& preconditioner,
              std::span<const double> right, std::span<double> x, const KrylovLimits& limits) {
  BiCgStab method(system, preconditioner, right);
  double best = method.residual();
  const double goal = limits.gain * best;
  const double half_way = std::pow(limits.gain, 0.25) * best;
  bool is_done = best == 0;
  for (int k = 0; k < limits.most_iterations && !is_done; ++k) {
    if (k == limits.most_iterations / 2 && best > half_way) return false;
    method.iterate();
    if (method.is_broken()) return false;
    const double residual = method.residual();
    if (residual >= best) continue;
    best = residual;
    std::ranges::copy(method.x(), x.begin());
    is_done = best <= std::max(goal, attainable * largest(method.x()));
  }
  return is_done;
}

std::optional<Clusters> Clusters::of(const LocalSystem& system) {
  Partition parts = partition(system);
  if (parts.count < 2 || parts.count * least_cluster > system.size()) return std::nullopt;
  std::vector<double> weights = visits(system);
  const LocalSystem small = chain_of_clusters(system, weights, parts);
  auto filled = filled_pattern(small.pattern, most_work);
  if (!filled) return std::nullopt;
  return Clusters(std::move(parts.cluster_of), std::move(weights), parts.count,
                  Factors(small, *std::move(filled), Factors::Extent::complete));
}

bool Clusters::solve(const LocalSystem& system, std::span<const double> right,
                     std::span<double> x) const {
  const auto precondition = [&](std::span<double> v) { correct(system, v); };
  return bicgstab(system, precondition, right, x, balanced);
}

void Clusters::correct(const LocalSystem& system, std::span<double> right) const {
  std::vector<double> x(right.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) relax(system, right, x, i);
  std::vector<double> rest(right.size());
  system.residual(x, right, rest);
  std::vector<double> correction(count_, 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) correction[cluster_of_[i]] += weights_[i] * rest[i];
  factors_.solve(correction);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += correction[cluster_of_[i]];
  for (std::size_t i = x.size(); i-- > 0;) relax(system, right, x, i);
  std::ranges::copy(x, right.begin());
}

}  // namespace conclave::chain::detail
