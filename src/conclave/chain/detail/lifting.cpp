#include "conclave/chain/detail/lifting.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace conclave::chain::detail {
namespace {

constexpr std::size_t terms_between_checks = 8;  // of products below 2^120, in 128 bits

// Arithmetic modulo an odd prime below 2^60, by Montgomery's method. A factor in Montgomery's form
// (times 2^64) and a plain one have a plain product.
class PrimeField {
 public:
  __extension__ using Wide = unsigned __int128;

  explicit PrimeField(std::uint64_t prime);

  std::uint64_t prime() const { return prime_; }

  // wide / 2^64, for wide < prime * 2^64.
  std::uint64_t reduce(Wide wide) const {
    const std::uint64_t multiple = static_cast<std::uint64_t>(wide) * negative_inverse_;
    const Wide sum = wide + static_cast<Wide>(multiple) * prime_;
    const auto high = static_cast<std::uint64_t>(sum >> 64);
    return high >= prime_ ? high - prime_ : high;
  }
  std::uint64_t multiply(std::uint64_t a, std::uint64_t b) const {
    return reduce(static_cast<Wide>(a) * b);
  }
  std::uint64_t to_form(std::uint64_t a) const { return multiply(a, square_); }
  // The inverse of a number in Montgomery's form, in that form.
  std::uint64_t inverse(std::uint64_t a) const;

 private:
  std::uint64_t prime_;
  std::uint64_t negative_inverse_;  // of the prime modulo 2^64
  std::uint64_t square_;            // 2^128 modulo the prime
};

// Row i of the matrix: diagonal[i], and minus values[k] in column pattern.columns[k].
struct ModularMatrix {
  Pattern pattern;
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> diagonal;
};

class ModularFactors {
 public:
  // `filled` is filled_pattern(matrix.pattern). is_regular() is false if a pivot is 0 modulo the
  // prime; another prime will do.
  ModularFactors(const PrimeField& field, const ModularMatrix& matrix, const Pattern& filled);

  bool is_regular() const { return is_regular_; }

  // Overwrites the right-hand side by the solution; both plain.
  void solve(std::span<std::uint64_t> right) const;

 private:
  struct Entry {
    std::uint64_t value;
    std::uint32_t column;
  };

  void eliminate_row(std::size_t i, const ModularMatrix& matrix, const Pattern& filled,
                     std::vector<std::uint64_t>& work);
  std::uint64_t combined(std::uint64_t start, std::span<const Entry> entries,
                         std::span<const std::uint64_t> x) const;
  std::span<const Entry> before(std::size_t i) const {
    return {lower_.data() + lower_starts_[i], lower_.data() + lower_starts_[i + 1]};
  }
  std::span<const Entry> behind(std::size_t i) const {
    return {upper_.data() + upper_starts_[i], upper_.data() + upper_starts_[i + 1]};
  }

  PrimeField field_;
  // Nonzero entries before and behind the diagonal, and one over the diagonal, in Montgomery's
  // form.
  std::vector<std::uint64_t> lower_starts_{0}, upper_starts_{0};
  std::vector<Entry> lower_, upper_;
  std::vector<std::uint64_t> inverses_;
  bool is_regular_ = true;
};

PrimeField::PrimeField(std::uint64_t prime) : prime_(prime) {
  std::uint64_t inverse = prime;  // right to 3 bits; every step doubles them
  for (int step = 0; step < 5; ++step) inverse *= 2 - prime * inverse;
  negative_inverse_ = 0 - inverse;
  const Wide one = (static_cast<Wide>(1) << 64) % prime;
  square_ = static_cast<std::uint64_t>(one * one % prime);
}

std::uint64_t PrimeField::inverse(std::uint64_t a) const {
  std::uint64_t result = to_form(1);
  for (std::uint64_t exponent = prime_ - 2; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) result = multiply(result, a);
    a = multiply(a, a);
  }
  return result;
}

ModularFactors::ModularFactors(const PrimeField& field, const ModularMatrix& matrix,
                               const Pattern& filled)
    : field_(field) {
  std::vector<std::uint64_t> work(filled.size());
  for (std::size_t i = 0; i < filled.size() && is_regular_; ++i) {
    eliminate_row(i, matrix, filled, work);
  }
}

