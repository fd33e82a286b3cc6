// Translates a Program into instructions of x86-64 (see machine_code.hpp). The result is a function
// of the System V calling convention that takes the words in rdi and returns a truth value in al.
//
// u and v live in r8 and r9, all other words in memory; rax and rcx hold the operands of an
// instruction, rdx is free. A result that only the next instruction reads stays in rax.
// Instructions are written with their operands in Intel's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/text/program.hpp"

namespace conclave::text {

class Translator {
 public:
  // x86-64 code for the instructions of a program, which must not be empty. O(instructions).
  static std::vector<std::uint8_t> translated(const std::vector<Program::Instruction>& code);

 private:
  explicit Translator(const std::vector<Program::Instruction>& code);

  using Operation = Program::Operation;
  using Operand = Program::Operand;
  using Instruction = Program::Instruction;

  enum Register : std::uint8_t { rax = 0, rcx = 1, rdx = 2, rdi = 7, r8 = 8, r9 = 9 };
  // The number of an operation between a register and a constant.
  enum Arithmetic : std::uint8_t {
    add = 0,
    bit_or = 1,
    bit_and = 4,
    subtract = 5,
    bit_xor = 6,
    compare_to = 7
  };
  // The last half byte of conditional jumps and moves.
  enum Condition : std::uint8_t {
    above = 7,
    sign = 8,
    no_sign = 9,
    less = 12,
    not_less = 13,
    greater = 15,
    equal = 4,
    unequal = 5,
  };

  void translate(const Instruction& now);
  void translate_jump(const Instruction& now, Condition condition);
  void translate_arithmetic(const Instruction& now);
  void translate_modulo();
  void translate_divide();
  void translate_wrap(const Instruction& now);
  bool stays_in_rax(std::size_t index) const;
  void translate_store(const Instruction& now);
  void enter();
  void leave(bool is_known);

  void load_first(const Operand& operand);
  void load(Register to, const Operand& operand);
  void save(std::uint8_t word, Register from);
  void set(Register to, std::int64_t value);
  void combine(Arithmetic operation, Register to, std::int64_t value);
  void combine(Arithmetic operation, Register to, Register from);
  void move(Register to, Register from) { between(0x8b, to, from); }
  void move_if(Condition condition, Register to, Register from);
  void shift(Register what, std::uint8_t bits, bool is_left);
  void jump_to(std::uint32_t instruction);

  void byte(int value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void number(std::uint64_t value, int size);
  // An instruction of 64 bits on two registers, or on one and a word in memory.
  void between(int opcode, Register reg, Register rm);
  void with_memory(int opcode, Register reg, std::uint8_t word);
  static bool fits(std::int64_t value) { return value == static_cast<std::int32_t>(value); }
  static bool is_small_constant(const Operand& operand) {
    return operand.mask == 0 && fits(operand.add);
  }
  static bool is_word(const Operand& operand, std::uint8_t word) {
    return operand == Operand{.mask = ~std::uint64_t{0}, .word = word};
  }

  const std::vector<Instruction>& code_;
  std::vector<unsigned> reads_;  // of each word
  std::vector<bool> is_aim_;     // of a jump, by instruction
  std::size_t now_ = 0;
  bool is_in_rax_ = false;  // what the current instruction reads first
  std::vector<std::uint8_t> bytes_;
  std::vector<std::size_t> begins_;                          // of each instruction
  std::vector<std::pair<std::size_t, std::uint32_t>> aims_;  // places of jumps, where they lead
};

}  // namespace conclave::text
