// A small machine with registers of whole numbers: the one compiled form of the rules and
// conditions of protocol files. The processor runs it (text/program.hpp makes the code), and so
// does a device (gpu/table_protocol.hpp).
//
// An operand is a field of a packed state, a register or a constant, all read the same way,
// `(word >> shift & mask) + add`, so that an instruction decodes its operands without a branch; a
// comparison and the jump that depends on it are one instruction. A rule such as
// `u + v when u.rank == v.rank -> ...` that does not apply costs one instruction. Whoever makes the
// code knows the bounds of all values, so that no operation overflows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace conclave {

struct RegisterMachine {
  // The words that code works on: the packed states of two agents, a result, the numbers of agents
  // in up to eight sets, and registers.
  static constexpr std::size_t u_word = 0, v_word = 1, result_word = 2;
  static constexpr std::size_t first_count = 3, most_counts = 8;
  static constexpr std::size_t first_register = first_count + most_counts;
  static constexpr std::size_t word_count = 64;

  enum class Operation : std::uint8_t {
    finish,
    unknown,  // gives up: the expressions themselves must be evaluated
    jump,
    jump_if_equal,
    jump_if_unequal,
    jump_if_less,
    jump_if_not_less,
    move,
    add,
    subtract,
    multiply,
    modulo,  // by a positive number; never negative
    divide,  // by a positive number; rounded down
    wrap,    // modulo where -b < a < 2 b
    minimum,
    maximum,
    store,  // a into the bits of the field b of `target`; unknown if it is not in the domain
  };

  // A constant, or some bits of a word, plus a number.
  struct Operand {
    std::uint64_t mask = 0;  // 0: a constant
    std::int64_t add = 0;
    std::uint8_t word = 0;
    std::uint8_t shift = 0;

    constexpr std::int64_t read(const std::uint64_t* words) const {
      return static_cast<std::int64_t>(words[word] >> shift & mask) + add;
    }
  };

  struct Instruction {
    Operation operation = Operation::unknown;
    std::uint8_t target = 0;    // a word
    std::uint32_t next = 0;     // of a jump
    std::uint64_t largest = 0;  // of a store: the field's last value, counted from its first
    Operand a{}, b{};
  };

  // Runs code, whose first instruction is `unknown`, where jumps without another aim lead, and
  // which begins behind it. False where it gives up; some words may have changed by then. Word 0
  // and what else the code reads must be set. O(instructions).
  static constexpr bool run(const Instruction* code, std::uint64_t* words);

 private:
  static constexpr std::int64_t rest(std::int64_t number, std::int64_t divisor) {
    const std::int64_t found = number % divisor;
    return found < 0 ? found + divisor : found;
  }
  static constexpr std::int64_t quotient(std::int64_t number, std::int64_t divisor) {
    return number / divisor - (number % divisor < 0 ? 1 : 0);
  }
  static constexpr std::int64_t wrapped(std::int64_t number, std::int64_t divisor) {
    return number < 0 ? number + divisor : number >= divisor ? number - divisor : number;
  }
};

// One loop over one switch: the sequence of instructions is nearly the same at every interaction,
// which is what predictors of indirect jumps are made for.
constexpr bool RegisterMachine::run(const Instruction* code, std::uint64_t* words) {
  for (const Instruction* at = code + 1;; ++at) {
    const Instruction& now = *at;
    const std::int64_t a = now.a.read(words);
    const std::int64_t b = now.b.read(words);
    std::int64_t result = 0;
    switch (now.operation) {
      case Operation::finish:
        return true;
      case Operation::unknown:
        return false;
      case Operation::jump:
        at = code + now.next - 1;
        continue;
      case Operation::jump_if_equal:
        if (a == b) at = code + now.next - 1;
        continue;
      case Operation::jump_if_unequal:
        if (a != b) at = code + now.next - 1;
        continue;
      case Operation::jump_if_less:
        if (a < b) at = code + now.next - 1;
        continue;
      case Operation::jump_if_not_less:
        if (a >= b) at = code + now.next - 1;
        continue;
      case Operation::store: {
        const auto value = static_cast<std::uint64_t>(a - now.b.add);
        if (value > now.largest) return false;
        words[now.target] = (words[now.target] & ~(now.b.mask << now.b.shift)) | value
                                                                                     << now.b.shift;
        continue;
      }
      case Operation::move:
        result = a;
        break;
      case Operation::add:
        result = a + b;
        break;
      case Operation::subtract:
        result = a - b;
        break;
      case Operation::multiply:
        result = a * b;
        break;
      case Operation::modulo:
        result = rest(a, b);
        break;
      case Operation::divide:
        result = quotient(a, b);
        break;
      case Operation::wrap:
        result = wrapped(a, b);
        break;
      case Operation::minimum:
        result = a < b ? a : b;
        break;
      case Operation::maximum:
        result = a < b ? b : a;
        break;
    }
    words[now.target] = static_cast<std::uint64_t>(result);
  }
}

}  // namespace conclave
