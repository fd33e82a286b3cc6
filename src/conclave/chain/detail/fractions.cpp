#include "conclave/chain/detail/fractions.hpp"

#include <cstdint>
#include <cstdlib>
#include <utility>

namespace conclave::chain::detail {
namespace {

constexpr std::size_t bits_of_head = 62;
constexpr std::size_t bits_of_entry = 33;  // of a matrix that heads determine, at most

// Several steps of Euclid's algorithm at once: (a, b) becomes (p a + q b, r a + s b).
struct Steps {
  std::int64_t p = 1, q = 0, r = 0, s = 1;

  bool is_empty() const { return q == 0; }
};

// The steps that the leading bits determine, whatever follows them (Lehmer's method, in the form of
// Knuth's Algorithm 4.5.2 L).
Steps determined_steps(std::int64_t a, std::int64_t b) {
  Steps steps;
  while (b + steps.r != 0 && b + steps.s != 0) {
    const std::int64_t quotient = (a + steps.p) / (b + steps.r);
    if (quotient != (a + steps.q) / (b + steps.s)) break;
    steps.p = std::exchange(steps.r, steps.p - quotient * steps.r);
    steps.q = std::exchange(steps.s, steps.q - quotient * steps.s);
    a = std::exchange(b, a - quotient * b);
  }
  return steps;
}

std::int64_t head(const mpz_class& value, std::size_t dropped_bits) {
  const mpz_class shifted = value >> dropped_bits;
  return static_cast<std::int64_t>(shifted.get_ui());
}

std::size_t bits_of(const mpz_class& value) { return mpz_sizeinbase(value.get_mpz_t(), 2); }

// Euclid's algorithm on denominator and numerator, with the denominators of the convergents.
class Convergents {
 public:
  Convergents(mpz_class numerator, mpz_class denominator)
      : before_(std::move(denominator)), now_(std::move(numerator)) {}

  const mpz_class& denominator() const { return factor_; }

  // True if it went on to the next convergent with a denominator of at most `most`.
  bool advance(const mpz_class& most) {
    if (now_ == 0) return false;
    mpz_fdiv_qr(quotient_.get_mpz_t(), rest_.get_mpz_t(), before_.get_mpz_t(), now_.get_mpz_t());
    mpz_addmul(factor_before_.get_mpz_t(), quotient_.get_mpz_t(), factor_.get_mpz_t());
    if (factor_before_ > most) return false;
    swap(factor_before_, factor_);
    swap(before_, now_);
    swap(now_, rest_);
    return true;
  }

  // Many convergents at once, as long as none can have more than `bits` bits.
  bool leap(std::size_t bits) {
    if (bits_of(factor_) + bits_of_entry + 1 > bits || bits_of(before_) <= bits_of_head) {
      return false;
    }
    const std::size_t dropped = bits_of(before_) - bits_of_head;
    const Steps steps = determined_steps(head(before_, dropped), head(now_, dropped));
    if (steps.is_empty()) return false;
    combine(before_, now_, steps);
    combine(factor_before_, factor_,
            {std::abs(steps.p), std::abs(steps.q), std::abs(steps.r), std::abs(steps.s)});
    return true;
  }

 private:
  void combine(mpz_class& a, mpz_class& b, const Steps& steps) {
    mpz_mul_si(rest_.get_mpz_t(), a.get_mpz_t(), steps.p);
    rest_ += b * steps.q;
    mpz_mul_si(quotient_.get_mpz_t(), a.get_mpz_t(), steps.r);
    quotient_ += b * steps.s;
    swap(a, rest_);
    swap(b, quotient_);
  }

  mpz_class before_, now_;
  mpz_class factor_before_ = 0;
  mpz_class factor_ = 1;
  mpz_class quotient_, rest_;
};

mpz_class rounded_quotient_by_power(const mpz_class& value, std::size_t bits) {
  return (value + (mpz_class(1) << (bits - 1))) >> bits;
}

mpq_class quotient(const mpz_class& numerator, const mpz_class& denominator) {
  mpq_class result(numerator, denominator);
  result.canonicalize();
  return result;
}

}  // namespace

mpz_class convergent_denominator(const mpz_class& numerator, const mpz_class& denominator,
                                 const mpz_class& most) {
  Convergents convergents(numerator, denominator);
  const std::size_t safe_bits = bits_of(most) - 1;
  while (convergents.leap(safe_bits) || convergents.advance(most)) {
  }
  return convergents.denominator();
}

// Most fractions have the denominator of one before, which is tried first. A denominator d and a
// residue r have a small numerator, d r - c modulus, if c / d is close to r / modulus.
std::vector<mpq_class> reconstruct(const Residues& residues, const mpz_class& most_denominator) {
  std::vector<mpq_class> result;
  mpz_class common = 1;
  for (const mpz_class& residue : residues.values) {
    const mpz_class scaled = residue * common % residues.modulus;
    const mpz_class factor =
        convergent_denominator(scaled, residues.modulus, most_denominator / common);
    common *= factor;
    result.push_back(quotient(scaled * factor % residues.modulus, common));
  }
  return result;
}

std::vector<mpq_class> reconstruct(const BinaryFractions& approximations,
                                   const mpz_class& most_denominator) {
  const std::size_t bits = approximations.bits;
  const mpz_class one = mpz_class(1) << bits;
  std::vector<mpq_class> result;
  mpz_class common = 1;
  mpz_class fraction;
  for (const mpz_class& value : approximations.values) {
    const mpz_class scaled = value * common;
    mpz_fdiv_r_2exp(fraction.get_mpz_t(), scaled.get_mpz_t(), bits);
    const mpz_class factor = convergent_denominator(fraction, one, most_denominator / common);
    common *= factor;
    result.push_back(quotient(rounded_quotient_by_power(scaled * factor, bits), common));
  }
  return result;
}

}  // namespace conclave::chain::detail
