#include "conclave/base/real_functions.hpp"

#include <algorithm>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/logarithms.hpp"

namespace conclave {

double logarithm_of(double x) {
  if (x == 0) return minus_infinity;
  CONCLAVE_CHECK(x >= std::numeric_limits<double>::min());
  return detail::log_of(x);
}

double exponential_of(double x) {
  if (!(x > -700)) return 0;
  CONCLAVE_CHECK(x < 700);
  return detail::exp_of(x);
}

double log_sum_of(std::span<const double> values) {
  if (values.empty()) return minus_infinity;
  const double most = *std::ranges::max_element(values);
  if (most == minus_infinity) return most;
  double sum = 0;
  for (const double value : values) sum += exponential_of(value - most);
  return most + logarithm_of(sum);
}

}  // namespace conclave
