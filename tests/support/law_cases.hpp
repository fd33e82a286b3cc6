// Small settings with their exact laws of the time until one leader is left. Every engine must fit
// them, and every mutant must not.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/protocols/population/fratricide.hpp"

#include "tests/support/census_chain.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/pll_cases.hpp"
#include "tests/support/samplers.hpp"

namespace conclave::tests {

inline constexpr std::uint64_t law_trials = 200'000;

// So late that fewer than one of 10^9 trials is later; the test pools what is left.
inline constexpr std::uint64_t law_limit = 1000;

// A setting with its exact law, P(T <= t) for t = 0 ... limit.
template <class P>
struct LawCase {
  std::string name;
  Setting<P> setting;
  std::vector<double> cdf;

  template <Sampler S>
  TestResult fit(S&& sampler) const {
    return fit_of(sorted_sample(sampler, law_trials), cdf);
  }
};

template <class P>
LawCase<P> exact_case(std::string name, const P& protocol, AgentCount n) {
  const CensusChain<P> chain(protocol, n, Extent::until_one_leader);
  name += " n=" + std::to_string(n) + " seed=1, trials 0 to " + std::to_string(law_trials - 1);
  return {std::move(name),
          {.protocol = protocol, .n = n, .seed = 1, .limit = law_limit},
          chain.chain().distribution(chain.one_leader(), law_limit)};
}

inline const std::vector<LawCase<protocols::Fratricide>>& fratricide_cases() {
  using protocols::Fratricide;
  static const std::vector cases{exact_case("fratricide", Fratricide({}, 4), 4),
                                 exact_case("fratricide", Fratricide({}, 8), 8)};
  return cases;
}

inline const std::vector<LawCase<Pll>>& pll_cases() {
  static const std::vector cases{
      exact_case("pll c_max=2 k=1", pll_with({.c_max = 2, .k = 1}, 5), 5),
      exact_case("pll c_max=3 k=1", pll_with({.c_max = 3, .k = 1}, 4), 4)};
  return cases;
}

// Whether a sampler of a setting fits its exact law.
enum class Verdict : std::uint8_t { fits, is_rejected };

template <class P, class MakeSampler>
void expect(Verdict verdict, const std::vector<LawCase<P>>& cases, MakeSampler&& make_sampler) {
  for (const LawCase<P>& law : cases) {
    auto sampler = make_sampler(law.setting);
    const TestResult result = law.fit(sampler);
    const bool fits = result.p_value >= rejected_below;
    EXPECT_EQ(fits, verdict == Verdict::fits)
        << law.name << ": chi-square " << result.statistic << ", p = " << result.p_value;
    testing::Test::RecordProperty(law.name, std::to_string(result.p_value));
  }
}

template <class MakeSampler>
void expect_for_all(Verdict verdict, MakeSampler&& make_sampler) {
  expect(verdict, fratricide_cases(), make_sampler);
  expect(verdict, pll_cases(), make_sampler);
}

}  // namespace conclave::tests
