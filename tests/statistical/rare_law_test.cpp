// Rare failures against exact chains: the 95 % intervals of `conclave rare` must hold the truth in
// about 95 of 100 cases, down to probabilities of 1e-12 and below. The number of seeds is small
// here; CONCLAVE_RARE_SEEDS=100 in the environment repeats what docs/explanation/rare.md tells.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/rare/estimate.hpp"
#include "conclave/rare/prepared.hpp"
#include "conclave/rare/result.hpp"
#include "conclave/rare/splitting.hpp"

#include "tests/mutants/broken_splitting.hpp"

namespace conclave::tests {
namespace {

using rare::Estimate;
using rare::Step;

// Those up to here were used while the rules of intervals and warnings were made.
constexpr std::uint64_t used_seeds = 1000;

std::uint64_t seeds(std::uint64_t few) {
  const char* const asked = std::getenv("CONCLAVE_RARE_SEEDS");
  return asked == nullptr ? few : std::strtoull(asked, nullptr, 10);
}

// A walk on 0 ... top-1 that goes up by one or by three, or down by one, and fails at the top.
class Walk {
 public:
  using Configuration = std::vector<int>;
  Walk(int top, int up, int jump) : top_(top), up_(up), jump_(jump) {}

  void restart(Stream&) { place_ = {0}; }
  void load(const Configuration& place) { place_ = place; }
  const Configuration& configuration() const { return place_; }
  double value() const { return place_[0]; }
  rare::Step step(Stream& stream) {
    const int draw = static_cast<int>(stream.below(64));
    const int by = draw < up_ ? 1 : draw < up_ + jump_ ? 3 : -1;
    place_[0] = std::max(0, place_[0] + by);
    return place_[0] >= top_ ? rare::Step::fails : rare::Step::goes_on;
  }

  // Solved by elimination from below: T(x) = a(x) + (steps up only), in long double. The expected
  // time from 0.
  double exact_ln_time() const {
    const auto size = static_cast<std::size_t>(top_);
    std::vector<std::vector<long double>> rows(size, std::vector<long double>(size + 1, 0));
    for (int x = 0; x < top_; ++x) {
      auto& row = rows[static_cast<std::size_t>(x)];
      row[static_cast<std::size_t>(x)] += 1;
      row[size] = 1;
      const auto move = [&](int to, int weight) {
        if (to < top_) row[static_cast<std::size_t>(std::max(0, to))] -= weight / 64.0L;
      };
      move(x + 1, up_);
      move(x + 3, jump_);
      move(x - 1, 64 - up_ - jump_);
    }
    for (std::size_t i = size; i-- > 1;) {
      for (std::size_t j = 0; j < i; ++j) {
        const long double factor = rows[j][i] / rows[i][i];
        for (std::size_t k = 0; k <= size; ++k) rows[j][k] -= factor * rows[i][k];
      }
    }
    return static_cast<double>(std::log(rows[0][size] / rows[0][0]));
  }

 private:
  int top_;
  int up_;
  int jump_;
  Configuration place_{0};
};

const std::vector<Walk>& walks() {
  static const std::vector<Walk> all{{6, 20, 0}, {10, 16, 0}, {14, 14, 0}, {20, 12, 0}, {18, 10, 0},
                                     {10, 8, 3}, {16, 8, 3},  {24, 8, 3},  {30, 6, 2},  {22, 4, 2}};
  return all;
}

// The ruin of a gambler who begins with one coin, turned round: an attempt ends without coins, and
// fails with as many as the top. Exactly, the chance is ((64 - up)/up - 1) / (((64 - up)/up)^top -
// 1).
class Gambler {
 public:
  using Configuration = std::vector<int>;
  Gambler(int top, int up) : top_(top), up_(up) {}

  void restart(Stream&) { coins_ = {1}; }
  void load(const Configuration& coins) { coins_ = coins; }
  const Configuration& configuration() const { return coins_; }
  double value() const { return coins_[0]; }
  rare::Step step(Stream& stream) {
    coins_[0] += static_cast<int>(stream.below(64)) < up_ ? 1 : -1;
    if (coins_[0] == 0) return rare::Step::fails_else;
    return coins_[0] == top_ ? rare::Step::fails : rare::Step::goes_on;
  }

  double exact_ln_attempts() const {
    const double odds = (64.0 - up_) / up_;
    return std::log((std::pow(odds, top_) - 1) / (odds - 1));
  }

