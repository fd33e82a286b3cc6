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

// A double, with the functions of exact numbers; computed with basic arithmetic, equal everywhere.
struct Real {
  double value;
  Real(double real) : value(real) {}

  friend Real operator+(Real a, Real b) { return a.value + b.value; }
  friend Real operator-(Real a, Real b) { return a.value - b.value; }
  friend Real operator*(Real a, Real b) { return a.value * b.value; }
  friend Real operator/(Real a, Real b) { return a.value / b.value; }
  friend int compare(Real a, Real b) { return a.value < b.value ? -1 : a.value > b.value ? 1 : 0; }
  friend Real floor(Real a) { return std::floor(a.value); }
  friend Real ceiling(Real a) { return std::ceil(a.value); }
  friend Real nearest_whole(Real a) { return std::floor(a.value + 0.5); }
  friend Real modulo(Real a, Real b) { return a.value - b.value * std::floor(a.value / b.value); }
  friend Real square_root(Real a) { return std::sqrt(a.value); }
  friend Real natural_logarithm(Real a) { return a.value > 0 ? logarithm_of(a.value) : NAN; }
  friend Real binary_logarithm(Real a) { return natural_logarithm(a) / logarithm_of(2); }
  // Small whole exponents by multiplication, so that whole numbers stay whole.
  friend Real power(Real base, Real exponent) {
    if (exponent.value == std::floor(exponent.value) && exponent.value >= 0 &&
        exponent.value <= 64) {
      double product = 1;
      for (double i = 0; i < exponent.value; ++i) product *= base.value;
      return product;
    }
    if (base.value <= 0) return NAN;
    const double ln = exponent.value * logarithm_of(base.value);
    return ln < 700 ? exponential_of(ln) : NAN;
  }
};

// The value of an expression about fields (columns) or totals (counts), whose values are given.
Real evaluated(const Node& node, std::span<const double> values) {
  if (node.kind == Node::Kind::constant) return node.constant.as_double();
  if (node.kind != Node::Kind::operation) return values[node.index];
  const auto part = [&](std::size_t i) { return evaluated(node.parts[i], values); };
  const auto holds = [&](std::size_t i) { return part(i).value != 0; };
  if (node.operation == Operator::conjunction) return holds(0) && holds(1) ? 1 : 0;
  if (node.operation == Operator::disjunction) return holds(0) || holds(1) ? 1 : 0;
  if (node.operation == Operator::choice) return holds(0) ? part(1) : part(2);
  const Real result = node.parts.size() == 1 ? applied(node.operation, part(0))
                                             : applied(node.operation, part(0), part(1));
  if (std::isfinite(result.value)) return result;
  throw Error("the importance function has no finite value in some configuration");
}

}  // namespace

// Looks up the names; throws Mistake.
struct PopulationFormula::Reader {
  const std::vector<FormulaField>& fields;
  const Constants& constants;
  std::vector<Aggregate>& totals;

  Node number(double value) const { return {.constant = Number::real(value)}; }

  Node joined(Operator which, Node a, Node b) const {
    Node result{.kind = Node::Kind::operation, .operation = which};
    result.parts.push_back(std::move(a));
    result.parts.push_back(std::move(b));
    return result;
  }

  // About the whole population, or about one agent.
  Node read(const Expression& expression, bool of_agent) const {
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

  Node operation_of(const Expression& expression, bool of_agent) const {
    const bool compares =
        expression.operation == Operator::equal || expression.operation == Operator::unequal;
    Node result{.kind = Node::Kind::operation, .operation = expression.operation};
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

  Node value_of(const FormulaField& field, const Expression& expression) const {
    const auto found = std::ranges::find(field.values, expression.name);
    if (expression.form == Form::name && found != field.values.end()) {
      return number(static_cast<double>(found - field.values.begin()));
    }
    const std::vector<std::string_view> names(field.values.begin(), field.values.end());
    throw Mistake(expression.place, unknown_name("value of " + field.name, expression.name, names));
  }

  Node name(const Expression& expression, const std::string& word, bool of_agent) const {
    if (const auto found = constants.find(word); found != constants.end()) {
      return number(found->second.as_double());
    }
    std::vector<std::string_view> known;
    for (const auto& constant : constants) known.push_back(constant.first);
    for (std::size_t i = 0; of_agent && i < fields.size(); ++i) {
      if (fields[i].name == word) return {.kind = Node::Kind::column, .index = i};
      if (fields[i].name == "state") {
        const auto value = std::ranges::find(fields[i].values, word);
        if (value != fields[i].values.end()) {
          return joined(Operator::equal, {.kind = Node::Kind::column, .index = i},
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

  Node one_of(const Expression& expression, bool of_agent) const {
    Node result = name(expression, expression.names[0].text, of_agent);
    for (std::size_t i = 1; i < expression.names.size(); ++i) {
      result = joined(Operator::disjunction, std::move(result),
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
  Node total(const Expression& expression, bool of_agent) const {
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
    Node value = read(expression.parts[0], true);
    if (!is_number) value = joined(Operator::unequal, std::move(value), number(0));
    totals.push_back({is_least     ? Total::least
                      : is_largest ? Total::largest
                                   : Total::sum,
                      std::move(value)});
    Node result{.kind = Node::Kind::count, .index = totals.size() - 1};
    const double n = constants.find("n")->second.as_double();
    if (is_mean) return joined(Operator::divide, std::move(result), number(n));
    if (is_number || expression.name == "count") return result;
    if (expression.name == "any") return joined(Operator::greater, std::move(result), number(0));
    const double wanted = expression.name == "all" ? n : 0;
    return joined(Operator::equal, std::move(result), number(wanted));
  }
};

PopulationFormula::PopulationFormula(std::string_view expression,
                                     const std::vector<FormulaField>& fields,
                                     const Constants& constants) {
  try {
    const Expression syntax = parse_all(expression, parse_expression);
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
  return evaluated(totals_[total].value, fields).value;
}

double PopulationFormula::value(std::span<const double> totals) const {
  return evaluated(value_, totals).value;
}

}  // namespace conclave::text
