#include "conclave/exact/detail/lifting.hpp"

#include <algorithm>
#include <utility>

#include "conclave/base/error.hpp"
#include "conclave/exact/detail/elimination.hpp"
#include "conclave/exact/detail/modular_factors.hpp"

namespace conclave::exact {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Word128 = unsigned __int128;

constexpr double most_work = 1e11;         // multiplications in a factorization
constexpr std::size_t bits_of_small = 64;  // coefficients whose products with digits fit 128 bits

std::uint64_t to_word(const mpz_class& value) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  return value.get_ui();
}

// Integers of 128 bits, and integers of any size, with the same few operations.
std::uint64_t residue(const mpz_class& value, std::uint64_t prime) {
  return mpz_fdiv_ui(value.get_mpz_t(), prime);
}
std::uint64_t residue(Int128 value, std::uint64_t prime) {
  const bool is_short = value >= INT64_MIN && value <= INT64_MAX;
  const auto signed_prime = static_cast<std::int64_t>(prime);
  const auto rest = is_short ? static_cast<std::int64_t>(value) % signed_prime
                             : static_cast<std::int64_t>(value % signed_prime);
  return static_cast<std::uint64_t>(rest < 0 ? rest + signed_prime : rest);
}

void subtract_product(mpz_class& value, const mpz_class& factor, std::uint64_t digit) {
  mpz_submul_ui(value.get_mpz_t(), factor.get_mpz_t(), digit);
}
void add_product(mpz_class& value, const mpz_class& factor, std::uint64_t digit) {
  mpz_addmul_ui(value.get_mpz_t(), factor.get_mpz_t(), digit);
}
void subtract_product(Int128& value, Int128 factor, std::uint64_t digit) {
  value -= factor * static_cast<Int128>(digit);
}
void add_product(Int128& value, Int128 factor, std::uint64_t digit) {
  value += factor * static_cast<Int128>(digit);
}

// One over the prime modulo 2^128, with which an exact division is a multiplication.
Word128 inverse_modulo_word(std::uint64_t prime) {
  Word128 inverse = prime;
  for (int step = 0; step < 6; ++step) inverse *= 2 - static_cast<Word128>(prime) * inverse;
  return inverse;
}
void divide_exactly(mpz_class& value, std::uint64_t prime, Word128) {
  mpz_divexact_ui(value.get_mpz_t(), value.get_mpz_t(), prime);
}
void divide_exactly(Int128& value, std::uint64_t, Word128 inverse) {
  value = static_cast<Int128>(static_cast<Word128>(value) * inverse);
}

void convert(const mpz_class& from, mpz_class& to) { to = from; }
void convert(const mpz_class& from, Int128& to) {
  to = static_cast<Int128>(to_word(from));  // never negative, at most 64 bits
}

template <class Integer>
std::vector<Integer> converted(const std::vector<mpz_class>& values) {
  std::vector<Integer> result(values.size());
  for (std::size_t k = 0; k < values.size(); ++k) convert(values[k], result[k]);
  return result;
}

// What is left of the right-hand side after the digits so far, divided by the prime's power.
template <class Integer>
class Remainder {
 public:
  Remainder(const IntegerEquations& equations, std::uint64_t prime)
      : pattern_(equations.pattern),
        values_(converted<Integer>(equations.values)),
        diagonal_(converted<Integer>(equations.diagonal)),
        rest_(converted<Integer>(equations.right)),
        prime_(prime),
        inverse_(inverse_modulo_word(prime)) {}

  void residues(std::span<std::uint64_t> result) const {
    for (std::size_t i = 0; i < rest_.size(); ++i) result[i] = residue(rest_[i], prime_);
  }

  void take(std::span<const std::uint64_t> digits) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      subtract_product(rest_[i], diagonal_[i], digits[i]);
      for (std::uint64_t k = pattern_.starts[i]; k < pattern_.starts[i + 1]; ++k) {
        add_product(rest_[i], values_[k], digits[pattern_.columns[k]]);
      }
      divide_exactly(rest_[i], prime_, inverse_);
    }
  }

 private:
  const Pattern& pattern_;
  std::vector<Integer> values_, diagonal_, rest_;
  std::uint64_t prime_;
  Word128 inverse_;
};

