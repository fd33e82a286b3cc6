// Trials that are stepped through: the same trial as one that is run to its end, copied exactly,
// struck at any time.

#include "conclave/catalog/session.hpp"

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
#include "conclave/experiment/fault_text.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/population/live_trial.hpp"

namespace conclave::experiment {
namespace {

using catalog::Session;
using catalog::SessionEnd;

const KeepGoing go_on = [](const Moment&) { return true; };

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

catalog::Entry entry_named(const std::string& name) {
  if (name == "majority.pp") return catalog::kept_text_entry(name, majority);
  if (name == "reversible.crn") return catalog::kept_text_entry(name, reversible);
  if (name == "sparse.crn") return catalog::kept_text_entry(name, sparse);
  return catalog::find(name);
}

// Keeps the entry, which owns what its views refer to.
struct Prepared {
  Prepared(const Case& each, bool has_horizon, const std::string& seed = "1")
      : entry(entry_named(each.protocol)) {
    RunText words{.protocol = each.protocol, .n = each.n, .seed = seed, .engine = each.engine};
    if (has_horizon) words.until = "7.3";
    catalog::RunRequest request = request_of(entry, words);
    request.plan.keeps_final = has_horizon;
    run = entry.prepare(request);
  }
  catalog::Entry entry;
  std::shared_ptr<const catalog::PreparedRun> run;
};

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

TEST(Session, InPiecesIsTheTrialOfARun) {
  for (const Case& each : cases) {
    const Prepared whole(each, true);
    const auto workspace = whole.run->workspace();
    const TrialResult expected = whole.run->run(3, *workspace, go_on);
    const Prepared open(each, false);
    Session session(open.run, 3);
    for (const char* time : {"0.01", "0.5", "0.51", "2", "6.999", "7.3"}) {
      EXPECT_EQ(session.advance_to_time(decimal(time), false, go_on), SessionEnd::reached);
      EXPECT_EQ(session.time(), decimal(time).as_double());
    }
    EXPECT_EQ(session.now(), expected.interactions) << each.protocol << ' ' << each.engine;
    EXPECT_EQ(session.engine().agents(), expected.final_agents) << each.protocol << each.engine;
    EXPECT_EQ(session.first_convergence(), expected.first_convergence) << each.protocol;
  }
}

TEST(Session, StopsAtTheInteractionOfTheRow) {
  for (const Case& each : cases) {
    if (each.protocol.ends_with(".crn") || each.n == "20000") continue;
    const Prepared prepared(each, false);
    const auto workspace = prepared.run->workspace();
    const TrialResult expected = prepared.run->run(0, *workspace, go_on);
    Session session(prepared.run);
    EXPECT_EQ(session.advance_to(Interactions::max(), true, go_on), SessionEnd::stopped);
    EXPECT_EQ(session.now(), expected.interactions) << each.protocol << ' ' << each.engine;
    EXPECT_EQ(session.engine().leaders(), expected.leaders);
  }
}

TEST(Session, GoesOnAsItsCopyDoes) {
  for (const Case& each : cases) {
    if (each.protocol == "pll" && each.n == "20000") continue;  // corrupted, it has many states
    const Prepared prepared(each, false);
    Session session(prepared.run, 1);
    session.advance_to_time(decimal("1.003"), false, go_on);
    session.strike(parse_fault("corrupt:10%@0"));
    session.advance_to_time(decimal("1.4"), false, go_on);
    session.advance_to_time(decimal("1.5"), true, go_on);
    std::optional<Session> copy = session.copy(go_on);
    ASSERT_TRUE(copy);
    EXPECT_EQ(copy->now(), session.now());
    EXPECT_EQ(copy->time(), session.time());
    EXPECT_EQ(copy->engine().agents(), session.engine().agents());
    for (Session* one : {&session, &*copy}) one->advance_to_time(decimal("4"), false, go_on);
    EXPECT_EQ(copy->engine().agents(), session.engine().agents())
        << each.protocol << ' ' << each.engine;
  }
}

// As a run of the same protocol from the present configuration.
std::shared_ptr<const catalog::PreparedRun> from_here(const Session& session,
                                                      const catalog::Entry& entry,
                                                      const Case& each) {
  catalog::RunRequest request =
      request_of(entry, {.protocol = each.protocol, .n = each.n, .engine = each.engine});
  request.given = std::make_shared<catalog::GivenStart>(
      catalog::GivenStart{session.engine().agents(), "given"});
  return entry.prepare(request);
}

TEST(Session, GoesOnAsAnotherRun) {
  for (const Case& each : cases) {
    const Prepared prepared(each, false);
    Session session(prepared.run);
    session.advance_to_time(decimal("1"), false, go_on);
    const auto agents = session.engine().agents();
    const Interactions before = session.now();
    session.go_on_as(from_here(session, prepared.entry, each));
    EXPECT_EQ(session.now(), before);
    EXPECT_EQ(session.engine().agents(), agents) << each.protocol << ' ' << each.engine;
    session.advance_to_time(decimal("2"), false, go_on);
    EXPECT_EQ(session.now(), session.interactions_at(decimal("2")));
    std::optional<Session> copy = session.copy(go_on);
    for (Session* one : {&session, &*copy}) one->advance_to_time(decimal("3"), false, go_on);
    EXPECT_EQ(copy->engine().agents(), session.engine().agents()) << each.protocol;
  }
}

TEST(Session, RefusesWhatCannotBeDone) {
  const catalog::Entry flooding = catalog::find("flooding");
  const std::shared_ptr<const catalog::PreparedRun> network =
      flooding.prepare(request_of(flooding, {.protocol = "flooding", .n = "10"}));
  try {
    Session session(network);
    FAIL() << "a network was stepped through";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "engine network runs trials of flooding to their end: they cannot be stepped "
                 "through");
  }
  const Prepared prepared({"majority.pp", "100", "agents"}, false);
  Session session(prepared.run);
  EXPECT_THROW(session.strike(parse_fault("kill-leaders@0")), Error);
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
    Session session(run);
    for (std::uint64_t time = 1; cuts && time < 20; ++time) {
      session.advance_to_time({time * 3u, 10}, false, go_on);
      session.strike({.text = "corrupt:0", .kind = FaultKind::corrupt});
    }
    session.advance_to_time({Interactions(6u)}, false, go_on);
    const auto states = session.engine().census();
    const double value = states.front().name == "S" ? static_cast<double>(states[0].count) : 0;
    found.sum += value;
    found.squares += value * value;
    ++found.count;
  }
  return found;
}

TEST(Session, StrikesInsideABatchWithoutChangingTheLaw) {
  const Moments with = susceptible(true);
  const Moments without = susceptible(false);
  const double deviation = std::sqrt((with.variance() + without.variance()) / with.count);
  EXPECT_LT(std::abs(with.mean() - without.mean()), 5 * deviation);
  EXPECT_NEAR(with.variance() / without.variance(), 1, 0.2);
}

}  // namespace
}  // namespace conclave::experiment
