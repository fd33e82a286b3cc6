// Duties of every message passing protocol of the catalog, whichever it is.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/runner.hpp"

#include "tests/support/catalog_entries.hpp"

namespace conclave {
namespace {

using catalog::Entry;
using catalog::RunRequest;

const auto always = [](Interactions) { return true; };

class EveryNetwork : public testing::TestWithParam<const Entry*> {
 protected:
  const Entry& entry() const { return *GetParam(); }

  static RunRequest request(std::uint64_t n) {
    RunRequest result;
    result.n = n;
    return result;
  }

  // The names of all delays, or one empty name where there is nothing to delay.
  std::vector<std::string> delays() const {
    std::vector<std::string> names;
    for (const auto& each : entry().network->delays) names.emplace_back(each.name);
    return names.empty() ? std::vector<std::string>{""} : names;
  }

  std::vector<std::string> rows(const RunRequest& request, unsigned threads) const {
    const auto run = entry().prepare(request);
    const experiment::RowFormat format(*run);
    std::vector<std::string> lines;
    experiment::Progress progress;
    const std::atomic<bool> stop = false;
    experiment::run_trials(
        *run, {.trials = 12, .threads = threads},
        [&](const experiment::Row& row) { lines.push_back(format.json(row) + format.csv(row)); },
        progress, stop);
    return lines;
  }
};

TEST_P(EveryNetwork, SaysWhatItIs) {
  EXPECT_FALSE(entry().info.title.empty());
  EXPECT_FALSE(entry().info.paper.empty());
  EXPECT_FALSE(entry().info.bound.empty());
  EXPECT_FALSE(entry().info.variables.empty());
  EXPECT_FALSE(entry().network->kinds.empty());
  EXPECT_LE(entry().network->kinds.size(), 8u);
  const bool starts_together = entry().network->wakeups.size() == 1;
  EXPECT_TRUE(starts_together || entry().network->wakeups.size() >= 5u);
  EXPECT_TRUE(!starts_together || entry().network->wakeups.front().name == "all");
  EXPECT_GE(entry().info.smallest_n, 1u);
  EXPECT_EQ(entry().engines.front().name, "network");
}

TEST_P(EveryNetwork, ElectsOneLeaderKnownToAllAgainstEveryAdversary) {
  if (!entry().info.failure.empty()) return;
  for (const std::string& delay : delays()) {
    for (const auto& wakeup : entry().network->wakeups) {
      for (const std::uint64_t n : {2u, 3u, 10u, 64u}) {
        if (n < entry().info.smallest_n) continue;
        RunRequest wanted = request(n);
        wanted.network = {.delay = delay, .wakeup = std::string(wakeup.name)};
        const auto run = entry().prepare(wanted);
        const auto workspace = run->workspace();
        for (std::uint64_t trial = 0; trial < 3; ++trial) {
          const TrialResult result = run->run(trial, *workspace, always);
          EXPECT_EQ(result.ending, Ending::converged) << delay << ' ' << wakeup.name << " n=" << n;
          EXPECT_EQ(result.network->elected, 1u) << delay << ' ' << wakeup.name << " n=" << n;
          EXPECT_EQ(result.network->informed, n) << delay << ' ' << wakeup.name << " n=" << n;
          EXPECT_GE(result.network->most_on_an_edge, 1u);
          EXPECT_EQ(result.network->rounds.has_value(), delay.empty());
        }
      }
    }
  }
}

TEST_P(EveryNetwork, ElectsTheOnlyNodeWithoutAMessage) {
  if (entry().info.smallest_n > 1) return;
  const auto run = entry().prepare(request(1));
  const TrialResult result = run->run(0, *run->workspace(), always);
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.interactions, Interactions(0u));
  EXPECT_EQ(result.network->time, 0);
}

TEST_P(EveryNetwork, GivesTheSameRowsForAnyNumberOfThreads) {
  RunRequest wanted = request(40);
  wanted.network.wakeup = std::string(entry().network->wakeups.back().name);
  const auto one = rows(wanted, 1);
  EXPECT_EQ(one.size(), 12u);
  EXPECT_EQ(one, rows(wanted, 2));
  EXPECT_EQ(one, rows(wanted, 5));
}

TEST_P(EveryNetwork, ReportsOnlyDeclaredObservables) {
  std::set<std::string_view> declared;
  for (const Observable& observable : entry().info.observables) declared.insert(observable.name);
  const auto run = entry().prepare(request(20));
  for (const Observation& each : run->run(0, *run->workspace(), always).observations) {
    EXPECT_TRUE(declared.contains(each.name)) << each.name;
  }
}

TEST_P(EveryNetwork, TracesEveryMessage) {
  RunRequest wanted = request(6);
  wanted.plan.grid = TraceGrid{};
  const auto run = entry().prepare(wanted);
  const TrialResult result = run->run(0, *run->workspace(), always);
  const auto& trace = result.network->trace;
  const auto count = [&](std::string_view event) {
    return std::ranges::count(trace, event, &NetworkEvent::event);
  };
  EXPECT_EQ(Interactions(static_cast<std::uint64_t>(count("deliver"))), result.interactions);
  EXPECT_EQ(count("elect"), 1);
  EXPECT_EQ(count("wake") + count("join"), 6);
  EXPECT_TRUE(std::ranges::is_sorted(trace, {}, &NetworkEvent::time));
}

TEST_P(EveryNetwork, RefusesImpossibleRequests) {
  const auto expect_refusal = [this](const RunRequest& wanted, std::string_view word) {
    try {
      entry().prepare(wanted);
      ADD_FAILURE() << word;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find(word), std::string_view::npos) << error.what();
    }
  };
  RunRequest wanted = request(10);
  wanted.start = "awake";
  expect_refusal(wanted, "asleep");
  wanted = request(10);
  wanted.engine = "agents";
  expect_refusal(wanted, "network");
  wanted = request(10);
  wanted.network.wakeup = "al";
  expect_refusal(wanted, "did you mean 'all'");
  wanted = request(10);
  wanted.network.ids = "uniqe";
  const bool is_anonymous = entry().network->ids.front().name == "anonymous";
  expect_refusal(wanted, is_anonymous ? "anonymous" : "did you mean 'unique'");
  wanted = request(10);
  wanted.network.delay = "uniforn";
  expect_refusal(wanted, entry().network->delays.empty() ? "synchronous" : "uniform");
  wanted = request(10);
  wanted.graph = "grid:2x5";  // which is not given
  expect_refusal(wanted, entry().network->runs_on_any_graph         ? "grid:2x5"
                         : entry().network->own_graph == "complete" ? "complete"
                                                                    : "ring");
  wanted = request(10);
  wanted.plan.limit = 5u;
  expect_refusal(wanted, "limit");
  expect_refusal(request(0), "at least");
  expect_refusal(request(std::uint64_t{1} << 33), "too large");
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryNetwork,
                         testing::ValuesIn(tests::entries_taking(tests::Taking::networks)),
                         tests::test_name);

TEST(Catalog, RefusesOptionsOfMessagePassingForPopulations) {
  RunRequest wanted;
  wanted.n = 10u;
  wanted.network.delay = "unit";
  EXPECT_THROW(catalog::find("pll").prepare(wanted), Error);
}

}  // namespace
}  // namespace conclave
