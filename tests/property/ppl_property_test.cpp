// The `agents` engine drives P_PL: after every single interaction the configuration, scanned agent
// by agent, agrees with what the engine says; the engine's fast paths end where single interactions
// end; and a trial that measures its holding time ends where a scan of all outputs says.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "tests/support/run_trial.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using protocols::Ppl;
using Engine = population::Agents<Ppl>;

struct Constants {
  std::uint64_t t_max = 0;  // all 0: those of the paper
  std::uint64_t t_virus = 0;
  std::uint64_t t_emit = 0;
};

struct Trial {
  AgentCount n;
  Constants constants;
  std::size_t start;
  std::uint64_t seed = 1;
  Ppl::Hold hold = Ppl::Hold::no;

  Ppl protocol() const {
    Ppl::Parameters parameters;
    parameters.hold = hold;
    if (constants.t_max > 0) {
      parameters.t_max = constants.t_max;
      parameters.t_virus = constants.t_virus;
      parameters.t_emit = constants.t_emit;
    }
    parameters.resolve(n);
    EXPECT_EQ(Ppl::objection(parameters, n), "");
    return Ppl(parameters, n);
  }
  StreamName name() const { return {.seed = seed, .trial = 0}; }
  std::string text() const {
    return "n=" + std::to_string(n) + " t_max=" + std::to_string(constants.t_max) + " start " +
           std::string(Ppl::starts[start].name) + " seed=" + std::to_string(seed);
  }
};

const Constants toy{.t_max = 40, .t_virus = 12, .t_emit = 31};
const Constants hasty{.t_max = 7, .t_virus = 5, .t_emit = 3};
const Constants of_the_paper{};

std::vector<Ppl::State> states_of(const Engine& engine) {
  std::vector<Ppl::State> states;
  states.reserve(engine.size());
  for (AgentCount agent = 0; agent < engine.size(); ++agent) states.push_back(engine.state(agent));
  return states;
}

std::vector<bool> outputs_of(const Engine& engine) {
  std::vector<bool> outputs;
  for (const Ppl::State& state : states_of(engine)) outputs.push_back(state.leader);
  return outputs;
}

struct Census {
  AgentCount leaders = 0;
  AgentCount late = 0;
  AgentCount infected = 0;
  AgentCount safe_leaders = 0;
  bool in_domain = true;

  Census(const Engine& engine, const Ppl& protocol) {
    for (const Ppl::State& s : states_of(engine)) {
      leaders += s.leader ? 1 : 0;
      late += s.timer_l < protocol.t_max() / 2.0 ? 1 : 0;
      infected += s.virus > 0 ? 1 : 0;
      safe_leaders += s.leader && s.shield && s.timer_i >= protocol.t_emit() / 2.0 ? 1 : 0;
      in_domain = in_domain && s.timer_l <= protocol.t_max() && s.timer_i <= protocol.t_emit() &&
                  s.virus <= protocol.t_virus();
    }
  }

  bool is_safe() const { return leaders == 1 && late == 0 && (safe_leaders == 1 || infected == 0); }
};

// One trial, one interaction at a time, until it converges or has gone on for `most` of them.
void watch(const Trial& trial, std::uint64_t most) {
  SCOPED_TRACE(trial.text());
  const Ppl protocol = trial.protocol();
  AgentMemory memory;
  Engine engine(protocol, trial.n, trial.start, trial.name(), memory);
  for (std::uint64_t steps = 0; !testing::Test::HasFailure(); ++steps) {
    const Census census(engine, protocol);
    EXPECT_EQ(engine.now(), Interactions(steps));
    EXPECT_EQ(engine.leaders(), census.leaders);
    EXPECT_EQ(engine.converged(), census.is_safe());
    EXPECT_FALSE(engine.hopeless());
    EXPECT_TRUE(census.in_domain);
    if (steps == most || census.is_safe()) break;
    EXPECT_EQ(engine.advance(1u), Interactions(1u));
  }
}

TEST(PplOnAgents, AgreesWithARecountAfterEveryInteraction) {
  for (AgentCount n = 2; n <= 60; n += n < 12 ? 1 : 7) {
    for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
      for (const Constants& constants : {toy, hasty, of_the_paper}) {
        watch({n, constants, start}, 3000);
        if (HasFailure()) return;
      }
    }
  }
}

// From every start, many interactions at once do what single ones do.
TEST(PplOnAgents, EndsWhereSingleInteractionsEnd) {
  for (const AgentCount n : {64u, 65u, 200u, 1000u}) {
    for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
      for (const Constants& constants : {toy, hasty, of_the_paper}) {
        const Trial trial{n, constants, start, 3};
        SCOPED_TRACE(trial.text());
        AgentMemory memory;
        AgentMemory other_memory;
        Engine at_once(trial.protocol(), n, start, trial.name(), memory);
        Engine one_by_one(trial.protocol(), n, start, trial.name(), other_memory);
        if (at_once.converged()) {
          at_once.hold();
          one_by_one.hold();
        }
        at_once.advance(50'000u);
        while (one_by_one.now() < at_once.now() && one_by_one.advance(1u) > 0u) continue;
        EXPECT_EQ(one_by_one.now(), at_once.now());
        EXPECT_EQ(one_by_one.converged(), at_once.converged());
        EXPECT_EQ(one_by_one.violated(), at_once.violated());
        EXPECT_EQ(states_of(one_by_one), states_of(at_once));
        EXPECT_EQ(at_once.leaders(), Census(at_once, trial.protocol()).leaders);
        if (HasFailure()) return;
      }
    }
  }
}

