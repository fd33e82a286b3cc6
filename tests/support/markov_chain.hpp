// A finite Markov chain as a sparse matrix, and the law of its hitting times in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"

namespace conclave::tests {

class MarkovChain {
 public:
  struct Arc {
    std::size_t to;
    double probability;
  };

  // For each state whether it belongs to the set that is hit.
  using Target = std::vector<bool>;

  std::size_t size() const { return rows_.size(); }
  std::span<const Arc> row(std::size_t from) const { return rows_[from]; }

  // Appends a state. Arcs to one state may be several; their probabilities sum to 1.
  void add_row(std::vector<Arc> arcs) {
    double total = 0;
    for (const Arc& arc : arcs) total += arc.probability;
    CONCLAVE_CHECK(std::abs(total - 1) < 1e-12);
    rows_.push_back(std::move(arcs));
  }

  // The probability to be in the target at some time, from state 0.
  double probability_of_reaching(const Target& target) const { return solve(target, 0, 1)[0]; }

  // The expected number of steps until the target is reached from state 0; infinite if it may be
  // missed for ever.
  double expected_steps(const Target& target) const {
    if (!is_certain(target)) return std::numeric_limits<double>::infinity();
    return solve(target, 1, 0)[0];
  }

  // P(T <= t) for t = 0 ... limit, where T is the first time in the target from state 0.
  std::vector<double> distribution(const Target& target, std::size_t limit) const {
    std::vector<double> now(size(), 0.0);
    now[0] = 1;
    double arrived = absorb(target, now);
    std::vector<double> cdf{arrived};
    while (cdf.size() <= limit) {
      now = step(now);
      arrived += absorb(target, now);
      cdf.push_back(std::min(arrived, 1.0));
    }
    return cdf;
  }

 private:
  std::vector<double> step(const std::vector<double>& now) const {
    std::vector<double> next(size(), 0.0);
    for (std::size_t from = 0; from < size(); ++from) {
      if (now[from] == 0) continue;
      for (const Arc& arc : rows_[from]) next[arc.to] += now[from] * arc.probability;
    }
    return next;
  }

  // Takes the mass inside the target out and returns it.
  static double absorb(const Target& target, std::vector<double>& mass) {
    double inside = 0;
    for (std::size_t state = 0; state < mass.size(); ++state) {
      if (target[state]) inside += std::exchange(mass[state], 0.0);
    }
    return inside;
  }

  // The states that can be reached from 0 through states outside the target, each after (almost)
  // all its successors: the order of a depth-first search on its way back.
  std::vector<std::size_t> successors_first(const Target& target) const {
    std::vector<std::size_t> order;
    std::vector<bool> seen(size(), false);
    std::vector<std::pair<std::size_t, std::size_t>> path{{0, 0}};  // state, its next arc
    seen[0] = true;
    while (!path.empty()) {
      auto& [state, arc] = path.back();
      if (target[state] || arc == rows_[state].size()) {
        order.push_back(state);
        path.pop_back();
        continue;
      }
      const std::size_t to = rows_[state][arc++].to;
      if (seen[to]) continue;
      seen[to] = true;
      path.emplace_back(to, 0);
    }
    return order;
  }

  // Whether the target is reached with probability 1: every state that can be reached before it
  // must be able to reach it.
  bool is_certain(const Target& target) const {
    const std::vector<std::size_t> order = successors_first(target);
    std::vector<bool> can_reach = target;
    for (bool grows = true; grows;) {
      grows = false;
      for (const std::size_t state : order) {
        if (can_reach[state]) continue;
        can_reach[state] = std::ranges::any_of(
            rows_[state], [&](const Arc& arc) -> bool { return can_reach[arc.to]; });
        grows = grows || can_reach[state];
      }
    }
    return std::ranges::all_of(order, [&](std::size_t state) -> bool { return can_reach[state]; });
  }

  // The least solution of x = inside on the target and x = cost + P x elsewhere, by Gauss and
  // Seidel from 0 upwards. Where the chain has no cycles, one sweep is exact.
  std::vector<double> solve(const Target& target, double cost, double inside) const {
    const std::vector<std::size_t> order = successors_first(target);
    std::vector<double> x(size(), 0.0);
    for (const std::size_t state : order) x[state] = target[state] ? inside : 0;
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double change = 0;
      for (const std::size_t state : order) {
        if (target[state]) continue;
        const double value = from_others(state, cost, x);
        change = std::max(change, std::abs(value - x[state]) / std::max(1.0, value));
        x[state] = value;
      }
      if (change < 1e-15) break;
    }
    CONCLAVE_CHECK(residual(target, order, cost, x) < 1e-12);
    return x;
  }

  // The value of a state from those of the others: its own loop is solved for.
  double from_others(std::size_t state, double cost, const std::vector<double>& x) const {
    double sum = cost;
    double leaving = 0;
    for (const Arc& arc : rows_[state]) {
      if (arc.to == state) continue;
      sum += arc.probability * x[arc.to];
      leaving += arc.probability;
    }
    return leaving > 0 ? sum / leaving : 0;
  }

  double residual(const Target& target, const std::vector<std::size_t>& order, double cost,
                  const std::vector<double>& x) const {
    double worst = 0;
    for (const std::size_t state : order) {
      if (target[state]) continue;
      double miss = cost - x[state];
      for (const Arc& arc : rows_[state]) miss += arc.probability * x[arc.to];
      worst = std::max(worst, std::abs(miss) / std::max(1.0, x[state]));
    }
    return worst;
  }

  static constexpr int most_sweeps = 100'000;

  std::vector<std::vector<Arc>> rows_;
};

}  // namespace conclave::tests
