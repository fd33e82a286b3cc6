// The concepts of the model, each with its archetype: a type that offers what the concept asks for
// and nothing more. What the archetype of a protocol lacks, no engine may use.
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/claims.hpp"
#include "conclave/model/configuration_protocol.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/agents.hpp"

namespace conclave {
namespace {

// Every agent leads at first; a coin decides which of two leaders resigns.
struct CoinFight {
  struct State {
    bool leader = true;
    std::uint8_t fights = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader},
                                       Field{"fights", &State::fights}};
  };
  using Parameters = NoParameters;

  static constexpr ProtocolInfo info{};
  static constexpr std::array starts{Start{"clean", "every agent is a leader"}};

  static std::string objection(const Parameters&, AgentCount) { return {}; }
  CoinFight(const Parameters&, AgentCount) {}

  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }

  void interact(State& u, State& v, Choice auto& choice) const {
    if (!u.leader || !v.leader) return;
    State& loser = choice.chance(1, 2) ? u : v;
    loser.leader = false;
    loser.fights = static_cast<std::uint8_t>(loser.fights + 1);
  }

  Role role(const State& state) const { return state.leader ? Role::leader : Role::follower; }
  Interactions state_count() const { return 512u; }
};
static_assert(ListedProtocol<CoinFight>);
static_assert(!Packing<CoinFight>);
static_assert(TallyOf<LeaderTally<CoinFight>, CoinFight>);
static_assert(PopulationEngine<population::Agents<CoinFight>>);

// The value of is_mostly_null counts, not that it is there.
struct BusyFight : CoinFight {
  using CoinFight::CoinFight;
  static constexpr bool is_mostly_null = false;
};
struct IdleFight : CoinFight {
  using CoinFight::CoinFight;
  static constexpr bool is_mostly_null = true;
};
struct OpenFight : CoinFight {
  using CoinFight::CoinFight;
  bool may_become_null() const { return true; }
};

TEST(IsMostlyNull, IsWhatTheProtocolSays) {
  EXPECT_FALSE(is_mostly_null<CoinFight>());
  EXPECT_FALSE(is_mostly_null<BusyFight>());
  EXPECT_TRUE(is_mostly_null<IdleFight>());
  EXPECT_FALSE(may_become_null(IdleFight({}, 2)));
  EXPECT_TRUE(may_become_null(OpenFight({}, 2)));
}

// The same protocol, stored in one byte, with a tally of its own.
struct PackedFight : CoinFight {
  using CoinFight::CoinFight;
  using Packed = std::uint8_t;

  Packed pack(const State& state) const {
    return static_cast<Packed>(2 * state.fights + (state.leader ? 1 : 0));
  }
  State unpack(Packed packed) const {
    return {(packed & 1) != 0, static_cast<std::uint8_t>(packed >> 1)};
  }

  struct Tally : LeaderTally<PackedFight> {
    using LeaderTally<PackedFight>::LeaderTally;
  };
};
static_assert(PopulationProtocol<PackedFight>);
static_assert(Packing<PackedFight>);
static_assert(TallyOf<PackedFight::Tally, PackedFight>);
static_assert(std::same_as<TallyFor<PackedFight>::type, PackedFight::Tally>);
static_assert(std::same_as<TallyFor<CoinFight>::type, LeaderTally<CoinFight>>);
static_assert(PopulationEngine<population::Agents<PackedFight>>);

// Has the functions that an engine must have, and no others.
struct AnyEngine {
  void watch(Watch what);
  bool has_stopped() const;
  AgentCount size() const;
  Interactions advance(Interactions budget);
  Interactions now() const;
  AgentCount leaders() const;
  bool converged() const;
  bool hopeless() const;
  std::vector<Observation> observations() const;
};
static_assert(PopulationEngine<AnyEngine>);

// Nothing else is one.
struct WithoutRole {
  using State = CoinFight::State;
};
static_assert(!PopulationProtocol<WithoutRole>);
static_assert(!PopulationProtocol<int>);
static_assert(!PopulationEngine<CoinFight>);
static_assert(!TallyOf<CoinFight, CoinFight>);
static_assert(!Choice<CoinFight>);
static_assert(Choice<AnyChoice>);
static_assert(Choice<Stream>);

template <class P>
AgentCount leaders_among(const population::Agents<P>& engine, const P& protocol) {
  AgentCount leaders = 0;
  for (AgentCount agent = 0; agent < engine.size(); ++agent) {
    leaders += protocol.role(engine.state(agent)) == Role::leader ? 1 : 0;
  }
  return leaders;
}

template <class P>
class Archetypes : public testing::Test {};
using Protocols = testing::Types<CoinFight, PackedFight>;
TYPED_TEST_SUITE(Archetypes, Protocols);

