// prl from one leader with its own live bullet against the closed form of the law.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/population/agents.hpp"

#include "tests/mutants/broken_rings.hpp"
#include "tests/support/own_live_law.hpp"
#include "tests/support/prl_definitions.hpp"

namespace conclave::tests {
namespace {

std::vector<double> times_of_engine(const OwnLiveLaw& law) {
  const Prl protocol = prl_with(law.n, law.bound);
  population::AgentMemory memory;
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < law.trials; ++trial) {
    population::Agents<Prl> engine(protocol, law.n, own_live(), {.seed = 1, .trial = trial},
                                   memory);
    engine.advance(Interactions::max());
    times.push_back(engine.now().as_double());
  }
  return times;
}

// A plain loop with any scheduler.
template <class Arcs>
std::vector<double> times_of_loop(const OwnLiveLaw& law, Arcs arcs) {
  const Prl protocol = prl_with(law.n, law.bound);
  Stream stream({.seed = 1});
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < law.trials; ++trial) {
    Ring ring{.agents = {}, .bound = law.bound};
    for (AgentCount agent = 0; agent < law.n; ++agent) {
      ring.agents.push_back(protocol.initial(own_live(), agent, stream));
    }
    Prl::Tally tally = tally_of(protocol, ring);
    std::uint64_t now = 0;
    while (!tally.converged()) {
      const std::uint64_t i = arcs.next(law.n, stream);
      const std::uint64_t j = (i + 1) % law.n;
      const Prl::State u = ring.u(i);
      const Prl::State v = ring.u(j);
      ring.interact(protocol, i);
      tally.replace_at(i, j, u, v, ring.u(i), ring.u(j), RingView{&ring, ++now});
    }
    times.push_back(static_cast<double>(now));
  }
  return times;
}

// The whole law by chi-square, and once more its mean n(N+1) and variance (N+1)n(n-1).
TEST(PrlLaw, TimeFromOneLeaderWithItsOwnLiveBulletIsASumOfGeometrics) {
  for (const OwnLiveLaw& law : own_live_laws()) {
    const std::vector<double> times = times_of_engine(law);
    const TestResult result = law.fit(times);
    const Summary summary = summarize(times);
    EXPECT_TRUE(law.fits(times)) << law.name() << ": chi-square " << result.statistic
                                 << ", p = " << result.p_value << ", mean " << summary.mean
                                 << " for " << law.mean() << ", variance " << summary.variance
                                 << " for " << law.variance();
  }
}

TEST(PrlLaw, RejectsArcsDrawnFromOneTooFew) {
  for (const OwnLiveLaw& law : own_live_laws()) {
    EXPECT_FALSE(law.fits(times_of_loop(law, mutants::NeverTwice{}))) << law.name();
  }
}

// At n = 50 neither would show: one arc in fifty, one interaction in 2550.
TEST(PrlLaw, RejectsABiasedArcAndAClockThatIsLateByOne) {
  for (const OwnLiveLaw& law : own_live_laws()) {
    if (law.n == 50) continue;
    EXPECT_FALSE(law.fits(times_of_loop(law, mutants::BiasedArc{}))) << law.name();
    std::vector<double> times = times_of_engine(law);
    for (double& time : times) ++time;
    EXPECT_FALSE(law.fits(times)) << law.name();
  }
}

}  // namespace
}  // namespace conclave::tests
