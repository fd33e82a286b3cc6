// The `counts` engine: the whole census after a fixed number of interactions, for random tables of
// transitions, against the exact Markov chain; in each of the ways the engine simulates. The same
// test must reject simulations in batches with one mistake each.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/population/counts.hpp"

#include "tests/mutants/broken_batches.hpp"
#include "tests/support/census_law.hpp"
#include "tests/support/forced_costs.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/small_protocols.hpp"

namespace conclave::tests {
namespace {

using mutants::BatchFlaw;
using mutants::PlainBatches;
using population::Counts;

constexpr std::uint64_t trials = 8000;

const std::vector<TableCase>& cases() {
  static const std::vector<TableCase> all = table_cases();
  return all;
}

// Advances in pieces of these lengths, the last one for the rest.
template <class Costs>
std::uint64_t census_key(const CensusLaw& law, std::uint64_t trial,
                         const std::vector<std::uint64_t>& pieces) {
  Counts<RandomTable, Costs> engine(law.table(), law.table().agents(), 0,
                                    {.seed = 5, .trial = trial});
  engine.watch(Watch::nothing);
  std::uint64_t left = law.interactions();
  for (const std::uint64_t piece : pieces) {
    left -= *engine.advance(std::min(piece, left)).as_uint64();
  }
  engine.advance(left);
  std::uint64_t key = 0;
  for (const auto& [state, count] : engine.census()) key += key_of(state, count);
  return key;
}

template <class Costs>
void expect_fit(const std::string& name, const std::vector<std::uint64_t>& pieces = {}) {
  for (const TableCase& each : cases()) {
    const TestResult result = each.law.fit(
        trials, [&](std::uint64_t trial) { return census_key<Costs>(each.law, trial, pieces); });
    EXPECT_GE(result.p_value, rejected_below)
        << name << ": " << each.name << ", seed=5, trials 0 to " << trials - 1 << ": chi-square "
        << result.statistic;
    testing::Test::RecordProperty(name + ": " + each.name, std::to_string(result.p_value));
  }
}

TEST(CountsCensusLaw, IsExactInEveryWayToSimulate) {
  for_all_costs([]<class Costs>(const std::string& name) { expect_fit<Costs>(name); });
}

TEST(CountsCensusLaw, IsExactWhenAdvancedInPieces) {
  expect_fit<EndlessBatches>("endless batches in pieces", {1, 5, 2, 3});
  expect_fit<population::CountsCosts>("default costs in pieces", {2, 1, 7});
  expect_fit<Wavers>("wavers in pieces", {4, 1, 1, 3});
}

// Looks at these times at a trial that is planned far beyond them, and shows what is seen at the
// last one, or, as a flaw, what the batch around it comes to.
template <class Costs, bool shows_the_end = false>
std::uint64_t seen_key(const CensusLaw& law, std::uint64_t trial,
                       const std::vector<std::uint64_t>& looks) {
  constexpr std::uint64_t horizon = 60;
  Counts<RandomTable, Costs> engine(law.table(), law.table().agents(), 0,
                                    {.seed = 7, .trial = trial});
  engine.watch(Watch::nothing);
  std::uint64_t now = 0;
  for (const std::uint64_t look : looks) {
    if (look >= law.interactions()) break;
    engine.advance(look - now, UINT64_MAX, horizon - now);
    now = look;
  }
  const std::uint64_t left = (shows_the_end ? horizon : law.interactions()) - now;
  engine.advance(left, UINT64_MAX, horizon - now);
  std::uint64_t key = 0;
  for (const auto& [state, count] : engine.census()) key += key_of(state, count);
  return key;
}

// How many of every third case reject what is seen.
constexpr std::size_t third = 3;

template <class Costs, bool shows_the_end = false>
std::size_t rejected_looks(const std::vector<std::uint64_t>& looks, std::size_t first = 0) {
  std::size_t rejected = 0;
  for (std::size_t i = first; i < cases().size(); i += third) {
    const CensusLaw& law = cases()[i].law;
    const TestResult result = law.fit(trials, [&](std::uint64_t trial) {
      return seen_key<Costs, shows_the_end>(law, trial, looks);
    });
    rejected += result.p_value < rejected_below ? 1 : 0;
  }
  return rejected;
}

TEST(CountsCensusLaw, IsExactInsideABatch) {
  EXPECT_EQ(rejected_looks<EndlessBatches>({}, 0), 0u);
  EXPECT_EQ(rejected_looks<DrawnOneByOne>({2, 3, 9, 16}, 1), 0u);
  EXPECT_EQ(rejected_looks<Wavers>({1, 4}, 2), 0u);
}
TEST(CountsCensusLaw, RejectsTheEndOfTheBatchAsSeenInsideIt) {
  EXPECT_GE((rejected_looks<EndlessBatches, true>({})), cases().size() / third / 3);
}

// How many of the cases reject simulation in batches with this flaw.
std::size_t rejections(BatchFlaw flaw) {
  std::size_t rejected = 0;
  for (const TableCase& each : cases()) {
    const CensusLaw& law = each.law;
    const TestResult result = law.fit(trials, [&](std::uint64_t trial) {
      PlainBatches<RandomTable> simulation(law.table(), law.table().agents(),
                                           {.seed = 6, .trial = trial}, flaw);
      simulation.run(law.interactions(), [] { return false; });
      std::uint64_t key = 0;
      for (const Letter state : simulation.agents()) key += key_of(state, 1);
      return key;
    });
    rejected += result.p_value < rejected_below ? 1 : 0;
  }
  return rejected;
}

TEST(CountsCensusLaw, OfPlainBatchesIsExact) { EXPECT_EQ(rejections(BatchFlaw::none), 0u); }

TEST(CountsCensusLaw, RejectsAForgottenCollision) {
  EXPECT_GE(rejections(BatchFlaw::forgets_the_collision), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsTheEndOfTheBatchAsTime) {
  EXPECT_GE(rejections(BatchFlaw::reports_the_end_of_the_batch), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsDrawsWithReplacement) {
  EXPECT_GE(rejections(BatchFlaw::draws_with_replacement), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsForgottenNullInteractions) {
  EXPECT_GE(rejections(BatchFlaw::forgets_null_interactions), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsARuleLostForLowerInitiators) {
  EXPECT_GE(rejections(BatchFlaw::loses_rules_of_lower_initiators), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsNewStatesThatNeverReact) {
  EXPECT_GE(rejections(BatchFlaw::ignores_new_states), cases().size() / 3);
}
TEST(CountsCensusLaw, RejectsGeneratorsSeededAlike) {
  EXPECT_GE(rejections(BatchFlaw::seeds_all_generators_alike), cases().size() / 3);
}

}  // namespace
}  // namespace conclave::tests
