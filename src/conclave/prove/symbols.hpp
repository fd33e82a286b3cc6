// Symbols in place of numbers: what makes a formula out of a transition function.
//
// `interact` is compiled once more, over `SymbolicValues`. Sums and comparisons of symbols are
// terms. Where the code branches on a comparison, the symbol asks the `Paths` that explores it,
// which answers "yes" in one execution and "no" in another, until every path has been walked
// (as EveryChoice does for draws). The answers along the paths are a tree, and the tree is the
// formula: `if q1 then (if q2 then a else b) else c`. Nothing can be lost, since symbols turn into
// numbers nowhere and into bool only by asking.
//
// Symbols are integers without limits, variables of a protocol are not. What the machine demands
// besides (no difference of unsigned numbers below 0; x % m only where one subtraction does it) is
// collected as `is_exact`, which is to be proved with the rest.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "conclave/prove/term.hpp"

namespace conclave::prove {

// Walks all paths of code that branches on symbols.
class Paths {
 public:
  // The terms must outlive it and every formula that it gives.
  explicit Paths(Terms& terms) : terms_(&terms), is_exact_(terms.truth(true)) {}

  Terms& terms() { return *terms_; }
  // The variable has one of these few values: branches that no value takes are left out. Whoever
  // uses the formula must know that it is so.
  void restrict(Term variable, std::int64_t least, std::int64_t most);

  // The answer at this branch of the present path. A question asked before has the same answer.
  bool decide(Term question);
  void demand(Term condition) { is_exact_ = terms_->both(is_exact_, condition); }

  // Runs `walk`, which returns its results on one path, for all paths. Gives each result as a
  // formula over all paths; the last one says where the arithmetic is exact.
  std::vector<Term> explore(const std::function<std::vector<Term>()>& walk);
  std::size_t paths() const { return paths_; }

 private:
  struct Branch {
    Term question;
    bool answer;                    // the answers "yes" come first
    std::vector<Term> when_true{};  // the results there, once they are known
  };

  using Values = std::vector<std::int64_t>;

  bool is_evident(Term question, bool& answer) const;
  // Calls `visit(values, answer)` for all values that the question's variables may still have;
  // false without a call where one of them is not restricted.
  bool for_all_values(
      Term question,
      const std::function<void(const std::map<Term, std::int64_t>&, bool)>& visit) const;
  void learn(Term question, bool answer);
  bool next_path(std::vector<Term>& results);