TYPED_TEST(Archetypes, RunInTheAgentsEngine) {
  for (const AgentCount n : {2u, 3u, 50u, 2000u}) {
    const TypeParam protocol({}, n);
    population::AgentMemory memory;
    population::Agents<TypeParam> engine(protocol, n, 0, {.seed = 3, .trial = n}, memory);
    EXPECT_EQ(engine.now(), 0u);
    EXPECT_EQ(engine.leaders(), n);
    Interactions simulated;
    for (const unsigned budget : {1u, 0u, 2u, 31u, 32u, 33u, 1000u}) {
      const Interactions done = engine.advance(budget);
      EXPECT_TRUE(done == budget || engine.converged());
      simulated += done;
      EXPECT_EQ(engine.now(), simulated);
      EXPECT_EQ(engine.leaders(), leaders_among(engine, protocol));
    }
    engine.advance(Interactions::max());
    EXPECT_TRUE(engine.converged());
    EXPECT_FALSE(engine.hopeless());
    EXPECT_EQ(leaders_among(engine, protocol), 1u);
    EXPECT_EQ(engine.advance(10u), 0u);
  }
}

TEST(PackedArchetype, GivesTheSameTrial) {
  for (const AgentCount n : {2u, 10u, 1023u, 1024u, 2000u}) {
    population::AgentMemory memory;
    population::AgentMemory packed_memory;
    const StreamName name{.seed = 4, .trial = n};
    population::Agents<CoinFight> plain(CoinFight({}, n), n, 0, name, memory);
    population::Agents<PackedFight> packed(PackedFight({}, n), n, 0, name, packed_memory);
    plain.advance(Interactions::max());
    packed.advance(Interactions::max());
    EXPECT_EQ(plain.now(), packed.now()) << "n " << n;
    for (AgentCount agent = 0; agent < n; ++agent) {
      ASSERT_EQ(plain.state(agent), packed.state(agent))
          << "n " << n << " agent " << agent << ": " << to_text(plain.state(agent));
    }
  }
}

// Named states: of a protocol that flips coins, and of one whose states go by: few at a time, but
// more in all than there are names.
struct NamedFight : CoinFight {
  using CoinFight::CoinFight;
  static constexpr bool meets_few_states = true;
};

struct PassingBy {
  struct State {
    bool leader = true;
    std::uint16_t age = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}, Field{"age", &State::age}};
  };
  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  void interact(State& u, State& v, Choice auto&) const {
    if (u.leader && v.leader && v.age % 64 == 63) v.leader = false;
    u.age = v.age = static_cast<std::uint16_t>(std::max(u.age, v.age) + 1);
  }
  Role role(const State& state) const { return state.leader ? Role::leader : Role::follower; }
};
struct NamedPassingBy : PassingBy {
  static constexpr bool meets_few_states = true;
};
static_assert(MeetsFewStates<NamedFight> && !MeetsFewStates<CoinFight>);
static_assert(population::Agents<NamedPassingBy>::has_names);

template <class Plain, class Named>
void expect_the_same_trial(const Plain& plain_protocol, const Named& named_protocol, AgentCount n) {
  population::AgentMemory memory;
  population::AgentMemory named_memory;
  const StreamName name{.seed = 5, .trial = n};
  population::Agents<Plain> plain(plain_protocol, n, 0, name, memory);
  population::Agents<Named> named(named_protocol, n, 0, name, named_memory);
  for (AgentCount budget = 1; budget < 3000 * n; budget *= 2) {
    EXPECT_EQ(plain.advance(budget), named.advance(budget));
    EXPECT_EQ(plain.leaders(), named.leaders());
    for (AgentCount agent = 0; agent < n; ++agent) {
      ASSERT_EQ(plain.state(agent), named.state(agent)) << "n " << n << " agent " << agent;
    }
  }
}

TEST(NamedArchetype, GivesTheSameTrial) {
  for (const AgentCount n : {2u, 255u, 256u, 1000u}) {
    expect_the_same_trial(CoinFight({}, n), NamedFight({}, n), n);
    expect_the_same_trial(PassingBy(), NamedPassingBy(), n);
  }
}

TEST(LeaderTally, CountsWhoLeads) {
  const CoinFight protocol({}, 3);
  LeaderTally<CoinFight> tally(protocol);
  EXPECT_TRUE(tally.hopeless());
  for (int agent = 0; agent < 3; ++agent) tally.add({.leader = true});
  EXPECT_EQ(tally.leaders(), 3u);
  tally.replace({.leader = true}, {.leader = true}, {.leader = true}, {.leader = false});
  EXPECT_EQ(tally.leaders(), 2u);
  EXPECT_FALSE(tally.converged());
  tally.replace({.leader = true}, {.leader = true}, {.leader = false}, {.leader = true});
  EXPECT_TRUE(tally.converged());
  tally.replace({.leader = true}, {.leader = false}, {.leader = false}, {.leader = true});
  EXPECT_TRUE(tally.converged());
  tally.replace({.leader = true}, {.leader = false}, {.leader = false}, {.leader = false});
  EXPECT_TRUE(tally.hopeless());
  EXPECT_TRUE(tally.observations().empty());
}

// A protocol that owns its configuration, and a view of one, have different names.
TEST(Configurations, AreOwnedByAProtocolOrSeenThroughAView) {
  static_assert(!ConfigurationProtocol<CoinFight>);
  const std::vector<CoinFight::State> agents(3);
  const ConfigurationView<CoinFight::State> view(agents);
  EXPECT_EQ(count_leaders(CoinFight({}, 3), view), 3u);
}

}  // namespace
}  // namespace conclave
