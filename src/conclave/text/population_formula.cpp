#include "conclave/text/population_formula.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

// Small whole exponents by multiplication, so that whole numbers stay whole.
double powered(double base, double exponent) {
  if (exponent == std::floor(exponent) && exponent >= 0 && exponent <= 64) {
    double product = 1;
    for (double i = 0; i < exponent; ++i) product *= base;
    return product;
  }
  if (base <= 0) return NAN;
  const double ln = exponent * logarithm_of(base);
  return ln < 700 ? exponential_of(ln) : NAN;
}

}  // namespace

// Looks up the names; throws Mistake.
struct PopulationFormula::Reader {
  const std::vector<FormulaField>& fields;
  const Constants& constants;
  std::vector<Aggregate>& totals;

  Term number(double value) const { return {.constant = value}; }

  Term applied(Operator which, Term a, Term b) const {
    Term result{.kind = Term::Kind::operation, .operation = which};
    result.parts.push_back(std::move(a));
    result.parts.push_back(std::move(b));
    return result;
  }

  // About the whole population, or about one agent.
  Term read(const Expression& expression, bool of_agent) const {
    switch (expression.form) {
      case Form::number:
        return number(expression.number.as_double());
      case Form::name:
        return name(expression, expression.name, of_agent);
      case Form::one_of:
        return one_of(expression, of_agent);
      case Form::count:
      case Form::aggregate:
      case Form::call:
        return total(expression, of_agent);
      case Form::member:
        throw Mistake(expression.place, "u and v stand in rules only; name the field alone");
      case Form::operation:
        break;
    }
    return operation_of(expression, of_agent);
  }

  Term operation_of(const Expression& expression, bool of_agent) const {
    const bool compares =
        expression.operation == Operator::equal || expression.operation == Operator::unequal;
    Term result{.kind = Term::Kind::operation, .operation = expression.operation};
    for (const Expression& part : expression.parts) {
      const Expression& other = expression.parts[&part == expression.parts.data() ? 1 : 0];
      const FormulaField* of = compares && of_agent ? enumeration(other) : nullptr;
      result.parts.push_back(of != nullptr ? value_of(*of, part) : read(part, of_agent));
    }
    return result;
  }

  // The field with named values that an expression names, if it does.
  const FormulaField* enumeration(const Expression& expression) const {
    if (expression.form != Form::name) return nullptr;
    const auto found = std::ranges::find(fields, expression.name, &FormulaField::name);
    return found == fields.end() || found->values.empty() ? nullptr : &*found;
  }

  Term value_of(const FormulaField& field, const Expression& expression) const {
    const auto found = std::ranges::find(field.values, expression.name);
    if (expression.form == Form::name && found != field.values.end()) {
      return number(static_cast<double>(found - field.values.begin()));
    }
    const std::vector<std::string_view> names(field.values.begin(), field.values.end());
    throw Mistake(expression.place, unknown_name("value of " + field.name, expression.name, names));
  }

  Term name(const Expression& expression, const std::string& word, bool of_agent) const {
    if (const auto found = constants.find(word); found != constants.end()) {
      return number(found->second.as_double());
    }
    std::vector<std::string_view> known;
    for (const auto& constant : constants) known.push_back(constant.first);
    for (std::size_t i = 0; of_agent && i < fields.size(); ++i) {
      if (fields[i].name == word) return {.kind = Term::Kind::field, .index = i};
      if (fields[i].name == "state") {
        const auto value = std::ranges::find(fields[i].values, word);
        if (value != fields[i].values.end()) {
          return applied(Operator::equal, {.kind = Term::Kind::field, .index = i},
                         number(static_cast<double>(value - fields[i].values.begin())));
        }
        known.insert(known.end(), fields[i].values.begin(), fields[i].values.end());
      }
      known.push_back(fields[i].name);
    }
    const bool is_field = std::ranges::find(fields, word, &FormulaField::name) != fields.end();
    if (is_field) {
      throw Mistake(expression.place, fmt::format("{} is a field of each agent: write sum({}), "
                                                  "min({}) or max({})",
                                                  word, word, word, word));
    }
    throw Mistake(expression.place, unknown_name("name", word, known));
  }

  Term one_of(const Expression& expression, bool of_agent) const {
    Term result = name(expression, expression.names[0].text, of_agent);
    for (std::size_t i = 1; i < expression.names.size(); ++i) {
      result = applied(Operator::disjunction, std::move(result),
                       name(expression, expression.names[i].text, of_agent));
    }
    return result;
  }

  [[noreturn]] static void throw_unknown(const Expression& expression) {
    std::vector<std::string_view> known = known_functions();
    known.insert(known.end(), {"sum", "mean"});
    throw Mistake(expression.place, unknown_name("function", expression.name, known));
  }

