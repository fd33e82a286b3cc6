// The `counts` engine among 10^13 to 2^62 agents. How many agents met twice has Poisson's law, and
// the changes of the census have the mean and the variance of their differential equations, both to
// far more digits than a test can see. The same tests must reject samplers that take differences of
// log factorials, which have no digits left at such sizes.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/base/variates.hpp"
#include "conclave/population/counts.hpp"

#include "tests/mutants/broken_draws.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/small_protocols.hpp"

namespace conclave::tests {
namespace {

using population::Counts;

constexpr std::uint64_t sizes[]{10'000'000'000'000, std::uint64_t{1} << 50, std::uint64_t{1} << 62};

// --- agents that meet twice ---

constexpr double mean_collisions = 12;
constexpr std::uint64_t collision_trials = 5000;

// So many interactions that 12 agents are met a second time on average: of the 2 t (t - 1) pairs of
// roles in different interactions, each is one agent's with probability 1/n. Three meetings of one
// agent, and all other dependences, are rarer by sqrt(n).
std::uint64_t interactions_with_collisions(std::uint64_t n) {
  return static_cast<std::uint64_t>(std::sqrt(mean_collisions / 2 * static_cast<double>(n)));
}

// sampler(trial) gives the number of agents met twice.
template <class CountSampler>
TestResult fit_poisson(CountSampler sampler) {
  std::vector<double> observed(60, 0.0), expected;
  for (std::uint64_t trial = 0; trial < collision_trials; ++trial) {
    ++observed[std::min<std::uint64_t>(sampler(trial), observed.size() - 1)];
  }
  double p = std::exp(-mean_collisions);
  for (std::size_t k = 0; k < observed.size(); ++k) {
    expected.push_back(p * static_cast<double>(collision_trials));
    p *= mean_collisions / static_cast<double>(k + 1);
  }
  const Buckets buckets = pool_buckets(observed, expected);
  return chi_square(buckets.observed, buckets.expected);
}

TEST(CountsCollisions, HavePoissonsLawAmongVeryManyAgents) {
  for (const std::uint64_t n : sizes) {
    const TestResult result = fit_poisson([n](std::uint64_t trial) {
      Counts<MeetingCounter> engine(MeetingCounter(n), n, 0, {.seed = 1, .trial = trial});
      engine.watch(Watch::nothing);
      engine.advance(interactions_with_collisions(n));
      std::uint64_t again = 0;
      for (const auto& [state, count] : engine.census()) again += state.value > 1 ? count : 0;
      return again;
    });
    EXPECT_GE(result.p_value, rejected_below) << "n=" << n << ": chi-square " << result.statistic;
  }
}

// Meetings until the time is up, each run ended by an agent met before; it brings a new one along.
std::uint64_t collisions_by_log_factorials(std::uint64_t n, std::uint64_t trial) {
  Stream stream({.seed = 2, .trial = trial});
  std::uint64_t touched = 0, collisions = 0;
  std::uint64_t left = interactions_with_collisions(n);
  for (;;) {
    const std::uint64_t length = mutants::run_by_log_factorials(n, touched, stream);
    if (length >= left) return collisions;
    left -= length + 1;
    touched += 2 * length + 1;
    ++collisions;
  }
}

// Among fewer agents there are digits enough, and nothing is wrong.
TEST(CountsCollisions, AreToldApartFromLogFactorials) {
  const auto p_value = [](std::uint64_t n) {
    return fit_poisson([n](auto trial) { return collisions_by_log_factorials(n, trial); }).p_value;
  };
  EXPECT_GE(p_value(1'000'000'000), rejected_below);
  EXPECT_LT(p_value(sizes[1]), rejected_below);
  EXPECT_LT(p_value(sizes[2]), rejected_below);
}

// --- changes of the census ---

// How often an interaction adds one to the count that is looked at, or takes one from it, where the
// count is this part of all agents.
struct Rates {
  double up;
  double down;
};

// An epidemic from half of the agents: newly infected ones.
Rates epidemic_rates(double x) { return {(0.5 + x) * (0.5 - x), 0}; }

// Approximate majority from two equal halves: agents without an opinion. The halves stay so nearly
// equal that their difference does not matter.
Rates majority_rates(double x) { return {(1 - x) * (1 - x) / 2, x * (1 - x)}; }

// Mean and variance after `time` interactions per agent, both per agent: x' = f(x) with the drift
// f = up - down, and V' = up + down - f(x)^2 + 2 f'(x) V. Solved by the method of Runge and Kutta.
struct Moments {
  double mean = 0;
  double variance = 0;
};

template <class RatesAt>
Moments slope(const Moments& at, RatesAt rates) {
  constexpr double h = 1e-4;
  const auto drift = [&](double x) { return rates(x).up - rates(x).down; };
  const Rates here = rates(at.mean);
  const double steepness = (drift(at.mean + h) - drift(at.mean - h)) / (2 * h);
  const double f = drift(at.mean);
  return {f, here.up + here.down - f * f + 2 * steepness * at.variance};
}

template <class RatesAt>
Moments moments_after(double time, RatesAt rates) {
  constexpr int steps = 64;
  const double h = time / steps;
  Moments now;
  const auto ahead = [&](const Moments& slope_there, double part) {
    return Moments{now.mean + part * h * slope_there.mean,
                   now.variance + part * h * slope_there.variance};
  };
  for (int step = 0; step < steps; ++step) {
    const Moments a = slope(now, rates);
    const Moments b = slope(ahead(a, 0.5), rates);
    const Moments c = slope(ahead(b, 0.5), rates);
    const Moments d = slope(ahead(c, 1), rates);
    now.mean += h / 6 * (a.mean + 2 * b.mean + 2 * c.mean + d.mean);
    now.variance += h / 6 * (a.variance + 2 * b.variance + 2 * c.variance + d.variance);
  }
  return now;
}

constexpr std::uint64_t change_trials = 1000;

// Some hundred batches.
std::uint64_t interactions_with_changes(std::uint64_t n) {
  return static_cast<std::uint64_t>(400 * std::sqrt(static_cast<double>(n)));
}

// The counts must be normal: so many independent small changes. sampler(trial) gives a count.
template <class RatesAt, class CountSampler>
TestResult fit_normal(std::uint64_t n, RatesAt rates, CountSampler sampler) {
  const auto agents = static_cast<double>(n);
  const Moments moments =
      moments_after(static_cast<double>(interactions_with_changes(n)) / agents, rates);
  const double deviation = std::sqrt(moments.variance * agents);
  std::vector<double> scaled;
  for (std::uint64_t trial = 0; trial < change_trials; ++trial) {
    const auto count = static_cast<double>(sampler(trial));
    scaled.push_back((count - moments.mean * agents) / deviation);
  }
  std::ranges::sort(scaled);
  return kolmogorov_smirnov(scaled, [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); });
}

template <class P>
std::uint64_t count_after(const P& protocol, std::uint64_t n, std::uint64_t trial, Letter counted) {
  Counts<P> engine(protocol, n, 0, {.seed = 3, .trial = trial});
  engine.watch(Watch::nothing);
  engine.advance(interactions_with_changes(n));
  for (const auto& [state, count] : engine.census()) {
    if (state == counted) return count;
  }
  return 0;
}

TEST(CountsChanges, OfEpidemicsHaveTheirMomentsAmongVeryManyAgents) {
  for (const std::uint64_t n : sizes) {
    const TestResult result = fit_normal(n, epidemic_rates, [n](std::uint64_t trial) {
      return count_after(Epidemic(n, n / 2), n, trial, {1}) - n / 2;
    });
    EXPECT_GE(result.p_value, rejected_below) << "n=" << n << ": D = " << result.statistic;
  }
}

TEST(CountsChanges, OfApproximateMajorityHaveTheirMomentsAmongVeryManyAgents) {
  for (const std::uint64_t n : sizes) {
    const TestResult result = fit_normal(n, majority_rates, [n](std::uint64_t trial) {
      return count_after(Majority(n, n / 2), n, trial, {2});
    });
    EXPECT_GE(result.p_value, rejected_below) << "n=" << n << ": D = " << result.statistic;
  }
}

// When the count reaches its mean of some moment: the earlier by as many interactions as the count
// at that moment is ahead, divided by the drift.
TEST(CountsChanges, ReachAGoalAtTheRightTimeAmongVeryManyAgents) {
  for (const std::uint64_t n : sizes) {
    const std::uint64_t moment = interactions_with_changes(n);
    const auto agents = static_cast<double>(n);
    const double mean = moments_after(static_cast<double>(moment) / agents, majority_rates).mean;
    const Rates rates = majority_rates(mean);
    const auto goal = static_cast<std::uint64_t>(mean * agents);
    const Crossing protocol(Majority(n, n / 2), {2}, goal);
    const TestResult result = fit_normal(n, majority_rates, [&](std::uint64_t trial) {
      Counts<Crossing<Majority>> engine(protocol, n, 0, {.seed = 5, .trial = trial});
      engine.advance(Interactions::max());
      const auto early = static_cast<double>(moment) - engine.now().as_double();
      return static_cast<double>(goal) + early * (rates.up - rates.down);
    });
    EXPECT_GE(result.p_value, rejected_below) << "n=" << n << ": D = " << result.statistic;
  }
}

// The epidemic in plain batches of fresh pairs, without collisions, which are too few to matter.
template <class Draw>
std::uint64_t plain_epidemic(std::uint64_t n, std::uint64_t trial, Draw draw) {
  Stream stream({.seed = 4, .trial = trial});
  std::uint64_t infected = n / 2;
  constexpr std::uint64_t batches = 320;
  for (std::uint64_t batch = 0; batch < batches; ++batch) {
    const std::uint64_t all = interactions_with_changes(n);
    const std::uint64_t length = all * (batch + 1) / batches - all * batch / batches;
    const std::uint64_t initiators = draw(n, infected, length, stream);
    const std::uint64_t responders = draw(n - length, infected - initiators, length, stream);
    infected += responders - draw(length, initiators, responders, stream);
  }
  return infected - n / 2;
}

TEST(CountsChanges, AreToldApartFromLogFactorials) {
  const std::uint64_t n = sizes[2];
  const auto fit = [n](auto draw) {
    return fit_normal(n, epidemic_rates,
                      [&](std::uint64_t trial) { return plain_epidemic(n, trial, draw); });
  };
  const TestResult right = fit(hypergeometric);
  EXPECT_GE(right.p_value, rejected_below) << "D = " << right.statistic;
  EXPECT_LT(fit(mutants::by_log_factorials).p_value, rejected_below);
}

}  // namespace
}  // namespace conclave::tests
