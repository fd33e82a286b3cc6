// Networks of reactions, run as the command line runs them, against the master equation of small
// instances and the exact moments of linear networks with 10^8 molecules. The expected laws come
// from mass action alone and share nothing with what is tested. Each check must reject networks
// with a named mistake: A + A at half its rate, a volume that is forgotten, waits that are not
// exponential.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/numbers.hpp"
#include "conclave/base/poisson_clock.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/direct_method.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/unit/uniformity.hpp"

namespace conclave::tests {
namespace {

using Counts = std::vector<int>;

// One direction of a reaction, for the master equation: reactants and products by number.
struct Reaction {
  std::vector<std::size_t> reactants, products;
  double rate;
};

double propensity(const Reaction& reaction, const Counts& counts, double volume) {
  const auto& [from, to, rate] = reaction;
  const double a = counts[from[0]];
  if (from.size() == 1) return rate * a;
  const double b = counts[from[1]];
  return from[0] == from[1] ? rate * a * (a - 1) / 2 / volume : rate * a * b / volume;
}

// All censuses reachable from a start, and the chain between them in continuous time.
class MasterEquation {
 public:
  MasterEquation(const std::vector<Reaction>& reactions, const Counts& start, double volume) {
    index(start);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      for (const Reaction& each : reactions) {
        const double rate = propensity(each, states_[i], volume);
        if (rate == 0) continue;
        Counts next = states_[i];
        for (const std::size_t species : each.reactants) --next[species];
        for (const std::size_t species : each.products) ++next[species];
        moves_.push_back({i, index(next), rate});
      }
    }
    std::vector<double> out(states_.size(), 0.0);
    for (const Move& move : moves_) out[move.from] += move.rate;
    fastest_ = *std::ranges::max_element(out);
  }

  const std::vector<Counts>& states() const { return states_; }

  // The law at this time, from the start: a sum over the number of events of a Poisson process.
  std::vector<double> law(double time) const {
    std::vector<double> now(states_.size(), 0.0), sum(states_.size(), 0.0);
    now[0] = 1;
    const double mean = fastest_ * time;
    double weight = std::exp(-mean);
    for (int k = 0; k < 50 + 3 * mean; ++k) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += weight * now[i];
      std::vector<double> next = now;
      for (const Move& move : moves_) {
        const double part = now[move.from] * move.rate / fastest_;
        next[move.from] -= part;
        next[move.to] += part;
      }
      now = std::move(next);
      weight *= mean / (k + 1);
    }
    return sum;
  }

 private:
  struct Move {
    std::size_t from, to;
    double rate;
  };

  std::size_t index(const Counts& counts) {
    const auto [place, is_new] = numbers_.try_emplace(counts, states_.size());
    if (is_new) states_.push_back(counts);
    return place->second;
  }

  std::vector<Counts> states_;
  std::map<Counts, std::size_t> numbers_;
  std::vector<Move> moves_;
  double fastest_ = 0;
};

std::unique_ptr<const catalog::PreparedRun> prepared(const std::string& content, AgentCount n,
                                                     const std::string& engine,
                                                     const std::string& until) {
  catalog::RunRequest request{.n = n, .settings = {}, .start = {}, .engine = engine, .seed = 5};
  if (!until.empty()) request.plan.until = Horizon{.time = *parse_fraction(until)};
  return catalog::kept_text_entry("test.crn", content).prepare(request);
}

double observed(const TrialResult& result, std::size_t index) {
  const auto& value = result.observations[index].value;
  if (const auto* whole = std::get_if<Interactions>(&value)) return whole->as_double();
  if (const auto* small = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*small);
  return std::get<double>(value);
}

template <class Take>
void run_trials(const catalog::PreparedRun& run, std::uint64_t trials, Take take) {
  const auto workspace = run.workspace();
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    take(run.run(trial, *workspace, [](const auto&) { return true; }));
  }
}

constexpr const char* engines[] = {"agents", "counts", "events", "auto"};

// --- the master equation ---

const std::vector<Reaction> small_network{{{0, 1}, {2, 1}, 2.5},
                                          {{0, 0}, {1, 2}, 1},
                                          {{2}, {0}, 0.3},
                                          {{0}, {2}, 0.7},
                                          {{1, 2}, {0, 0}, 0.75}};
const Counts small_start{6, 3, 1};
constexpr double small_volume = 5;

