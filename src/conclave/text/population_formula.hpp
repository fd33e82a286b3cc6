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
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/text/arithmetic.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/resolver.hpp"

namespace conclave::text {

struct FormulaField {
  std::string name;
  std::vector<std::string> values{};  // of an enumeration, counted from 0
};

class PopulationFormula {
 public:
  using Total = Aggregate::Kind;

  // Throws Error with one sentence if the expression makes no sense.
  PopulationFormula(std::string_view expression, const std::vector<FormulaField>& fields,
                    const Constants& constants);

  // The totals that the value is made of, and what an agent contributes to one of them. Throws
  // Error if there is no value, as after a division by zero.
  std::size_t totals() const { return totals_.size(); }
  Aggregate::Kind kind(std::size_t total) const { return totals_[total].kind; }
  double contribution(std::size_t total, std::span<const double> fields) const;
  double value(std::span<const double> totals) const;

 private:
  struct Reader;

  std::vector<Aggregate> totals_;
  Node value_;
};

}  // namespace conclave::text
