#include "conclave/base/poisson.hpp"

#include <limits>

#include "conclave/base/check.hpp"
#include "conclave/base/detail/contingency.hpp"
#include "conclave/base/detail/inversion.hpp"

namespace conclave {
namespace {

using detail::Pair;

std::uint64_t by_inversion(double mean, Stream& stream) {
  const std::uint64_t u = stream.word() >> 1;
  const auto next_ratio = [=, k = 0.0]() mutable {
    k += 1;
    return mean / k;
  };
  return detail::invert(u, detail::exp_of(-mean), stream, next_ratio);
}

// The limit of a binomial law whose failures are without bound: one cell of the table is left.
std::uint64_t by_rejection(double mean, Stream& stream) {
  const auto whole = static_cast<std::uint64_t>(mean);
  const detail::Mean parts{whole, mean - static_cast<double>(whole), mean};
  const auto cost = [&](std::uint64_t k, double excess) {
    return detail::Cell(mean).cost(detail::real(k), excess);
  };
  constexpr double nothing = std::numeric_limits<double>::infinity();
  const detail::QuickCost quick(Pair{mean, nothing}, Pair{nothing, nothing});
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;
  return detail::ratio_of_uniforms(parts, mean, largest, quick, cost, stream);
}

}  // namespace

std::uint64_t poisson(double mean, Stream& stream) {
  CONCLAVE_CHECK(mean >= 0 && mean <= 0x1p61);
  constexpr double much = 16;
  return mean < much ? by_inversion(mean, stream) : by_rejection(mean, stream);
}

}  // namespace conclave