 private:
  int top_;
  int up_;
  Configuration coins_{1};
};

template <class Rules, class Each>
rare::Estimate estimate(const Each& walk, std::uint64_t seed, std::uint64_t particles = 100,
                        bool by_attempt = false) {
  using Process = rare::SteppedProcess<Each>;
  const rare::SplittingOptions options{.particles = particles, .by_attempt = by_attempt};
  rare::Splitting splitting(std::make_unique<Process>(walk), options, {},
                            std::make_unique<Rules>());
  const StreamName name{.seed = seed, .purpose = rare_purpose};
  const auto plan = rare::Splitting(std::make_unique<Process>(walk), options, {})
                        .pilot({.seed = seed, .purpose = rare_purpose, .part = 1});
  std::vector<RareRepetition> repetitions;
  for (std::uint64_t i = 0; i < 20; ++i) {
    repetitions.push_back(splitting.run(plan, {name.seed, i, name.purpose, name.part}));
  }
  return rare::estimate_of(repetitions);
}

struct Coverage {
  std::uint64_t hits = 0;
  std::uint64_t trials = 0;

  void add(const rare::Time& time, double truth) {
    ++trials;
    hits += time.ln_low <= truth && truth <= time.ln_high ? 1 : 0;
  }
  // Too few hits for intervals of 95 %.
  bool is_rejected() const { return binomial_tail(trials - hits, trials, 0.05) < 1e-6; }
};

template <class Rules>
Coverage walk_coverage(std::uint64_t few) {
  Coverage coverage;
  for (const Walk& walk : walks()) {
    const double truth = walk.exact_ln_time();
    for (std::uint64_t seed = 1; seed <= few; ++seed) {
      coverage.add(estimate<Rules>(walk, used_seeds + seed).time, truth);
    }
  }
  return coverage;
}

TEST(RareWalks, ReachBelowOneInATrillion) {
  double longest = 0;
  for (const Walk& walk : walks()) longest = std::max(longest, walk.exact_ln_time());
  EXPECT_GT(longest, std::log(1e12));
}

TEST(RareWalks, IntervalsHoldTheTruth) {
  const Coverage coverage = walk_coverage<rare::SplittingRules>(seeds(20));
  RecordProperty("hits", static_cast<int>(coverage.hits));
  EXPECT_FALSE(coverage.is_rejected()) << coverage.hits << " of " << coverage.trials;
  std::printf("walks: %llu of %llu intervals hold the truth\n",
              static_cast<unsigned long long>(coverage.hits),
              static_cast<unsigned long long>(coverage.trials));
}

TEST(RareWalks, PlantedMistakesAreRejected) {
  EXPECT_TRUE(walk_coverage<CountsRecrossings>(3).is_rejected());
  EXPECT_TRUE(walk_coverage<SkipsLevels>(3).is_rejected());
  EXPECT_TRUE(walk_coverage<LosesWeights>(3).is_rejected());
}

// Correlated copies stay unbiased and repetitions stay independent, so that the interval is honest
// but wide: the spread tells.
TEST(RareWalks, CorrelatedCopiesSpread) {
  const Walk walk(20, 12, 0);
  const rare::Estimate honest = estimate<rare::SplittingRules>(walk, 1, 400);
  const rare::Estimate broken = estimate<CorrelatesCopies>(walk, 1, 400);
  EXPECT_LT(honest.sd_ln_rate, 0.7);
  EXPECT_TRUE(broken.zeros > 0 || broken.sd_ln_rate > 2 * honest.sd_ln_rate)
      << honest.sd_ln_rate << " " << broken.sd_ln_rate;
  EXPECT_EQ(honest.warnings, std::vector<std::string>{});
  EXPECT_FALSE(broken.warnings.empty());
}

template <class Rules>
Coverage attempt_coverage(std::uint64_t few) {
  Coverage coverage;
  for (const Gambler& gambler : {Gambler(6, 24), Gambler(14, 20), Gambler(24, 20)}) {
    for (std::uint64_t seed = 1; seed <= few; ++seed) {
      coverage.add(estimate<Rules>(gambler, used_seeds + seed, 200, true).time,
                   gambler.exact_ln_attempts());
    }
  }
  return coverage;
}

TEST(RareAttempts, HaveTheProbabilityOfRuin) {
  const Coverage coverage = attempt_coverage<rare::SplittingRules>(seeds(20));
  EXPECT_FALSE(coverage.is_rejected()) << coverage.hits << " of " << coverage.trials;
  std::printf("attempts: %llu of %llu intervals hold the truth\n",
              static_cast<unsigned long long>(coverage.hits),
              static_cast<unsigned long long>(coverage.trials));
  EXPECT_TRUE(attempt_coverage<LosesWeights>(6).is_rejected());
}

// One protocol with one set of parameters, and the importance functions to try.
struct Case {
  std::string protocol;
  std::uint64_t n;
  std::vector<catalog::Setting> settings;
  std::string way;
  std::vector<std::string> importance;
  std::uint64_t limit = 0;  // interactions of an attempt; 0: not by attempts
};

// Extinction of an epidemic in which the infected recover at random meetings.
constexpr const char* epidemic = R"(
states S, I
param p = 30 in 0..100 "chance in percent to recover at a meeting"
start all: all of I
I + S -> I + I
I + I -> S + I with p/100
stop when count(I) == 1
)";

catalog::Entry entry_of(const std::string& protocol) {
  return protocol == "epidemic" ? catalog::kept_text_entry("epidemic.pp", epidemic)
                                : catalog::find(protocol);
}

catalog::RunRequest run_request(const Case& which) {
  catalog::RunRequest request;
  request.n = which.n;
  request.settings = which.settings;
  if (which.limit > 0) request.plan.limit = which.limit;
  return request;
}

// By the exact module: the expected holding time, or the expected time to the stop condition.
double exact_ln_time(const Case& which) {
  catalog::VerifyRequest request{run_request(which)};
  if (which.protocol == "ppl") request.run.start = "safe";
  request.options.extent = exact::Extent::start;
  const exact::Report report = entry_of(which.protocol).verify(request).report;
  return std::log(which.protocol == "ppl" ? report.start_holding.value() : report.start.mean);
}

rare::Row rare_row(const Case& which, std::uint64_t seed, std::uint64_t particles, unsigned threads,
                   std::unique_ptr<rare::Prepared>& prepared) {
  catalog::RareRequest request{.run = run_request(which)};
  request.run.seed = seed;
  request.choice.way = which.way;
  request.choice.importance = which.importance;
  request.choice.particles = particles;
  prepared = entry_of(which.protocol).rare(request);
  rare::Progress progress;
  const std::atomic<bool> stop = false;
  const auto found = rare::run_rare(*prepared, {20, threads}, progress, stop);
  return {(*prepared).subject(), found, false};
}

std::vector<catalog::Setting> timers(int t_max, int t_virus, int t_emit) {
  return {{"t_max", std::to_string(t_max)},
          {"t_virus", std::to_string(t_virus)},
          {"t_emit", std::to_string(t_emit)}};
}

std::vector<Case> protocol_cases() {
  return {
      {"ppl", 3, timers(8, 1, 2), "timeout", {"group"}},
      {"ppl", 3, timers(14, 1, 2), "timeout", {"second"}},
      {"ppl", 3, timers(26, 1, 2), "timeout", {"group"}},
      {"ppl", 4, timers(8, 1, 1), "timeout", {"group"}},
      {"ppl", 3, timers(9, 3, 5), "", {}},
      {"ppl", 3, timers(12, 4, 6), "", {}},
      {"ppl", 3, timers(12, 3, 15), "", {"group", "spine"}},
      {"epidemic", 12, {{"p", "60"}}, "", {"count(S)"}},
      {"epidemic", 20, {{"p", "80"}}, "", {"sum(if S then 2 else 0)"}},
      {"epidemic", 30, {{"p", "100"}}, "", {"n - count(I)"}},
      {"epidemic", 40, {{"p", "100"}}, "", {"-ln(count(I))"}},
  };
}

TEST(RareProtocols, IntervalsHoldWhatTheExactModuleFinds) {
  Coverage coverage;
  for (const Case& which : protocol_cases()) {
    const double truth = exact_ln_time(which);
    Coverage own;
    const std::uint64_t particles = which.protocol == "ppl" ? 100 : 300;
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
      std::unique_ptr<rare::Prepared> prepared;
      const rare::Time time = rare_row(which, used_seeds + seed, particles, 1, prepared).time();
      coverage.add(time, truth);
      own.add(time, truth);
    }
    std::printf("%s n=%d ln T = %.3f: %d of %d\n", which.protocol.c_str(), int(which.n), truth,
                int(own.hits), int(own.trials));
  }
  EXPECT_FALSE(coverage.is_rejected()) << coverage.hits << " of " << coverage.trials;
}

