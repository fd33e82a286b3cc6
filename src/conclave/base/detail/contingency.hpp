// Agents drawn against agents marked, as a two-by-two table, and the probability that k are both:
//
//             marked       not marked
//   drawn     k            draws - k
//   not       marked - k   total - marked - draws + k
//
// Differences of log factorials near 2^62 would lose all digits. Written around the expected table
// instead, as a sum over its four cells of D(x, e) = x log(x/e) - x + e and of Stirling's
// corrections, log P(k) consists of terms no larger than itself.
#pragma once

#include <cstdint>

#include "conclave/base/detail/logarithms.hpp"

namespace conclave::detail {

inline double real(std::uint64_t count) {
  return static_cast<double>(static_cast<std::int64_t>(count));  // below 2^63: one instruction
}

// A product divided by an integer, as a whole part and a rest in (-1, 1), and in one number.
struct Mean {
  std::uint64_t whole = 0;
  double rest = 0;
  double value = 0;
};

// a b / divisor, where the result is below 2^62 and divisor at most 2^62.
inline Mean mean_of(std::uint64_t a, std::uint64_t b, std::uint64_t divisor) {
  const double value = real(a) * real(b) / real(divisor);
  auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  constexpr double off_by_one = 0x1p48;  // at most, below it: the rest fits into 64 bits
  if (value >= off_by_one) {
    __extension__ using Wide = unsigned __int128;
    whole = static_cast<std::uint64_t>(static_cast<Wide>(a) * b / divisor);
  }
  const auto rest = static_cast<std::int64_t>(a * b - whole * divisor);
  return {whole, static_cast<double>(rest) / real(divisor), value};
}

// x log(x/e) - x + e for x = e + excess and t = excess / e, given log(1 + t) - t.
inline double deviance(double x, double excess, double t, double log_excess) {
  return excess * t + x * log_excess;
}

// One cell of the table, or of a shorter one: what it contributes to -log P when it holds x instead
// of e. Terms that do not depend on x are left out, such that a large cell with x = e contributes
// almost nothing.
class Cell {
 public:
  explicit Cell(double expected) : expected_(expected), inverse_(1 / expected) {}

  double cost(double x, double excess) const {
    if (x < 1) return expected_ - half_log_two_pi - log_of(expected_) / 2;
    const double t = excess * inverse_;
    const double log_excess = log1p_minus(t);
    return deviance(x, excess, t, log_excess) + (t + log_excess) / 2 + stirling(x);
  }

 private:
  double expected_;
  double inverse_;
};

using Pair [[gnu::vector_size(16)]] = double;

inline double sum_of(Pair pair) { return pair[0] + pair[1]; }

// The sum of the costs of some cells by the Taylor polynomial of degree 4 in the excess, with a
// bound of its error, for most decisions.
class QuickCost {
 public:
  // The expected contents of the cells that grow with the excess, and of those that shrink; a
  // cell that is not there expects infinity. All expect at least as much as the first one.
  QuickCost(Pair growing, Pair shrinking) {
    const Pair a = 1.0 / growing;
    const Pair b = 1.0 / shrinking;
    const Pair a2 = a * a, b2 = b * b;
    const Pair a3 = a2 * a, b3 = b2 * b;
    const double sum = sum_of(a + b), cubes = sum_of(a3 + b3), squares = sum_of(a2 - b2);
    constexpr double twelfth = 1.0 / 12, sixth = 1.0 / 6, twentieth = 1.0 / 20;
    const double largest = a[0];
    limit_ = growing[0] / 2;
    bound_ = largest / 8;
    terms_[0] = sum * twelfth;
    terms_[1] = sum_of(a - b) / 2 - squares * twelfth;
    terms_[2] = sum / 2 - sum_of(a2 + b2) / 4 + cubes * twelfth;
    terms_[3] = (sum_of(a3 - b3) - squares) * sixth;
    terms_[4] = cubes * twelfth;
    least_error_ = sum * (largest * largest * twentieth) + 0x1p-40;
    growing_error_ = sum * (largest * largest * largest) / 4;
  }

  double cost(double excess) const {
    const double square = excess * excess;
    return (terms_[0] + terms_[1] * excess) +
           square * ((terms_[2] + terms_[3] * excess) + terms_[4] * square);
  }

  // No cost is less than minus this, if the first cell expects at least 10.
  double bound() const { return bound_; }

  // The nearest excess where the series converge well: no content differs from its expectation by
  // more than half.
  double nearest(double excess) const {
    return excess < -limit_ ? -limit_ : excess > limit_ ? limit_ : excess;
  }

  // The terms left out, as geometric series of ratio 1/2, and the rounding errors.
  double error(double excess) const {
    const double size = excess < 0 ? -excess : excess;
    const double square = size * size;
    return least_error_ + growing_error_ * (size * square) * ((1 + size) + 0.4 * square);
  }

 private:
  double limit_;
  double bound_;
  double terms_[5];
  double least_error_;
  double growing_error_;
};

}  // namespace conclave::detail
