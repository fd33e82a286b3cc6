#include "conclave/prove/solver.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::prove {

Engine::Engine(unsigned memory_megabytes) {
  if (memory_megabytes > 0) {
    Z3_global_param_set("memory_max_size", std::to_string(memory_megabytes).c_str());
  }
}

void Engine::interrupt() {
  stop_ = true;
  context_.interrupt();
}

std::string Engine::evaluate(const std::string& commands) {
  if (stop_) throw Interrupted();
  ++queries_;
  try {
    std::string printed = Z3_eval_smtlib2_string(context_, commands.c_str());
    if (stop_) throw Interrupted();
    return printed;
  } catch (const z3::exception& failure) {
    if (stop_) throw Interrupted();
    throw Error(fmt::format("Z3: {}", failure.msg()));
  }
}

z3::expr Engine::parse(const std::string& formula, const std::vector<std::string>& variables) {
  std::string commands;
  for (const std::string& each : variables) commands += fmt::format("(declare-const {} Int)", each);
  const z3::expr_vector parsed =
      context_.parse_string(fmt::format("{}(assert {})", commands, formula).c_str());
  return mk_and(parsed);
}

z3::expr Solver::named(const z3::expr& formula) {
  z3::context& context = engine_->context();
  z3::expr name(context, Z3_mk_fresh_const(context, "a", context.bool_sort()));
  solver_.add(implies(name, formula));
  return name;
}

Answer Solver::check(const std::vector<z3::expr>& assumptions, unsigned effort) {
  if (engine_->stop_) throw Interrupted();
  ++engine_->queries_;
  z3::params limits(engine_->context());
  limits.set("rlimit", effort);
  solver_.set(limits);
  z3::expr_vector all(engine_->context());
  for (const z3::expr& each : assumptions) all.push_back(each);
  z3::check_result result = z3::unknown;
  try {
    result = solver_.check(all);
  } catch (const z3::exception& failure) {
    if (!engine_->stop_) throw Error(fmt::format("Z3: {}", failure.msg()));
  }
  if (engine_->stop_) throw Interrupted();
  if (result == z3::unknown) return Answer::unknown;
  return result == z3::sat ? Answer::sat : Answer::unsat;
}

std::int64_t value_in(const z3::model& model, const z3::expr& variable) {
  const z3::expr value = model.eval(variable, true);
  std::int64_t result = 0;
  if (!value.is_numeral_i64(result)) throw Error("Z3 gave a number beyond 63 bits");
  return result;
}

}  // namespace conclave::prove
