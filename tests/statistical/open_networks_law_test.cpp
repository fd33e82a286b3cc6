// Networks of reactions whose molecules are born and die, run as the command line runs them,
// against laws that are known: Poisson, binomial and geometric numbers, probabilities of
// extinction, and the master equation of a dimerization. The expected laws share nothing with what
// is tested. Each check must reject a named mistake: a forgotten volume, a molecule that reacts
// with itself, a census that is one reaction late, waits that are not exponential.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"

#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

constexpr std::uint64_t many = 20'000;

catalog::RunRequest request(AgentCount n, const std::string& until) {
  catalog::RunRequest result{.n = n, .settings = {}, .start = {}, .engine = {}, .seed = 11};
  if (!until.empty()) result.plan.until = Horizon{.time = *parse_fraction(until)};
  return result;
}

std::unique_ptr<const catalog::PreparedRun> prepared(const std::string& text,
                                                     const catalog::RunRequest& wanted) {
  return catalog::kept_text_entry("open.crn", text).prepare(wanted);
}

double first_observed(const TrialResult& result) {
  const auto& value = result.observations.front().value;
  if (const auto* small = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*small);
  return std::get<Interactions>(value).as_double();
}

TrialResult run_one(const catalog::PreparedRun& run, std::uint64_t trial) {
  const auto workspace = run.workspace();
  return run.run(trial, *workspace, [](const auto&) { return true; });
}

// The number of R at a time, in each trial. A mutant looks after one reaction more.
std::vector<double> numbers_at(const std::string& text, AgentCount n, const std::string& until,
                               bool is_late = false) {
  const auto run = prepared(text + "\nobserve r = R\n", request(n, until));
  std::vector<double> numbers;
  for (std::uint64_t trial = 0; trial < many; ++trial) {
    TrialResult result = run_one(*run, trial);
    if (is_late) {
      catalog::RunRequest later = request(n, "");
      later.plan.limit = result.interactions + Interactions(1u);
      result = run_one(*prepared(text + "\nobserve r = R\n", later), trial);
    }
    numbers.push_back(first_observed(result));
  }
  return numbers;
}

// How well numbers fit the law that gives each of 0, 1, 2, ... its probability.
double fit(const std::vector<double>& numbers, const std::function<double(int)>& probability) {
  const auto most = static_cast<std::size_t>(*std::ranges::max_element(numbers));
  std::vector<double> found(most + 2, 0.0), expected(most + 2, 0.0);
  for (const double each : numbers) ++found[static_cast<std::size_t>(each)];
  double rest = 1;
  for (std::size_t i = 0; i <= most; ++i) {
    expected[i] = probability(static_cast<int>(i)) * static_cast<double>(numbers.size());
    rest -= probability(static_cast<int>(i));
  }
  expected.back() = std::max(rest, 0.0) * static_cast<double>(numbers.size());
  const Buckets buckets = pool_buckets(found, expected);
  return chi_square(buckets.observed, buckets.expected).p_value;
}

std::function<double(int)> poisson_of(double mean) {
  return [mean](int k) { return std::exp(k * std::log(mean) - mean - std::lgamma(k + 1.0)); };
}

std::function<double(int)> binomial_of(int n, double p) {
  return [n, p](int k) {
    if (k > n) return 0.0;
    return std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) +
                    k * std::log(p) + (n - k) * std::log1p(-p));
  };
}

// --- births from nothing: Poisson ---

const char* const immigration = "-> R rate 5\nR -> rate 1\ninit R = 0";

TEST(OpenNetworks, ImmigrationAndDeathIsPoisson) {
  EXPECT_GE(fit(numbers_at(immigration, 0, "1"), poisson_of(5 * (1 - std::exp(-1.0)))), reject);
  EXPECT_GE(fit(numbers_at(immigration, 0, "20"), poisson_of(5)), reject);
}

TEST(OpenNetworks, AVolumeMultipliesWhatIsBornFromNothing) {
  const std::string larger = std::string(immigration) + "\nvolume 2";
  EXPECT_GE(fit(numbers_at(larger, 0, "20"), poisson_of(10)), reject);
  EXPECT_LT(fit(numbers_at(larger, 0, "20"), poisson_of(5)), reject);  // forgotten
}

