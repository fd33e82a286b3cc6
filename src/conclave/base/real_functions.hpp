// Logarithms and exponentials of real numbers by basic arithmetic alone. IEEE 754 fixes that to the
// bit, so these functions may be used in computations that decide rows; those of the C library may
// not.
#pragma once

#include <limits>
#include <span>

namespace conclave {

inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// The natural logarithm with a relative error below 2^-50; minus infinity for 0. x must be 0 or a
// normal positive number.
double logarithm_of(double x);

// e^x with a relative error below 2^-50 for x < 700, and 0 for x <= -700, minus infinity included.
double exponential_of(double x);

// ln(sum of e^x over the values), without overflow; minus infinity for none.
double log_sum_of(std::span<const double> values);

}  // namespace conclave
