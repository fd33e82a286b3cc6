#include "conclave/text/translator.hpp"

#include <utility>

namespace conclave::text {

Translator::Translator(const std::vector<Instruction>& code)
    : code_(code), reads_(Program::word_count), is_aim_(code.size() + 1) {
  reads_[2] = 2;  // the sum is read by who asked for it
  for (const Instruction& each : code) {
    is_aim_[each.next] = true;
    for (const Operand* operand : {&each.a, &each.b}) {
      if (operand->mask != 0) ++reads_[operand->word];
    }
  }
}

std::vector<std::uint8_t> Translator::translated(const std::vector<Instruction>& code) {
  Translator translator(code);
  translator.enter();
  for (; translator.now_ < code.size(); ++translator.now_) {
    translator.begins_.push_back(translator.bytes_.size());
    translator.translate(code[translator.now_]);
  }
  for (const auto& [place, aim] : translator.aims_) {
    const std::uint64_t distance = translator.begins_[aim] - (place + 4);
    for (std::size_t i = 0; i < 4; ++i) {
      translator.bytes_[place + i] = static_cast<std::uint8_t>(distance >> (8 * i));
    }
  }
  return std::move(translator.bytes_);
}

// Instruction 0 is where jumps without an aim lead; the code begins behind it.
void Translator::enter() {
  with_memory(0x8b, r8, 0);
  with_memory(0x8b, r9, 1);
  jump_to(1);
}

void Translator::leave(bool is_known) {
  with_memory(0x89, r8, 0);
  with_memory(0x89, r9, 1);
  byte(0xb8);  // mov eax, ...
  number(is_known ? 1 : 0, 4);
  byte(0xc3);  // ret
}

void Translator::translate(const Instruction& now) {
  switch (now.operation) {
    case Operation::finish:
      return leave(true);
    case Operation::unknown:
      return leave(false);
    case Operation::jump:
      return jump_to(now.next);
    case Operation::jump_if_equal:
      return translate_jump(now, equal);
    case Operation::jump_if_unequal:
      return translate_jump(now, unequal);
    case Operation::jump_if_less:
      return translate_jump(now, less);
    case Operation::jump_if_not_less:
      return translate_jump(now, not_less);
    case Operation::store:
    case Operation::store_checked:
      return translate_store(now);
    case Operation::flip:
      return combine(bit_xor, now.target == 0 ? r8 : r9,
                     static_cast<std::int64_t>(now.b.mask << now.b.shift));
    default:
      return translate_arithmetic(now);
  }
}

void Translator::translate_jump(const Instruction& now, Condition condition) {
  load_first(now.a);
  if (is_small_constant(now.b)) {
    combine(compare_to, rax, now.b.add);
  } else {
    load(rcx, now.b);
    combine(compare_to, rax, rcx);
  }
  byte(0x0f);
  byte(0x80 | condition);
  aims_.emplace_back(bytes_.size(), now.next);
  number(0, 4);
}

void Translator::translate_arithmetic(const Instruction& now) {
  load_first(now.a);
  const bool adds = now.operation == Operation::add || now.operation == Operation::subtract;
  const bool is_short = adds && is_small_constant(now.b);
  if (!is_short && now.operation != Operation::move) load(rcx, now.b);
  switch (now.operation) {
    case Operation::add:
      is_short ? combine(add, rax, now.b.add) : combine(add, rax, rcx);
      break;
    case Operation::subtract:
      is_short ? combine(subtract, rax, now.b.add) : combine(subtract, rax, rcx);
      break;
    case Operation::multiply:
      byte(0x48);  // imul rax, rcx
      byte(0x0f);
      byte(0xaf);
      byte(0xc1);
      break;
    case Operation::modulo:
      translate_modulo();
      break;
    case Operation::divide:
      translate_divide();
      break;
    case Operation::wrap:
      translate_wrap(now);
      break;
    case Operation::minimum:
    case Operation::maximum:
      combine(compare_to, rax, rcx);
      move_if(now.operation == Operation::minimum ? greater : less, rax, rcx);
      break;
    default:  // move
      break;
  }
  is_in_rax_ = stays_in_rax(now_);
  if (!is_in_rax_) save(now.target, rax);
}

// Whether nothing but the first operand of the next instruction reads the result of this one.
bool Translator::stays_in_rax(std::size_t index) const {
  const std::uint8_t word = code_[index].target;
  if (word < 3 || reads_[word] != 1 || index + 1 >= code_.size() || is_aim_[index + 1])
    return false;
  return is_word(code_[index + 1].a, word);
}

void Translator::load_first(const Operand& operand) {
  if (!std::exchange(is_in_rax_, false)) load(rax, operand);
}

namespace {

constexpr int sign_into_rdx[] = {0x48, 0x99};        // cqo
constexpr int divide_by_rcx[] = {0x48, 0xf7, 0xf9};  // idiv rcx: quotient in rax, rest in rdx
constexpr int test_rdx[] = {0x48, 0x85, 0xd2};
constexpr int test_rax[] = {0x48, 0x85, 0xc0};

}  // namespace

void Translator::translate_modulo() {
  for (const int each : sign_into_rdx) byte(each);
  for (const int each : divide_by_rcx) byte(each);
  move(rax, rdx);
  combine(add, rax, rcx);
  for (const int each : test_rdx) byte(each);
  move_if(no_sign, rax, rdx);
}

void Translator::translate_divide() {
  for (const int each : sign_into_rdx) byte(each);
  for (const int each : divide_by_rcx) byte(each);
  move(rcx, rax);
  combine(subtract, rcx, 1);
  for (const int each : test_rdx) byte(each);
  move_if(sign, rax, rcx);
}

void Translator::translate_wrap(const Instruction& now) {
  if ((now.largest & Program::may_be_large) != 0) {
    move(rdx, rax);
    combine(subtract, rdx, rcx);
    move_if(no_sign, rax, rdx);
  }
  if ((now.largest & Program::may_be_negative) != 0) {
    move(rdx, rax);
    combine(add, rdx, rcx);
    for (const int each : test_rax) byte(each);
    move_if(sign, rax, rdx);
  }
}

void Translator::translate_store(const Instruction& now) {
  load_first(now.a);
  if (now.b.add != 0) combine(subtract, rax, now.b.add);
  if (now.operation == Operation::store_checked) {
    combine(compare_to, rax, static_cast<std::int64_t>(now.largest));
    byte(0x0f);
    byte(0x80 | above);
    aims_.emplace_back(bytes_.size(), 0);
    number(0, 4);
  }
  if (now.b.shift != 0) shift(rax, now.b.shift, true);
  const Register agent = now.target == 0 ? r8 : r9;
  combine(bit_and, agent, static_cast<std::int64_t>(~(now.b.mask << now.b.shift)));
  combine(bit_or, agent, rax);
}

void Translator::load(Register to, const Operand& operand) {
  if (operand.mask == 0) return set(to, operand.add);
  if (operand.word < 2) {
    move(to, operand.word == 0 ? r8 : r9);
  } else {
    with_memory(0x8b, to, operand.word);
  }
  if (operand.shift != 0) shift(to, operand.shift, false);
  if (operand.mask != ~std::uint64_t{0}) {
    combine(bit_and, to, static_cast<std::int64_t>(operand.mask));
  }
  if (operand.add != 0) combine(add, to, operand.add);
}

void Translator::save(std::uint8_t word, Register from) {
  if (word < 2) return move(word == 0 ? r8 : r9, from);
  with_memory(0x89, from, word);
}

void Translator::set(Register to, std::int64_t value) {
  byte(0x48 | to >> 3);
  if (fits(value)) {
    byte(0xc7);
    byte(0xc0 | (to & 7));
    number(static_cast<std::uint64_t>(value), 4);
  } else {
    byte(0xb8 | (to & 7));
    number(static_cast<std::uint64_t>(value), 8);
  }
}

// Constants that do not fit into an instruction come through rdx.
void Translator::combine(Arithmetic operation, Register to, std::int64_t value) {
  if (!fits(value)) {
    set(rdx, value);
    return combine(operation, to, rdx);
  }
  byte(0x48 | to >> 3);
  byte(0x81);
  byte(0xc0 | operation << 3 | (to & 7));
  number(static_cast<std::uint64_t>(value), 4);
}

void Translator::combine(Arithmetic operation, Register to, Register from) {
  between(operation << 3 | 3, to, from);
}

void Translator::move_if(Condition condition, Register to, Register from) {
  byte(0x48 | to >> 3 << 2 | from >> 3);
  byte(0x0f);
  byte(0x40 | condition);
  byte(0xc0 | (to & 7) << 3 | (from & 7));
}

void Translator::shift(Register what, std::uint8_t bits, bool is_left) {
  byte(0x48 | what >> 3);
  byte(0xc1);
  byte((is_left ? 0xe0 : 0xe8) | (what & 7));
  byte(bits);
}

void Translator::jump_to(std::uint32_t instruction) {
  byte(0xe9);
  aims_.emplace_back(bytes_.size(), instruction);
  number(0, 4);
}

void Translator::number(std::uint64_t value, int size) {
  for (int i = 0; i < size; ++i) byte(static_cast<int>(value >> (8 * i) & 0xff));
}

void Translator::between(int opcode, Register reg, Register rm) {
  byte(0x48 | reg >> 3 << 2 | rm >> 3);
  byte(opcode);
  byte(0xc0 | (reg & 7) << 3 | (rm & 7));
}

void Translator::with_memory(int opcode, Register reg, std::uint8_t word) {
  byte(0x48 | reg >> 3 << 2);
  byte(opcode);
  byte(0x80 | (reg & 7) << 3 | rdi);
  number(std::uint64_t{8} * word, 4);
}

}  // namespace conclave::text