  // min and max are the words of protocol files; least and largest, which came first, mean the
  // same.
  Term total(const Expression& expression, bool of_agent) const {
    if (of_agent) {
      throw Mistake(expression.place,
                    expression.name + "(...) is about all agents and cannot stand inside another");
    }
    const bool is_least = expression.name == "min" || expression.name == "least";
    const bool is_largest = expression.name == "max" || expression.name == "largest";
    const bool is_mean = expression.name == "mean";
    const bool is_number = is_least || is_largest || is_mean || expression.name == "sum";
    if (expression.form != Form::count && !is_number) throw_unknown(expression);
    if (expression.parts.size() != 1) {
      throw Mistake(expression.place, expression.name + " takes 1 argument");
    }
    Term term = read(expression.parts[0], true);
    if (!is_number) term = applied(Operator::unequal, std::move(term), number(0));
    totals.push_back({is_least     ? Total::least
                      : is_largest ? Total::largest
                                   : Total::sum,
                      std::move(term)});
    Term result{.kind = Term::Kind::total, .index = totals.size() - 1};
    const double n = constants.find("n")->second.as_double();
    if (is_mean) return applied(Operator::divide, std::move(result), number(n));
    if (is_number || expression.name == "count") return result;
    if (expression.name == "any") return applied(Operator::greater, std::move(result), number(0));
    const double wanted = expression.name == "all" ? n : 0;
    return applied(Operator::equal, std::move(result), number(wanted));
  }
};

PopulationFormula::PopulationFormula(std::string_view expression,
                                     const std::vector<FormulaField>& fields,
                                     const Constants& constants) {
  try {
    Cursor cursor(expression);
    const Expression syntax = parse_expression(cursor);
    if (cursor.here().kind == TokenKind::end_of_statement) cursor.take();
    if (cursor.here().kind != TokenKind::end_of_text) cursor.expected("the end of the expression");
    value_ = Reader{fields, constants, totals_}.read(syntax, false);
  } catch (const Mistake& mistake) {
    throw Error(fmt::format("importance function '{}', column {}: {}", expression,
                            mistake.place().column, mistake.what()));
  }
  if (totals_.empty()) {
    throw Error(fmt::format("importance function '{}' is the same for every configuration: use "
                            "count, sum, mean, min or max",
                            expression));
  }
}

double PopulationFormula::contribution(std::size_t total, std::span<const double> fields) const {
  return evaluate(totals_[total].term, fields);
}

double PopulationFormula::value(std::span<const double> totals) const {
  return evaluate(value_, totals);
}

double PopulationFormula::evaluate(const Term& term, std::span<const double> values) {
  switch (term.kind) {
    case Term::Kind::constant:
      return term.constant;
    case Term::Kind::field:
    case Term::Kind::total:
      return values[term.index];
    case Term::Kind::operation:
      break;
  }
  return operation(term, values);
}

double PopulationFormula::operation(const Term& term, std::span<const double> values) {
  const auto part = [&](std::size_t i) { return evaluate(term.parts[i], values); };
  switch (term.operation) {
    case Operator::conjunction:
      return part(0) != 0 && part(1) != 0 ? 1 : 0;
    case Operator::disjunction:
      return part(0) != 0 || part(1) != 0 ? 1 : 0;
    case Operator::choice:
      return part(0) != 0 ? part(1) : part(2);
    default:
      break;
  }
  const double result = term.parts.size() == 1 ? unary(term.operation, part(0))
                                               : binary(term.operation, part(0), part(1));
  if (std::isfinite(result)) return result;
  throw Error("the importance function has no finite value in some configuration");
}

double PopulationFormula::binary(Operator operation, double a, double b) {
  switch (operation) {
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    case Operator::divide:
      return a / b;
    case Operator::modulo:
      return a - b * std::floor(a / b);
    case Operator::power:
      return powered(a, b);
    case Operator::equal:
      return a == b ? 1 : 0;
    case Operator::unequal:
      return a != b ? 1 : 0;
    case Operator::less:
      return a < b ? 1 : 0;
    case Operator::less_equal:
      return a <= b ? 1 : 0;
    case Operator::greater:
      return a > b ? 1 : 0;
    case Operator::greater_equal:
      return a >= b ? 1 : 0;
    case Operator::minimum:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

double PopulationFormula::unary(Operator operation, double a) {
  switch (operation) {
    case Operator::negate:
      return -a;
    case Operator::negation:
      return a == 0 ? 1 : 0;
    case Operator::floor:
      return std::floor(a);
    case Operator::ceiling:
      return std::ceil(a);
    case Operator::nearest:
      return std::floor(a + 0.5);
    case Operator::square_root:
      return std::sqrt(a);
    case Operator::natural_logarithm:
      return a > 0 ? logarithm_of(a) : NAN;
    case Operator::binary_logarithm:
      return a > 0 ? logarithm_of(a) / logarithm_of(2) : NAN;
    default:
      return std::fabs(a);
  }
}

}  // namespace conclave::text
