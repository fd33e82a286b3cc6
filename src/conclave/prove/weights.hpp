// Weights of states that no live transition increases: linear invariants and ranking functions. The
// constraints, one for each transition, are given to the solver when a candidate breaks them, so
// that thousands of transitions cost a few dozen rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conclave/prove/net.hpp"
#include "conclave/prove/solver.hpp"

namespace conclave::prove {

class WeightSearch {
 public:
  // Weights may be negative, or not. `live` may grow later (`allow`), never shrink.
  WeightSearch(Engine& engine, const Net& net, std::vector<bool> live, bool may_be_negative);

  // Small whole weights w with w C <= w C' in all live transitions C' -> C, and at least 1 for
  // the weighted sum of `direction`: sum of w(q) direction(q) >= 1. None: there are none at all, or
  // only ones beyond 62 bits.
  std::optional<Counts> find(const Counts& direction);
  void allow(const std::vector<bool>& live);

 private:
  // The same problem over rationals, or over whole numbers of at most this size.
  struct Problem {
    Problem(Engine& engine, std::size_t states, std::int64_t low, std::int64_t high);
    std::int64_t most;  // 0: rational
    std::vector<z3::expr> weights;
    Solver solver;
  };
  std::optional<Counts> solve(Problem& problem, const Counts& direction);
  std::size_t give_broken(Problem& problem, const Counts& weights);

  Engine& engine_;
  const Net& net_;
  std::vector<bool> live_;
  std::vector<Problem> problems_;
};

}  // namespace conclave::prove