TEST(OpenNetworks, ACensusThatIsOneReactionLateIsRejected) {
  EXPECT_LT(fit(numbers_at(immigration, 0, "1", true), poisson_of(5 * (1 - std::exp(-1.0)))),
            reject);
}

// --- deaths: binomial; births: geometric ---

TEST(OpenNetworks, DeathsAreBinomial) {
  EXPECT_GE(fit(numbers_at("R -> rate 1\ninit R = 20", 20, "1/2"), binomial_of(20, std::exp(-0.5))),
            reject);
}

// Two kinds, with twice as many molecules of R as of S in the long run, while nothing is born.
TEST(OpenNetworks, AnEquilibriumIsBinomial) {
  const char* const both = "R <-> S rate 1, 2\nX -> rate 1\ninit R = 30, X = 1";
  EXPECT_GE(fit(numbers_at(both, 31, "12"), binomial_of(30, 2.0 / 3)), reject);
  EXPECT_LT(fit(numbers_at(both, 31, "12"), binomial_of(30, 0.5)), reject);
}

TEST(OpenNetworks, ABirthProcessIsGeometric) {
  const double p = std::exp(-1.5);
  EXPECT_GE(fit(numbers_at("R -> 2 R rate 1\ninit R = 1", 1, "3/2"),
                [p](int k) { return k == 0 ? 0.0 : p * std::pow(1 - p, k - 1); }),
            reject);
}

// --- extinction ---

TEST(OpenNetworks, ABirthAndDeathProcessDiesOutWithItsProbability) {
  const double birth = 1.2, death = 1, start = 3;
  const char* const text = "R -> 2 R rate 1.2\nR -> rate 1\ninit R = 3";
  const auto extinct_by = [&](double time) {
    const double grown = std::exp((birth - death) * time);
    return std::pow(death * (grown - 1) / (birth * grown - death), start);
  };
  const std::vector<double> numbers = numbers_at(text, 3, "4");
  const auto dead = static_cast<std::size_t>(std::ranges::count(numbers, 0.0));
  const double expected = extinct_by(4);
  EXPECT_GE(binomial_tail(dead, many, expected), reject);
  EXPECT_GE(binomial_tail(many - dead, many, 1 - expected), reject);
  EXPECT_LT(binomial_tail(dead, many, extinct_by(3.5)), reject);  // too short a time
}

// The gambler's ruin: 0 before 25.
TEST(OpenNetworks, AStopConditionEndsTheTrialAtTheReaction) {
  const double ratio = 1 / 1.2, start = 3, most = 25;
  const auto run = prepared("R -> 2 R rate 1.2\nR -> rate 1\ninit R = 3\nobserve r = R\n"
                            "stop when R == 0 or R == 25",
                            request(3, ""));
  std::size_t dead = 0;
  for (std::uint64_t trial = 0; trial < many; ++trial) {
    const TrialResult result = run_one(*run, trial);
    ASSERT_EQ(result.ending, Ending::converged);
    const double left = first_observed(result);
    ASSERT_TRUE(left == 0 || left == most) << left;
    dead += left == 0 ? 1 : 0;
  }
  const double ruin =
      (std::pow(ratio, start) - std::pow(ratio, most)) / (1 - std::pow(ratio, most));
  EXPECT_GE(binomial_tail(dead, many, ruin), reject);
  EXPECT_GE(binomial_tail(many - dead, many, 1 - ruin), reject);
}

// --- a dimerization: the master equation over the number of dimers ---

