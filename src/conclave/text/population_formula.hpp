// A formula about a population whose agents have fields with whole values, such as
// `t_max - largest(if leader then 0 else timer_L)` or `count(virus > 1)`: the importance functions
// that users write. It is a number made of totals over all agents, so that it can be kept up to
// date when two agents change:
//
//   sum(E), least(E), largest(E)       over the agents, of an expression about their fields
//   count(C), any(C), all(C), none(C)  of a condition about their fields
//
// Fields have their names; n and the parameters are constants; the value of an enumeration is
// compared by its name, and a state's name alone is the condition to be in that state. Values are
// doubles, computed with basic arithmetic: equal everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/arithmetic.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

struct FormulaField {
  std::string name;
  std::vector<std::string> values{};  // of an enumeration, counted from 0
};

class PopulationFormula {
 public:
  enum class Total : std::uint8_t { sum, least, largest };

  // Throws Error with one sentence if the expression makes no sense.
  PopulationFormula(std::string_view expression, const std::vector<FormulaField>& fields,
                    const Constants& constants);

  // The totals that the value is made of, and what an agent contributes to one of them. Throws
  // Error if there is no value, as after a division by zero.
  std::size_t totals() const { return totals_.size(); }
  Total kind(std::size_t total) const { return totals_[total].kind; }
  double contribution(std::size_t total, std::span<const double> fields) const;
  double value(std::span<const double> totals) const;

 private:
  // An expression with all names looked up.
  struct Term {
    enum class Kind : std::uint8_t { constant, field, total, operation };
    Kind kind = Kind::constant;
    double constant = 0;
    std::size_t index = 0;
    Operator operation{};
    std::vector<Term> parts{};
  };
  struct Aggregate {
    Total kind;
    Term term;
  };
  struct Reader;

  static double evaluate(const Term& term, std::span<const double> values);
  static double operation(const Term& term, std::span<const double> values);
  static double binary(Operator operation, double a, double b);
  static double unary(Operator operation, double a);

  std::vector<Aggregate> totals_;
  Term value_;
};

}  // namespace conclave::text
