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

  double inverse() const { return inverse_; }

 private:
  double expected_;
  double inverse_;
};

// The sum of the costs of some cells by the Taylor polynomial of degree 4 in the excess, with a
// bound of its error, for most decisions. All cells expect at least as much as the first one.
class QuickCost {
 public:
  explicit QuickCost(const Cell& first) : largest_(first.inverse()) { add(first, 1); }

  // A cell whose content is its expectation plus sign * excess.
  void add(const Cell& cell, double sign) {
    const double r = cell.inverse();
    const double square = r * r;
    const double cube = square * r;
    sum_ += r;
    terms_[1] += sign * (r / 2 - square / 12);
    terms_[2] += r / 2 - square / 4 + cube / 12;
    terms_[3] += sign * (cube - square) / 6;
    terms_[4] += cube / 12;
  }

  double cost(double excess) const {
    const double square = excess * excess;
    return (sum_ / 12 + terms_[1] * excess) +
           square * ((terms_[2] + terms_[3] * excess) + terms_[4] * square);
  }

  // No cost is less than minus this, if the first cell expects at least 10.
  double bound() const { return largest_ / 8; }

  // Whether the series converge well: no content differs from its expectation by more than half.
  bool applies(double excess) const { return excess * excess * (largest_ * largest_) < 0.25; }

  // The terms left out, as geometric series of ratio 1/2, and the rounding errors.
  double error(double excess) const {
    const double square = excess * excess;
    const double t = (excess < 0 ? -excess : excess) * largest_;
    const double relative = t * (t * (t / 10 + largest_ / 4) + largest_ * largest_ / 4);
    return sum_ * (square * relative + largest_ * largest_ / 20) + 0x1p-40;
  }

 private:
  double largest_;  // of the inverse expectations
  double sum_ = 0;  // of the inverse expectations
  double terms_[5] = {};
};

}  // namespace conclave::detail
