#include "conclave/prove/term.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"

namespace conclave::prove {

Term Terms::make(Node node) {
  Key key{node.operation, node.is_truth, node.value, node.name, node.operands};
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  node.number = nodes_.size();
  nodes_.push_back(std::move(node));
  return known_[std::move(key)] = &nodes_.back();
}

Term Terms::variable(const std::string& name, bool is_truth) {
  return make({.operation = Operation::variable, .is_truth = is_truth, .name = name});
}

Term Terms::plus(Term a, Term b) {
  if (is_constant(a) && is_constant(b)) return integer(a->value + b->value);
  if (is_constant(a, 0)) return b;
  if (is_constant(b, 0)) return a;
  return make({.operation = Operation::plus, .is_truth = false, .operands = {a, b}});
}

Term Terms::minus(Term a, Term b) {
  if (is_constant(a) && is_constant(b)) return integer(a->value - b->value);
  if (is_constant(b, 0)) return a;
  return make({.operation = Operation::minus, .is_truth = false, .operands = {a, b}});
}

Term Terms::times(Term a, Term b) {
  if (is_constant(a)) std::swap(a, b);
  if (!is_constant(b)) throw Error("a product of two variables is not linear");
  if (is_constant(a)) return integer(a->value * b->value);
  if (is_constant(b, 1)) return a;
  return make({.operation = Operation::times, .is_truth = false, .operands = {a, b}});
}

Term Terms::less(Term a, Term b) {
  if (is_constant(a) && is_constant(b)) return truth(a->value < b->value);
  if (a == b) return truth(false);
  return make({.operation = Operation::less, .is_truth = true, .operands = {a, b}});
}

Term Terms::equal(Term a, Term b) {
  if (a == b) return truth(true);
  if (is_constant(a) && is_constant(b)) return truth(a->value == b->value);
  if (b->number < a->number) std::swap(a, b);
  return make({.operation = Operation::equal, .is_truth = true, .operands = {a, b}});
}

Term Terms::both(Term a, Term b) {
  if (is_constant(a, 0) || is_constant(b, 1) || a == b) return a;
  if (is_constant(b, 0) || is_constant(a, 1)) return b;
  return make({.operation = Operation::both, .is_truth = true, .operands = {a, b}});
}

Term Terms::negation(Term a) {
  if (is_constant(a)) return truth(a->value == 0);
  if (a->operation == Operation::negation) return a->operands[0];
  return make({.operation = Operation::negation, .is_truth = true, .operands = {a}});
}

Term Terms::choose(Term condition, Term yes, Term no) {
  if (is_constant(condition)) return condition->value != 0 ? yes : no;
  if (yes == no) return yes;
  if (condition->operation == Operation::negation) return choose(condition->operands[0], no, yes);
  if (yes->is_truth && is_constant(no, 0)) return both(condition, yes);
  if (yes->is_truth && is_constant(yes, 0)) return both(negation(condition), no);
  if (yes->is_truth && is_constant(yes, 1)) return either(condition, no);
  if (yes->is_truth && is_constant(no, 1)) return either(negation(condition), yes);
  return make({.operation = Operation::choose,
               .is_truth = yes->is_truth,
               .operands = {condition, yes, no}});
}

namespace {

std::int64_t value_of(Term term, const std::vector<std::int64_t>& operands) {
  switch (term->operation) {
    case Operation::plus:
      return operands[0] + operands[1];
    case Operation::minus:
      return operands[0] - operands[1];
    case Operation::times:
      return operands[0] * operands[1];
    case Operation::less:
      return operands[0] < operands[1] ? 1 : 0;
    case Operation::equal:
      return operands[0] == operands[1] ? 1 : 0;
    case Operation::both:
      return operands[0] & operands[1];
    case Operation::negation:
      return 1 - operands[0];
    case Operation::choose:
      return operands[0] != 0 ? operands[1] : operands[2];
    default:
      return term->value;
  }
}

std::int64_t evaluate_once(Term term, const Assignment& variables,
                           std::map<Term, std::int64_t>& known) {
  const auto found = known.find(term);
  if (found != known.end()) return found->second;
  std::int64_t value = 0;
  if (term->operation == Operation::variable) {
    value = variables.at(term);
  } else {
    std::vector<std::int64_t> operands;
    for (const Term operand : term->operands)
      operands.push_back(evaluate_once(operand, variables, known));
    value = value_of(term, operands);
  }
  return known[term] = value;
}

// Writes terms; a node with several users is defined where it is used first.
class Writer {
 public:
  Writer(std::map<Term, std::size_t> users, std::string prefix)
      : users_(std::move(users)), prefix_(std::move(prefix)) {}

  void define(const std::string& name, Term term) {
    std::string text = text_of(term);
    definitions_.push_back({name, sort_of(term), std::move(text)});
    names_.try_emplace(term, name);
  }
  std::vector<Definition> take() { return std::move(definitions_); }

 private:
  static std::string sort_of(Term term) { return term->is_truth ? "Bool" : "Int"; }

  std::string reference(Term term) {
    const auto named = names_.find(term);
    if (named != names_.end()) return named->second;
    if (users_[term] < 2 || term->operands.empty()) return text_of(term);
    define(prefix_ + std::to_string(++count_), term);
    return names_[term];
  }

  std::string text_of(Term term) {
    static constexpr const char* names[] = {"", "", "+", "-", "*", "<", "=", "and", "not", "ite"};
    if (term->operation == Operation::variable) return term->name;
    if (is_constant(term) && term->is_truth) return term->value != 0 ? "true" : "false";
    if (is_constant(term))
      return term->value < 0 ? "(- " + std::to_string(-term->value) + ')'
                             : std::to_string(term->value);
    std::string text = std::string("(") + names[static_cast<std::size_t>(term->operation)];
    for (const Term operand : term->operands) text += ' ' + reference(operand);
    return text + ')';
  }

  std::map<Term, std::size_t> users_;
  std::string prefix_;
  std::map<Term, std::string> names_;
  std::vector<Definition> definitions_;
  std::size_t count_ = 0;
};

void count_users(Term term, std::map<Term, std::size_t>& users) {
  if (++users[term] > 1) return;
  for (const Term operand : term->operands) count_users(operand, users);
}

}  // namespace

std::int64_t evaluate(Term term, const Assignment& variables) {
  std::map<Term, std::int64_t> known;
  return evaluate_once(term, variables, known);
}

std::vector<Definition> definitions_of(const std::vector<std::pair<std::string, Term>>& outputs,
                                       const std::string& prefix) {
  std::map<Term, std::size_t> users;
  for (const auto& [name, term] : outputs) count_users(term, users);
  Writer writer(std::move(users), prefix);
  for (const auto& [name, term] : outputs) writer.define(name, term);
  return writer.take();
}

}  // namespace conclave::prove
