// Logarithms and fractional powers of whole numbers, in integer arithmetic. The functions of the C
// library differ between machines in the last bit of their results, and where a result is then
// rounded up, that bit decides a row: pow(2^18, 7/9) is a little more than 2^14 on some machines.
// Code that decides a trial may use only these functions; tools/tidy.py keeps the others out.
#pragma once

#include <cstdint>

namespace conclave {

// log2(n) for n >= 1: exact for powers of two; otherwise within 2^-61 of the true value before it
// is rounded to the nearest double. O(1), 64 squarings.
double binary_logarithm(std::uint64_t n);

// The natural logarithm of n >= 1, within 2^-60 of the true value before it is rounded.
double natural_logarithm(std::uint64_t n);

// The smallest whole number w with w >= n^(p/q), exactly: the smallest with w^q >= n^p.
// 0 <= p <= q <= 9, q > 0. O(log n) products of numbers with up to 9 * 64 bits.
std::uint64_t rounded_up_power(std::uint64_t n, unsigned p, unsigned q);

}  // namespace conclave
