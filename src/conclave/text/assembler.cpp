// The file is long because every kind of expression, condition and statement has its own code.
#include "conclave/text/assembler.hpp"

#include <algorithm>
#include <utility>

namespace conclave::text {
namespace {

constexpr std::size_t most_instructions = 20'000;
constexpr Number::Whole largest_value = Number::Whole{1} << 62;

bool is_truth_value(const Node& node) {
  return node.type.kind == Type::Kind::condition &&
         (node.kind == Node::Kind::column || node.kind == Node::Kind::local);
}

bool is_constant(const Node& node) { return node.kind == Node::Kind::constant; }

}  // namespace

std::vector<Program::Instruction> Assembler::finished() {
  emit({.operation = Operation::finish});
  return is_too_large_ ? std::vector<Instruction>() : std::move(code_);
}

std::size_t Assembler::emit(Instruction instruction) {
  is_too_large_ = is_too_large_ || code_.size() >= most_instructions;
  if (!is_too_large_) code_.push_back(instruction);
  return code_.size() - 1;
}

void Assembler::place(const Label& label) {
  for (const std::size_t jump : label) code_[jump].next = static_cast<std::uint32_t>(code_.size());
}

std::uint8_t Assembler::fresh_word() {
  if (words_ + 1 >= Program::word_count) is_too_large_ = true;
  return static_cast<std::uint8_t>(is_too_large_ ? words_ : words_++);
}

Program::Operand Assembler::of_field(std::size_t field, std::size_t agent) const {
  return {.mask = space_.mask(field),
          .add = space_.fields()[field].low,
          .word = agents_[agent],
          .shift = static_cast<std::uint8_t>(space_.shift(field))};
}

// Into a fresh register, if the bounds allow it.
Assembler::Found Assembler::stored(Operation operation, const Operand& a, const Operand& b,
                                   Number::Whole low, Number::Whole high) {
  if (low < -largest_value || high > largest_value) return std::nullopt;
  const std::uint8_t word = fresh_word();
  emit({.operation = operation, .target = word, .a = a, .b = b});
  return Value{of_word(word), low, high};
}

Assembler::Found Assembler::whole_constant(const Node& node) const {
  const auto value = node.constant.small();
  if (!value || *value < -largest_value || *value > largest_value) return std::nullopt;
  return Value{constant(*value), *value, *value};
}

Assembler::Found Assembler::number(const Node& node) {
  switch (node.kind) {
    case Node::Kind::constant:
      return whole_constant(node);
    case Node::Kind::column: {
      const Field& field = space_.fields()[node.index];
      return Value{of_field(node.index, node.agent), field.low, field.high};
    }
    case Node::Kind::local:
      if (const auto found = locals_.find(node.index); found != locals_.end()) return found->second;
      return std::nullopt;
    case Node::Kind::operation:
      return operation(node);
    default:
      return std::nullopt;
  }
}

Assembler::Found Assembler::operation(const Node& node) {
  switch (node.operation) {
    case Operator::add:
    case Operator::subtract:
    case Operator::negate:
      return sum(node);
    case Operator::multiply:
      return product(node);
    case Operator::modulo:
      return remainder(node);
    case Operator::floor:
      return rounded_down(node);
    case Operator::minimum:
    case Operator::maximum:
    case Operator::absolute:
      return extreme(node);
    case Operator::choice:
      return choice(node);
    case Operator::divide:
    case Operator::power:
    case Operator::ceiling:
    case Operator::nearest:
    case Operator::square_root:
    case Operator::binary_logarithm:
    case Operator::natural_logarithm:
      return std::nullopt;
    default:
      return truth(node);
  }
}

Assembler::Found Assembler::sum(const Node& node) {
  const bool negates = node.operation == Operator::negate;
  const Found a = negates ? Found(Value{constant(0), 0, 0}) : number(node.parts[0]);
  const Found b = number(node.parts[negates ? 0 : 1]);
  if (!a || !b) return std::nullopt;
  if (node.operation == Operator::add) {
    return stored(Operation::add, a->operand, b->operand, a->low + b->low, a->high + b->high);
  }
  return stored(Operation::subtract, a->operand, b->operand, a->low - b->high, a->high - b->low);
}

Assembler::Found Assembler::product(const Node& node) {
  const Found a = number(node.parts[0]);
  const Found b = number(node.parts[1]);
  if (!a || !b) return std::nullopt;
  const auto corners = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
  return stored(Operation::multiply, a->operand, b->operand, std::min(corners), std::max(corners));
}

Assembler::Found Assembler::remainder(const Node& node) {
  const Found a = number(node.parts[0]);
  const Found b = number(node.parts[1]);
  if (!a || !b || b->low <= 0) return std::nullopt;
  const bool is_near = a->low > -b->low && a->high < 2 * b->low;
  if (!is_near) return stored(Operation::modulo, a->operand, b->operand, 0, b->high - 1);
  const Found result = stored(Operation::wrap, a->operand, b->operand, 0, b->high - 1);
  code_.back().largest =
      (a->low < 0 ? Program::may_be_negative : 0) | (a->high >= b->low ? Program::may_be_large : 0);
  return result;
}

// floor(a / b) for a divisor that is positive; what is whole is its own floor.
Assembler::Found Assembler::rounded_down(const Node& node) {
  const Node& inner = node.parts[0];
  if (inner.kind != Node::Kind::operation || inner.operation != Operator::divide) {
    return number(inner);
  }
  const Found a = number(inner.parts[0]);
  const Found b = number(inner.parts[1]);
  if (!a || !b || b->low <= 0) return std::nullopt;
  return stored(Operation::divide, a->operand, b->operand, std::min<Number::Whole>(a->low, 0) - 1,
                std::max<Number::Whole>(a->high, 0));
}

Assembler::Found Assembler::extreme(const Node& node) {
  const Found a = number(node.parts[0]);
  if (!a) return std::nullopt;
  if (node.operation == Operator::absolute) {
    const Found opposite = stored(Operation::subtract, constant(0), a->operand, -a->high, -a->low);
    if (!opposite) return std::nullopt;
    return stored(Operation::maximum, a->operand, opposite->operand, 0, std::max(a->high, -a->low));
  }
  const Found b = number(node.parts[1]);
  if (!b) return std::nullopt;
  if (node.operation == Operator::minimum) {
    return stored(Operation::minimum, a->operand, b->operand, std::min(a->low, b->low),
                  std::min(a->high, b->high));
  }
  return stored(Operation::maximum, a->operand, b->operand, std::max(a->low, b->low),
                std::max(a->high, b->high));
}

Assembler::Found Assembler::choice(const Node& node) {
  Label otherwise, end;
  if (!jump_unless(node.parts[0], otherwise)) return std::nullopt;
  const std::uint8_t word = fresh_word();
  const Found yes = number(node.parts[1]);
  if (!yes) return std::nullopt;
  emit({.operation = Operation::move, .target = word, .a = yes->operand});
  jump(end);
  place(otherwise);
  const Found no = number(node.parts[2]);
  if (!no) return std::nullopt;
  emit({.operation = Operation::move, .target = word, .a = no->operand});
  place(end);
  return Value{of_word(word), std::min(yes->low, no->low), std::max(yes->high, no->high)};
}

// A condition as 0 or 1; the opposite of a truth value without a jump, which could not be foreseen.
Assembler::Found Assembler::truth(const Node& node) {
  if (node.operation == Operator::negation && is_truth_value(node.parts[0])) {
    const Found value = number(node.parts[0]);
    if (value) return stored(Operation::subtract, constant(1), value->operand, 0, 1);
  }
  Label end;
  const std::uint8_t word = fresh_word();
  emit({.operation = Operation::move, .target = word, .a = constant(0)});
  if (!jump_unless(node, end)) return std::nullopt;
  emit({.operation = Operation::move, .target = word, .a = constant(1)});
  place(end);
  return Value{of_word(word), 0, 1};
}

bool Assembler::jump_where(const Node& condition, bool holds, Label& to) {
  if (is_constant(condition)) {
    if ((compare(condition.constant, 0) != 0) == holds) jump(to);
    return true;
  }
  if (condition.kind != Node::Kind::operation) {
    const Found value = number(condition);
    if (!value) return false;
    emit_comparison(Operator::unequal, value->operand, constant(0), holds, to);
    return true;
  }
  switch (condition.operation) {
    case Operator::negation:
      return jump_where(condition.parts[0], !holds, to);
    case Operator::conjunction:
    case Operator::disjunction:
      return jump_where_joined(condition, holds, to);
    case Operator::equal:
    case Operator::unequal:
    case Operator::less:
    case Operator::less_equal:
    case Operator::greater:
    case Operator::greater_equal:
      return jump_where_compared(condition, holds, to);
    default: {
      const Found value = number(condition);
      if (!value) return false;
      emit_comparison(Operator::unequal, value->operand, constant(0), holds, to);
      return true;
    }
  }
}

// `a and b` fails where one of them does; `a or b` holds where one of them does. The other way
// round, the first must be passed before the second counts.
bool Assembler::jump_where_joined(const Node& condition, bool holds, Label& to) {
  const bool one_is_enough = (condition.operation == Operator::disjunction) == holds;
  if (one_is_enough) {
    return jump_where(condition.parts[0], holds, to) && jump_where(condition.parts[1], holds, to);
  }
  Label past;
  if (!jump_where(condition.parts[0], !holds, past)) return false;
  if (!jump_where(condition.parts[1], holds, to)) return false;
  place(past);
  return true;
}

bool Assembler::jump_where_compared(const Node& condition, bool holds, Label& to) {
  const Node& left = condition.parts[0];
  const Node& right = condition.parts[1];
  if (is_constant(right) && !right.constant.is_whole()) {
    return jump_where_beside(condition.operation, left, right.constant, holds, to);
  }
  if (is_constant(left) && !left.constant.is_whole()) {
    const auto turned = [&] {
      switch (condition.operation) {
        case Operator::less:
          return Operator::greater;
        case Operator::less_equal:
          return Operator::greater_equal;
        case Operator::greater:
          return Operator::less;
        case Operator::greater_equal:
          return Operator::less_equal;
        default:
          return condition.operation;
      }
    }();
    return jump_where_beside(turned, right, left.constant, holds, to);
  }
  const Found a = number(left);
  const Found b = number(right);
  if (!a || !b) return false;
  emit_comparison(condition.operation, a->operand, b->operand, holds, to);
  return true;
}

// A whole number beside a fraction: x < 7/2 is x < 4, and x <= 7/2 is the same.
bool Assembler::jump_where_beside(Operator operation, const Node& side, const Number& fraction,
                                  bool holds, Label& to) {
  if (fraction.is_real()) return false;
  const auto above = ceiling(fraction).small();
  const Found a = number(side);
  if (!a || !above || *above < -largest_value || *above > largest_value) return false;
  const bool is_less = operation == Operator::less || operation == Operator::less_equal;
  if (operation == Operator::equal || operation == Operator::unequal) {
    if ((operation == Operator::unequal) == holds) jump(to);
    return true;
  }
  emit_comparison(is_less ? Operator::less : Operator::greater_equal, a->operand, constant(*above),
                  holds, to);
  return true;
}

void Assembler::emit_comparison(Operator operation, const Operand& a, const Operand& b, bool holds,
                                Label& to) {
  const auto add = [&](Operation where, Operation where_not, const Operand& x, const Operand& y) {
    to.push_back(emit({.operation = holds ? where : where_not, .a = x, .b = y}));
  };
  switch (operation) {
    case Operator::equal:
      return add(Operation::jump_if_equal, Operation::jump_if_unequal, a, b);
    case Operator::unequal:
      return add(Operation::jump_if_unequal, Operation::jump_if_equal, a, b);
    case Operator::less:
      return add(Operation::jump_if_less, Operation::jump_if_not_less, a, b);
    case Operator::greater_equal:
      return add(Operation::jump_if_not_less, Operation::jump_if_less, a, b);
    case Operator::greater:
      return add(Operation::jump_if_less, Operation::jump_if_not_less, b, a);
    default:
      return add(Operation::jump_if_not_less, Operation::jump_if_less, b, a);
  }
}

void Assembler::add_sum(const std::vector<Node>& conditions,
                        const std::vector<std::uint64_t>& words) {
  const Operand sum = of_word(2);
  emit({.operation = Operation::move, .target = 2, .a = constant(0)});
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    Label next;
    if (!jump_unless(conditions[i], next)) give_up();
    emit({.operation = Operation::add,
          .target = 2,
          .a = sum,
          .b = constant(static_cast<std::int64_t>(words[i]))});
    place(next);
  }
}

