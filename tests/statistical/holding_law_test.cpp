// How long the stop condition of a protocol file lasts: with hold=1 the time until it fails, which
// is geometric in a population that leaves it with one probability, and with `for` whether it lasts
// long enough. Every engine, and a law that is off by one agent, which must be rejected.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"

#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

constexpr AgentCount n = 6;
constexpr std::uint64_t many = 10'000;

// One leader is left, until two followers make a second one.
const std::string rules = "states L, F\nleader = L\nstart clean: all of L\nL + L -> L + F\n"
                          "F + F -> F + L with 1/10\n";

// That an interaction joins two of `followers` and they do.
double failure(double followers) {
  return followers * (followers - 1) / (static_cast<double>(n) * (n - 1)) / 10;
}

std::vector<TrialResult> trials_of(const std::string& stop, const std::string& engine,
                                   bool measures) {
  catalog::RunRequest request{.n = n, .settings = {}, .start = {}, .engine = engine, .seed = 3};
  if (measures) request.settings.push_back({"hold", "1"});
  const auto run = catalog::kept_text_entry("duel.pp", rules + stop + "\n").prepare(request);
  const auto workspace = run->workspace();
  std::vector<TrialResult> results;
  for (std::uint64_t trial = 0; trial < many; ++trial) {
    results.push_back(run->run(trial, *workspace, [](const auto&) { return true; }));
  }
  return results;
}

double observed(const TrialResult& result, std::string_view name) {
  for (const Observation& each : result.observations) {
    if (each.name == name) return std::get<Interactions>(each.value).as_double();
  }
  return NAN;
}

// How well holding times fit a geometric law.
double fit_geometric(const std::vector<double>& times, double p) {
  constexpr std::size_t most = 200;
  std::vector<double> found(most + 1, 0.0), expected(most + 1, 0.0);
  for (const double time : times) ++found[std::min(most, static_cast<std::size_t>(time) - 1)];
  for (std::size_t k = 0; k < most; ++k) {
    expected[k] = static_cast<double>(times.size()) * p * std::pow(1 - p, static_cast<double>(k));
  }
  expected[most] = static_cast<double>(times.size()) * std::pow(1 - p, static_cast<double>(most));
  const Buckets buckets = pool_buckets(found, expected);
  return chi_square(buckets.observed, buckets.expected).p_value;
}

TEST(Holding, LastsAsLongAsTheStopConditionHolds) {
  for (const std::string engine : {"agents", "events", "counts", "auto"}) {
    for (const char* stop : {"stop when count(leader) == 1",
                             "stop when count(leader) == 1\nhold while count(F) >= 5"}) {
      std::vector<double> times;
      for (const TrialResult& each : trials_of(stop, engine, true)) {
        times.push_back(observed(each, "holding_interactions"));
      }
      EXPECT_GE(fit_geometric(times, failure(n - 1)), reject) << engine << stop;
      EXPECT_LT(fit_geometric(times, failure(n - 2)), reject) << engine << stop;
    }
  }
}

TEST(Holding, AStopForATimeIsTheFirstThatLasts) {
  constexpr double units = 5;
  const double share = std::pow(1 - failure(n - 1), units * n);
  for (const std::string engine : {"agents", "events", "counts", "auto"}) {
    const auto first = trials_of("stop when count(leader) == 1", engine, false);
    const auto lasting = trials_of("stop when count(leader) == 1 for 5", engine, false);
    std::size_t at_once = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      ASSERT_EQ(lasting[i].ending, Ending::converged);
      const Interactions earliest = first[i].interactions + Interactions(30u);
      ASSERT_GE(lasting[i].interactions, earliest);
      at_once += lasting[i].interactions == earliest ? 1 : 0;
    }
    EXPECT_GE(binomial_tail(at_once, many, share), reject) << engine;
    EXPECT_GE(binomial_tail(many - at_once, many, 1 - share), reject) << engine;
    const double longer = std::pow(1 - failure(n - 1), 6 * n);
    EXPECT_LT(binomial_tail(at_once, many, longer), reject) << engine;
  }
}

}  // namespace
}  // namespace conclave::tests
