#include "conclave/sweep/selection.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/text/arithmetic.hpp"
#include "conclave/text/mistake.hpp"

namespace conclave::sweep {
namespace {

constexpr std::array<std::string_view, 4> groups{"params.", "messages_by_type.", "observables.",
                                                 "faults."};

// Plain fields first, then groups; each in the order in which rows have them.
std::size_t group_of(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(groups, [&](std::string_view group) { return name.starts_with(group); });
  return found == groups.end() ? 0 : static_cast<std::size_t>(found - groups.begin()) + 1;
}

std::vector<std::string> columns_of(const Results& results, const Filter& filter) {
  std::vector<std::string> columns;
  std::set<std::string, std::less<>> seen;
  for_each_row(results, filter, [&](const PlacedRow& row) {
    for (const auto& [name, value] : row.fields) {
      if (seen.insert(name).second) columns.push_back(name);
    }
  });
  std::ranges::stable_sort(columns, {}, group_of);
  return columns;
}

// A row as a line, with a value in each column that it has a field for.
class CsvLines {
 public:
  CsvLines(const std::vector<std::string>& columns, Formulas formulas)
      : values_(columns.size()), formulas_(formulas) {
    for (std::size_t i = 0; i < columns.size(); ++i) places_.emplace(columns[i], i);
  }

  std::string head(const std::vector<std::string>& columns) const {
    std::string line = "row,cell";
    for (const std::string& name : columns) line += ',' + entry(name);
    return line + '\n';
  }

  std::string line(const PlacedRow& row) {
    std::ranges::fill(values_, nullptr);
    for (const auto& [name, value] : row.fields) {
      const std::string*& place = values_[places_.at(name)];
      if (place == nullptr) place = &value;
    }
    std::string line = fmt::format("{},{}", row.row, row.cell);
    for (const std::string* const value : values_) {
      line += ',';
      if (value != nullptr) line += entry(*value);
    }
    return line + '\n';
  }

 private:
  std::string entry(const std::string& text) const { return csv_field(printable(text), formulas_); }

  std::unordered_map<std::string, std::size_t> places_;
  std::vector<const std::string*> values_;
  Formulas formulas_;
};

// The names that conditions may use: of the fields that the first row of each cell has.
std::vector<std::string> names_in(const Results& results) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const char* const own : {"row", "cell"}) add(own);
  for (const StoredCell& cell : results.cells()) {
    const std::string first = results.first_row(cell.id);
    const Fields fields = first.empty() ? cell.fields : results.fields_of_row(cell.id, 0, first);
    for (const auto& [name, value] : fields) add(name);
  }
  return names;
}

std::string full_name(const std::string& given, const std::vector<std::string>& names) {
  for (const std::string_view prefix : {"", "params.", "observables.", "messages_by_type."}) {
    std::string name = fmt::format("{}{}", prefix, given);
    if (std::ranges::find(names, name) != names.end()) return name;
  }
  throw Error(
      unknown_name("field", given, std::vector<std::string_view>(names.begin(), names.end())));
}

// In all rows of a cell that is not complete.
void mark_unfinished(PlacedRow& placed, bool is_in_prefix) {
  const std::string place = is_in_prefix ? "prefix" : "beyond";
  placed.fields.emplace_back("unfinished", place);
  placed.json.insert(placed.json.rfind('}'), fmt::format(R"(,"unfinished":"{}")", place));
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') + 1 - first);
}

bool is_expression(std::string_view text) {
  return text.find_first_of("+-*/^() ") != std::string_view::npos;
}

// The field in full, if the text is the name of one, or can be nothing else.
std::optional<std::string> named_field(const std::string& text, const Results& results) try {
  return field_name(results, text);
} catch (const Error&) {
  if (!is_expression(text)) throw;
  return std::nullopt;
}

// Nothing if the expression has no value.
std::optional<double> value_of(const std::string& expression,
                               const text::Constants& constants) try {
  return text::evaluate(expression, constants).as_double();
} catch (const text::NoValue&) {
  return std::nullopt;
} catch (const text::NumberError&) {
  return std::nullopt;
}

}  // namespace

std::string field_name(const Results& results, const std::string& given) {
  return full_name(given, names_in(results));
}

