// The `agents` engine drives P_LL: after every single interaction the configuration, scanned agent
// by agent, obeys the paper and agrees with what the engine says; and the engine's fast paths end
// exactly where single interactions end.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/protocols/population/pll.hpp"

#include "tests/support/pll_cases.hpp"

namespace conclave::tests {
namespace {

using population::AgentMemory;
using Engine = population::Agents<Pll>;

// The same protocol for an engine that does not know of few states, and meets one by one.
struct PlainPll : Pll {
  using Pll::Pll;
  explicit PlainPll(const Pll& pll) : Pll(pll) {}
  static constexpr bool meets_few_states = false;
};
using PlainEngine = population::Agents<PlainPll>;
static_assert(Engine::has_names && !PlainEngine::has_names);

constexpr Pll::Reading corrected = Pll::Reading::corrected;
constexpr Pll::Reading printed = Pll::Reading::printed;

struct Trial {
  AgentCount n;
  PllConstants constants;
  std::uint64_t seed;

  Pll protocol() const { return pll_with(constants, n); }
  StreamName name() const { return {.seed = seed, .trial = 0}; }
  std::string text() const {
    return "n=" + std::to_string(n) + " " + text_of(constants) + " seed=" + std::to_string(seed);
  }
};

std::vector<Pll::State> states_of(const Engine& engine) {
  std::vector<Pll::State> states;
  states.reserve(engine.size());
  for (AgentCount agent = 0; agent < engine.size(); ++agent) states.push_back(engine.state(agent));
  return states;
}

// One trial, one interaction at a time.
class WatchedTrial {
 public:
  explicit WatchedTrial(const Trial& trial)
      : trial_(trial),
        engine_(trial.protocol(), trial.n, 0, trial.name(), memory_),
        states_(states_of(engine_)),
        census_(census_of(states_)) {}

  void run() {
    EXPECT_EQ(engine_.now(), Interactions(0u));
    EXPECT_EQ(engine_.leaders(), trial_.n);
    std::uint64_t steps = 0;
    while (!has_ended() && !testing::Test::HasFailure()) {
      EXPECT_EQ(engine_.advance(1u), Interactions(1u));
      look(++steps);
    }
    EXPECT_EQ(engine_.advance(10u), Interactions(0u)) << "the trial had ended";
    EXPECT_EQ(engine_.now(), Interactions(steps));
  }

  bool has_frozen() const { return census_.is_frozen(); }

 private:
  bool has_ended() const { return census_.leaders == 1 || census_.is_frozen(); }

  void look(std::uint64_t steps) {
    std::vector<Pll::State> before = states_of(engine_);
    before.swap(states_);
    const PllCensus old = census_;
    census_ = census_of(states_);
    EXPECT_EQ(engine_.now(), Interactions(steps));
    EXPECT_EQ(engine_.leaders(), census_.leaders);
    EXPECT_EQ(engine_.converged(), census_.leaders == 1);
    EXPECT_EQ(engine_.hopeless(), census_.is_frozen());
    EXPECT_LE(changes(before), 2u);
    EXPECT_LE(census_.leaders, old.leaders);
    EXPECT_TRUE(census_.has_leader());
    EXPECT_TRUE(census_.has_timer());
    EXPECT_TRUE(census_.is_balanced());
    EXPECT_TRUE(are_in_domain());
  }

  std::size_t changes(const std::vector<Pll::State>& before) const {
    std::size_t count = 0;
    for (std::size_t agent = 0; agent < before.size(); ++agent) {
      count += before[agent] == states_[agent] ? 0 : 1;
    }
    return count;
  }

  bool are_in_domain() const {
    if (trial_.constants.reading == printed) return true;
    const PllDomains domains = domains_of(trial_.constants, trial_.n);
    return std::ranges::all_of(states_, [&](const Pll::State& s) { return domains.holds(s); });
  }

  Trial trial_;
  AgentMemory memory_;
  Engine engine_;
  std::vector<Pll::State> states_;
  PllCensus census_;
};

// Returns how many of the trials froze.
std::uint64_t watch(const PllConstants& constants, AgentCount most_agents, std::uint64_t seeds) {
  std::uint64_t frozen = 0;
  for (AgentCount n = 2; n <= most_agents; ++n) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Trial trial{n, constants, seed};
      SCOPED_TRACE(trial.text());
      WatchedTrial watched(trial);
      watched.run();
      frozen += watched.has_frozen() ? 1 : 0;
      if (testing::Test::HasFailure()) return frozen;
    }
  }
  return frozen;
}

TEST(PllTrial, ObeysThePaperAfterEveryInteraction) { EXPECT_EQ(watch({}, 40, 40), 0u); }

// Few interactions per epoch: all three modules run, often with mixed epochs.
TEST(PllTrial, ObeysThePaperWithToyConstants) {
  for (const PllConstants constants : {PllConstants{1, 0}, {1, 2}, {2, 1}, {3, 1}, {8, 2}}) {
    EXPECT_EQ(watch(constants, 40, 10), 0u);
  }
}

TEST(PllTrial, AsPrintedEndsFrozenOrWithOneLeader) {
  EXPECT_GT(watch({2, 1, printed}, 40, 10), 10u);
  EXPECT_GT(watch({8, 2, printed}, 40, 10), 10u);
}

bool are_equal(const std::vector<Observation>& a, const std::vector<Observation>& b) {
  return std::ranges::equal(a, b, [](const Observation& x, const Observation& y) {
    return x.name == y.name && x.value == y.value;
  });
}