ModularMatrix modulo(const IntegerEquations& equations, std::uint64_t prime) {
  ModularMatrix matrix{equations.pattern, {}, {}};
  for (const mpz_class& value : equations.values) matrix.values.push_back(residue(value, prime));
  for (const mpz_class& value : equations.diagonal) {
    matrix.diagonal.push_back(residue(value, prime));
  }
  return matrix;
}

// digits[0] + digits[1] p + ..., by halves, so that the multiplications are balanced.
mpz_class joined(std::span<const std::uint64_t> digits, std::uint64_t prime) {
  if (digits.empty()) return 0;
  if (digits.size() == 1) return mpz_class(static_cast<unsigned long>(digits[0]));
  const std::size_t half = digits.size() / 2;
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), prime, half);
  return joined(digits.first(half), prime) + power * joined(digits.subspan(half), prime);
}

template <class Integer>
Residues lift_with(const IntegerEquations& equations, const ModularFactors& factors,
                   std::uint64_t prime, std::span<const std::uint32_t> unknowns,
                   std::size_t digits) {
  Remainder<Integer> remainder(equations, prime);
  std::vector<std::uint64_t> solution(equations.right.size());
  std::vector<std::vector<std::uint64_t>> kept(unknowns.size());
  for (std::size_t digit = 0; digit < digits; ++digit) {
    remainder.residues(solution);
    factors.solve(solution);
    for (std::size_t k = 0; k < unknowns.size(); ++k) kept[k].push_back(solution[unknowns[k]]);
    remainder.take(solution);
  }
  Residues residues;
  mpz_ui_pow_ui(residues.modulus.get_mpz_t(), prime, digits);
  for (const auto& number : kept) residues.values.push_back(joined(number, prime));
  return residues;
}

bool are_small(const std::vector<mpz_class>& values) {
  return std::ranges::all_of(values, [](const mpz_class& value) {
    return mpz_sizeinbase(value.get_mpz_t(), 2) <= bits_of_small;
  });
}

}  // namespace

Residues lift(const IntegerEquations& equations, std::span<const std::uint32_t> unknowns,
              const mpz_class& least) {
  const auto filled = filled_pattern(equations.pattern, most_work);
  if (!filled) throw Error("the chain is too intricate for exact fractions; leave out --exact");
  for (mpz_class prime = mpz_class(3) << 58;;) {
    mpz_nextprime(prime.get_mpz_t(), prime.get_mpz_t());
    const std::uint64_t base = to_word(prime);
    const ModularFactors factors(PrimeField(base), modulo(equations, base), *filled);
    if (!factors.is_regular()) continue;
    const std::size_t digits = mpz_sizeinbase(least.get_mpz_t(), 2) / 59 + 1;  // 59 bits each
    const bool small =
        are_small(equations.values) && are_small(equations.diagonal) && are_small(equations.right);
    return small ? lift_with<Int128>(equations, factors, base, unknowns, digits)
                 : lift_with<mpz_class>(equations, factors, base, unknowns, digits);
  }
}

// Euclid's algorithm on modulus and residue, stopped half way.
mpq_class reconstruct(const mpz_class& residue, const mpz_class& modulus,
                      const mpz_class& most_numerator) {
  mpz_class before = modulus;
  mpz_class now = residue;
  mpz_class factor_before = 0;
  mpz_class factor = 1;
  mpz_class quotient;
  while (now > most_numerator) {
    mpz_fdiv_qr(quotient.get_mpz_t(), before.get_mpz_t(), before.get_mpz_t(), now.get_mpz_t());
    mpz_submul(factor_before.get_mpz_t(), quotient.get_mpz_t(), factor.get_mpz_t());
    swap(before, now);
    swap(factor_before, factor);
  }
  mpq_class result(now, factor);
  result.canonicalize();
  return result;
}

}  // namespace conclave::exact