void ModularFactors::eliminate_row(std::size_t i, const ModularMatrix& matrix,
                                   const Pattern& filled, std::vector<std::uint64_t>& work) {
  for (const std::uint32_t j : filled.row(i)) work[j] = 0;
  const auto columns = matrix.pattern.row(i);
  for (std::size_t k = 0; k < columns.size(); ++k) {
    work[columns[k]] = field_.to_form(matrix.values[matrix.pattern.starts[i] + k]);
  }
  const std::uint64_t prime = field_.prime();
  work[i] = prime - field_.to_form(matrix.diagonal[i]);  // minus the diagonal, like all others
  for (const std::uint32_t k : filled.row(i)) {
    if (k >= i || work[k] == 0) continue;
    const std::uint64_t multiplier = field_.multiply(work[k], inverses_[k]);
    lower_.push_back({multiplier, k});
    for (const Entry& entry : behind(k)) {
      const std::uint64_t sum = work[entry.column] + field_.multiply(multiplier, entry.value);
      work[entry.column] = sum >= prime ? sum - prime : sum;
    }
  }
  for (const std::uint32_t j : filled.row(i)) {
    if (j > i && work[j] != 0) upper_.push_back({work[j], j});
  }
  lower_starts_.push_back(lower_.size());
  upper_starts_.push_back(upper_.size());
  is_regular_ = work[i] % prime != 0;
  inverses_.push_back(field_.inverse(prime - work[i] % prime));
}

std::uint64_t ModularFactors::combined(std::uint64_t start, std::span<const Entry> entries,
                                       std::span<const std::uint64_t> x) const {
  const PrimeField::Wide limit = static_cast<PrimeField::Wide>(field_.prime()) << 64;
  PrimeField::Wide sum = 0;
  for (std::size_t k = 0; k < entries.size();) {
    const std::size_t end = std::min(entries.size(), k + terms_between_checks);
    for (; k < end; ++k) {
      sum += static_cast<PrimeField::Wide>(entries[k].value) * x[entries[k].column];
    }
    if (sum >= limit) sum -= limit;
  }
  const std::uint64_t total = start + field_.reduce(sum);
  return total >= field_.prime() ? total - field_.prime() : total;
}

void ModularFactors::solve(std::span<std::uint64_t> right) const {
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = combined(right[i], before(i), right);
  for (std::size_t i = right.size(); i-- > 0;) {
    right[i] = field_.multiply(combined(right[i], behind(i), right), inverses_[i]);
  }
}

__extension__ using Int128 = __int128;
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

void subtract_product(mpz_class& value, const mpz_class& factor, std::uint64_t digit) {
  mpz_submul_ui(value.get_mpz_t(), factor.get_mpz_t(), digit);
}
void subtract_product(Int128& value, Int128 factor, std::uint64_t digit) {
  value -= factor * static_cast<Int128>(digit);
}
void add_product(mpz_class& value, const mpz_class& factor, std::uint64_t digit) {
  mpz_addmul_ui(value.get_mpz_t(), factor.get_mpz_t(), digit);
}
void add_product(Int128& value, Int128 factor, std::uint64_t digit) {
  value += factor * static_cast<Int128>(digit);
}

void convert(const mpz_class& from, mpz_class& to) { to = from; }
void convert(const mpz_class& from, Int128& to) {
  const mpz_class high = from >> 64;
  to = (static_cast<Int128>(high.get_ui()) << 64) | static_cast<Int128>(from.get_ui());
}

// The part of the right-hand sides that the digits found so far leave. Integer has 128 bits, or any
// number of them.
template <class Integer>
class Remainder {
 public:
  explicit Remainder(const IntegerEquations& equations)
      : pattern_(equations.pattern),
        values_(converted(equations.values)),
        diagonal_(converted(equations.diagonal)),
        rest_(converted(equations.right)) {}

  const Integer& operator[](std::size_t i) const { return rest_[i]; }

  // Takes off the left sides at the given digits, and divides what is left by the prime.
  void take(std::span<const std::uint64_t> digits, std::uint64_t prime, Word128 inverse) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      subtract_product(rest_[i], diagonal_[i], digits[i]);
      for (std::uint64_t k = pattern_.starts[i]; k < pattern_.starts[i + 1]; ++k) {
        add_product(rest_[i], values_[k], digits[pattern_.columns[k]]);
      }
      divide_exactly(rest_[i], prime, inverse);
    }
  }

 private:
  static std::vector<Integer> converted(const std::vector<mpz_class>& numbers) {
    std::vector<Integer> result(numbers.size());
    for (std::size_t k = 0; k < numbers.size(); ++k) convert(numbers[k], result[k]);
    return result;
  }

  const Pattern& pattern_;
  std::vector<Integer> values_, diagonal_, rest_;
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
  if (digits.size() == 1) return {static_cast<unsigned long>(digits[0])};
  const std::size_t half = digits.size() / 2;
  mpz_class power;
  mpz_ui_pow_ui(power.get_mpz_t(), prime, half);
  return joined(digits.first(half), prime) + power * joined(digits.subspan(half), prime);
}