  Terms* terms_;
  Term is_exact_;
  std::vector<Branch> branches_;
  std::size_t depth_ = 0;
  std::size_t paths_ = 0;
  std::map<Term, bool> answers_;
  std::map<Term, Term> values_;      // what is known to equal a constant
  std::map<Term, Values> possible_;  // of restricted variables, on the present path
  std::map<Term, Values> all_possible_;
};

// A truth value: a constant, or a term of some paths, which must outlive it. Code that branches on
// a term asks the paths.
class Truth {
 public:
  template <std::same_as<bool> B>
  Truth(B value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  Truth() = default;
  Truth(Paths& paths, Term term) : paths_(&paths), term_(term) { simplify(); }

  operator bool() const {  // NOLINT(google-explicit-constructor): this is where paths fork
    return paths_ == nullptr ? value_ : paths_->decide(term_);
  }
  // The term of the value, also of a constant, which belongs to no paths.
  Term term(Paths& paths) const { return paths_ == nullptr ? paths.terms().truth(value_) : term_; }
  Paths* paths() const { return paths_; }

  Truth& operator|=(const Truth& other) { return *this = either(*this, other); }
  Truth& operator&=(const Truth& other) { return *this = both(*this, other); }
  friend Truth operator!(const Truth& a) {
    if (a.paths_ == nullptr) return !a.value_;
    return {*a.paths_, a.paths_->terms().negation(a.term_)};
  }
  // Without a short cut: both operands are evaluated.
  static Truth both(const Truth& a, const Truth& b);
  static Truth either(const Truth& a, const Truth& b) { return !both(!a, !b); }

 private:
  void simplify() {
    if (!is_constant(term_)) return;
    value_ = term_->value != 0;
    paths_ = nullptr;
  }

  Paths* paths_ = nullptr;  // none: a constant
  Term term_ = nullptr;
  bool value_ = false;
};

template <class A, class B>
concept WithTruth = (std::same_as<A, Truth> && (std::same_as<B, Truth> || std::same_as<B, bool>)) ||
                    (std::same_as<A, bool> && std::same_as<B, Truth>);
template <class A, class B>
requires WithTruth<A, B> Truth operator&(const A& a, const B& b) { return Truth::both(a, b); }
template <class A, class B>
requires WithTruth<A, B> Truth operator|(const A& a, const B& b) { return Truth::either(a, b); }
// Both sides are terms without effects, so that nothing is lost without a short cut.
template <class A, class B>
requires WithTruth<A, B> Truth operator&&(const A& a, const B& b) { return Truth::both(a, b); }
template <class A, class B>
requires WithTruth<A, B> Truth operator||(const A& a, const B& b) { return Truth::either(a, b); }

class Integer {
 public:
  Integer() = default;
  template <std::integral I>
  Integer(I value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT: numbers are constants
  Integer(Paths& paths, Term term) : paths_(&paths), term_(term) {
    if (!is_constant(term_)) return;
    value_ = term_->value;
    paths_ = nullptr;
  }
  Integer(const Truth& truth);  // NOLINT(google-explicit-constructor): 0 and 1, as for bool

  // The term of the value, also of a constant, which belongs to no paths.
  Term term(Paths& paths) const {
    return paths_ == nullptr ? paths.terms().integer(value_) : term_;
  }

  friend Integer operator+(const Integer& a, const Integer& b) { return join(a, b, &Terms::plus); }
  friend Integer operator*(const Integer& a, const Integer& b) { return join(a, b, &Terms::times); }
  friend Integer operator-(const Integer& a, const Integer& b);
  friend Integer operator%(const Integer& a, const Integer& b);
  friend Truth operator<(const Integer& a, const Integer& b) { return ask(a, b, &Terms::less); }
  friend Truth operator>(const Integer& a, const Integer& b) { return b < a; }
  friend Truth operator>=(const Integer& a, const Integer& b) { return !(a < b); }
  friend Truth operator<=(const Integer& a, const Integer& b) { return !(b < a); }
  friend Truth operator==(const Integer& a, const Integer& b) { return ask(a, b, &Terms::equal); }
  friend Truth operator!=(const Integer& a, const Integer& b) { return !(a == b); }

 private:
  using Operator = Term (Terms::*)(Term, Term);

  static Paths* paths_of(const Integer& a, const Integer& b) {
    return a.paths_ != nullptr ? a.paths_ : b.paths_;
  }
  static Term apply(Paths& paths, const Integer& a, const Integer& b, Operator operation) {
    return (paths.terms().*operation)(a.term(paths), b.term(paths));
  }
  static Integer join(const Integer& a, const Integer& b, Operator operation);
  static Truth ask(const Integer& a, const Integer& b, Operator operation);

  Paths* paths_ = nullptr;  // none: a constant
  Term term_ = nullptr;
  std::int64_t value_ = 0;
};

// A member of an enumeration.
template <class E>
class Named {
 public:
  Named(E value = E{})  // NOLINT(google-explicit-constructor)
      : number_(static_cast<std::underlying_type_t<E>>(value)) {}
  Named(Paths& paths, Term term) : number_(paths, term) {}
  Term term(Paths& paths) const { return number_.term(paths); }

  friend Truth operator==(const Named& a, const Named& b) { return a.number_ == b.number_; }
  friend Truth operator!=(const Named& a, const Named& b) { return a.number_ != b.number_; }
  friend Truth operator<(const Named& a, const Named& b) { return a.number_ < b.number_; }
  friend Truth operator>(const Named& a, const Named& b) { return a.number_ > b.number_; }
  friend Truth operator<=(const Named& a, const Named& b) { return a.number_ <= b.number_; }
  friend Truth operator>=(const Named& a, const Named& b) { return a.number_ >= b.number_; }

 private:
  Integer number_;
};

// The values of a protocol that runs on symbols (model/values.hpp).
struct SymbolicValues {
  using Bool = Truth;
  template <class>
  using Number = Integer;
  template <class Enumeration>
  using Name = Named<Enumeration>;
};

}  // namespace conclave::prove