struct Times {
  std::optional<std::uint64_t> convergence;
  std::optional<std::uint64_t> holding;
};

// The same by looking at all outputs after every interaction.
Times times_by_scanning(const Trial& trial, std::uint64_t limit) {
  AgentMemory memory;
  Engine engine(trial.protocol(), trial.n, trial.start, trial.name(), memory);
  while (!engine.converged() && engine.now() < limit) engine.advance(1u);
  if (!engine.converged()) return {};
  const std::uint64_t convergence = *engine.now().as_uint64();
  const std::vector<bool> outputs = outputs_of(engine);
  engine.hold();
  while (outputs_of(engine) == outputs && engine.now() < limit && engine.advance(1u) > 0u) continue;
  if (outputs_of(engine) == outputs) return {convergence, std::nullopt};
  return {convergence, *engine.now().as_uint64() - convergence};
}

TrialResult result_of(const Trial& trial, std::uint64_t limit) {
  AgentMemory memory;
  Engine engine(trial.protocol(), trial.n, trial.start, trial.name(), memory);
  return population::run_trial(engine, TrialPlan{.limit = limit},
                               [](Interactions) { return true; });
}

void expect_times(const TrialResult& result, const Times& times, std::uint64_t limit) {
  if (!times.convergence) {
    EXPECT_EQ(result.ending, Ending::limit);
    EXPECT_EQ(result.interactions, Interactions(limit));
    EXPECT_TRUE(result.observations.empty());
    return;
  }
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.leaders, 1u);
  EXPECT_EQ(result.interactions, Interactions(*times.convergence));
  ASSERT_EQ(result.observations.size(), 2u);
  EXPECT_EQ(result.observations[0].name, "holding_interactions");
  EXPECT_EQ(std::get<Interactions>(result.observations[0].value),
            Interactions(times.holding.value_or(limit - *times.convergence)));
  EXPECT_EQ(result.observations[1].name, "holding_censored");
  EXPECT_EQ(std::get<bool>(result.observations[1].value), !times.holding.has_value());
}

TEST(PplHolding, EndsAtTheFirstInteractionThatChangesAnOutput) {
  constexpr std::uint64_t limit = 3000;
  std::uint64_t ended = 0;
  std::uint64_t censored = 0;
  for (const AgentCount n : {2u, 3u, 5u, 9u, 70u}) {
    for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
      for (const Constants& constants : {toy, hasty, Constants{6, 4, 2}}) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
          const Trial trial{n, constants, start, seed, Ppl::Hold::yes};
          SCOPED_TRACE(trial.text());
          const Times times = times_by_scanning(trial, limit);
          expect_times(result_of(trial, limit), times, limit);
          ended += times.holding ? 1 : 0;
          censored += times.convergence && !times.holding ? 1 : 0;
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(ended, 100u);
  EXPECT_GT(censored, 50u);
}

TEST(PplHolding, IsNotMeasuredUnasked) {
  const TrialResult result = result_of({8, toy, Ppl::safe}, 1000);
  EXPECT_EQ(result.ending, Ending::converged);
  EXPECT_EQ(result.interactions, Interactions(0u));
  EXPECT_TRUE(result.observations.empty());
}

TEST(PplHolding, ThatIsInterruptedIsNoResult) {
  const Trial trial{8, of_the_paper, Ppl::safe, 1, Ppl::Hold::yes};
  AgentMemory memory;
  Engine engine(trial.protocol(), trial.n, trial.start, trial.name(), memory);
  const auto result =
      population::run_trial(engine, TrialPlan{}, [](Interactions) { return false; });
  EXPECT_EQ(result.ending, Ending::interrupted);
}

// P15: with the constants of the paper the leader stays, also for N < 55.
TEST(PplHolding, LastsWithTheConstantsOfThePaper) {
  constexpr std::uint64_t most_convergence = 10'000'000;
  for (const std::size_t start : {Ppl::random, Ppl::all_leaders, Ppl::half_timers}) {
    const Trial trial{8, of_the_paper, start};
    SCOPED_TRACE(trial.text());
    AgentMemory memory;
    Engine engine(trial.protocol(), trial.n, trial.start, trial.name(), memory);
    engine.advance(most_convergence);
    ASSERT_TRUE(engine.converged());
    const std::vector<bool> outputs = outputs_of(engine);
    engine.hold();
    EXPECT_EQ(engine.advance(2'000'000u), Interactions(2'000'000u));
    EXPECT_FALSE(engine.violated());
    EXPECT_EQ(outputs_of(engine), outputs);
  }
}

}  // namespace
}  // namespace conclave::tests
