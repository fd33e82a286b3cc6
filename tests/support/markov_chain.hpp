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

  using Component = std::vector<std::size_t>;

  // The strongly connected components of what can be reached from 0 through states outside the
  // target, each after all those it leads to (Tarjan).
  std::vector<Component> components(const Target& target) const {
    std::vector<Component> found;
    std::vector<std::size_t> number(size(), 0);  // in the order of the first visits; see close()
    std::vector<std::size_t> lowest(size(), 0);  // number that can be reached and is still open
    std::vector<std::size_t> open;
    std::vector<std::pair<std::size_t, std::size_t>> path;  // state, its next arc
    auto enter = [&, count = std::size_t{0}](std::size_t state) mutable {
      number[state] = lowest[state] = ++count;
      open.push_back(state);
      path.emplace_back(state, 0);
    };
    enter(0);
    while (!path.empty()) {
      const std::size_t state = path.back().first;
      if (!target[state] && path.back().second < rows_[state].size()) {
        const std::size_t to = rows_[state][path.back().second++].to;
        if (number[to] == 0)
          enter(to);
        else
          lowest[state] = std::min(lowest[state], number[to]);
        continue;
      }
      path.pop_back();
      if (lowest[state] == number[state])
        found.push_back(close(state, open, number));
      else
        lowest[path.back().first] = std::min(lowest[path.back().first], lowest[state]);
    }
    return found;
  }

  // Takes the component whose first state is `first` from the open states; its numbers are infinite
  // from now on.
  static Component close(std::size_t first, std::vector<std::size_t>& open,
                         std::vector<std::size_t>& number) {
    Component component;
    do {
      component.push_back(open.back());
      number[open.back()] = std::numeric_limits<std::size_t>::max();
      open.pop_back();
    } while (component.back() != first);
    return component;
  }

  // Whether the target is reached with probability 1: every state that can be reached before it
  // must be able to reach it.
  bool is_certain(const Target& target) const {
    std::vector<bool> can_reach = target;
    const auto leads_there = [&](std::size_t state) -> bool {
      return can_reach[state] || std::ranges::any_of(rows_[state], [&](const Arc& arc) -> bool {
               return can_reach[arc.to];
             });
    };
    for (const Component& component : components(target)) {
      if (std::ranges::none_of(component, leads_there)) return false;
      for (const std::size_t state : component) can_reach[state] = true;
    }
    return true;
  }

  // The least solution of x = inside on the target and x = cost + P x elsewhere, by Gauss and
  // Seidel from 0 upwards, one component after the other. Where the chain has no cycles, this is
  // exact.
  std::vector<double> solve(const Target& target, double cost, double inside) const {
    const std::vector<Component> all = components(target);
    std::vector<double> x(size(), 0.0);
    for (const Component& component : all) {
      if (target[component[0]])
        x[component[0]] = inside;
      else
        solve(component, cost, x);
    }
    for (const Component& component : all) {
      CONCLAVE_CHECK(target[component[0]] || residual(component, cost, x) < 1e-12);
    }
    return x;
  }

  void solve(const Component& component, double cost, std::vector<double>& x) const {
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
      double change = 0;
      for (const std::size_t state : component) {
        const double value = from_others(state, cost, x);
        change = std::max(change, std::abs(value - x[state]) / std::max(1.0, value));
        x[state] = value;
      }
      if (change < 1e-15) break;
    }
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

  double residual(const Component& component, double cost, const std::vector<double>& x) const {
    double worst = 0;
    for (const std::size_t state : component) {
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
