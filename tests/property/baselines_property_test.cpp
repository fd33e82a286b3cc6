// The baselines on networks of all sizes, under every adversary of the catalog: exactly one leader,
// known to all, within the bounds that their analysis gives with constants.
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "conclave/catalog/catalog.hpp"
#include "conclave/protocols/message/afek_gafni_sync.hpp"

namespace conclave::tests {
namespace {

// Calls `check` with the outcome of one trial under each adversary.
template <class Check>
void for_each_adversary(std::string_view name, std::uint64_t n, Check check) {
  const catalog::Entry& entry = catalog::find(name);
  std::vector<catalog::Named> delays = entry.network->delays;
  if (delays.empty()) delays.push_back({});  // synchronous
  for (const catalog::Named& delay : delays) {
    for (const catalog::Named& wakeup : entry.network->wakeups) {
      const auto run = entry.prepare(
          {.n = n,
           .settings = {},
           .start = {},
           .engine = {},
           .seed = 3,
           .plan = {},
           .network = {.delay = std::string(delay.name), .wakeup = std::string(wakeup.name)}});
      const auto workspace = run->workspace();
      const TrialResult result = run->run(n, *workspace, [](Interactions) { return true; });
      SCOPED_TRACE(std::string(name) + " --n " + std::to_string(n) + " --seed 3 --delay " +
                   std::string(delay.name) + " --wakeup " + std::string(wakeup.name) + ", trial " +
                   std::to_string(n));
      EXPECT_EQ(result.ending, Ending::converged);
      EXPECT_EQ(result.network->elected, 1u);
      EXPECT_EQ(result.network->informed, n);
      check(result);
    }
  }
}

TEST(Flooding, SendsExactlyOneMessagePerOrderedPair) {
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 100u}) {
    for_each_adversary("flooding", n, [n](const TrialResult& result) {
      EXPECT_EQ(result.interactions, Interactions(n * (n - 1)));
    });
  }
}

// A candidate of level k has captured k nodes, so that at most n / k candidates get there, and each
// sends one CAPTURE from there, which leads to at most three other messages.
TEST(AfekGafniAsync, SendsAtMostFourMessagesPerCapture) {
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 100u, 300u}) {
    double captures = static_cast<double>(n);
    for (std::uint64_t level = 1; level < n; ++level) {
      captures += static_cast<double>(n) / static_cast<double>(level);
    }
    for_each_adversary("afek-gafni-async", n, [&](const TrialResult& result) {
      EXPECT_LE(result.interactions.as_double(), 4 * captures + static_cast<double>(n - 1));
    });
  }
}

// Steps double until all are captured; a step costs at most 2 n requests and n answers.
TEST(AfekGafniSync, TakesTwoRoundsPerStepAndOneToAnnounce) {
  for (const std::uint64_t n : {1u, 2u, 3u, 10u, 100u, 1000u}) {
    const std::uint32_t rounds = protocols::AfekGafniSync({}, n).most_rounds();
    EXPECT_EQ(rounds, 2 * static_cast<std::uint32_t>(std::ceil(std::log2(n))) + 1) << n;
    for_each_adversary("afek-gafni-sync", n, [&](const TrialResult& result) {
      EXPECT_TRUE(n == 1 || result.network->rounds == rounds);
      EXPECT_LE(result.interactions.as_double(), (1.5 * rounds + 1) * static_cast<double>(n));
    });
  }
}

}  // namespace
}  // namespace conclave::tests