// Spaces around the name and the value do not count.
Filter::Condition Filter::parse(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, Relation>, 6> relations{
      {{">=", Relation::greater_equal},
       {"<=", Relation::less_equal},
       {"!=", Relation::unequal},
       {"=", Relation::equal},
       {">", Relation::greater},
       {"<", Relation::less}}};
  const std::size_t at = text.find_first_of("=<>!");
  for (const auto& [symbol, relation] : relations) {
    if (at == std::string::npos || at == 0 || text.compare(at, symbol.size(), symbol) != 0)
      continue;
    const std::string value = trimmed(text.substr(at + symbol.size()));
    if (!value.empty()) return {trimmed(text.substr(0, at)), relation, value};
  }
  throw Error(fmt::format("--where takes a condition such as protocol=pll or n>=1000, not '{}'",
                          excerpt(text)));
}

Filter::Filter(const std::vector<std::string>& conditions, const Results& results) {
  if (conditions.empty()) return;
  const std::vector<std::string> names = names_in(results);
  for (const std::string& text : conditions) {
    Condition condition = parse(text);
    condition.name = full_name(condition.name, names);
    conditions_.push_back(std::move(condition));
  }
}

bool Filter::holds(const Condition& condition, const std::string& value) {
  const auto number = parse_real(value);
  const auto wanted = parse_real(condition.value);
  const bool are_numbers = number && wanted;
  const bool is_order =
      condition.relation != Relation::equal && condition.relation != Relation::unequal;
  if (is_order && number && !wanted) {
    throw Error(fmt::format("--where: {} is a number, and '{}' is none", condition.name,
                            excerpt(condition.value)));
  }
  if (is_order && wanted && !number) return false;
  const auto order = are_numbers ? (*number < *wanted ? -1 : (*number > *wanted ? 1 : 0))
                                 : value.compare(condition.value);
  switch (condition.relation) {
    case Relation::equal:
      return order == 0;
    case Relation::unequal:
      return order != 0;
    case Relation::less:
      return order < 0;
    case Relation::less_equal:
      return order <= 0;
    case Relation::greater:
      return order > 0;
    case Relation::greater_equal:
      return order >= 0;
  }
  return false;
}

bool Filter::accepts(const PlacedRow& row) const {
  return std::ranges::all_of(conditions_, [&](const Condition& condition) {
    if (condition.name == "row") return holds(condition, fmt::format("{}", row.row));
    if (condition.name == "cell") return holds(condition, fmt::format("{}", row.cell));
    const auto value = field(row.fields, condition.name);
    return value && holds(condition, *value);
  });
}

void for_each_row(const Results& results, const Filter& filter, const TakePlacedRow& take,
                  RowChoice choice) {
  const std::vector<CellProgress> progress =
      choice == RowChoice::all ? progress_of(results)
                               : std::vector<CellProgress>(results.cells().size());
  PlacedRow placed;
  for (const StoredCell& cell : results.cells()) {
    placed.cell = cell.id;
    const bool is_marked = choice == RowChoice::all && progress[cell.id].missing > 0;
    const auto take_row = [&](std::uint64_t trial, const std::string& row, bool is_in_prefix) {
      placed.trial = trial;
      placed.json = row;
      placed.fields = results.fields_of_row(cell.id, trial, row);
      if (is_marked) mark_unfinished(placed, is_in_prefix);
      if ((choice == RowChoice::all || is_in_prefix) && filter.accepts(placed)) take(placed);
      ++placed.row;
    };
    for_each_judged_row(results, cell.id, take_row);
  }
}

void write_csv(const Results& results, const Filter& filter,
               const std::function<void(std::string_view)>& write, Formulas formulas) {
  const std::vector<std::string> columns = columns_of(results, filter);
  CsvLines lines(columns, formulas);
  write(lines.head(columns));
  for_each_row(results, filter, [&](const PlacedRow& row) { write(lines.line(row)); });
}

RowMeasure::RowMeasure(const std::string& text, const Results& results) try {
  const std::optional<std::string> field = named_field(text, results);
  name_ = field.value_or(text);
  if (field) return;
  text::Constants any;
  for (const std::string& name : text::names_in(text)) {
    terms_.push_back({.word = name, .field = field_name(results, name)});
    any.emplace(name, 1);
  }
  if (terms_.empty()) throw Error(fmt::format("--measure '{}' names no field of the rows", text));
  value_of(text, any);  // it can be read, whatever the rows are
} catch (const text::Mistake& mistake) {
  throw Error(fmt::format("--measure '{}': {}", text, mistake.what()));
}

std::optional<double> RowMeasure::operator()(const Fields& row) const {
  if (terms_.empty()) return number_field(row, name_);
  text::Constants constants;
  for (const Term& term : terms_) {
    const auto value = number_field(row, term.field);
    if (!value) return std::nullopt;
    constants.emplace(term.word, text::Number::real(*value));
  }
  return value_of(name_, constants);
}

}  // namespace conclave::sweep
