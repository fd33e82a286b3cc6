// The file is long because every kind of expression, condition and statement has its own code.
#include "conclave/text/program.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "conclave/text/rule.hpp"

namespace conclave::text {
namespace {

using Machine = RegisterMachine;
using Operation = Machine::Operation;
using Operand = Machine::Operand;

constexpr std::size_t most_instructions = 20'000;
constexpr Number::Whole largest_value = Number::Whole{1} << 62;

// A number with the bounds that it cannot leave.
struct Value {
  Operand operand;
  Number::Whole low, high;
};
using Found = std::optional<Value>;  // nothing: the machine cannot compute it

// The jumps that wait for a place in the code.
using Label = std::vector<std::size_t>;

Operand constant(std::int64_t value) { return {.add = value}; }
Operand of_word(std::uint8_t word) { return {.mask = ~std::uint64_t{0}, .word = word}; }

bool is_constant(const Node& node) { return node.kind == Node::Kind::constant; }
bool is_truth_value(const Node& node) {
  return node.type.kind == Type::Kind::condition &&
         (node.kind == Node::Kind::column || node.kind == Node::Kind::local);
}

Found whole_constant(const Number& number) {
  const auto value = number.small();
  if (!value || *value < -largest_value || *value > largest_value) return std::nullopt;
  return Value{constant(*value), *value, *value};
}

// The comparison with its sides exchanged.
Operator turned(Operator comparison) {
  switch (comparison) {
    case Operator::less:
      return Operator::greater;
    case Operator::less_equal:
      return Operator::greater_equal;
    case Operator::greater:
      return Operator::less;
    case Operator::greater_equal:
      return Operator::less_equal;
    default:
      return comparison;
  }
}

}  // namespace

// Makes code of resolved rules and conditions. Registers are given back where what they hold is no
// longer needed: behind a comparison, and at the end of a block.
class Assembler {
 public:
  Assembler(const StateSpace& space, AgentCount n) : space_(space), n_(n) {}

  void add_rules(const std::vector<Rule>& rules) {
    Label done;
    for (const Rule& rule : rules) add_rule(rule, done);
    place(done);
  }

  void add_sum(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words) {
    emit({.operation = Operation::move, .target = Machine::result_word, .a = constant(0)});
    for (std::size_t i = 0; i < conditions.size(); ++i) {
      Label next;
      if (!jump_unless(conditions[i], next)) give_up();
      emit({.operation = Operation::add,
            .target = Machine::result_word,
            .a = of_word(Machine::result_word),
            .b = constant(static_cast<std::int64_t>(words[i]))});
      place(next);
    }
  }

  // The code; none where it has grown too large or needs too many registers.
  std::vector<Program::Instruction> finished() {
    emit({.operation = Operation::finish});
    if (is_too_large_) return {};
    for (Program::Instruction& each : code_) shorten(each);
    return std::move(code_);
  }
  bool is_complete() const { return is_complete_ && !is_too_large_; }

 private:
  // A jump to a jump leads where that one leads, and a jump to the end is the end.
  void shorten(Program::Instruction& jump) const {
    if (jump.operation < Operation::jump || jump.operation > Operation::jump_if_not_less) return;
    while (code_[jump.next].operation == Operation::jump) jump.next = code_[jump.next].next;
    const bool ends = code_[jump.next].operation == Operation::finish;
    if (jump.operation == Operation::jump && ends) jump.operation = Operation::finish;
  }

  std::size_t emit(const Program::Instruction& instruction) {
    is_too_large_ = is_too_large_ || code_.size() >= most_instructions;
    if (!is_too_large_) code_.push_back(instruction);
    return code_.size() - 1;
  }
  void jump(Label& to) { to.push_back(emit({.operation = Operation::jump})); }
  void give_up() {
    emit({.operation = Operation::unknown});
    is_complete_ = false;
  }
  void place(const Label& label) {
    for (const std::size_t jump : label) {
      code_[jump].next = static_cast<std::uint32_t>(code_.size());
    }
  }