// Populations that are too large for a chain of plain states, solved with merged ones.
TEST(RareProtocols, IntervalsHoldTheExactTimesOfMergedStates) {
  const std::vector<Case> cases{
      {"ppl", 5, timers(6, 3, 8), "timeout", {"group"}},
      {"ppl", 5, timers(6, 3, 8), "suicide", {"first-moment"}},
      {"ppl", 8, timers(7, 2, 10), "", {}},
      {"ppl", 6, timers(5, 3, 16), "", {"group", "spine"}},
      {"timers", 8, {{"t_max", "9"}}, "", {"group"}},
  };
  Coverage coverage;
  for (const Case& which : cases) {
    Case exactly = which;
    exactly.importance = {"exact"};
    std::unique_ptr<rare::Prepared> prepared;
    const double truth = rare_row(exactly, 1, 2, 1, prepared).time().ln_time;
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
      coverage.add(rare_row(which, used_seeds + seed, 200, 1, prepared).time(), truth);
    }
    std::printf("%s n=%d ln T = %.4f: %d of %d so far\n", which.protocol.c_str(), int(which.n),
                truth, int(coverage.hits), int(coverage.trials));
  }
  EXPECT_FALSE(coverage.is_rejected()) << coverage.hits << " of " << coverage.trials;
}

