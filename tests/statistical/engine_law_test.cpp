// The engines' stabilization times against the exact law: the chi-square test over the whole
// distribution, which must accept the engines and reject every mutant.
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/protocols/population/fratricide.hpp"

#include "tests/mutants/broken_samplers.hpp"
#include "tests/mutants/broken_schedulers.hpp"
#include "tests/support/fratricide_law.hpp"
#include "tests/support/hitting_law.hpp"
#include "tests/support/law_cases.hpp"
#include "tests/support/samplers.hpp"

namespace conclave::tests {
namespace {

using protocols::Fratricide;

constexpr auto agents = []<class P>(const Setting<P>& s) { return AgentsSampler<P>(s); };

template <class Scheduler>
constexpr auto plain = []<class P>(const Setting<P>& s) { return PlainSampler<Scheduler, P>(s); };

TEST(EngineLaw, OfTheAgentsEngineIsExact) { expect_for_all(Verdict::fits, agents); }

// The simulation that the mutants are made from.
TEST(EngineLaw, OfThePlainSimulationIsExact) { expect_for_all(Verdict::fits, plain<UniformPairs>); }

TEST(EngineLaw, RejectsSamplingWithReplacement) {
  expect_for_all(Verdict::is_rejected, plain<mutants::WithReplacement>);
}

TEST(EngineLaw, RejectsABiasedInitiator) {
  expect_for_all(Verdict::is_rejected, plain<mutants::BiasedInitiator>);
}

TEST(EngineLaw, RejectsABiasedResponder) {
  expect_for_all(Verdict::is_rejected, plain<mutants::BiasedResponder>);
}

// For Fratricide it does not matter who initiates.
TEST(EngineLaw, RejectsASchedulerThatNeverSwaps) {
  expect(Verdict::fits, fratricide_cases(), plain<mutants::NeverSwaps>);
  expect(Verdict::is_rejected, pll_cases(), plain<mutants::NeverSwaps>);
}

TEST(EngineLaw, RejectsForgottenNullInteractions) {
  expect_for_all(Verdict::is_rejected, []<class P>(const Setting<P>& setting) {
    return mutants::ForgetsNullInteractions<P>(setting);
  });
}

template <template <class> class Mutant>
void expect_rejected_around_agents() {
  expect_for_all(Verdict::is_rejected, []<class P>(const Setting<P>& setting) {
    return [sampler = AgentsSampler<P>(setting)](std::uint64_t trial) mutable {
      return Mutant<AgentsSampler<P>>{sampler}(trial);
    };
  });
}

TEST(EngineLaw, RejectsAHitReportedLateByOne) {
  expect_rejected_around_agents<mutants::LateByOne>();
}

TEST(EngineLaw, RejectsTrialsThatShareAStream) {
  expect_rejected_around_agents<mutants::SharesStreams>();
}

// Two hundred agents take some 40 000 interactions, so the law is nearly continuous: its largest
// jump is far below what the Kolmogorov-Smirnov test can see.
class FratricideOfTwoHundred : public testing::Test {
 protected:
  static constexpr std::uint64_t few_trials = 20'000;
  static constexpr std::uint64_t late = 500'000;

  TestResult distance(const std::vector<double>& times) const {
    return kolmogorov_smirnov(times, [&](double t) { return t > late ? 1 : cdf_[std::size_t(t)]; });
  }
  TestResult fit(const std::vector<double>& times) const {
    return fit_of(times, cdf_, few_trials / 100.0);
  }

  const Setting<Fratricide> setting_{
      .protocol = Fratricide({}, 200), .n = 200, .seed = 2, .limit = late};
  const std::vector<double> cdf_ = fratricide_distribution(200, late);
};

TEST_F(FratricideOfTwoHundred, TakesASumOfGeometricTimes) {
  const std::vector<double> times = sorted_sample(AgentsSampler(setting_), few_trials);
  EXPECT_GE(fit(times).p_value, rejected_below) << "n=200 seed=" << setting_.seed;
  EXPECT_GE(distance(times).p_value, rejected_below) << "n=200 seed=" << setting_.seed;
}

TEST_F(FratricideOfTwoHundred, DoesNotForgetNullInteractions) {
  const mutants::ForgetsNullInteractions mutant(setting_);
  const std::vector<double> times = sorted_sample(mutant, few_trials / 4);
  EXPECT_LT(fit(times).p_value, rejected_below) << "n=200 seed=" << setting_.seed;
  EXPECT_LT(distance(times).p_value, rejected_below) << "n=200 seed=" << setting_.seed;
}

}  // namespace
}  // namespace conclave::tests
