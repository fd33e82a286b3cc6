// The unknowns of the equations, one per state: doubles and, where those are too coarse, their
// continuation. Without it a mean of 10^9 steps could not be certified to nine digits: a double
// near 10^9 is known to 10^-7 only, and the equations compare it with the cost of one step.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace conclave::chain {

// Half the distance from 1 to the next number.
inline constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
inline constexpr long double fine_rounding = std::numeric_limits<long double>::epsilon() / 2;

class Unknowns {
 public:
  explicit Unknowns(std::vector<double> values) : high_(std::move(values)) {}

  std::size_t size() const { return high_.size(); }
  bool is_continued() const { return !low_.empty(); }
  void continue_all() { low_.resize(high_.size(), 0.0); }

  double operator[](std::size_t state) const { return high_[state]; }
  std::span<const double> rounded() const { return high_; }

  // Each rounded once.
  std::vector<double> release() && {
    for (std::size_t state = 0; state < low_.size(); ++state) {
      if (!std::isinf(high_[state])) high_[state] = static_cast<double>(value(state));
    }
    return std::move(high_);
  }

  void set(std::size_t state, long double value) {
    high_[state] = static_cast<double>(value);
    if (is_continued()) {
      low_[state] = static_cast<double>(value - static_cast<long double>(high_[state]));
    }
  }

  // Knuth's exact sum for the high parts; about 100 bits of a continued result are right.
  void add(std::size_t state, double step) {
    const double sum = high_[state] + step;
    if (is_continued()) {
      const double part = sum - high_[state];
      const double rest = low_[state] + ((high_[state] - (sum - part)) + (step - part));
      high_[state] = sum + rest;
      low_[state] = rest - (high_[state] - sum);
    } else {
      high_[state] = sum;
    }
  }

  long double value(std::size_t state) const {
    return static_cast<long double>(high_[state]) + low(state);
  }

  struct Difference {
    long double value;
    long double size;  // at least that of every number that occurred on the way
  };

  // Rounded thrice.
  Difference difference(std::size_t a, std::size_t b) const {
    const long double high =
        static_cast<long double>(high_[a]) - static_cast<long double>(high_[b]);
    if (!is_continued()) return {high, std::abs(high)};
    return {high + (low(a) - low(b)), std::abs(high) + std::abs(low(a)) + std::abs(low(b))};
  }

 private:
  long double low(std::size_t state) const {
    return is_continued() ? static_cast<long double>(low_[state]) : 0.0L;
  }

  std::vector<double> high_;
  std::vector<double> low_;  // empty until the values are continued
};

}  // namespace conclave::chain