// The law of A, of `start` molecules, when pairs join at propensity rate a (a - 1) / 2 / volume and
// dimers fall apart; `self` lets a molecule join itself, which is a mistake.
std::vector<double> dimer_law(int start, double rate, double back, double volume, double time,
                              bool self = false) {
  const int most = start / 2;
  const auto joins = [&](int dimers) {
    const double a = start - 2 * dimers;
    return a < 2 ? 0 : rate * a * (self ? a : a - 1) / 2 / volume;
  };
  std::vector<double> now(most + 1, 0.0);
  now[0] = 1;
  constexpr int steps = 40'000;  // Runge and Kutta
  const double h = time / steps;
  const auto slope = [&](const std::vector<double>& p) {
    std::vector<double> d(p.size(), 0.0);
    for (int i = 0; i <= most; ++i) {
      const double up = i < most ? joins(i) * p[i] : 0, down = back * i * p[i];
      d[i] -= up + down;
      if (i < most) d[i + 1] += up;
      if (i > 0) d[i - 1] += down;
    }
    return d;
  };
  const auto moved = [](std::vector<double> p, const std::vector<double>& d, double step) {
    for (std::size_t i = 0; i < p.size(); ++i) p[i] += step * d[i];
    return p;
  };
  for (int step = 0; step < steps; ++step) {
    const auto a = slope(now), b = slope(moved(now, a, h / 2)), c = slope(moved(now, b, h / 2)),
               d = slope(moved(now, c, h));
    for (std::size_t i = 0; i < now.size(); ++i) {
      now[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
  }
  std::vector<double> law(static_cast<std::size_t>(start) + 1, 0.0);
  for (int i = 0; i <= most; ++i) law[static_cast<std::size_t>(start - 2 * i)] = now[i];
  return law;
}

double fit_dimers(const std::vector<double>& numbers, const std::vector<double>& law) {
  return fit(numbers, [&](int k) {
    return static_cast<std::size_t>(k) < law.size() ? law[static_cast<std::size_t>(k)] : 0.0;
  });
}

TEST(OpenNetworks, ADimerizationHasTheLawOfTheMasterEquation) {
  const std::vector<double> numbers =
      numbers_at("2 R -> D rate 0.5\nD -> 2 R rate 0.3\ninit R = 12\nvolume 4", 12, "1");
  EXPECT_GE(fit_dimers(numbers, dimer_law(12, 0.5, 0.3, 4, 1)), reject);
  EXPECT_LT(fit_dimers(numbers, dimer_law(12, 0.5, 0.3, 4, 1, true)), reject);
  EXPECT_LT(fit_dimers(numbers, dimer_law(12, 0.5, 0.3, 12, 1)), reject);  // n for the volume
}

// --- times ---

TEST(OpenNetworks, AStopHasItsContinuousTime) {
  const auto run = prepared("R -> rate 2\ninit R = 3", request(3, ""));
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < many; ++trial) times.push_back(*run_one(*run, trial).time);
  std::ranges::sort(times);
  const auto last_of_three = [](double t) { return std::pow(1 - std::exp(-2 * t), 3); };
  EXPECT_GE(kolmogorov_smirnov(times, last_of_three).p_value, reject);
  const auto stages = [](double t) { return std::pow(1 - std::exp(-2.1 * t), 3); };
  EXPECT_LT(kolmogorov_smirnov(times, stages).p_value, reject);
}

TEST(OpenNetworks, SamplesDoNotChangeATrial) {
  const std::string text = "R -> 2 R rate 1\nR + F -> 2 F rate 0.02\nF -> rate 1\n"
                           "init R = 50, F = 50\nobserve r = R\n";
  catalog::RunRequest plain = request(100, "6");
  catalog::RunRequest sampled = plain;
  sampled.plan.grid = TraceGrid{.is_logarithmic = false, .every = *parse_fraction("1/8")};
  sampled.plan.keeps_history = true;
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const TrialResult one = run_one(*prepared(text, plain), trial);
    const TrialResult other = run_one(*prepared(text, sampled), trial);
    EXPECT_EQ(one.interactions, other.interactions);
    EXPECT_EQ(first_observed(one), first_observed(other));
    EXPECT_EQ(*one.time, 6);
    ASSERT_EQ(other.history.points.size(), 49u);
    EXPECT_EQ(other.history.points[8].time, 1);
  }
}

std::string complaint(const std::string& text, AgentCount n, const std::string& until) {
  try {
    const auto run = prepared(text, request(n, until));
    run_one(*run, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(OpenNetworks, SaysWhatHasNoEnd) {
  EXPECT_NE(complaint("-> R rate 1\ninit R = 0", 0, "").find("never falls silent"),
            std::string::npos);
  EXPECT_NE(complaint("R -> 2 R\ninit R = 1", 1, "").find("no molecule dies"), std::string::npos);
  EXPECT_EQ(complaint("R -> rate 1\ninit R = 5", 5, ""), "");
  EXPECT_NE(complaint("R -> 9 R rate 1000\ninit R = 1000", 1000, "1000").find("without bound"),
            std::string::npos);
}

}  // namespace
}  // namespace conclave::tests
