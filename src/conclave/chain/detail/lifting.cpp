#include "conclave/chain/detail/lifting.hpp"

#include <algorithm>

#include "conclave/chain/detail/elimination.hpp"
#include "conclave/chain/detail/modular_factors.hpp"

namespace conclave::chain {
namespace {

__extension__ using Word128 = unsigned __int128;

constexpr std::size_t bits_of_small = 64;  // coefficients whose products with digits fit 128 bits

std::uint64_t to_word(const mpz_class& value) {
  static_assert(sizeof(unsigned long) == sizeof(std::uint64_t));
  return value.get_ui();
}

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
  Remainder<Integer> remainder(equations);
  const Word128 inverse = inverse_modulo_word(prime);
  std::vector<std::uint64_t> solution(equations.size());
  std::vector<std::int64_t> signed_digits(equations.size());
  std::vector<std::vector<std::uint64_t>> kept(unknowns.size());
  for (std::size_t digit = 0; digit < digits; ++digit) {
    for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = residue(remainder[i], prime);
    factors.solve(solution);
    for (std::size_t k = 0; k < unknowns.size(); ++k) kept[k].push_back(solution[unknowns[k]]);
    std::ranges::copy(solution, signed_digits.begin());
    remainder.take(signed_digits);
    for (std::size_t i = 0; i < remainder.size(); ++i) divide_exactly(remainder[i], prime, inverse);
  }
  Residues residues;
  mpz_ui_pow_ui(residues.modulus.get_mpz_t(), prime, digits);
  for (const auto& number : kept) residues.values.push_back(joined(number, prime));
  return residues;
}

}  // namespace

std::optional<Residues> lift(const IntegerEquations& equations,
                             std::span<const std::uint32_t> unknowns, const mpz_class& least,
                             double most_work) {
  const auto filled = filled_pattern(equations.pattern, most_work);
  if (!filled) return std::nullopt;
  for (mpz_class prime = mpz_class(3) << 58;;) {
    mpz_nextprime(prime.get_mpz_t(), prime.get_mpz_t());
    const std::uint64_t base = to_word(prime);
    const ModularFactors factors(PrimeField(base), modulo(equations, base), *filled);
    if (!factors.is_regular()) continue;
    const std::size_t digits = mpz_sizeinbase(least.get_mpz_t(), 2) / 59 + 1;  // 59 bits each
    return equations.coefficient_bits() <= bits_of_small
               ? lift_with<Int128>(equations, factors, base, unknowns, digits)
               : lift_with<mpz_class>(equations, factors, base, unknowns, digits);
  }
}

}  // namespace conclave::chain
