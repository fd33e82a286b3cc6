// The step of a protocol as formulas, derived from its own `interact`.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/model/steps.hpp"
#include "conclave/prove/symbols.hpp"
#include "conclave/prove/term.hpp"
#include "conclave/prove/theory.hpp"

namespace conclave::prove {

// Draws as symbols: every outcome is possible.
class SymbolicChoice {
 public:
  // The paths must outlive it, and walk through one interaction: draws are numbered from 1.
  explicit SymbolicChoice(Paths& paths) : paths_(&paths) {}
  // Draws within one interaction are numbered; where the same path draws again, so are they again.
  bool chance(std::uint32_t, std::uint32_t) {
    return paths_->decide(paths_->terms().variable("draw" + std::to_string(++draws_), true));
  }
  std::uint32_t below(std::uint32_t bound) {  // one question for each outcome but the last
    std::uint32_t value = 0;
    while (value + 1 < bound && chance(1, 2)) ++value;
    return value;
  }

 private:
  Paths* paths_;
  std::size_t draws_ = 0;
};

// The outcome of an interaction of u and v: the fields of the initiator before are `u.FIELD`, after
// `u+.FIELD`; of the responder `v.FIELD`, `v+.FIELD`. The last definition is `exact`.
struct StepFormula {
  std::vector<FieldSort> fields;
  std::vector<std::pair<std::string, Term>> outputs;  // owned by the terms they were made from
  std::vector<Definition> definitions;
  std::size_t paths = 0;
};

// A state all of whose fields are variables.
template <class State>
State symbolic_state(Paths& paths, const std::string& agent) {
  State state{};
  const auto set = [&](const auto& field) {
    using Member = std::remove_reference_t<decltype(state.*field.member)>;
    const std::string name = agent + '.' + std::string(field.name);
    state.*field.member =
        Member(paths, paths.terms().variable(name, std::is_same_v<Member, Truth>));
  };
  std::apply([&](const auto&... field) { (set(field), ...); }, State::fields);
  return state;
}

// The terms of all fields of a state, in the order of its `fields`.
template <class State>
void append_terms(Paths& paths, const State& state, std::vector<Term>& terms) {
  std::apply(
      [&](const auto&... field) { (terms.push_back((state.*field.member).term(paths)), ...); },
      State::fields);
}

// The names and sorts of the fields of a symbolic state, in the order of its `fields`.
template <class State>
std::vector<FieldSort> sorts_of() {
  std::vector<FieldSort> sorts;
  const auto add = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(State{}.*field.member)>;
    sorts.push_back({std::string(field.name), std::is_same_v<Member, Truth> ? "Bool" : "Int"});
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, State::fields);
  return sorts;
}

// P is a protocol over SymbolicValues. The formula is right within the ranges of the theory.
template <class P>
StepFormula derive_step(const P& protocol, const Theory& theory, Paths& paths) {
  using State = typename P::State;
  for (const auto& [field, range] : theory.ranges) {
    for (const char* agent : {"u.", "v."})
      paths.restrict(paths.terms().variable(agent + field, false), range.first, range.second);
  }
  const std::vector<Term> results = paths.explore([&] {
    State u = symbolic_state<State>(paths, "u");
    State v = symbolic_state<State>(paths, "v");
    SymbolicChoice choice(paths);
    protocol.interact(u, v, choice);
    std::vector<Term> terms;
    append_terms(paths, u, terms);
    append_terms(paths, v, terms);
    return terms;
  });
  StepFormula step{
      .fields = sorts_of<State>(), .outputs = {}, .definitions = {}, .paths = paths.paths()};
  std::size_t next = 0;
  for (const char* agent : {"u+.", "v+."}) {
    for (const FieldSort& field : step.fields)
      step.outputs.emplace_back(agent + field.name, results[next++]);
  }
  step.outputs.emplace_back("exact", results[next]);
  step.definitions = definitions_of(step.outputs, "step");
  return step;
}

}  // namespace conclave::prove
