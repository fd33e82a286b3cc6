// Duties of every protocol of the catalog, whichever it is.
#include "conclave/catalog/catalog.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/runner.hpp"

#include "tests/support/catalog_entries.hpp"

namespace conclave {
namespace {

using catalog::Entry;
using catalog::RunRequest;

class EveryProtocol : public testing::TestWithParam<const Entry*> {
 protected:
  const Entry& entry() const { return *GetParam(); }

  RunRequest request(std::uint64_t n) const {
    RunRequest result;
    result.n = n;
    // ppl waits for timers of 720 ceil(ln N)^2 interactions per agent, however small n is.
    result.plan.limit = n * n * std::uint64_t{1000} + 100'000'000;
    return result;
  }

  std::vector<std::string> rows(const RunRequest& request, std::uint64_t trials,
                                unsigned threads) const {
    const auto run = entry().prepare(request);
    const experiment::RowFormat format(*run);
    std::vector<std::string> lines;
    experiment::Progress progress;
    const std::atomic<bool> stop = false;
    experiment::run_trials(
        *run, {.trials = trials, .threads = threads},
        [&](const experiment::Row& row) { lines.push_back(format.json(row)); }, progress, stop);
    return lines;
  }
};

TEST_P(EveryProtocol, SaysWhatItIs) {
  EXPECT_FALSE(entry().info.title.empty());
  EXPECT_FALSE(entry().info.paper.empty());
  const bool is_read = entry().info.source == Source::read;
  EXPECT_TRUE(is_read || !entry().info.version.empty()) << "which text is followed?";
  EXPECT_FALSE(entry().info.bound.empty() && entry().info.closed_form.empty());
  EXPECT_FALSE(entry().info.variables.empty());
  EXPECT_FALSE(entry().starts.empty());
  EXPECT_FALSE(entry().engines.empty());
  EXPECT_GE(entry().info.smallest_n, 2u);
  EXPECT_GE(entry().info.demo_n, entry().info.smallest_n);
}

TEST_P(EveryProtocol, ElectsExactlyOneLeaderFromEveryStartAtEverySmallSize) {
  for (const Start& start : entry().starts) {
    for (const std::uint64_t n : {2u, 3u, 4u, 7u, 16u, 63u, 64u, 65u, 200u}) {
      if (n < entry().info.smallest_n) continue;
      RunRequest wanted = request(n);
      wanted.start = start.name;
      const auto run = entry().prepare(wanted);
      const auto workspace = run->workspace();
      const std::uint64_t trials = n < 50 ? 20 : n < 100 ? 4 : 1;
      for (std::uint64_t trial = 0; trial < trials; ++trial) {
        const auto result = run->run(trial, *workspace, [](Interactions) { return true; });
        if (!entry().info.part_of.empty()) {  // ends, but need not succeed nor elect
          EXPECT_NE(result.ending, Ending::limit) << "n=" << n << " trial=" << trial;
          continue;
        }
        EXPECT_EQ(result.ending, Ending::converged) << "n=" << n << " trial=" << trial;
        EXPECT_EQ(result.leaders, 1u) << "n=" << n << " trial=" << trial;
      }
    }
  }
}

TEST_P(EveryProtocol, ReportsOnlyDeclaredObservables) {
  std::set<std::string_view> declared;
  for (const Observable& observable : entry().info.observables) declared.insert(observable.name);
  const auto run = entry().prepare(request(50));
  const auto workspace = run->workspace();
  const auto result = run->run(0, *workspace, [](Interactions) { return true; });
  for (const Observation& observation : result.observations) {
    EXPECT_TRUE(declared.contains(observation.name)) << observation.name;
  }
}

TEST_P(EveryProtocol, GivesTheSameRowsForAnyNumberOfThreads) {
  const auto one = rows(request(70), 15, 1);
  EXPECT_EQ(one.size(), 15u);
  EXPECT_EQ(one, rows(request(70), 15, 2));
  EXPECT_EQ(one, rows(request(70), 15, 7));
}

TEST_P(EveryProtocol, GivesTheSameTrialInAUsedWorkspace) {
  const auto run = entry().prepare(request(100));
  const auto always = [](Interactions) { return true; };
  const auto fresh = run->workspace();
  const auto expected = run->run(5, *fresh, always);
  const auto used = run->workspace();
  for (std::uint64_t trial = 0; trial < 5; ++trial) run->run(trial, *used, always);
  EXPECT_EQ(run->run(5, *used, always).interactions, expected.interactions);
}

TEST_P(EveryProtocol, StopsAtItsLimitExactly) {
  RunRequest wanted = request(1000);
  wanted.plan.limit = 17u;
  const auto run = entry().prepare(wanted);
  const auto workspace = run->workspace();
  const auto result = run->run(0, *workspace, [](Interactions) { return true; });
  EXPECT_EQ(result.ending, Ending::limit);
  EXPECT_EQ(result.interactions, Interactions(17u));
}

TEST_P(EveryProtocol, RefusesFewerAgentsThanItsSmallestNumberAndSaysSo) {
  const std::uint64_t smallest = entry().info.smallest_n;
  EXPECT_NO_THROW(entry().prepare(request(smallest)));
  for (std::uint64_t n = 0; n < smallest; ++n) {
    try {
      entry().prepare(request(n));
      ADD_FAILURE() << "n=" << n << " was accepted";
    } catch (const Error& error) {
      const std::string sentence = error.what();
      EXPECT_NE(sentence.find("n = " + std::to_string(n) + ": "), std::string::npos) << sentence;
      EXPECT_NE(sentence.find("at least"), std::string::npos) << sentence;
    }
  }
}

TEST_P(EveryProtocol, RefusesImpossibleRequests) {
  RunRequest unknown_start = request(10);
  unknown_start.start = "no such start";
  EXPECT_THROW(entry().prepare(unknown_start), Error);
  RunRequest unknown_engine = request(10);
  unknown_engine.engine = "no such engine";
  EXPECT_THROW(entry().prepare(unknown_engine), Error);
  RunRequest unknown_parameter = request(10);
  unknown_parameter.settings = {{"no_such_parameter", "1"}};
  EXPECT_THROW(entry().prepare(unknown_parameter), Error);
}

// Message passing has tests of its own: network_catalog_test.cpp.
INSTANTIATE_TEST_SUITE_P(Catalog, EveryProtocol,
                         testing::ValuesIn(tests::entries_taking(tests::Taking::populations)),
                         tests::test_name);

TEST(Catalog, IsSortedAndFindsByName) {
  const auto entries = catalog::entries();
  EXPECT_TRUE(std::ranges::is_sorted(entries, {}, [](const Entry& e) { return e.info.name; }));
  for (const Entry& entry : entries) {
    EXPECT_EQ(catalog::find(entry.info.name).info.title, entry.info.title);
  }
  EXPECT_THROW(catalog::find("no-such-protocol"), Error);
}

}  // namespace
}  // namespace conclave
