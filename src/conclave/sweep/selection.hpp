// Choosing rows of results by their fields, and writing them as CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/csv.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/row_fields.hpp"

namespace conclave::sweep {

// One row with its place: `row` counts all rows of the file from 0, by cell and trial.
struct PlacedRow {
  std::uint64_t row = 0;
  std::size_t cell = 0;
  std::uint64_t trial = 0;
  std::string json{};
  Fields fields{};
};

// "n=1000", "protocol!=pll", "interactions>1e6": all must hold. Numbers are compared as numbers.
class Filter {
 public:
  // Throws Error with the nearest name if a field is unknown.
  Filter(const std::vector<std::string>& conditions, const Results& results);
  // False also where the row lacks the field of a condition.
  bool accepts(const PlacedRow& row) const;

 private:
  enum class Relation : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal };
  struct Condition {
    std::string name;
    Relation relation;
    std::string value;
  };
  static Condition parse(const std::string& text);
  static bool holds(const Condition& condition, const std::string& value);

  std::vector<Condition> conditions_;
};

// The name of a field in full, params.N for N; throws Error with the nearest name.
std::string field_name(const Results& results, const std::string& given);

using TakePlacedRow = std::function<void(const PlacedRow&)>;

enum class RowChoice : std::uint8_t {
  all,     // those of unfinished cells with a field `unfinished`: prefix or beyond
  prefix,  // of each cell those before the first missing trial: see schedule.hpp
};

// In the order of cells and trials. Where a cell has fewer rows than its sweep wants, its rows say
// so: only those of the prefix are a fair sample (schedule.hpp). Throws Error at the first damaged
// row.
void for_each_row(const Results& results, const Filter& filter, const TakePlacedRow& take,
                  RowChoice choice = RowChoice::all);

// The header and one line per row, with the same columns for all: row, cell, then every field that
// any row has. Control characters become visible. Reads all rows twice.
void write_csv(const Results& results, const Filter& filter,
               const std::function<void(std::string_view)>& write,
               Formulas formulas = Formulas::kept);

// The subject of a table of results: a field of the rows, or an expression in their numbers such as
// (ranked_at - awake_at) / n.
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