// The same trial twice: one interaction per call by the transition function, and in calls of many.
class TwinTrial {
 public:
  explicit TwinTrial(const Trial& trial, Engine::MeetingTable* table = nullptr)
      : single_(PlainPll(trial.protocol()), trial.n, 0, trial.name(), single_memory_),
        many_(trial.protocol(), trial.n, 0, trial.name(), many_memory_, trial.n, table) {}

  // Both by so many interactions, or to the end; true if the trial goes on.
  bool advance(std::uint64_t interactions) {
    std::uint64_t steps = 0;
    while (steps < interactions && single_.advance(1u) == Interactions(1u)) ++steps;
    EXPECT_EQ(many_.advance(interactions), Interactions(steps));
    EXPECT_EQ(many_.now(), single_.now());
    EXPECT_EQ(many_.leaders(), single_.leaders());
    EXPECT_EQ(many_.converged(), single_.converged());
    EXPECT_EQ(many_.hopeless(), single_.hopeless());
    EXPECT_TRUE(have_equal_agents());
    EXPECT_TRUE(steps == interactions || many_.converged() || many_.hopeless());
    return steps == interactions && !testing::Test::HasFailure();
  }

  // To the end, in calls of more and more interactions.
  void run() {
    std::uint64_t budget = 1;
    while (advance(budget)) budget = budget < 64 ? budget + 1 : budget + budget / 4 + 1;
    EXPECT_TRUE(many_.converged() || many_.hopeless());
    EXPECT_EQ(many_.leaders(), census_of(states_of(many_)).leaders);
  }

  void strike(const Fault& fault) {
    EXPECT_EQ(single_.strike(fault), many_.strike(fault));
    EXPECT_TRUE(have_equal_agents());
  }

  std::size_t different_states() const {
    std::set<Pll::Packed> different;
    const Pll protocol = pll_with({}, many_.size());
    for (const Pll::State& state : states_of(many_)) different.insert(protocol.pack(state));
    return different.size();
  }

  bool have_equal_observations() const {
    return are_equal(many_.observations(), single_.observations());
  }

 private:
  bool have_equal_agents() const {
    for (AgentCount agent = 0; agent < single_.size(); ++agent) {
      if (single_.state(agent) != many_.state(agent)) return false;
    }
    return true;
  }

  AgentMemory single_memory_;
  AgentMemory many_memory_;
  PlainEngine single_;
  Engine many_;
};

// Half of the trials share a table.
void run_twins(AgentCount n, const PllConstants& constants, std::uint64_t seeds) {
  Engine::MeetingTable table(pll_with(constants, n));
  for (std::uint64_t seed = 1; seed <= seeds && !testing::Test::HasFailure(); ++seed) {
    const Trial trial{n, constants, seed};
    SCOPED_TRACE(trial.text());
    TwinTrial twins(trial, seed % 2 == 0 ? &table : nullptr);
    twins.run();
    EXPECT_TRUE(twins.have_equal_observations());
  }
}

// Below the size from which the engine gives names, around it, and above.
constexpr AgentCount threshold = population::names_from_agents;

TEST(AgentsEngine, NamedAgentsEndWhereOthersEnd) {
  for (const AgentCount n : {threshold / 2, threshold - 1, threshold, threshold + 1}) {
    run_twins(n, {}, 30);
  }
  run_twins(100, {}, 30);
  run_twins(1024, {}, 10);
  run_twins(3000, {}, 6);
  run_twins(20'000, {}, 3);
}

// Here epochs change while there still are many leaders, and mix.
TEST(AgentsEngine, NamedAgentsEndWhereOthersEndWithToyConstants) {
  for (const Pll::Reading reading : {corrected, printed}) {
    for (const AgentCount n : {threshold - 1, threshold, AgentCount{100}, AgentCount{3000}}) {
      run_twins(n, {2, 1, reading}, n < 1000 ? 20 : 2);
      run_twins(n, {9, 2, reading}, n < 1000 ? 20 : 3);
      run_twins(n, {40, 3, reading}, n < 1000 ? 20 : 5);
    }
  }
}

// The first agent of each epoch must be heard of, although few such meetings are.
TEST(AgentsEngine, NamedAgentsObserveWhatOthersObserve) {
  for (const Pll::Reading reading : {corrected, printed}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Trial trial{std::max<AgentCount>(1024, threshold), {9, 2, reading}, seed};
      TwinTrial twins(trial);
      while (twins.advance(10'000)) continue;
      EXPECT_TRUE(twins.have_equal_observations()) << trial.text();
    }
  }
}

// So many agents do not fit into the caches, and the engine prefetches.
TEST(AgentsEngine, PrefetchingEndsWhereSingleInteractionsEnd) {
  constexpr AgentCount n = 1 << 20;
  static_assert(n * sizeof(Engine::Touched) > population::prefetch_above_bytes);
  const Trial trial{n, {}, 1};
  SCOPED_TRACE(trial.text());
  TwinTrial twins(trial);
  for (const std::uint64_t budget : {1u, 1000u, 999'999u, 1'500'000u, 1'000'037u}) {
    if (!twins.advance(budget)) break;
  }
}

// The corrupted agents are in more states than there are names: the engine must do without.
TEST(AgentsEngine, GoesOnWithoutNamesWhereThereAreTooManyStates) {
  const Trial trial{5000, {}, 3};
  SCOPED_TRACE(trial.text());
  TwinTrial twins(trial);
  EXPECT_TRUE(twins.advance(3 * trial.n));
  twins.strike({.text = "corrupt:100%", .amount = 100, .is_percentage = true});
  EXPECT_GT(twins.different_states(), Engine::MeetingTable::most_names);
  EXPECT_TRUE(twins.advance(trial.n / 10));
  for (int round = 0; round < 20 && twins.advance(trial.n); ++round) continue;
}

}  // namespace
}  // namespace conclave::tests
