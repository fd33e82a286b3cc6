#include "conclave/chain/detail/modular_factors.hpp"

#include <algorithm>

namespace conclave::chain {
namespace {

constexpr std::size_t terms_between_checks = 8;  // of products below 2^120, in 128 bits

}  // namespace

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

}  // namespace conclave::chain
