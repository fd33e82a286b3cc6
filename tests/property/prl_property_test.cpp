// prl along random runs: the tally against the definitions after every interaction, the engine
// against a plain loop, domains, and closure of S_RL.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "conclave/population/agents.hpp"

#include "tests/support/prl_definitions.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using population::Agents;
using population::Meeting;
using population::RingPipeline;

// A trial as anyone would write it: one meeting after the other on plain states, with the tally.
class PlainTrial {
 public:
  PlainTrial(const Prl& protocol, AgentCount n, std::size_t start, std::uint64_t seed)
      : protocol_(protocol),
        arcs_({.seed = seed, .trial = 0, .purpose = Purpose::schedule}, n),
        ring_{.agents = {}, .bound = protocol.bound()},
        tally_(protocol, n) {
    Stream choice({.seed = seed, .trial = 0, .purpose = Purpose::start});
    for (AgentCount agent = 0; agent < n; ++agent) {
      ring_.agents.push_back(protocol.initial(start, agent, choice));
      tally_.add(ring_.agents.back());
    }
  }

  // True if the interaction changed something.
  bool step() {
    const std::uint32_t i = Meeting{arcs_.upcoming().front()}.initiator();
    const std::uint32_t j = Meeting{arcs_.upcoming().front()}.responder();
    arcs_.drop(1);
    ++now_;
    const Prl::State u = ring_.agents[i];
    const Prl::State v = ring_.agents[j];
    ring_.interact(protocol_, i);
    const Prl::State& new_u = ring_.agents[i];
    const Prl::State& new_v = ring_.agents[j];
    leader_created_ = !v.leader && new_v.leader;
    if (u == new_u && v == new_v) return false;
    tally_.replace_at(i, j, u, v, new_u, new_v, RingView{&ring_, now_});
    return true;
  }

  const Ring& ring() const { return ring_; }
  const Prl::Tally& tally() const { return tally_; }
  Interactions now() const { return now_; }
  bool leader_created() const { return leader_created_; }

 private:
  Prl protocol_;
  RingPipeline arcs_;
  Ring ring_;
  Prl::Tally tally_;
  Interactions now_;
  bool leader_created_ = false;
};

struct Case {
  AgentCount n;
  std::uint64_t bound;
  std::size_t start;
  std::uint64_t seed;

  Prl protocol() const { return prl_with(n, bound); }
  std::string replay() const {
    return "conclave run prl --n " + std::to_string(n) + " --param N=" + std::to_string(bound) +
           " --init " + std::string(Prl::starts[start].name) + " --seed " + std::to_string(seed);
  }
};