std::string small_text(const std::string& volume = "5", const std::string& dimer = "1") {
  return fmt::format("volume {}\nA + B -> C + B rate 2.5\nA + A -> B + C rate {}\n"
                     "C <-> A rate 0.3, 0.7\nB + C -> 2 A rate 3/4\ninit A = 6, B = 3, C = 1\n"
                     "observe a = A\nobserve b = B\nobserve c = C\nstop when A > n\n",
                     volume, dimer);
}

// Calls take(counts) with the census of each trial at a time.
template <class Take>
void run_censuses(const std::string& text, const std::string& engine, const std::string& time,
                  std::uint64_t trials, Take take) {
  run_trials(*prepared(text, 10, engine, time), trials, [&](const TrialResult& result) {
    Counts counts;
    for (std::size_t i = 0; i < 3; ++i) counts.push_back(static_cast<int>(observed(result, i)));
    take(counts);
  });
}

// The same by the direct method alone, which `auto` uses for parts of larger populations.
template <class Take>
void run_direct_method(const std::string& text, double time, std::uint64_t trials, Take take) {
  using Protocol = text::TextProtocol<std::uint8_t>;
  const auto read = std::make_shared<const text::ProtocolText>("test.crn", text);
  const auto network = text::Compiled::make(read, {}, 10);
  const Protocol protocol(*network);
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const StreamName name{.seed = 5, .trial = trial};
    population::DirectMethod<Protocol> engine(protocol, 10, *protocol.census(0), name);
    engine.watch(Watch::nothing);
    engine.advance(PoissonClock(name, network->ticks_per_time().as_double()).points_before(time));
    Counts counts(3, 0);
    for (const auto& [state, count] : engine.census())
      counts[state.index] = static_cast<int>(count);
    take(counts);
  }
}

// How well trials fit the law of the census at a time.
double fit_at(const std::string& text, const std::string& engine, const std::string& time,
              std::uint64_t trials) {
  const MasterEquation equation(small_network, small_start, small_volume);
  std::vector<double> expected = equation.law(std::stod(time));
  for (double& each : expected) each *= static_cast<double>(trials);
  std::vector<double> found(expected.size(), 0.0);
  const auto note = [&](const Counts& counts) {
    const auto place = std::ranges::find(equation.states(), counts);
    ASSERT_NE(place, equation.states().end());
    ++found[static_cast<std::size_t>(place - equation.states().begin())];
  };
  if (engine == "direct method") {
    run_direct_method(text, std::stod(time), trials, note);
  } else {
    run_censuses(text, engine, time, trials, note);
  }
  const Buckets buckets = pool_buckets(found, expected);
  return chi_square(buckets.observed, buckets.expected).p_value;
}

constexpr std::uint64_t many = 10'000;

TEST(Reactions, CensusHasTheLawOfTheMasterEquation) {
  for (const std::string engine : engines) {
    for (const std::string time : {"0.25", "2"}) {
      const double p = fit_at(small_text(), engine, time, many);
      EXPECT_GE(p, reject) << engine << " at time " << time << ", seed 5";
    }
  }
}

TEST(Reactions, TheDirectMethodHasTheLawOfTheMasterEquation) {
  for (const std::string time : {"0.25", "2"}) {
    EXPECT_GE(fit_at(small_text(), "direct method", time, many), reject) << time;
  }
}

TEST(Reactions, MistakesInRatesAreRejected) {
  for (const std::string engine : {"agents", "events", "direct method"}) {
    EXPECT_LT(fit_at(small_text("5", "1/2"), engine, "0.25", many), reject) << engine;
    EXPECT_LT(fit_at(small_text("10"), engine, "0.25", many), reject) << engine;  // n, not V
  }
}

// --- the continuous time of a hit ---

// Exponential stages, one after the other: each infection, then a last molecule that falls apart.
const std::vector<Reaction> stages{{{0, 1}, {1, 1}, 1.5}, {{1}, {2}, 0.2}};
constexpr const char* stages_text = "A + B -> B + B rate 1.5\nB -> C rate 0.2\nvolume 4\n"
                                    "init A = 5, B = 1\nstop when A == 0 or B == 0\n";

double cdf_of_stages(const MasterEquation& equation, double time) {
  const std::vector<double> law = equation.law(time);
  double stopped = 0;
  for (std::size_t i = 0; i < law.size(); ++i) {
    const Counts& counts = equation.states()[i];
    if (counts[0] == 0 || counts[1] == 0) stopped += law[i];
  }
  return stopped;
}

