// Fratricide has a closed form: from j leaders, the next one resigns after a geometric time with
// parameter j(j-1) / (n(n-1)).
#include "conclave/protocols/population/fratricide.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/census_chain.hpp"
#include "tests/support/fratricide_law.hpp"
#include "tests/support/state_table.hpp"

namespace conclave::tests {
namespace {

using protocols::Fratricide;

TEST(FratricideExactly, TakesTheSquareOfNMinusOne) {
  for (AgentCount n = 2; n <= 8; ++n) {
    const CensusChain<Fratricide> chain(Fratricide({}, n), n);
    EXPECT_EQ(chain.size(), n);
    const auto root = static_cast<double>(n - 1);
    EXPECT_NEAR(chain.chain().expected_steps(chain.one_leader()), root * root, 1e-11) << "n=" << n;
    EXPECT_NEAR(chain.chain().probability_of_reaching(chain.one_leader()), 1, 1e-12) << "n=" << n;
  }
}

TEST(FratricideExactly, HasTheLawOfASumOfGeometricTimes) {
  for (AgentCount n = 2; n <= 8; ++n) {
    const CensusChain<Fratricide> chain(Fratricide({}, n), n);
    const std::vector<double> cdf = chain.chain().distribution(chain.one_leader(), 400);
    const std::vector<double> closed_form = fratricide_distribution(n, 400);
    for (std::size_t t = 0; t <= 400; ++t) {
      ASSERT_NEAR(cdf[t], closed_form[t], 1e-13) << "n=" << n << " t=" << t;
    }
  }
}

TEST(FratricideExactly, KeepsALeaderAndNeverMakesOne) {
  const CensusChain<Fratricide> chain(Fratricide({}, 8), 8);
  for (std::size_t index = 0; index < chain.size(); ++index) {
    EXPECT_GE(chain.leaders(index), 1u);
    for (const MarkovChain::Arc& arc : chain.chain().row(index)) {
      EXPECT_LE(chain.leaders(arc.to), chain.leaders(index));
    }
  }
}

TEST(FratricideExactly, HasTwoStates) {
  const Fratricide protocol({}, 2);
  EXPECT_EQ(reachable_states(protocol).size(), 2u);
  EXPECT_EQ(protocol.state_count(), Interactions(2u));
}

}  // namespace
}  // namespace conclave::tests