// The unknowns modulo a common modulus.
struct Residues {
  mpz_class modulus;
  std::vector<mpz_class> values;
};

template <class Integer>
Residues lifted(const IntegerEquations& equations, const ModularFactors& factors,
                std::uint64_t prime, std::span<const std::uint32_t> unknowns, std::size_t digits) {
  Remainder<Integer> remainder(equations);
  const Word128 inverse = inverse_modulo_word(prime);
  std::vector<std::uint64_t> solution(equations.size());
  std::vector<std::vector<std::uint64_t>> kept(unknowns.size());
  for (std::size_t digit = 0; digit < digits; ++digit) {
    for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = residue(remainder[i], prime);
    factors.solve(solution);
    for (std::size_t k = 0; k < unknowns.size(); ++k) kept[k].push_back(solution[unknowns[k]]);
    remainder.take(solution, prime, inverse);
  }
  Residues residues;
  mpz_ui_pow_ui(residues.modulus.get_mpz_t(), prime, digits);
  for (const auto& number : kept) residues.values.push_back(joined(number, prime));
  return residues;
}

// The residues modulo a power of a prime that is larger than `least`.
std::optional<Residues> residues_of(const IntegerEquations& equations,
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
               ? lifted<Int128>(equations, factors, base, unknowns, digits)
               : lifted<mpz_class>(equations, factors, base, unknowns, digits);
  }
}

// The denominators of the unknowns divide the determinant, which is at most the product of the
// diagonal, because the matrix is an M-matrix.
mpz_class largest_determinant(const IntegerEquations& equations) {
  mpz_class product = 1;
  for (const mpz_class& value : equations.diagonal) product *= value;
  return product;
}

// The denominator of the last convergent of numerator / denominator that is at most `most`, by
// Euclid's algorithm; 0 <= numerator < denominator.
mpz_class convergent_denominator(mpz_class numerator, mpz_class denominator,
                                 const mpz_class& most) {
  mpz_class before = 0;
  mpz_class now = 1;
  mpz_class quotient;
  mpz_class rest;
  while (numerator != 0) {
    mpz_fdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), denominator.get_mpz_t(),
                numerator.get_mpz_t());
    mpz_addmul(before.get_mpz_t(), quotient.get_mpz_t(), now.get_mpz_t());
    if (before > most) break;
    swap(before, now);
    swap(denominator, numerator);
    swap(numerator, rest);
  }
  return now;
}

// The fractions that are congruent to the residues and have a common denominator of at most
// `most_denominator`. Most have the denominator of one before, which is tried first. A denominator
// d and a residue r have a small numerator, d r - c modulus, if c / d is close to r / modulus.
std::vector<mpq_class> reconstruct(const Residues& residues, const mpz_class& most_denominator) {
  std::vector<mpq_class> result;
  mpz_class common = 1;
  for (const mpz_class& residue : residues.values) {
    const mpz_class scaled = residue * common % residues.modulus;
    const mpz_class factor =
        convergent_denominator(scaled, residues.modulus, most_denominator / common);
    common *= factor;
    result.emplace_back(mpz_class(scaled * factor % residues.modulus), common);
    result.back().canonicalize();
  }
  return result;
}

}  // namespace

std::size_t IntegerEquations::coefficient_bits() const {
  std::size_t bits = 0;
  for (const auto* numbers : {&diagonal, &right}) {
    for (const mpz_class& number : *numbers) {
      bits = std::max(bits, mpz_sizeinbase(number.get_mpz_t(), 2));
    }
  }
  return bits;
}

std::optional<std::vector<mpq_class>> lift(const IntegerEquations& equations,
                                           std::span<const std::uint32_t> unknowns, double largest,
                                           double most_work) {
  const mpz_class determinant = largest_determinant(equations);
  const mpz_class least = 2 * determinant * determinant * mpz_class(std::ceil(largest));
  const auto residues = residues_of(equations, unknowns, least, most_work);
  if (!residues) return std::nullopt;
  return reconstruct(*residues, determinant);
}

}  // namespace conclave::chain::detail