void Assembler::add_rules(const std::vector<Rule>& rules) {
  Label done;
  for (const Rule& rule : rules) add_rule(rule, done);
  place(done);
}

// The rule if it applies, and then to `done`; otherwise on to the next.
void Assembler::add_rule(const Rule& rule, Label& done) {
  Label next;
  if (rule.is_mirrored_) std::swap(agents_[0], agents_[1]);
  if (!add_conditions(rule, next)) give_up();
  if (rule.has_block_) {
    add_block(rule.block_);
  } else if (!add_outcome(rule)) {
    give_up();
  }
  if (rule.is_mirrored_) std::swap(agents_[0], agents_[1]);
  jump(done);
  place(next);
}

bool Assembler::add_conditions(const Rule& rule, Label& next) {
  return add_side(rule.initiator_, 0, next) && add_side(rule.responder_, 1, next) &&
         (!rule.guard_ || jump_unless(*rule.guard_, next));
}

// The conditions of a side are about the agent that is called u there.
bool Assembler::add_side(const Rule::Side& side, std::size_t agent, Label& next) {
  const auto before = agents_;
  agents_[0] = agents_[1] = before[agent];
  bool is_done = true;
  if (!side.states.empty()) {
    Label fits;
    for (const std::int64_t state : side.states) {
      emit_comparison(Operator::equal, of_field(side.state_column, 0), constant(state), true, fits);
    }
    jump(next);
    place(fits);
  }
  for (const Node& condition : side.conditions) {
    is_done = is_done && jump_unless(condition, next);
  }
  agents_ = before;
  return is_done;
}

