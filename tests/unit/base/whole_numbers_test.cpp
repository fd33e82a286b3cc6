// Logarithms and powers of whole numbers against 50 digits, and against exact integers.
#include "conclave/base/whole_numbers.hpp"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

namespace conclave::tests {
namespace {

using Real = boost::multiprecision::cpp_bin_float_50;
using boost::multiprecision::cpp_int;

std::vector<std::uint64_t> many_numbers() {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t n = 1; n <= 2000; ++n) numbers.push_back(n);
  for (int exponent = 11; exponent < 64; ++exponent) {
    const std::uint64_t power = std::uint64_t{1} << exponent;
    for (const std::uint64_t n : {power - 1, power, power + 1, power + power / 3}) {
      numbers.push_back(n);
    }
  }
  numbers.push_back(~std::uint64_t{0});
  return numbers;
}

// How far a double is from a number of 50 digits, in units of its own last place.
double units_off(double rounded, const Real& exact) {
  const double unit = std::nextafter(rounded, INFINITY) - rounded;
  return std::abs(static_cast<double>((Real(rounded) - exact) / Real(unit)));
}

TEST(WholeNumbers, HaveLogarithmsWithinHalfAUnitOfTheLastPlace) {
  for (const std::uint64_t n : many_numbers()) {
    if (n == 1) continue;
    EXPECT_LE(units_off(binary_logarithm(n), log(Real(n)) / log(Real(2))), 0.51) << n;
    EXPECT_LE(units_off(natural_logarithm(n), log(Real(n))), 0.51) << n;
  }
}

TEST(WholeNumbers, HaveExactLogarithmsAtPowersOfTwo) {
  for (int exponent = 0; exponent < 64; ++exponent) {
    EXPECT_EQ(binary_logarithm(std::uint64_t{1} << exponent), exponent);
  }
  EXPECT_EQ(natural_logarithm(1), 0);
}

bool is_rounded_up_power(std::uint64_t w, std::uint64_t n, unsigned p, unsigned q) {
  const cpp_int wanted = pow(cpp_int(n), p);
  return pow(cpp_int(w), q) >= wanted && (w == 0 || pow(cpp_int(w - 1), q) < wanted);
}

TEST(WholeNumbers, HavePowersRoundedUpExactly) {
  for (const std::uint64_t n : many_numbers()) {
    for (const auto& [p, q] : {std::pair{4u, 9u}, {7u, 9u}, {1u, 2u}, {2u, 3u}, {0u, 1u}}) {
      const std::uint64_t w = rounded_up_power(n, p, q);
      EXPECT_TRUE(is_rounded_up_power(w, n, p, q)) << n << "^(" << p << "/" << q << ") " << w;
    }
  }
  EXPECT_EQ(rounded_up_power(0, 4, 9), 0u);
}

// ceil(pow(2^18, 7.0 / 9)) is 16385 with the C library.
TEST(WholeNumbers, HavePowersThatAreWhole) {
  EXPECT_EQ(rounded_up_power(std::uint64_t{1} << 18, 7, 9), 16384u);
  EXPECT_EQ(rounded_up_power(std::uint64_t{1} << 18, 4, 9), 256u);
  EXPECT_EQ(rounded_up_power(19683, 7, 9), 2187u);
}

}  // namespace
}  // namespace conclave::tests
