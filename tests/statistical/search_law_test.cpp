// The search for bad starts finds the true maximum, where that can be computed.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {
namespace {

const auto keep_going = [](std::string_view, std::uint64_t, std::uint64_t) { return true; };

// The mean of fresh trials from the start found lies within 2 % of the largest expectation.
void expect_maximum(const std::string& protocol, std::uint64_t n,
                    const std::vector<Setting>& settings) {
  const RunRequest run{.n = n, .settings = settings, .start = "", .engine = ""};
  const exact::Report exact = find(protocol).verify({.run = run}).report;
  const Searched found =
      find(protocol).search({.run = run, .budget = 160'000, .progress = keep_going});
  EXPECT_NEAR(summarize(found.times).mean, exact.slowest->value, 0.02 * exact.slowest->value)
      << protocol << ": " << found.configuration << " instead of " << exact.slowest->configuration;
}

TEST(Search, FindsTheLargestExpectedTimeOfPrl) {
  expect_maximum("prl", 3, {{"N", "3"}});
  expect_maximum("prl", 3, {{"N", "5"}});
}

TEST(Search, FindsTheLargestExpectedTimeOfPpl) {
  expect_maximum("ppl", 3, {{"t_max", "3"}, {"t_virus", "2"}, {"t_emit", "3"}});
}

}  // namespace
}  // namespace conclave::catalog