bool Assembler::add_outcome(const Rule& rule) {
  if (rule.possibilities_.size() != 1 || rule.possibilities_[0].probability) return false;
  const auto& [place, u, v, probability] = rule.possibilities_[0];
  std::vector<Change> changes = u.changes;
  changes.insert(changes.end(), v.changes.begin(), v.changes.end());
  if (u.like == 0 && v.like == 1) return add_changes(changes);
  // Copies of whole agents come with no changes of their own, or are left to the rule.
  if (!changes.empty()) return false;
  const Found old_u = stored(Operation::move, of_word(agents_[0]), {}, 0, 0);
  const Found old_v = stored(Operation::move, of_word(agents_[1]), {}, 0, 0);
  const auto copy = [&](std::size_t agent, std::size_t like) {
    emit({.operation = Operation::move,
          .target = agents_[agent],
          .a = like == 0 ? old_u->operand : old_v->operand});
  };
  copy(0, u.like);
  copy(1, v.like);
  return true;
}

// Whether a change is `coin = not coin`.
bool Assembler::is_flip(const Change& change) const {
  const Node& value = change.value;
  if (!space_.fields()[change.field].is_boolean || value.kind != Node::Kind::operation ||
      value.operation != Operator::negation) {
    return false;
  }
  const Node& flipped = value.parts[0];
  return flipped.kind == Node::Kind::column && flipped.index == change.field &&
         flipped.agent == change.agent;
}

