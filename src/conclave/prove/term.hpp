// Formulas as terms over integers and truth values. Equal terms are one node, so that a formula
// with much in common, as the outcome of an interaction has, stays small.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace conclave::prove {

enum class Operation : std::uint8_t {
  constant,  // an integer, or 0 and 1 for false and true
  variable,
  plus,
  minus,
  times,  // by a constant, its second operand
  less,
  equal,
  both,
  negation,
  choose,  // if the first, then the second, else the third
};

struct Node {
  Operation operation;
  bool is_truth;
  std::int64_t value = 0;  // of a constant
  std::string name{};      // of a variable
  std::vector<const Node*> operands{};
  std::size_t number = 0;  // terms in the order in which they came about
};
using Term = const Node*;

// Integers, or truth values 0 and 1, for variables.
using Assignment = std::map<Term, std::int64_t>;

// Owns terms, which live as long as it does. Simplifies constants and what is evident away.
class Terms {
 public:
  Terms() = default;
  Terms(const Terms&) = delete;
  Terms& operator=(const Terms&) = delete;

  // Constants, and the variable of that name and kind: asked for again, it is the same one.
  Term integer(std::int64_t value) { return constant(value, false); }
  Term truth(bool value) { return constant(value ? 1 : 0, true); }
  Term variable(const std::string& name, bool is_truth);

  // Operands of arithmetic and comparisons are integers, those of `both`, `either`, `negation`
  // truth values, as the condition of `choose`; its other two are of one kind. Nothing checks this.
  Term plus(Term a, Term b);
  Term minus(Term a, Term b);
  // One of the two must be a constant: anything else is not linear, and throws an Error.
  Term times(Term a, Term b);
  Term less(Term a, Term b);
  Term equal(Term a, Term b);
  Term both(Term a, Term b);
  Term either(Term a, Term b) { return negation(both(negation(a), negation(b))); }
  Term negation(Term a);
  Term choose(Term condition, Term yes, Term no);

  std::size_t size() const { return nodes_.size(); }

 private:
  using Key = std::tuple<Operation, bool, std::int64_t, std::string, std::vector<Term>>;

  Term constant(std::int64_t value, bool is_truth) {
    return make({.operation = Operation::constant, .is_truth = is_truth, .value = value});
  }
  Term make(Node node);

  std::deque<Node> nodes_;
  std::map<Key, Term> known_;
};

// Whether the term is a constant with this value.
inline bool is_constant(Term term) { return term->operation == Operation::constant; }
inline bool is_constant(Term term, std::int64_t value) {
  return is_constant(term) && term->value == value;
}

// The value of a term, 0 and 1 for truth values. O(nodes).
std::int64_t evaluate(Term term, const Assignment& variables);

// A definition in SMT-LIB 2: name, sort and text, which uses earlier definitions.
struct Definition {
  std::string name;
  std::string sort;
  std::string text;
  friend bool operator==(const Definition&, const Definition&) = default;
};

// Named terms as definitions; what several of them use is defined once, as `PREFIX1`, `PREFIX2`...
std::vector<Definition> definitions_of(const std::vector<std::pair<std::string, Term>>& outputs,
                                       const std::string& prefix);

}  // namespace conclave::prove
