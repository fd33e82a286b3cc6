#include "conclave/text/program.hpp"

#include <algorithm>

#include "conclave/text/assembler.hpp"
#include "conclave/text/translator.hpp"

namespace conclave::text {
namespace {

// For positive divisors: never negative, and rounded down.
std::int64_t positive_rest(std::int64_t number, std::int64_t divisor) {
  const std::int64_t rest = number % divisor;
  return rest < 0 ? rest + divisor : rest;
}
std::int64_t rounded_quotient(std::int64_t number, std::int64_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

// The remainder of a number above -divisor and below twice the divisor.
std::int64_t wrapped(std::int64_t number, std::int64_t divisor) {
  return number < 0 ? number + divisor : number >= divisor ? number - divisor : number;
}

}  // namespace

Program::Program(const std::vector<Rule>& rules, const StateSpace& space) {
  Assembler assembler(space);
  assembler.add_rules(rules);
  code_ = assembler.finished();
  translate();
}

Program::Program(const std::vector<Node>& conditions, const std::vector<std::uint64_t>& words,
                 const StateSpace& space) {
  Assembler assembler(space);
  assembler.add_sum(conditions, words);
  code_ = assembler.finished();
  translate();
}

void Program::translate() {
  if (!code_.empty()) native_ = MachineCode::of(Translator::translated(code_));
}

bool Program::meet_interpreted(StateIndex& u, StateIndex& v) const {
  Words words;
  words[0] = u;
  words[1] = v;
  if (!interpret(words)) return false;
  u = words[0];
  v = words[1];
  return true;
}

bool Program::store(std::uint64_t* words, const Instruction& now) {
  const auto value = static_cast<std::uint64_t>(read(words, now.a) - now.b.add);
  if (now.operation == Operation::store_checked && value > now.largest) return false;
  const std::uint64_t hole = ~(now.b.mask << now.b.shift);
  words[now.target] = (words[now.target] & hole) | value << now.b.shift;
  return true;
}

// Instruction 0 is `unknown`, where jumps lead that have no other aim; the code begins behind it.
// One loop over one switch: the sequence of instructions is nearly the same at every meeting, which
// is what predictors of indirect jumps are made for.
bool Program::interpret(std::uint64_t* words) const {
  if (code_.empty()) return false;
  const Instruction* const first = code_.data();
  const Instruction* at = first + 1;
  for (;;) {
    const Instruction& now = *at++;
    const auto a = [&] { return read(words, now.a); };
    const auto b = [&] { return read(words, now.b); };
    const auto set = [&](std::int64_t value) {
      words[now.target] = static_cast<std::uint64_t>(value);
    };
    const auto jump_if = [&](bool condition) {
      if (condition) at = first + now.next;
    };
    switch (now.operation) {
      case Operation::finish:
        return true;
      case Operation::unknown:
        return false;
      case Operation::jump:
        at = first + now.next;
        break;
      case Operation::jump_if_equal:
        jump_if(a() == b());
        break;
      case Operation::jump_if_unequal:
        jump_if(a() != b());
        break;
      case Operation::jump_if_less:
        jump_if(a() < b());
        break;
      case Operation::jump_if_not_less:
        jump_if(a() >= b());
        break;
      case Operation::move:
        set(a());
        break;
      case Operation::add:
        set(a() + b());
        break;
      case Operation::subtract:
        set(a() - b());
        break;
      case Operation::multiply:
        set(a() * b());
        break;
      case Operation::modulo:
        set(positive_rest(a(), b()));
        break;
      case Operation::divide:
        set(rounded_quotient(a(), b()));
        break;
      case Operation::wrap:
        set(wrapped(a(), b()));
        break;
      case Operation::minimum:
        set(std::min(a(), b()));
        break;
      case Operation::maximum:
        set(std::max(a(), b()));
        break;
      case Operation::flip:
        words[now.target] ^= now.b.mask << now.b.shift;
        break;
      case Operation::store_checked:
      case Operation::store:
        if (!store(words, now)) return false;
        break;
    }
  }
}

}  // namespace conclave::text
