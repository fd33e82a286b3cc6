#include "conclave/rare/estimate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conclave/base/check.hpp"
#include "conclave/base/real_functions.hpp"

namespace conclave::rare {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

// Decided before the coverage was measured; docs/explanation/rare.md tells what they mean.
constexpr double most_spread = 0.7;
constexpr double least_share = 0.02;
constexpr double fewest_ancestors = 4;

struct MeanRate {
  double ln_mean = 0;
  double relative_error = 0;
};

// Scaled by the largest rate, so that nothing overflows.
MeanRate mean_rate(std::span<const RareRepetition> repetitions) {
  double most = minus_infinity;
  for (const RareRepetition& each : repetitions) most = std::max(most, each.ln_rate);
  if (most == minus_infinity) return {minus_infinity, unbounded};
  double sum = 0;
  double squares = 0;
  for (const RareRepetition& each : repetitions) sum += exponential_of(each.ln_rate - most);
  const auto count = static_cast<double>(repetitions.size());
  const double mean = sum / count;
  for (const RareRepetition& each : repetitions) {
    const double distance = exponential_of(each.ln_rate - most) - mean;
    squares += distance * distance;
  }
  const double error = count < 2 ? unbounded : std::sqrt(squares / (count - 1) / count) / mean;
  return {most + logarithm_of(mean), error};
}

Time time_of(const MeanRate& rate, std::uint64_t degrees) {
  if (rate.ln_mean == minus_infinity) return {unbounded, minus_infinity, unbounded};
  if (degrees == 0) return {-rate.ln_mean, minus_infinity, unbounded};
  const double half = student_quantile(degrees) * rate.relative_error;
  return {-rate.ln_mean, -rate.ln_mean - half, -rate.ln_mean + half};
}

double spread(std::span<const RareRepetition> repetitions) {
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (const RareRepetition& each : repetitions) {
    if (each.ln_rate == minus_infinity) continue;
    count += 1;
    const double distance = each.ln_rate - sum / std::max(1.0, count - 1);
    if (count > 1) squares += distance * distance * (count - 1) / count;
    sum += each.ln_rate;
  }
  return count < 2 ? 0 : std::sqrt(squares / (count - 1));
}

// Means over the repetitions; one that ended early has passed the other levels with share 0.
void fill_factors(Estimate& estimate, std::span<const RareRepetition> repetitions) {
  std::vector<double> means;
  for (const RareRepetition& each : repetitions) {
    means.resize(std::max(means.size(), each.factors.size()));
    for (std::size_t k = 0; k < each.factors.size(); ++k) means[k] += each.factors[k];
    estimate.ancestors += static_cast<double>(each.ancestors);
    estimate.interactions += each.interactions;
    estimate.configurations = std::max(estimate.configurations, each.configurations);
  }
  const auto count = static_cast<double>(repetitions.size());
  for (double& mean : means) mean /= count;
  estimate.ancestors /= count;
  estimate.levels = means.size();
  if (means.empty()) return;
  estimate.last_factor = means.back();
  estimate.least_factor = *std::ranges::min_element(means);
}

void fill_warnings(Estimate& estimate) {
  const auto warn = [&](bool is_bad, const char* sentence) {
    if (is_bad) estimate.warnings.emplace_back(sentence);
  };
  warn(estimate.zeros == estimate.repetitions,
       "no repetition has seen a failure: there is no estimate; raise --particles");
  warn(estimate.zeros > 0 && estimate.zeros < estimate.repetitions,
       "some repetitions have seen no failure: raise --particles");
  warn(estimate.sd_ln_rate > most_spread,
       "the standard deviation of ln J is above 0.7, so that few repetitions carry the mean: "
       "raise --particles");
  warn(estimate.levels > 0 && estimate.last_factor < least_share,
       "fewer than 2 % of the paths fail from the last level: the importance function does not "
       "lead up to the failure");
  warn(estimate.levels > 0 && estimate.least_factor < least_share &&
           estimate.least_factor < estimate.last_factor,
       "fewer than 2 % of the paths pass some level: levels are too far apart");
  warn(estimate.levels > 0 && estimate.zeros < estimate.repetitions &&
           estimate.ancestors < fewest_ancestors,
       "the failures descend from fewer than 4 entrances: raise --particles");
}

}  // namespace

Estimate estimate_of(std::span<const RareRepetition> repetitions) {
  CONCLAVE_CHECK(!repetitions.empty());
  Estimate estimate;
  estimate.repetitions = repetitions.size();
  estimate.zeros = static_cast<std::uint64_t>(std::ranges::count(
      repetitions, minus_infinity, [](const RareRepetition& each) { return each.ln_rate; }));
  const MeanRate rate = mean_rate(repetitions);
  estimate.relative_error = rate.relative_error;
  estimate.time = time_of(rate, estimate.repetitions - 1);
  estimate.sd_ln_rate = spread(repetitions);
  fill_factors(estimate, repetitions);
  fill_warnings(estimate);
  return estimate;
}

namespace {

// Both happen.
double ln_time_of_both(double ln_time, std::span<const double> others) {
  std::vector<double> ln_rates{-ln_time};
  for (const double each : others) ln_rates.push_back(-each);
  return -log_sum_of(ln_rates);
}

}  // namespace

Time time_of_all(std::span<const Estimate> ways, std::span<const double> ln_floors) {
  std::vector<double> ln_rates;
  std::uint64_t degrees = std::numeric_limits<std::uint64_t>::max();
  for (const Estimate& each : ways) {
    ln_rates.push_back(-each.time.ln_time);
    degrees = std::min(degrees, each.repetitions - 1);
  }
  const double ln_mean = log_sum_of(ln_rates);
  double square = 0;
  for (const Estimate& each : ways) {
    if (each.time.ln_time == unbounded) continue;
    const double error = each.relative_error * exponential_of(-each.time.ln_time - ln_mean);
    square += error * error;
  }
  Time time{unbounded, unbounded, unbounded};
  if (!ways.empty()) time = time_of({ln_mean, std::sqrt(square)}, degrees);
  if (ln_floors.empty()) return time;
  return {ln_time_of_both(time.ln_time, ln_floors), ln_time_of_both(time.ln_low, ln_floors),
          time.ln_high};
}

bool overlap(const Time& a, const Time& b) {
  return std::max(a.ln_low, b.ln_low) <= std::min(a.ln_high, b.ln_high);
}

double student_quantile(std::uint64_t degrees) {
  constexpr std::array<double, 20> table{
      12.70620, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216, 2.22814,
      2.20099,  2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092, 2.09302, 2.08596};
  CONCLAVE_CHECK(degrees > 0);
  if (degrees <= table.size()) return table[degrees - 1];
  // The expansion of Cornish and Fisher around the normal quantile.
  constexpr double z = 1.959963985, z2 = z * z;
  const double inverse = 1 / static_cast<double>(degrees);
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + inverse * (z * (z2 + 1) / 4 +
                        inverse * (z * ((5 * z2 + 16) * z2 + 3) / 96 + inverse * third));
}

}  // namespace conclave::rare