  std::uint8_t fresh_word() {
    if (words_ + 1 >= Machine::word_count) is_too_large_ = true;
    return static_cast<std::uint8_t>(is_too_large_ ? words_ : words_++);
  }
  // Into a fresh register, if the bounds allow it.
  Found stored(Operation operation, const Operand& a, const Operand& b, Number::Whole low,
               Number::Whole high) {
    if (low < -largest_value || high > largest_value) return std::nullopt;
    const std::uint8_t word = fresh_word();
    emit({.operation = operation, .target = word, .a = a, .b = b});
    return Value{of_word(word), low, high};
  }
  Operand of_field(std::size_t field, std::size_t agent) const {
    return {.mask = space_.mask(field),
            .add = space_.fields()[field].low,
            .word = agents_[agent],
            .shift = static_cast<std::uint8_t>(space_.shift(field))};
  }

  Found number(const Node& node) {
    switch (node.kind) {
      case Node::Kind::constant:
        return whole_constant(node.constant);
      case Node::Kind::column: {
        const Field& field = space_.fields()[node.index];
        return Value{of_field(node.index, node.agent), field.low, field.high};
      }
      case Node::Kind::local:
        if (const auto found = locals_.find(node.index); found != locals_.end()) {
          return found->second;
        }
        return std::nullopt;
      case Node::Kind::count:
        if (node.index >= Machine::most_counts) return std::nullopt;
        return Value{of_word(static_cast<std::uint8_t>(Machine::first_count + node.index)), 0, n_};
      case Node::Kind::operation:
        return operation(node);
      default:
        return std::nullopt;
    }
  }

