// Laws of drawn counts, computed with 50 digits and log gamma functions: another way than that of
// the samplers.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <boost/math/special_functions/gamma.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "conclave/base/statistics.hpp"

namespace conclave::tests {

using Digits50 = boost::multiprecision::cpp_bin_float_50;

inline Digits50 log_factorial(std::uint64_t x) { return boost::math::lgamma(Digits50(x) + 1); }

inline Digits50 log_choose(std::uint64_t n, std::uint64_t k) {
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// Probabilities of first, first + 1, ...; what is outside is too rare to be seen.
struct CountLaw {
  std::string name;
  std::uint64_t first = 0;
  std::vector<double> probabilities;
};

// Parameters of a hypergeometric law.
struct Draw {
  std::uint64_t total;
  std::uint64_t marked;
  std::uint64_t draws;

  std::string name() const {
    return std::to_string(draws) + " from " + std::to_string(total) + " with " +
           std::to_string(marked) + " marked";
  }
  double mean() const {
    return static_cast<double>(static_cast<long double>(marked) * draws / total);
  }
  double variance() const {
    const auto n = static_cast<double>(total);
    const double unmarked_share = static_cast<double>(total - marked) / n;
    if (total == 1) return 0;
    return mean() * unmarked_share * (static_cast<double>(total - draws) / (n - 1));
  }
};

// Outwards from the mean by ratios of neighbours, within eight and a half standard deviations.
template <class Ratio>
CountLaw law_around(std::uint64_t center, double at_center, std::uint64_t low, std::uint64_t high,
                    Ratio ratio) {
  std::vector<double> below;
  long double p = at_center;
  for (std::uint64_t k = center; k > low; --k) {
    below.push_back(static_cast<double>(p /= ratio(k - 1)));
  }
  CountLaw law{"", low, {below.rbegin(), below.rend()}};
  law.probabilities.push_back(at_center);
  p = at_center;
  for (std::uint64_t k = center; k < high; ++k) {
    law.probabilities.push_back(static_cast<double>(p *= ratio(k)));
  }
  return law;
}

inline std::uint64_t reach_of(double variance) {
  return static_cast<std::uint64_t>(8.5 * std::sqrt(variance) + 40);
}

inline CountLaw hypergeometric_law(const Draw& draw) {
  const std::uint64_t total = draw.total;
  const std::uint64_t marked = draw.marked;
  const std::uint64_t draws = draw.draws;
  const std::uint64_t unmarked = total - marked;
  const std::uint64_t least = draws > unmarked ? draws - unmarked : 0;
  const std::uint64_t most = std::min(marked, draws);
  const auto mean = static_cast<std::uint64_t>(static_cast<long double>(marked) * draws / total);
  const std::uint64_t center = std::clamp(mean, least, most);
  const std::uint64_t reach = reach_of(draw.variance());
  const Digits50 log_p =
      log_choose(marked, center) + log_choose(unmarked, draws - center) - log_choose(total, draws);
  const auto ratio = [&](std::uint64_t k) {  // P(k + 1) / P(k)
    return static_cast<long double>(marked - k) / static_cast<long double>(k + 1) *
           (static_cast<long double>(draws - k) /
            static_cast<long double>(unmarked + k + 1 - draws));
  };
  CountLaw law = law_around(center, static_cast<double>(exp(log_p)),
                            std::max(least, center - std::min(center, reach)),
                            std::min(most, center + reach), ratio);
  law.name = draw.name();
  return law;
}

struct Trials {
  std::uint64_t trials;
  std::uint64_t numerator;
  std::uint64_t denominator;
};

inline CountLaw binomial_law(const Trials& coins) {
  const std::uint64_t trials = coins.trials;
  const std::uint64_t numerator = coins.numerator;
  const std::uint64_t denominator = coins.denominator;
  const std::uint64_t others = denominator - numerator;
  const auto center =
      static_cast<std::uint64_t>(static_cast<long double>(trials) * numerator / denominator);
  const double p = static_cast<double>(numerator) / static_cast<double>(denominator);
  const std::uint64_t reach = reach_of(static_cast<double>(trials) * p * (1 - p));
  const Digits50 log_p = log_choose(trials, center) +
                         Digits50(center) * log(Digits50(numerator) / denominator) +
                         Digits50(trials - center) * log(Digits50(others) / denominator);
  const auto ratio = [&](std::uint64_t k) {
    return static_cast<long double>(trials - k) / static_cast<long double>(k + 1) *
           (static_cast<long double>(numerator) / static_cast<long double>(others));
  };
  CountLaw law =
      law_around(center, static_cast<double>(exp(log_p)), center - std::min(center, reach),
                 std::min(trials, center + reach), ratio);
  law.name = std::to_string(trials) + " trials of " + std::to_string(numerator) + "/" +
             std::to_string(denominator);
  return law;
}

inline CountLaw poisson_law(double mean) {
  const auto center = static_cast<std::uint64_t>(mean);
  const std::uint64_t reach = reach_of(mean);
  const Digits50 log_p =
      Digits50(center) * log(Digits50(mean)) - Digits50(mean) - log_factorial(center);
  const auto ratio = [&](std::uint64_t k) {
    return static_cast<long double>(mean) / static_cast<long double>(k + 1);
  };
  CountLaw law = law_around(center, static_cast<double>(exp(log_p)),
                            center - std::min(center, reach), center + reach, ratio);
  law.name = "Poisson of mean " + std::to_string(mean);
  return law;
}

// The p-value of a sample against a law.
inline double fit(const CountLaw& law, const std::vector<std::uint64_t>& sample) {
  std::vector<double> expected(law.probabilities);
  for (double& value : expected) value *= static_cast<double>(sample.size());
  std::vector<double> observed(expected.size(), 0.0);
  for (const std::uint64_t value : sample) {
    if (value < law.first || value - law.first >= observed.size()) return 0;
    ++observed[value - law.first];
  }
  const Buckets buckets = pool_buckets(observed, expected, 20);
  if (buckets.observed.size() < 2) return 1;
  return chi_square(buckets.observed, buckets.expected).p_value;
}

}  // namespace conclave::tests