// Stages behind the stop condition do not matter: whoever has stopped once counts as stopped.
double fit_times(std::vector<double> times) {
  std::vector<Reaction> until_stop = stages;
  const MasterEquation equation(until_stop, {5, 1, 0}, 4);
  std::ranges::sort(times);
  // The law on a fine grid, linear in between.
  std::vector<double> grid;
  constexpr double step = 0.02;
  for (double t = 0; t <= times.back() + step; t += step) {
    grid.push_back(cdf_of_stages(equation, t));
  }
  return kolmogorov_smirnov(times,
                            [&](double t) {
                              const auto place = static_cast<std::size_t>(t / step);
                              const double part = t / step - static_cast<double>(place);
                              return grid[place] +
                                     part *
                                         (grid[std::min(place + 1, grid.size() - 1)] - grid[place]);
                            })
      .p_value;
}

TEST(Reactions, TimesOfStopConditionsAreContinuous) {
  for (const std::string engine : engines) {
    std::vector<double> times, evenly;
    double ticks_per_time = 0;
    const auto run = prepared(stages_text, 6, engine, "");
    run_trials(*run, 4000, [&](const TrialResult& result) {
      ASSERT_EQ(result.ending, Ending::converged);
      times.push_back(result.time.value());
      ticks_per_time += result.interactions.as_double() / 4000;
      evenly.push_back(result.interactions.as_double());
    });
    EXPECT_GE(fit_times(times), reject) << engine;
    // The same ticks with waits of equal length.
    const double mean = summarize(times).mean;
    for (double& each : evenly) each *= mean / ticks_per_time;
    EXPECT_LT(fit_times(evenly), reject) << engine;
  }
}

// With molecules that do not react, `auto` has enough of them to use the direct method.
TEST(Reactions, TimesAreContinuousWhereFewMoleculesReact) {
  const std::string text = std::string(stages_text) + "Z -> Z\n";
  const auto at = text.find("B = 1");
  const auto run = prepared(text.substr(0, at) + "Z = rest, " + text.substr(at), 1000, "auto", "");
  std::vector<double> times;
  run_trials(*run, 4000, [&](const TrialResult& result) {
    ASSERT_EQ(result.ending, Ending::converged);
    times.push_back(result.time.value());
  });
  EXPECT_GE(fit_times(times), reject);
}

// --- moments of linear networks ---

constexpr AgentCount huge = 100'000'000;

// E turns A into B, and B falls into C: every A goes its own way, so that the counts of B are
// binomial. With E = n/4 and volume V, an A waits with rate r = 3 n / 4 / V.
std::string linear_text(const std::string& volume) {
  return fmt::format("volume {}\nE + A -> E + B rate 3\nB -> C rate 1\n"
                     "init E = n/4, A = rest\nobserve b = B\nstop when A > n\n",
                     volume);
}

struct Deviation {
  double mean = 0;      // in standard errors
  double variance = 0;  // of the chi-square law: its distribution function
};

Deviation deviation(const std::string& text, const std::string& engine, std::uint64_t trials) {
  constexpr double time = 0.125, r = 3.0 / 8, n = 0.75 * huge;
  const double p = r / (1 - r) * (std::exp(-r * time) - std::exp(-time));
  std::vector<double> counts;
  run_trials(*prepared(text, huge, engine, "0.125"), trials,
             [&](const TrialResult& result) { counts.push_back(observed(result, 0)); });
  const Summary found = summarize(counts);
  const double variance = n * p * (1 - p);
  const auto size = static_cast<double>(trials);
  return {(found.mean - n * p) / std::sqrt(variance / size), found.variance / variance};
}

TEST(Reactions, MomentsOfLinearNetworksAreThoseOfTheirEquations) {
  constexpr std::uint64_t trials = 40;
  for (const std::string engine : {"counts", "auto"}) {
    const Deviation found = deviation(linear_text("2 * n"), engine, trials);
    EXPECT_LT(std::abs(found.mean), 5) << engine;
    EXPECT_GT(found.variance, 0.3) << engine;  // below 1e-6 for 39 degrees of freedom
    EXPECT_LT(found.variance, 2.3) << engine;
  }
  EXPECT_GT(std::abs(deviation("A -> A\n" + linear_text("n"), "counts", 2).mean), 100);
}

}  // namespace
}  // namespace conclave::tests
