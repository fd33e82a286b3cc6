// Trials that are stepped through: the same trial as one that is run to its end, copied exactly,
// struck at any time.

#include "conclave/population/trial.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/run_text.hpp"

#include "tests/support/open_trial.hpp"

namespace conclave::experiment {
namespace {

using population::Trial;
using Pause = population::Trial::Pause;

constexpr const char* majority = R"(states A, B, U
start close: 60% of A, rest of B
A + B -> A + U
B + A -> B + U
A + U -> A + A
B + U -> B + B
stop when none(B) and none(U) or none(A) and none(U)
)";
constexpr const char* reversible = R"(A + B -> B + B rate 2.5
B -> A rate 0.5
init A = 990, B = 10
stop when B == 500
)";
constexpr const char* sparse = R"(A + B -> B + B rate 2.5
B -> A rate 0.5
Z + B -> Z + A rate 20
init B = 10, Z = 5, A = rest
stop when B == 0
)";

struct Case {
  std::string protocol;  // a name, or that of a text below
  std::string n;
  std::string engine;
};

std::string content_of(const std::string& name) {
  if (name == "majority.pp") return majority;
  if (name == "reversible.crn") return reversible;
  return name == "sparse.crn" ? sparse : "";
}

OpenRun opened(const Case& each, bool has_horizon) {
  RunText words{.protocol = each.protocol, .n = each.n, .engine = each.engine};
  if (has_horizon) words.until = "7.3";
  return OpenRun(words, {.keeps_final = has_horizon}, content_of(each.protocol));
}

const std::vector<Case> cases{
    {"majority.pp", "1000", "agents"},
    {"majority.pp", "1000", "events"},
    {"majority.pp", "1000", "counts"},
    {"majority.pp", "20000", "auto"},
    {"reversible.crn", "1000", "agents"},
    {"reversible.crn", "1000", "counts"},
    {"reversible.crn", "1000", "auto"},
    {"sparse.crn", "1000", "auto"},   // the direct method from the start
    {"sparse.crn", "20000", "auto"},  // later
    {"fratricide", "1000", "counts"},
    {"pll", "300", "agents"},
    {"pll", "20000", "auto"},
    {"prl", "64", "events"},
};

Fraction decimal(const std::string& text) { return *parse_fraction(text); }

Pause advance(Trial& trial, const std::string& time, bool stops = false) {
  return trial.advance_to(trial.clock().interactions_at(decimal(time)), go_on, stops);
}

TEST(Trial, InPiecesIsTheTrialOfARun) {
  for (const Case& each : cases) {
    const TrialResult expected = opened(each, true).result(3);
    const OpenRun open = opened(each, false);
    const auto trial = open.begin(3);
    for (const char* time : {"0.01", "0.5", "0.51", "2", "6.999", "7.3"}) {
      EXPECT_EQ(advance(*trial, time), Pause::reached);
    }
    EXPECT_EQ(trial->now(), expected.interactions) << each.protocol << ' ' << each.engine;
    EXPECT_EQ(trial->engine().agents(), expected.final_agents) << each.protocol << each.engine;
    EXPECT_EQ(trial->first_convergence(), expected.first_convergence) << each.protocol;
  }
}

TEST(Trial, StopsAtTheInteractionOfTheRow) {
  for (const Case& each : cases) {
    if (each.protocol.ends_with(".crn") || each.n == "20000") continue;
    const OpenRun open = opened(each, false);
    const TrialResult expected = open.result();
    const auto trial = open.begin();
    EXPECT_EQ(trial->advance_to(Interactions::max(), go_on, true), Pause::stopped);
    EXPECT_EQ(trial->now(), expected.interactions) << each.protocol << ' ' << each.engine;
    EXPECT_EQ(trial->engine().leaders(), expected.leaders);
    EXPECT_EQ(trial->advance_to(Interactions::max(), go_on, true), Pause::stopped);
    EXPECT_EQ(trial->now(), expected.interactions);
  }
}

TEST(Trial, GoesOnAsItsCopyDoes) {
  for (const Case& each : cases) {
    if (each.protocol == "pll" && each.n == "20000") continue;  // corrupted, it has many states
    const OpenRun open = opened(each, false);
    const auto trial = open.begin(1);
    advance(*trial, "1.003");
    trial->strike(parse_fault("corrupt:10%@0"));
    advance(*trial, "1.4");
    advance(*trial, "1.5", true);
    const auto copy = trial->copy();
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->now(), trial->now());
    EXPECT_EQ(copy->engine().agents(), trial->engine().agents());
    for (Trial* one : {trial.get(), copy.get()}) advance(*one, "4");
    EXPECT_EQ(copy->engine().agents(), trial->engine().agents())
        << each.protocol << ' ' << each.engine;
  }
}

