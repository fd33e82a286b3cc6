#include "conclave/prove/symbols.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace conclave::prove {

namespace {

// At most two variables, so that all their values are few; otherwise false.
bool find_variables(Term term, std::vector<Term>& variables) {
  if (term->operation == Operation::variable) {
    if (std::ranges::find(variables, term) == variables.end()) variables.push_back(term);
    return variables.size() <= 2;
  }
  return std::ranges::all_of(term->operands,
                             [&](Term operand) { return find_variables(operand, variables); });
}

}  // namespace

Truth Truth::both(const Truth& a, const Truth& b) {
  if (a.paths_ == nullptr) return a.value_ ? b : a;
  if (b.paths_ == nullptr) return b.value_ ? a : b;
  return {*a.paths_, a.paths_->terms().both(a.term_, b.term_)};
}

Integer::Integer(const Truth& truth) {
  if (truth.paths() == nullptr) {
    value_ = bool(truth) ? 1 : 0;
    return;
  }
  paths_ = truth.paths();
  Terms& terms = paths_->terms();
  term_ = terms.choose(truth.term(*paths_), terms.integer(1), terms.integer(0));
}

Integer Integer::join(const Integer& a, const Integer& b, Operator operation) {
  Paths* paths = paths_of(a, b);
  if (paths != nullptr) return {*paths, apply(*paths, a, b, operation)};
  Terms scratch;  // two constants
  return (scratch.*operation)(scratch.integer(a.value_), scratch.integer(b.value_))->value;
}

Truth Integer::ask(const Integer& a, const Integer& b, Operator operation) {
  Paths* paths = paths_of(a, b);
  if (paths != nullptr) return {*paths, apply(*paths, a, b, operation)};
  Terms scratch;
  return (scratch.*operation)(scratch.integer(a.value_), scratch.integer(b.value_))->value != 0;
}

// Numbers of the machine are unsigned.
Integer operator-(const Integer& a, const Integer& b) {
  if (Paths* paths = Integer::paths_of(a, b)) paths->demand((b <= a).term(*paths));
  return Integer::join(a, b, &Terms::minus);
}

// With an unknown divisor a remainder is not linear; for 0 <= a < 2 b it is.
Integer operator%(const Integer& a, const Integer& b) {
  Paths* paths = Integer::paths_of(a, b);
  if (paths == nullptr) return a.value_ % b.value_;
  Terms& terms = paths->terms();
  paths->demand((a >= 0).term(*paths));
  paths->demand((a < b + b).term(*paths));
  const Term x = a.term(*paths);
  const Term y = b.term(*paths);
  return {*paths, terms.choose(terms.less(x, y), x, terms.minus(x, y))};
}

bool Paths::is_evident(Term question, bool& answer) const {
  if (question->operation == Operation::negation) {
    const bool known = is_evident(question->operands[0], answer);
    answer = !answer;
    return known;
  }
  const auto found = answers_.find(question);
  if (found != answers_.end()) {
    answer = found->second;
    return true;
  }
  bool can_be_true = false;
  bool can_be_false = false;
  const bool is_restricted = for_all_values(
      question, [&](const auto&, bool value) { (value ? can_be_true : can_be_false) = true; });
  if (is_restricted && can_be_true != can_be_false) {
    answer = can_be_true;
    return true;
  }
  if (question->operation != Operation::equal) return false;
  const Term a = question->operands[0];
  const Term b = question->operands[1];
  const Term subject = is_constant(a) ? b : a;
  const Term value = is_constant(a) ? a : b;
  const auto known = values_.find(subject);
  if (known == values_.end() || !is_constant(value)) return false;
  answer = known->second == value;
  return true;
}

void Paths::learn(Term question, bool answer) {
  if (question->operation == Operation::negation) return learn(question->operands[0], !answer);
  answers_[question] = answer;
  std::map<Term, Values> left;
  for_all_values(question, [&](const std::map<Term, std::int64_t>& values, bool value) {
    if (value != answer) return;
    for (const auto& [variable, number] : values) left[variable].push_back(number);
  });
  for (auto& [variable, numbers] : left) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    possible_[variable] = numbers;
  }
  if (question->operation == Operation::both && answer) {
    for (const Term part : question->operands) learn(part, true);
  }
  if (question->operation != Operation::equal || !answer) return;
  const Term a = question->operands[0];
  const Term b = question->operands[1];
  if (is_constant(a)) values_[b] = a;
  if (is_constant(b)) values_[a] = b;
}

void Paths::restrict(Term variable, std::int64_t least, std::int64_t most) {
  for (std::int64_t value = least; value <= most; ++value) all_possible_[variable].push_back(value);
}

bool Paths::for_all_values(
    Term question,
    const std::function<void(const std::map<Term, std::int64_t>&, bool)>& visit) const {
  std::vector<Term> variables;
  if (!find_variables(question, variables)) return false;
  for (const Term variable : variables) {
    if (!possible_.contains(variable)) return false;
  }
  std::map<Term, std::int64_t> values;
  const std::function<void(std::size_t)> assign = [&](std::size_t next) {
    if (next == variables.size()) return visit(values, evaluate(question, values) != 0);
    for (const std::int64_t value : possible_.at(variables[next])) {
      values[variables[next]] = value;
      assign(next + 1);
    }
  };
  assign(0);
  return true;
}

bool Paths::decide(Term question) {
  bool answer = true;
  if (is_evident(question, answer)) return answer;
  if (depth_ == branches_.size()) branches_.push_back({question, true});
  answer = branches_[depth_++].answer;
  learn(question, answer);
  return answer;
}

// Folds what is complete into `results` and turns at the last branch that has another side.
bool Paths::next_path(std::vector<Term>& results) {
  while (!branches_.empty()) {
    Branch& last = branches_.back();
    if (last.answer) {
      last.answer = false;
      last.when_true = std::move(results);
      return true;
    }
    for (std::size_t i = 0; i < results.size(); ++i)
      results[i] = terms_->choose(last.question, last.when_true[i], results[i]);
    branches_.pop_back();
  }
  return false;
}

std::vector<Term> Paths::explore(const std::function<std::vector<Term>()>& walk) {
  std::vector<Term> results;
  do {
    depth_ = 0;
    answers_.clear();
    values_.clear();
    possible_ = all_possible_;
    is_exact_ = terms_->truth(true);
    results = walk();
    results.push_back(is_exact_);
    ++paths_;
  } while (next_path(results));
  return results;
}

}  // namespace conclave::prove
