// The statement `computes`, in which the names of states mean how many agents start there.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

Expression operation(Operator which, Place place, std::vector<Expression> parts) {
  return {.form = Form::operation, .place = place, .operation = which, .parts = std::move(parts)};
}

Expression both(const std::optional<Expression>& known, Expression condition) {
  if (!known) return condition;
  const Place place = condition.place;
  return operation(Operator::conjunction, place, {*known, std::move(condition)});
}

bool is_choice(const Expression& value) {
  return value.form == Form::operation && value.operation == Operator::choice;
}

// The ends of nested choices, each with the condition under which it is reached.
void add_cases(const Expression& value, const std::optional<Expression>& known,
               std::vector<ComputationText::Case>& cases) {
  if (value.form == Form::name && known) {
    cases.push_back({*known, {value.name, value.place}});
    return;
  }
  if (!is_choice(value)) throw Mistake(value.place, "expected the name of an output");
  const Expression& condition = value.parts[0];
  add_cases(value.parts[1], both(known, condition), cases);
  add_cases(value.parts[2],
            both(known, operation(Operator::negation, condition.place, {condition})), cases);
}

void add_states(const Document& document, const Expression& expression, std::vector<Name>& states) {
  const auto add = [&](const Name& name) {
    const bool is_known = std::ranges::find(states, name.text, &Name::text) != states.end();
    if (!is_known && is_state(document, name.text)) states.push_back(name);
  };
  if (expression.form == Form::name) add({expression.name, expression.place});
  std::ranges::for_each(expression.names, add);
  for (const Expression& part : expression.parts) add_states(document, part, states);
}

}  // namespace

// `if A > B then yes else no over A, B when A != B`; `A > B` alone has the outputs yes and no.
ComputationText parse_computation(Cursor& cursor) {
  const Token& begin = cursor.here();
  ComputationText result{.place = begin.place};
  Expression value = parse_expression(cursor);
  if (cursor.take_word_if("over")) {
    do {
      result.inputs.push_back(cursor.need_name("the name of a state"));
    } while (cursor.take_if(","));
  }
  std::optional<Expression> premise;
  if (cursor.take_word_if("when")) premise = parse_expression(cursor);
  if (!is_choice(value)) {
    const Place place = value.place;
    const Expression yes{.form = Form::name, .place = place, .name = "yes"};
    const Expression no{.form = Form::name, .place = place, .name = "no"};
    value = operation(Operator::choice, place, {std::move(value), yes, no});
  }
  add_cases(value, premise, result.cases);
  result.text = cursor.written_since(begin);
  return result;
}

void complete_computations(Document& document) {
  for (ComputationText& each : document.computations) {
    const bool is_listed = !each.inputs.empty();
    for (ComputationText::Case& one : each.cases) {
      if (!is_listed) add_states(document, one.condition, each.inputs);
      read_as_counts(document, one.condition);
    }
    if (!each.inputs.empty()) continue;
    throw Mistake(each.place,
                  "this names no state in which agents start; add 'over' and a list of states");
  }
}

}  // namespace conclave::text
