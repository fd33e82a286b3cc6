// Makes the code of a Program from resolved rules and expressions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "conclave/text/node.hpp"
#include "conclave/text/program.hpp"
#include "conclave/text/rule.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

class Assembler {
 public:
  explicit Assembler(const StateSpace& space) : space_(space) {}

  void add_rules(const std::vector<Rule>& rules);
  void add_sum(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words);

  // The code; none where it has grown too large or needs too many registers.
  std::vector<Program::Instruction> finished();

 private:
  using Operation = Program::Operation;
  using Operand = Program::Operand;
  using Instruction = Program::Instruction;

  // A number with the bounds that it cannot leave.
  struct Value {
    Operand operand;
    Number::Whole low, high;
  };
  using Found = std::optional<Value>;  // nothing: the machine cannot compute it

  // The jumps that wait for a place in the code.
  using Label = std::vector<std::size_t>;
  void place(const Label& label);
  std::size_t emit(Instruction instruction);
  void jump(Label& to) { to.push_back(emit({.operation = Operation::jump})); }
  void give_up() { emit({.operation = Operation::unknown}); }

  std::uint8_t fresh_word();
  static Operand constant(std::int64_t value) { return {.add = value}; }
  static Operand of_word(std::uint8_t word) { return {.mask = ~std::uint64_t{0}, .word = word}; }
  Operand of_field(std::size_t field, std::size_t agent) const;
  Found stored(Operation operation, const Operand& a, const Operand& b, Number::Whole low,
               Number::Whole high);

  Found number(const Node& node);
  Found whole_constant(const Node& node) const;
  Found operation(const Node& node);
  Found sum(const Node& node);
  Found product(const Node& node);
  Found remainder(const Node& node);
  Found rounded_down(const Node& node);
  Found extreme(const Node& node);
  Found choice(const Node& node);
  Found truth(const Node& node);

  // Jumps unless, or if, the condition holds. False if the machine cannot tell; what has been
  // emitted is then of no use.
  bool jump_unless(const Node& condition, Label& to) { return jump_where(condition, false, to); }
  bool jump_where(const Node& condition, bool holds, Label& to);
  bool jump_where_joined(const Node& condition, bool holds, Label& to);
  bool jump_where_compared(const Node& condition, bool holds, Label& to);
  bool jump_where_beside(Operator operation, const Node& side, const Number& fraction, bool holds,
                         Label& to);
  void emit_comparison(Operator operation, const Operand& a, const Operand& b, bool holds,
                       Label& to);

  void add_rule(const Rule& rule, Label& done);
  bool add_conditions(const Rule& rule, Label& next);
  bool add_side(const Rule::Side& side, std::size_t agent, Label& next);
  bool add_outcome(const Rule& rule);
  bool is_flip(const Change& change) const;
  bool add_changes(const std::vector<Change>& changes);
  void add_block(const std::vector<Step>& block);
  bool add_step(const Step& step);
  bool add_branch(const Step& step);

  const StateSpace& space_;
  std::array<std::uint8_t, 2> agents_{0, 1};  // the words of u and v; exchanged in mirrored rules
  std::map<std::size_t, Value> locals_;
  std::vector<Instruction> code_{Instruction{}};  // where jumps without an aim lead: unknown
  std::size_t words_ = 3;                         // u, v, a sum
  bool is_too_large_ = false;
};

}  // namespace conclave::text
