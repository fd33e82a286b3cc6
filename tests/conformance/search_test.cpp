// The search for bad starts: what its callers rely on.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {
namespace {

const auto keep_going = [](std::string_view, std::uint64_t, std::uint64_t) { return true; };

RunRequest request(std::uint64_t n, const std::vector<Setting>& settings) {
  return {.n = n, .settings = settings, .start = "", .engine = ""};
}

Searched search(const std::string& protocol, const RunRequest& run, std::uint64_t budget) {
  return find(protocol).search({.run = run, .budget = budget, .progress = keep_going});
}

// With more trials it finds the maximum: search_law_test.
TEST(SearchLaws, ComeCloseToTheLargestExpectedTimeWithFewTrials) {
  for (const std::string protocol : {"prl", "ppl"}) {
    const bool is_prl = protocol == "prl";
    const RunRequest run = request(
        3, is_prl ? std::vector<Setting>{{"N", "3"}}
                  : std::vector<Setting>{{"t_max", "3"}, {"t_virus", "2"}, {"t_emit", "3"}});
    const exact::Report exact = find(protocol).verify({.run = run}).report;
    const Searched found = search(protocol, run, 5000);
    EXPECT_NEAR(summarize(found.times).mean, exact.slowest->value, 0.25 * exact.slowest->value)
        << protocol;
  }
}

TEST(Search, RepeatsWithTheSameSeed) {
  const RunRequest run = request(20, {});
  const Searched first = search("prl", run, 2000);
  const Searched second = search("prl", run, 2000);
  EXPECT_EQ(first.configuration, second.configuration);
  EXPECT_EQ(first.times, second.times);
  EXPECT_LE(first.trials, 2300u);
}

TEST(Search, StopsWhenAsked) {
  const auto stop = [](std::string_view, std::uint64_t, std::uint64_t) { return false; };
  EXPECT_THROW(find("prl").search({.run = request(5, {}), .budget = 1000, .progress = stop}),
               Interrupted);
}

TEST(Search, GivesTheWorstStartSoFarWhenInterrupted) {
  for (const std::uint64_t last : {900u, 1500u, 2000u}) {  // halving, climbing, judging
    const auto until = [&](std::string_view, std::uint64_t done, std::uint64_t) {
      return done < last;
    };
    const Searched found =
        find("prl").search({.run = request(5, {}), .budget = 2000, .progress = until});
    EXPECT_FALSE(found.is_complete) << last;
    EXPECT_FALSE(found.configuration.empty());
    EXPECT_GE(found.times.size(), 8u);
    EXPECT_LT(found.trials, last + 50);
  }
}

}  // namespace
}  // namespace conclave::catalog
