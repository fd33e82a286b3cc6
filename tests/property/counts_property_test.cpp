// The `counts` engine: no agent is lost, the tally knows what the census knows, pauses change
// nothing, and its clock goes on beyond 2^64.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/population/counts.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "tests/support/forced_costs.hpp"
#include "tests/support/pll_cases.hpp"
#include "tests/support/small_protocols.hpp"

namespace conclave::tests {
namespace {

using population::Counts;
using protocols::Fratricide;
using protocols::Ppl;

Ppl toy_ppl(AgentCount n) {
  Ppl::Parameters parameters;
  parameters.t_max = 40;
  parameters.t_virus = 8;
  parameters.t_emit = 10;
  return {parameters, n};
}

template <class Engine, class P>
void expect_consistent(const Engine& engine, const P& protocol, const std::string& name) {
  AgentCount agents = 0;
  AgentCount leaders = 0;
  for (const auto& [state, count] : engine.census()) {
    agents += count;
    leaders += protocol.role(state) == Role::leader ? count : 0;
  }
  ASSERT_EQ(agents, engine.size()) << name;
  ASSERT_EQ(leaders, engine.leaders()) << name;
}

// Pieces of all lengths, far beyond convergence.
template <class Costs, class P>
void advance_in_pieces(const P& protocol, AgentCount n, const std::string& name) {
  Counts<P, Costs> engine(protocol, n, 0, {.seed = 9});
  engine.watch(Watch::nothing);
  Interactions sum;
  for (std::uint64_t piece = 0; piece < 60; ++piece) {
    const Interactions budget = piece * piece * n / 50;
    ASSERT_EQ(engine.advance(budget), budget) << name;
    sum += budget;
    ASSERT_EQ(engine.now(), sum) << name;
    ASSERT_NO_FATAL_FAILURE(expect_consistent(engine, protocol, name));
  }
}

TEST(Counts, KeepAllAgentsAndTellTheTallyOfAllLeaders) {
  for_all_costs(
      []<class Costs>(const std::string& name) { advance_in_pieces<Costs>(Duel(40), 40, name); });
  advance_in_pieces<EndlessBatches>(toy_ppl(30), 30, "ppl");
  advance_in_pieces<DrawnTogether>(pll_with({.c_max = 9, .k = 2}, 60), 60, "pll c_max=9");
  advance_in_pieces<DrawnTogether>(pll_with({}, 2000), 2000, "pll, drawn together");
  advance_in_pieces<population::CountsCosts>(pll_with({}, 2000), 2000, "pll");
}

// A pause after little work only gives the caller a chance to stop.
TEST(Counts, TakeTheSameWayWithAndWithoutPauses) {
  const Pll protocol = pll_with({}, 1000);
  Counts<Pll> straight(protocol, 1000, 0, {.seed = 4});
  straight.advance(Interactions::max());
  Counts<Pll> pausing(protocol, 1000, 0, {.seed = 4});
  while (!pausing.has_stopped()) pausing.advance(Interactions::max(), 3);
  EXPECT_EQ(pausing.now(), straight.now());
  EXPECT_EQ(pausing.census(), straight.census());
  EXPECT_TRUE(pausing.converged());
}

// Censuses by time, seen at these times of a trial that is planned up to `end`.
template <class Costs, class P>
std::vector<Census<typename P::State>> seen_at(const P& protocol, AgentCount n, std::uint64_t seed,
                                               std::uint64_t end,
                                               const std::vector<std::uint64_t>& times) {
  std::vector<Census<typename P::State>> result;
  Counts<P, Costs> engine(protocol, n, 0, {.seed = seed});
  engine.watch(Watch::nothing);
  std::uint64_t now = 0;
  for (const std::uint64_t time : times) {
    EXPECT_EQ(engine.advance(time - now, UINT64_MAX, end - now), time - now);
    EXPECT_EQ(engine.now(), time);
    now = time;
    expect_consistent(engine, protocol, "seed " + std::to_string(seed));
    result.push_back(engine.census());
    sort_by_state(result.back());
  }
  return result;
}

constexpr std::uint64_t horizon = 400;

std::vector<std::uint64_t> all_times() {
  std::vector<std::uint64_t> times;
  for (std::uint64_t time = 1; time <= horizon; ++time) times.push_back(time);
  return times;
}

// A look at one time shows the same whatever else is looked at, and so does the end.
TEST(Counts, AreTheSameWhetherOrNotTheyAreLookedAt) {
  for_all_costs([]<class Costs>(const std::string& name) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      const auto at_all = seen_at<Costs>(Duel(90), 90, seed, horizon, all_times());
      const auto at_some = seen_at<Costs>(Duel(90), 90, seed, horizon, {37, 38, 203, horizon});
      const auto at_end = seen_at<Costs>(Duel(90), 90, seed, horizon, {horizon});
      EXPECT_EQ(at_some[0], at_all[36]) << name;
      EXPECT_EQ(at_some[1], at_all[37]) << name;
      EXPECT_EQ(at_some[2], at_all[202]) << name;
      EXPECT_EQ(at_some[3], at_all.back()) << name;
      EXPECT_EQ(at_end[0], at_all.back()) << name;
    }
  });
  const Pll pll = pll_with({}, 500);
  EXPECT_EQ((seen_at<DrawnTogether>(pll, 500, 3, 9000, {4000, 9000})[1]),
            (seen_at<DrawnTogether>(pll, 500, 3, 9000, {17, 18, 1234, 9000})[3]));
}

