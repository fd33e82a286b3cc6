// The blocks of rules: their names looked up, and run.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/rule.hpp"

namespace conclave::text {
namespace {

constexpr std::int64_t most_chosen = std::int64_t{1} << 16;

class BlockResolver {
 public:
  BlockResolver(Resolver& resolver, const StateSpace& space) : resolver_(resolver), space_(space) {}

  // Names given in a block are forgotten at its end.
  std::vector<Step> block(const std::vector<Statement>& statements, Scope scope) {
    const std::size_t known = resolver_.locals();
    std::vector<Step> steps;
    for (const Statement& each : statements) add(each, scope, steps);
    resolver_.forget_locals(known);
    return steps;
  }

 private:
  void add(const Statement& statement, Scope scope, std::vector<Step>& steps) {
    using Kind = Statement::Kind;
    resolver_.count_node(statement.place);
    if (statement.kind == Kind::each) {
      for (const Scope agent : {Scope::initiator, Scope::responder}) {
        for (Step& step : block(statement.body, agent)) steps.push_back(std::move(step));
      }
      return;
    }
    if (statement.kind == Kind::call) {
      return resolver_.with_step(statement.name, statement.place, [&](const auto& body) {
        for (Step& step : block(body, scope)) steps.push_back(std::move(step));
      });
    }
    steps.push_back(one(statement, scope));
  }

  Step one(const Statement& statement, Scope scope) {
    using Kind = Statement::Kind;
    Step step{.kind = statement.kind, .place = statement.place};
    const auto number = [&](std::size_t i) {
      step.values.push_back(resolver_.number(statement.values[i], scope));
    };
    switch (statement.kind) {
      case Kind::let:
        step.values.push_back(resolver_.anything(statement.values[0], scope));
        step.local = resolver_.declare_local(statement.name, step.values[0].type, statement.place);
        break;
      case Kind::choose:
        number(0);
        number(1);
        step.local = resolver_.declare_local(statement.name, number_type, statement.place);
        break;
      case Kind::chance:
        number(0);
        break;
      case Kind::branch:
        step.values.push_back(resolver_.condition(statement.values[0], scope));
        break;
      case Kind::rules:
        add_rules(statement, step);
        break;
      default:
        for (const auto& each : statement.changes) step.changes.push_back(change(each, scope));
        refuse_two_values(step, statement);
    }
    step.body = block(statement.body, scope);
    step.otherwise = block(statement.otherwise, scope);
    return step;
  }

  void add_rules(const Statement& statement, Step& step) {
    for (const RuleText& text : statement.rules) {
      step.rules.emplace_back(text, false, resolver_, space_);
      if (text.is_unordered) step.rules.emplace_back(text, true, resolver_, space_);
    }
  }

  Change change(const Statement::Change& text, Scope scope) {
    const Name& name = text.assignment.field;
    const std::size_t field = resolver_.field_index(name);
    std::size_t agent = text.agent == 'v' || scope == Scope::responder ? 1 : 0;
    if (text.agent == 'u') agent = 0;
    if (text.agent == 0 && scope == Scope::pair) {
      throw Mistake(name.place, fmt::format("{0} is a field of two agents here: write u.{0} or "
                                            "v.{0}, or each {{ {0} = ... }}",
                                            name.text));
    }
    return {agent, field, resolver_.value(text.assignment.value, scope, field)};
  }

  static void refuse_two_values(const Step& step, const Statement& statement) {
    for (std::size_t i = 0; i < step.changes.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (step.changes[i].agent != step.changes[j].agent) continue;
        if (step.changes[i].field != step.changes[j].field) continue;
        const Name& name = statement.changes[i].assignment.field;
        throw Mistake(name.place, fmt::format("{} gets two values", name.text));
      }
    }
  }

  Resolver& resolver_;
  const StateSpace& space_;
};

void set_local(Execution& execution, std::size_t index, const Number& value) {
  if (execution.locals.size() <= index) execution.locals.resize(index + 1);
  execution.locals[index] = value;
}

std::int64_t range_bound(const Node& node, const Execution& execution) {
  const Number number = evaluate(node, execution.scene());
  const auto value = number.small();
  constexpr std::int64_t most = std::int64_t{1} << 61;
  if (value && *value >= -most && *value <= most) return *value;
  throw Mistake(node.place,
                fmt::format("{} is no bound of a range of whole numbers", to_string(number)));
}

void choose(const Step& step, Execution& execution) {
  const std::int64_t low = range_bound(step.values[0], execution);
  const std::int64_t high = range_bound(step.values[1], execution);
  if (low > high || high - low >= most_chosen) {
    throw Mistake(step.place,
                  fmt::format("{}..{} is no range of 1 to {} numbers", low, high, most_chosen));
  }
  const std::size_t way = execution.paths->choose(static_cast<std::size_t>(high - low) + 1);
  set_local(execution, step.local, Number(low + static_cast<std::int64_t>(way)));
}

bool happens(const Step& step, Execution& execution) {
  const Number chance = evaluate(step.values[0], execution.scene());
  check_probability(chance, step.values[0].place);
  return execution.paths->decide({chance, Number(1) - chance}) == 0;
}

void run(const Step& step, Execution& execution) {
  using Kind = Step::Kind;
  const Scene before = execution.scene();
  switch (step.kind) {
    case Kind::let:
      return set_local(execution, step.local, evaluate(step.values[0], before));
    case Kind::choose:
      return choose(step, execution);
    case Kind::chance:
      return run(happens(step, execution) ? step.body : step.otherwise, execution);
    case Kind::branch:
      return run(holds(step.values[0], before) ? step.body : step.otherwise, execution);
    case Kind::rules:
      for (const Rule& rule : step.rules) {
        if (rule.carry_out(execution)) return;
      }
      return;
    default:
      execution.agents = {changed(before.agents[0], step.changes, 0, before),
                          changed(before.agents[1], step.changes, 1, before)};
  }
}

std::int64_t new_value(const Change& change, const Scene& scene) {
  const Field& field = scene.space->fields()[change.field];
  const Number number = evaluate(change.value, scene);
  const auto value = number.small();
  if (value && *value >= field.low && *value <= field.high) return *value;
  throw Mistake(
      change.value.place,
      fmt::format("{} becomes {}, which is not in {}, when u is {} and v is {}", field.name,
                  to_string(number), field.domain(), scene.space->name(scene.agents[0]),
                  scene.space->name(scene.agents[1])));
}

}  // namespace

std::vector<Step> resolved_block(const std::vector<Statement>& block, Scope scope,
                                 Resolver& resolver, const StateSpace& space) {
  return BlockResolver(resolver, space).block(block, scope);
}

void run(const std::vector<Step>& block, Execution& execution) {
  for (const Step& step : block) run(step, execution);
}

StateIndex changed(StateIndex state, const std::vector<Change>& changes, std::size_t agent,
                   const Scene& scene) {
  for (const Change& change : changes) {
    if (change.agent == agent) {
      state = scene.space->with(state, change.field, new_value(change, scene));
    }
  }
  return state;
}

void check_probability(const Number& chance, Place place) {
  if (chance.is_real()) throw Mistake(place, "a probability is an exact number, such as 1/3");
  if (compare(chance, 0) < 0 || compare(chance, 1) > 0) {
    throw Mistake(place, fmt::format("{} is no probability", to_string(chance)));
  }
}

}  // namespace conclave::text
