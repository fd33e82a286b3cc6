// The subject of a table of results: a field of the rows, or an expression in their numbers such as
// (ranked_at - awake_at) / n.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conclave/sweep/fields.hpp"
#include "conclave/sweep/results.hpp"

namespace conclave::sweep {

class RowMeasure {
 public:
  // Throws Error with the nearest name if a field is unknown, and if the expression cannot be read.
  RowMeasure(const std::string& text, const Results& results);

  // Nothing if the row lacks one of the numbers, or the expression has no value for them.
  std::optional<double> operator()(const Fields& row) const;

  // The field in full, observables.leaders for leaders; an expression as it was given.
  const std::string& name() const { return name_; }

 private:
  struct Term {
    std::string word;   // as the expression has it
    std::string field;  // in full
  };

  std::string name_;
  std::vector<Term> terms_{};  // those of an expression; none: name_ is a field
};

}  // namespace conclave::sweep