// All values are computed before the first is stored.
bool Assembler::add_changes(const std::vector<Change>& changes) {
  std::vector<Value> values;
  for (const Change& change : changes) {
    Found value = is_flip(change) ? Found(Value{{}, 0, 0}) : number(change.value);
    if (!value) return false;
    const bool reads_an_agent = value->operand.mask != 0 && value->operand.word < 2;
    if (reads_an_agent && changes.size() > 1) {
      value = stored(Operation::move, value->operand, {}, value->low, value->high);
      if (!value) return false;
    }
    values.push_back(*value);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Field& field = space_.fields()[changes[i].field];
    const bool fits = values[i].low >= field.low && values[i].high <= field.high;
    emit({.operation = is_flip(changes[i]) ? Operation::flip
                       : fits              ? Operation::store
                                           : Operation::store_checked,
          .target = agents_[changes[i].agent],
          .largest = static_cast<std::uint64_t>(field.high - field.low),
          .a = values[i].operand,
          .b = of_field(changes[i].field, changes[i].agent)});
  }
  return true;
}

void Assembler::add_block(const std::vector<Step>& block) {
  for (const Step& step : block) {
    if (add_step(step)) continue;
    give_up();
    return;
  }
}

bool Assembler::add_step(const Step& step) {
  using Kind = Step::Kind;
  switch (step.kind) {
    case Kind::assign:
      return add_changes(step.changes);
    case Kind::let: {
      Found value = number(step.values[0]);
      // A name keeps its value when the field that it came from changes.
      if (value) value = stored(Operation::move, value->operand, {}, value->low, value->high);
      if (!value) return false;
      locals_.insert_or_assign(step.local, *value);
      return true;
    }
    case Kind::branch:
      return add_branch(step);
    case Kind::rules: {
      Label done;
      for (const Rule& rule : step.rules) add_rule(rule, done);
      place(done);
      return true;
    }
    default:  // draws
      return false;
  }
}

bool Assembler::add_branch(const Step& step) {
  Label otherwise, end;
  if (!jump_unless(step.values[0], otherwise)) return false;
  add_block(step.body);
  jump(end);
  place(otherwise);
  add_block(step.otherwise);
  place(end);
  return true;
}

}  // namespace conclave::text