// With one rank per group only a direct meeting of the two agents raises an error.
double ln_attempts_of_lone_ranks(const Case& which) {
  const auto n = static_cast<double>(which.n);
  return -static_cast<double>(which.limit) * std::log1p(-2 / (n * (n - 1)));
}

// Three agents of one group with small messages, by the exact module.
double exact_ln_attempts(const Case& which) {
  catalog::VerifyRequest request{run_request(which)};
  request.run.plan.limit = Interactions::max();
  request.run.start = "dup";
  request.options.distribution_steps = which.limit;
  return -std::log1p(-catalog::find(which.protocol).verify(request).report.distribution.back());
}

TEST(RareDetections, AreLateAsOftenAsTheExactModuleFinds) {
  const std::vector<catalog::Setting> toy{{"r", "3"}, {"c_M", "0.3"}, {"signatures", "2"}};
  const std::vector<Case> cases{
      {"detect-collision", 20, {{"r", "1"}}, "", {"age"}, 4000},
      {"electleader", 20, {{"r", "1"}}, "", {"signatures"}, 4000},
      {"detect-collision", 3, toy, "", {"age"}, 12},
      {"detect-collision", 3, toy, "", {"signatures"}, 20},
      {"detect-collision", 3, toy, "", {"age"}, 24},
  };
  Coverage coverage;
  for (const Case& which : cases) {
    const double truth =
        which.n == 20 ? ln_attempts_of_lone_ranks(which) : exact_ln_attempts(which);
    Coverage own;
    for (std::uint64_t seed = 1; seed <= seeds(5); ++seed) {
      std::unique_ptr<rare::Prepared> prepared;
      const rare::Time time = rare_row(which, used_seeds + seed, 100, 1, prepared).time();
      coverage.add(time, truth);
      own.add(time, truth);
    }
    std::printf("%s n=%d ln P = %.3f: %d of %d\n", which.protocol.c_str(), int(which.n), -truth,
                int(own.hits), int(own.trials));
  }
  EXPECT_FALSE(coverage.is_rejected()) << coverage.hits << " of " << coverage.trials;
}

// Where both functions and plain trials reach, all three agree.
TEST(RareDetections, AreLateAsOftenAsInTrials) {
  const Case which{"detect-collision", 16, {{"r", "4"}}, "", {}, 320};
  std::unique_ptr<rare::Prepared> prepared;
  const rare::Row row = rare_row(which, used_seeds, 300, 1, prepared);
  EXPECT_TRUE(row.confirmed());
  constexpr std::uint64_t trials = 20'000;
  const auto run = catalog::find(which.protocol).prepare(run_request(which));
  const auto workspace = run->workspace();
  std::uint64_t late = 0;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    const auto goes_on = [](const auto&) { return true; };
    late += run->run(trial, *workspace, goes_on).ending == Ending::limit ? 1 : 0;
  }
  const double probability = std::exp(-row.time().ln_time);
  const double expected = probability * trials;
  const double error = std::sqrt(expected) + expected * (row.time().ln_high - row.time().ln_time);
  EXPECT_GT(expected, 50);
  EXPECT_NEAR(static_cast<double>(late), expected, 4 * error);
}

TEST(RareProtocols, SameRowsForAnyNumberOfThreads) {
  const Case which{"ppl", 5, timers(6, 3, 4), "", {}};
  std::unique_ptr<rare::Prepared> one, three;
  EXPECT_EQ(rare_row(which, 7, 50, 1, one).json(), rare_row(which, 7, 50, 3, three).json());
}

}  // namespace
}  // namespace conclave::tests