// A look that ends a batch gives another trial, which the test above would notice.
TEST(Counts, AreOthersWhenBatchesEndAtLooks) {
  std::size_t differences = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Counts<Duel, DrawnTogether> cut(Duel(90), 90, 0, {.seed = seed});
    cut.watch(Watch::nothing);
    cut.advance(37u);
    cut.advance(363u);
    Census<Duel::State> census = cut.census();
    sort_by_state(census);
    const auto whole = seen_at<DrawnTogether>(Duel(90), 90, seed, 400, {400});
    differences += census == whole[0] ? 0 : 1;
  }
  EXPECT_GE(differences, 4u);
}

// From one interaction to the next at most two agents change.
TEST(Counts, ShowInteractionsOneAfterTheOther) {
  const auto seen = seen_at<EndlessBatches>(Duel(90), 90, 5, 400, all_times());
  for (std::size_t i = 1; i < seen.size(); ++i) {
    AgentCount gained = 0;
    for (const auto& [state, count] : seen[i]) {
      AgentCount before = 0;
      for (const auto& [old, number] : seen[i - 1]) before += old == state ? number : 0;
      gained += count > before ? count - before : 0;
    }
    EXPECT_LE(gained, 2u) << i;
  }
}

TEST(Counts, StopAtConvergenceAndGoOnWhenAsked) {
  Counts<Fratricide> engine(Fratricide({}, 500), 500, 0, {.seed = 5});
  engine.advance(Interactions::max());
  EXPECT_TRUE(engine.converged());
  EXPECT_TRUE(engine.has_stopped());
  EXPECT_EQ(engine.advance(10u), Interactions());
  engine.watch(Watch::nothing);
  EXPECT_EQ(engine.advance(1000u), Interactions(1000u));
}

Fault fault(FaultKind kind, double amount = 0, bool is_percentage = false) {
  Fault made;
  made.kind = kind;
  made.amount = amount;
  made.is_percentage = is_percentage;
  return made;
}

TEST(Counts, StrikeAsManyAsTheyShould) {
  const Pll protocol = pll_with({}, 1000);
  Counts<Pll> engine(protocol, 1000, 0, {.seed = 6});
  engine.watch(Watch::nothing);
  engine.advance(3000u);
  const AgentCount leaders = engine.leaders();
  EXPECT_EQ(engine.strike(fault(FaultKind::kill_leaders)), leaders);
  EXPECT_EQ(engine.leaders(), 0u);
  EXPECT_EQ(engine.strike(fault(FaultKind::make_leaders, 17)), 17u);
  EXPECT_EQ(engine.leaders(), 17u);
  EXPECT_EQ(engine.strike(fault(FaultKind::corrupt, 30, true)), 300u);
  expect_consistent(engine, protocol, "after corruption");
  engine.advance(5000u);
  EXPECT_EQ(engine.strike(fault(FaultKind::zero, 1e9)), 1000u);
  EXPECT_EQ(engine.census().size(), 1u);
}

// From one infected agent among 2^62 it takes about 2^62 (ln 2000 + ...) interactions to some 2000.
TEST(Counts, GoOnBeyondTwoToThe64Interactions) {
  constexpr AgentCount n = AgentCount{1} << 62;
  Counts<Epidemic> engine(Epidemic(n, 1), n, 0, {.seed = 7});
  const Interactions budget = Interactions(n) * Interactions(7u);
  EXPECT_EQ(engine.advance(budget), budget);
  EXPECT_EQ(engine.now(), budget);
  EXPECT_FALSE(engine.now().as_uint64().has_value());
  AgentCount agents = 0;
  for (const auto& [state, count] : engine.census()) agents += count;
  EXPECT_EQ(agents, n);
  EXPECT_GT(engine.census().back().second, 1u);
}

}  // namespace
}  // namespace conclave::tests
