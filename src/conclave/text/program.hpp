// The rules of a text as code for a small register machine. Texts with too many states for a table
// of all pairs are run by it.
//
// The machine works on the packed words of the two agents and on whole numbers. An operand is a
// field, a register or a constant, all read the same way, `(word >> shift & mask) + add`, so that
// an instruction decodes its operands without a branch; a comparison and the jump that depends on
// it are one instruction. A rule such as `u + v when u.rank == v.rank -> ...` that does not apply
// costs one instruction. Bounds of all values are known when the code is made, so no operation
// overflows. Some things the machine leaves to the rules themselves: random draws, numbers that are
// not whole, and a field that would leave its domain.
//
// The code is then translated into the processor's own (machine_code.hpp), which is about five
// times as fast; the interpreter stays as the reference and for other processors.
//
// Alternatives: walking along the expressions (1.3e7 interactions per second for the ranking of
// 3000 agents; `conclave bench texts` shows what the machine does); a memo of all pairs met, which
// would miss the caches with 9e6 pairs; code of the system's compiler, which must be there, takes a
// second to start and would let a text of a stranger run a program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conclave/text/machine_code.hpp"
#include "conclave/text/node.hpp"
#include "conclave/text/state_space.hpp"

namespace conclave::text {

class Rule;

// Immutable once made, so that threads may share one. The words of its states must be packed.
class Program {
 public:
  Program() = default;  // empty: no meeting is known

  // The rules, in their order; the first that applies decides.
  Program(const std::vector<Rule>& rules, const StateSpace& space);
  // For one agent: the sum of words[i] over the conditions that hold.
  Program(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words,
          const StateSpace& space);

  // Carries out a meeting whose result is certain, translated if it can be. False, with nothing
  // changed, if the rules must be evaluated instead. O(instructions).
  bool meet(StateIndex& u, StateIndex& v) const {
    Words words;
    words[0] = u;
    words[1] = v;
    if (!(native_ ? native_->run(words) : interpret(words))) return false;
    u = words[0];
    v = words[1];
    return true;
  }
  // The same by the interpreter.
  bool meet_interpreted(StateIndex& u, StateIndex& v) const;
  bool is_translated() const { return native_ != nullptr; }

  // The sum of words for one agent; nothing if the conditions must be evaluated instead.
  std::optional<std::uint64_t> sum(StateIndex state) const {
    Words words;
    words[0] = words[1] = state;
    if (!(native_ ? native_->run(words) : interpret(words))) return std::nullopt;
    return words[2];
  }

  std::size_t size() const { return code_.size(); }

 private:
  friend class Assembler;
  friend class Translator;

  static constexpr std::size_t word_count = 128;
  using Words = std::uint64_t[word_count];  // 0 and 1 are u and v; not initialized

  enum class Operation : std::uint8_t {
    finish,
    unknown,
    jump,
    jump_if_equal,
    jump_if_unequal,
    jump_if_less,
    jump_if_not_less,
    move,
    add,
    subtract,
    multiply,
    modulo,
    divide,  // rounded down
    wrap,    // modulo where -b < a < 2 b
    minimum,
    maximum,
    store,          // a into the bits of a field; must be in its domain
    store_checked,  // unknown if a is not in the domain
    flip,           // the truth value of a field
  };
  static constexpr std::uint64_t may_be_negative = 1;
  static constexpr std::uint64_t may_be_large = 2;
  struct Operand {
    friend bool operator==(const Operand&, const Operand&) = default;
    std::uint64_t mask = 0;
    std::int64_t add = 0;
    std::uint8_t word = 0;
    std::uint8_t shift = 0;
  };
  struct Instruction {
    Operation operation = Operation::unknown;
    std::uint8_t target = 0;  // a word
    std::uint32_t next = 0;   // of a jump
    // In store_checked: the field's last value, counted from its first. In wrap: the flags
    // may_be_negative and may_be_large for its first operand.
    std::uint64_t largest = 0;
    Operand a{}, b{};  // of a store: b is the field in `target`
  };

  static std::int64_t read(const std::uint64_t* words, const Operand& operand) {
    const std::uint64_t bits = words[operand.word] >> operand.shift & operand.mask;
    return static_cast<std::int64_t>(bits) + operand.add;
  }
  static bool store(std::uint64_t* words, const Instruction& now);
  void translate();
  bool interpret(std::uint64_t* words) const;

  std::vector<Instruction> code_;
  std::shared_ptr<const MachineCode> native_;  // none: the code is interpreted
};

}  // namespace conclave::text