  Found operation(const Node& node) {
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
        return extreme(node);
      case Operator::absolute:
        return magnitude(node);
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

  Found sum(const Node& node) {
    const bool negates = node.operation == Operator::negate;
    const Found a = negates ? Found(Value{constant(0), 0, 0}) : number(node.parts[0]);
    const Found b = number(node.parts[negates ? 0 : 1]);
    if (!a || !b) return std::nullopt;
    if (node.operation == Operator::add) {
      return stored(Operation::add, a->operand, b->operand, a->low + b->low, a->high + b->high);
    }
    return stored(Operation::subtract, a->operand, b->operand, a->low - b->high, a->high - b->low);
  }

  Found product(const Node& node) {
    const Found a = number(node.parts[0]);
    const Found b = number(node.parts[1]);
    if (!a || !b) return std::nullopt;
    const auto ends = {a->low * b->low, a->low * b->high, a->high * b->low, a->high * b->high};
    return stored(Operation::multiply, a->operand, b->operand, std::min(ends), std::max(ends));
  }

  Found remainder(const Node& node) {
    const Found a = number(node.parts[0]);
    const Found b = number(node.parts[1]);
    if (!a || !b || b->low <= 0) return std::nullopt;
    const bool is_near = a->low > -b->low && a->high < 2 * b->low;
    return stored(is_near ? Operation::wrap : Operation::modulo, a->operand, b->operand, 0,
                  b->high - 1);
  }

  // floor(a / b) for a divisor that is positive; what is whole is its own floor.
  Found rounded_down(const Node& node) {
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

  Found extreme(const Node& node) {
    const Found a = number(node.parts[0]);
    const Found b = number(node.parts[1]);
    if (!a || !b) return std::nullopt;
    if (node.operation == Operator::minimum) {
      return stored(Operation::minimum, a->operand, b->operand, std::min(a->low, b->low),
                    std::min(a->high, b->high));
    }
    return stored(Operation::maximum, a->operand, b->operand, std::max(a->low, b->low),
                  std::max(a->high, b->high));
  }

  Found magnitude(const Node& node) {
    const Found a = number(node.parts[0]);
    if (!a) return std::nullopt;
    const Found opposite = stored(Operation::subtract, constant(0), a->operand, -a->high, -a->low);
    if (!opposite) return std::nullopt;
    return stored(Operation::maximum, a->operand, opposite->operand, 0, std::max(a->high, -a->low));
  }

  Found choice(const Node& node) {
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

  // A condition as 0 or 1; the opposite of a truth value without a jump, which could not be
  // foreseen.
  Found truth(const Node& node) {
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

  // Jumps unless, or if, the condition holds. False if the machine cannot tell; what has been
  // emitted is then of no use.
  bool jump_unless(const Node& condition, Label& to) { return jump_where(condition, false, to); }

  bool jump_where(const Node& condition, bool holds, Label& to) {
    if (is_constant(condition)) {
      if ((compare(condition.constant, 0) != 0) == holds) jump(to);
      return true;
    }
    if (condition.kind == Node::Kind::operation) {
      const Operator which = condition.operation;
      if (which == Operator::negation) return jump_where(condition.parts[0], !holds, to);
      if (is_comparison(which)) return jump_where_compared(condition, holds, to);
      if (which == Operator::conjunction || which == Operator::disjunction) {
        return jump_where_joined(condition, holds, to);
      }
    }
    const Found value = number(condition);
    if (!value) return false;
    compare_and_jump(Operator::unequal, value->operand, constant(0), holds, to);
    return true;
  }

  // `a and b` fails where one of them does; `a or b` holds where one of them does. The other way
  // round, the first must be passed before the second counts.
  bool jump_where_joined(const Node& condition, bool holds, Label& to) {
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

  bool jump_where_compared(const Node& condition, bool holds, Label& to) {
    const Node& left = condition.parts[0];
    const Node& right = condition.parts[1];
    const std::size_t kept = words_;
    if (is_constant(right) && !right.constant.is_whole()) {
      return jump_where_beside(condition.operation, left, right.constant, holds, to);
    }
    if (is_constant(left) && !left.constant.is_whole()) {
      return jump_where_beside(turned(condition.operation), right, left.constant, holds, to);
    }
    const Found a = number(left);
    const Found b = number(right);
    if (!a || !b) return false;
    compare_and_jump(condition.operation, a->operand, b->operand, holds, to);
    words_ = kept;
    return true;
  }

  // A whole number beside a fraction: x < 7/2 is x < 4, and x <= 7/2 is the same.
  bool jump_where_beside(Operator operation, const Node& side, const Number& fraction, bool holds,
                         Label& to) {
    if (fraction.is_real()) return false;
    const Found above = whole_constant(ceiling(fraction));
    const Found a = number(side);
    if (!a || !above) return false;
    if (operation == Operator::equal || operation == Operator::unequal) {
      if ((operation == Operator::unequal) == holds) jump(to);
      return true;
    }
    const bool is_less = operation == Operator::less || operation == Operator::less_equal;
    compare_and_jump(is_less ? Operator::less : Operator::greater_equal, a->operand, above->operand,
                     holds, to);
    return true;
  }

  void compare_and_jump(Operator operation, const Operand& a, const Operand& b, bool holds,
                        Label& to) {
    const bool is_turned = operation == Operator::greater || operation == Operator::less_equal;
    const bool is_equality = operation == Operator::equal || operation == Operator::unequal;
    const bool is_positive = operation == Operator::equal || operation == Operator::less ||
                             operation == Operator::greater;
    Operation where = is_positive == holds ? Operation::jump_if_less : Operation::jump_if_not_less;
    if (is_equality) {
      where = is_positive == holds ? Operation::jump_if_equal : Operation::jump_if_unequal;
    }
    to.push_back(emit({.operation = where, .a = is_turned ? b : a, .b = is_turned ? a : b}));
  }

  // The rule if it applies, and then to `done`; otherwise on to the next.
  void add_rule(const Rule& rule, Label& done) {
    Label next;
    const std::size_t kept = words_;
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
    words_ = kept;
  }

  bool add_conditions(const Rule& rule, Label& next) {
    return add_side(rule.initiator_, 0, next) && add_side(rule.responder_, 1, next) &&
           (!rule.guard_ || jump_unless(*rule.guard_, next));
  }

  // The conditions of a side are about the agent that is called u there.
  bool add_side(const Rule::Side& side, std::size_t agent, Label& next) {
    const auto before = agents_;
    agents_[0] = agents_[1] = before[agent];
    bool is_done = true;
    Label fits;
    for (std::size_t i = 0; i < side.states.size(); ++i) {
      const bool is_last = i + 1 == side.states.size();
      compare_and_jump(Operator::equal, of_field(side.state_column, 0), constant(side.states[i]),
                       !is_last, is_last ? next : fits);
    }
    place(fits);
    for (const Node& condition : side.conditions) {
      is_done = is_done && jump_unless(condition, next);
    }
    agents_ = before;
    return is_done;
  }

  bool add_outcome(const Rule& rule) {
    if (rule.possibilities_.size() != 1 || rule.possibilities_[0].probability) return false;
    const auto& [place, u, v, probability] = rule.possibilities_[0];
    std::vector<Change> changes = u.changes;
    changes.insert(changes.end(), v.changes.begin(), v.changes.end());
    if (u.like == 0 && v.like == 1) return add_changes(changes);
    // Copies of whole agents come with no changes of their own, or are left to the rule.
    if (!changes.empty()) return false;
    const std::array<Found, 2> old{stored(Operation::move, of_word(agents_[0]), {}, 0, 0),
                                   stored(Operation::move, of_word(agents_[1]), {}, 0, 0)};
    emit({.operation = Operation::move, .target = agents_[0], .a = old[u.like]->operand});
    emit({.operation = Operation::move, .target = agents_[1], .a = old[v.like]->operand});
    return true;
  }

  // All values are computed before the first is stored.
  bool add_changes(const std::vector<Change>& changes) {
    const std::size_t kept = words_;
    std::vector<Operand> values;
    for (const Change& change : changes) {
      Found value = number(change.value);
      const bool reads_an_agent = value && value->operand.mask != 0 && value->operand.word < 2;
      if (reads_an_agent && changes.size() > 1) {
        value = stored(Operation::move, value->operand, {}, value->low, value->high);
      }
      if (!value) return false;
      values.push_back(value->operand);
    }
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Field& field = space_.fields()[changes[i].field];
      emit({.operation = Operation::store,
            .target = agents_[changes[i].agent],
            .largest = static_cast<std::uint64_t>(field.high - field.low),
            .a = values[i],
            .b = of_field(changes[i].field, changes[i].agent)});
    }
    is_complete_ = false;
    words_ = kept;
    return true;
  }

  void add_block(const std::vector<Step>& block) {
    const std::size_t kept = words_;
    for (const Step& step : block) {
      if (add_step(step)) continue;
      give_up();
      break;
    }
    words_ = kept;
  }

  bool add_step(const Step& step) {
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
        add_rules(step.rules);
        return true;
      }
      default:  // draws
        return false;
    }
  }

  bool add_branch(const Step& step) {
    Label otherwise, end;
    if (!jump_unless(step.values[0], otherwise)) return false;
    add_block(step.body);
    if (!step.otherwise.empty()) jump(end);
    place(otherwise);
    add_block(step.otherwise);
    place(end);
    return true;
  }

  const StateSpace& space_;
  AgentCount n_;
  std::array<std::uint8_t, 2> agents_{Machine::u_word, Machine::v_word};  // exchanged if mirrored
  std::map<std::size_t, Value> locals_;
  std::vector<Program::Instruction> code_{{}};  // where jumps without an aim lead: unknown
  std::size_t words_ = Machine::first_register;
  bool is_too_large_ = false;
  bool is_complete_ = true;
};

Program::Program(const std::vector<Rule>& rules, const StateSpace& space) {
  Assembler assembler(space, 0);
  assembler.add_rules(rules);
  code_ = assembler.finished();
}

Program::Program(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words,
                 const StateSpace& space, AgentCount n) {
  Assembler assembler(space, n);
  assembler.add_sum(conditions, words);
  code_ = assembler.finished();
  is_complete_ = assembler.is_complete();
}

bool Program::interact(StateIndex& u, StateIndex& v) const {
  std::uint64_t words[Machine::word_count];  // NOLINT: set by the code before it is read
  words[Machine::u_word] = u;
  words[Machine::v_word] = v;
  if (code_.empty() || !Machine::run(code_.data(), words)) return false;
  u = words[Machine::u_word];
  v = words[Machine::v_word];
  return true;
}

std::optional<std::uint64_t> Program::sum(StateIndex state) const {
  std::uint64_t words[Machine::word_count];  // NOLINT: set by the code before it is read
  words[Machine::u_word] = words[Machine::v_word] = state;
  if (code_.empty() || !Machine::run(code_.data(), words)) return std::nullopt;
  return words[Machine::result_word];
}

}  // namespace conclave::text