template <class Check>
void for_each_case(AgentCount most_agents, Check check) {
  for (AgentCount n = 2; n <= most_agents; ++n) {
    for (std::size_t start = 0; start < Prl::starts.size(); ++start) {
      const Case tried{n, n + n % 4 * (n / 3), start, 1 + n};
      SCOPED_TRACE(tried.replay());
      check(tried);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// From the start into S_RL and on for as long again.
TEST(PrlProperty, TallyAgreesWithTheDefinitionsAfterEveryInteraction) {
  for_each_case(50, [](const Case& tried) {
    PlainTrial trial(tried.protocol(), tried.n, tried.start, tried.seed);
    ASSERT_EQ(trial.tally().converged(), trial.ring().in_s_rl()) << to_text(trial.ring());
    while (!trial.tally().converged()) {
      if (!trial.step()) continue;
      ASSERT_EQ(trial.tally().converged(), trial.ring().in_s_rl()) << to_text(trial.ring());
      ASSERT_EQ(trial.tally().leaders(), trial.ring().leaders()) << to_text(trial.ring());
    }
    const Interactions twice = trial.now() * 2u;
    while (trial.now() < twice) {
      if (!trial.step()) continue;
      ASSERT_TRUE(trial.tally().converged() && trial.ring().in_s_rl()) << to_text(trial.ring());
    }
  });
}

TEST(PrlProperty, TallyAgreesFromRandomConfigurationsWithFewLeaders) {
  const AgentCount n = 20;
  const Prl protocol = prl_with(n, n);
  Stream choice({.seed = 9});
  for (int round = 0; round < 300; ++round) {
    Ring ring{.agents = {}, .bound = n};
    for (AgentCount agent = 0; agent < n; ++agent) {
      ring.agents.push_back(protocol.arbitrary(choice));
      ring.agents.back().leader = choice.below(n) < 2;  // few leaders: one is common
    }
    Prl::Tally tally = tally_of(protocol, ring);
    ASSERT_EQ(tally.converged(), ring.in_s_rl()) << to_text(ring);
    for (std::uint64_t step = 1; step <= 2000; ++step) {
      const std::uint64_t i = choice.below(n);
      const std::uint64_t j = (i + 1) % n;
      const Ring before = ring;
      ring.interact(protocol, i);
      tally.replace_at(i, j, before.u(i), before.u(j), ring.u(i), ring.u(j), RingView{&ring, step});
      ASSERT_EQ(tally.converged(), ring.in_s_rl()) << to_text(ring);
    }
  }
}

TEST(PrlProperty, SrlIsNeverLeft) {
  for (const AgentCount n : {2u, 5u, 17u, 64u}) {
    PlainTrial trial(prl_with(n, n + 1), n, 0, 7);
    while (!trial.tally().converged()) trial.step();
    AgentCount leader = 0;
    while (!trial.ring().agents[leader].leader) ++leader;
    for (int step = 0; step < 2'000'000; ++step) {
      if (!trial.step()) continue;
      ASSERT_TRUE(trial.tally().converged()) << to_text(trial.ring());
      ASSERT_TRUE(trial.ring().agents[leader].leader) << to_text(trial.ring());
      ASSERT_FALSE(trial.leader_created()) << to_text(trial.ring());
    }
    EXPECT_TRUE(trial.ring().in_s_rl());
  }
}

// The engine passes over groups of null interactions; the trajectory must be the plain one.
TEST(PrlProperty, EngineRunsThePlainTrial) {
  for_each_case(80, [](const Case& tried) {
    const Prl protocol = tried.protocol();
    AgentMemory memory;
    Agents<Prl> engine(protocol, tried.n, tried.start, {.seed = tried.seed}, memory);
    PlainTrial trial(protocol, tried.n, tried.start, tried.seed);
    Stream choice({.seed = tried.seed});
    while (!engine.converged()) {
      engine.advance(1u + choice.below(3000));
      while (trial.now() < engine.now()) {
        ASSERT_FALSE(trial.tally().converged());
        trial.step();
      }
      for (AgentCount agent = 0; agent < tried.n; ++agent) {
        ASSERT_EQ(engine.state(agent), trial.ring().agents[agent]) << "agent " << agent;
        ASSERT_LE(engine.state(agent).distance, protocol.bound());
      }
      ASSERT_EQ(engine.converged(), trial.tally().converged());
    }
  });
}

TEST(PrlProperty, ObservationsAddUp) {
  const AgentCount n = 40;
  for (std::size_t start = 0; start < Prl::starts.size(); ++start) {
    AgentMemory memory;
    Agents<Prl> engine(prl_with(n, n), n, start, {.seed = 2}, memory);
    const AgentCount before = engine.leaders();
    engine.advance(Interactions::max());
    const auto seen = engine.observations();
    const auto created = std::get<std::uint64_t>(seen[0].value);
    const auto killed = std::get<std::uint64_t>(seen[1].value);
    EXPECT_EQ(before + created, killed + 1) << Prl::starts[start].name;
    EXPECT_LE(std::get<std::uint64_t>(seen[2].value), killed);
    EXPECT_LE(std::get<Interactions>(seen[3].value), engine.now());
  }
}

// Bounds beyond 32 bits: states survive storage, and random ones reach all of the range.
TEST(PrlProperty, LargeBoundsFit) {
  for (const std::uint64_t bound : {std::uint64_t{UINT32_MAX} - 1, std::uint64_t{UINT32_MAX},
                                    std::uint64_t{1} << 40, Prl::largest_bound}) {
    const Prl protocol = prl_with(10, bound);
    Stream choice({.seed = 5});
    std::uint64_t largest = 0;
    for (int draw = 0; draw < 2000; ++draw) {
      const Prl::State s = protocol.arbitrary(choice);
      ASSERT_LE(s.distance, bound);
      ASSERT_EQ(protocol.unpack(protocol.pack(s)), s);
      largest = std::max(largest, s.distance);
    }
    EXPECT_GT(largest, bound / 100 * 99);
  }
}

}  // namespace
}  // namespace conclave::tests
