// Z3 behind one door: every query may be interrupted, has a limit of effort that does not depend on
// the clock, and never takes "unknown" for an answer.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <z3++.h>

#include "conclave/base/progress.hpp"

namespace conclave::prove {

enum class Answer : std::uint8_t { unsat, sat, unknown };

// The common ground of all solvers of one proof. Not thread-safe but for `interrupt`.
class Engine {
 public:
  // Z3 may use this much memory, all engines of the process together; 0: no limit.
  explicit Engine(unsigned memory_megabytes = 0);

  // All formulas of a proof belong to this context, which must outlive them.
  z3::context& context() { return context_; }
  // Ends the query that is being answered, and all that come later, with Interrupted. From any
  // thread.
  void interrupt();
  bool is_interrupted() const { return stop_; }
  std::uint64_t queries() const { return queries_; }

  // Commands in SMT-LIB 2 text, (push) and (pop) included, and what they print. State lasts until
  // (reset). Throws Interrupted, and Error for commands that Z3 refuses.
  std::string evaluate(const std::string& commands);
  // A formula in SMT-LIB 2 text over integer variables.
  z3::expr parse(const std::string& formula, const std::vector<std::string>& variables);

 private:
  friend class Solver;
  z3::context context_;
  std::atomic<bool> stop_ = false;
  std::uint64_t queries_ = 0;
};

// An incremental solver.
class Solver {
 public:
  // The engine must outlive it.
  explicit Solver(Engine& engine)
      : engine_(&engine), solver_(engine.context(), z3::solver::simple()) {}

  void add(const z3::expr& formula) { solver_.add(formula); }
  // A new name for "the formula holds", to be used in `assumptions`.
  z3::expr named(const z3::expr& formula);

  // `effort` is Z3's own unit of work, about 10^6 per second; 0: no limit. Throws Interrupted.
  Answer check(const std::vector<z3::expr>& assumptions = {}, unsigned effort = 0);
  z3::model model() const { return solver_.get_model(); }

 private:
  Engine* engine_;
  z3::solver solver_;
};

// The value of an integer variable in a model; 0 where it does not matter. Throws Error beyond 63
// bits.
std::int64_t value_in(const z3::model& model, const z3::expr& variable);

}  // namespace conclave::prove