// Not only the agents: also what is still to be sampled, and the faults still to come.
TEST(Trial, ACopyHasTheSameResult) {
  for (const char* const engine : {"agents", "counts", "events"}) {
    const OpenRun open(RunText{.protocol = "fratricide",
                               .n = "100",
                               .engine = engine,
                               .faults = {"make-leaders:5@20", "make-leaders:5@convergence+3"}},
                       {.grid = TraceGrid{}});
    const TrialResult expected = open.result();
    const auto trial = open.begin();
    trial->advance_to(1500u, go_on);
    const auto copy = trial->copy();
    trial->advance_to_end(go_on);  // does not change the copy
    copy->advance_to_end(go_on);
    const RowFormat format(*open.run);
    EXPECT_EQ(format.json({0, copy->result()}), format.json({0, expected})) << engine;
    EXPECT_EQ(format.trace({0, copy->result()}), format.trace({0, expected})) << engine;
  }
}

TEST(Trial, AfterItsEndFaultsAndStopsLeaveTheResultAlone) {
  const OpenRun open(RunText{.protocol = "fratricide", .n = "100", .engine = "agents"});
  const auto trial = open.begin();
  trial->advance_to_end(go_on);
  ASSERT_TRUE(trial->is_over());
  const Interactions end = trial->now();
  trial->advance_to(end + 10u, go_on);
  EXPECT_FALSE(trial->is_seeking());
  EXPECT_EQ(trial->strike(parse_fault("make-leaders:7@0")), 7u);
  EXPECT_EQ(trial->engine().leaders(), 8u);
  EXPECT_EQ(trial->advance_to(Interactions::max(), go_on, true), Pause::stopped);
  EXPECT_EQ(trial->engine().leaders(), 1u);
  EXPECT_EQ(trial->first_convergence(), end);
  EXPECT_EQ(trial->result().interactions, end);
  EXPECT_TRUE(trial->result().faults.empty());
}

TEST(Trial, OfMessagePassingCannotBeSteppedThrough) {
  EXPECT_EQ(OpenRun(RunText{.protocol = "flooding", .n = "10"}).begin(), nullptr);
}

// A fault that hits no one ends a batch in its middle and must not change the law of what follows:
// mean and variance of the susceptible at time 6, over many seeds, with such faults and without.
struct Moments {
  double sum = 0, squares = 0, count = 0;
  double mean() const { return sum / count; }
  double variance() const { return squares / count - mean() * mean(); }
};

Moments susceptible(bool cuts) {
  Moments found;
  const catalog::Entry entry = catalog::kept_text_entry(
      "epidemic.pp", "states S, I\nstart one: 5 of I, rest of S\nI + S -> I + I\n");
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const std::shared_ptr<const catalog::PreparedRun> run =
        entry.prepare({.n = 400u,
                       .settings = {},
                       .start = "",
                       .engine = "counts",
                       .seed = cuts ? seed : seed + 5000});
    const auto workspace = run->workspace();
    const auto trial = run->begin({.seed = run->seed()}, *workspace, {});
    for (std::uint64_t time = 1; cuts && time < 20; ++time) {
      trial->advance_to(trial->clock().interactions_at({time * 3u, 10}), go_on);
      trial->strike({.text = "corrupt:0", .kind = FaultKind::corrupt});
    }
    advance(*trial, "6");
    const auto states = trial->engine().census();
    const double value = states.front().name == "S" ? static_cast<double>(states[0].count) : 0;
    found.sum += value;
    found.squares += value * value;
    ++found.count;
  }
  return found;
}

TEST(Trial, StrikesInsideABatchWithoutChangingTheLaw) {
  const Moments with = susceptible(true);
  const Moments without = susceptible(false);
  const double deviation = std::sqrt((with.variance() + without.variance()) / with.count);
  EXPECT_LT(std::abs(with.mean() - without.mean()), 5 * deviation);
  EXPECT_NEAR(with.variance() / without.variance(), 1, 0.2);
}

}  // namespace
}  // namespace conclave::experiment
