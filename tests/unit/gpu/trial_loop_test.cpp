// The gpu engine's loops, on an emulated warp and cluster, give the trials of the agents engine.
#include "conclave/gpu/trial_loop.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/gpu/batch.hpp"
#include "conclave/protocols/population/ag_minions.hpp"
#include "conclave/protocols/population/ciw.hpp"
#include "conclave/protocols/population/coalescence.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/optimal_silent.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/pll_sym.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/prl.hpp"
#include "conclave/protocols/population/timers.hpp"

#include "tests/support/gpu_trials.hpp"

namespace conclave::gpu {

// Leaders flip coins: both, or neither, resigns, and now and then a follower returns.
struct CoinDuel {
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };
  constexpr State initial(std::size_t, AgentCount, Choice auto& choice) const {
    return {.leader = choice.chance(2, 3)};
  }
  constexpr void interact(State& u, State& v, Choice auto& choice) const {
    if (u.leader && v.leader) {
      (choice.below(3) == 0 ? u : v).leader = false;
    } else if (!u.leader && !v.leader) {
      u.leader = choice.chance(1, 5);
    }
  }
  constexpr Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  State arbitrary(Choice auto& choice) const { return {.leader = choice.chance(1, 2)}; }
  State zero() const { return {.leader = false}; }
  void set_role(State& s, Role role) const { s.leader = role == Role::leader; }
};

// As a protocol of the catalog, with an interaction that a CUDA compiler would not take.
struct NotForDevices : protocols::Fratricide {
  using Fratricide::Fratricide;
  void interact(State&, State& v, Choice auto&) const {
    static int interactions = 0;
    v.leader = ++interactions % 2 == 0;
  }
};
static_assert(DeviceProtocol<protocols::Fratricide> && !DeviceProtocol<NotForDevices>);
static_assert(ClusterProtocol<protocols::Pll> && ClusterProtocol<protocols::Ciw> &&
              !ClusterProtocol<protocols::Prl>);  // whose tally looks at other agents
static_assert(DeviceProtocol<protocols::AgMinions> && DeviceProtocol<protocols::Ciw> &&
              DeviceProtocol<protocols::Coalescence> && DeviceProtocol<protocols::OptimalSilent> &&
              DeviceProtocol<protocols::Pll> && DeviceProtocol<protocols::PllSym> &&
              DeviceProtocol<protocols::Ppl> && DeviceProtocol<protocols::Prl> &&
              DeviceProtocol<protocols::Timers>);

// Counts the interactions of agents whose state it has never given to anyone.
struct Picky {
  struct State {
    std::uint8_t value = 1;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"value", &State::value}};
  };
  static int& strangers() {
    static int count = 0;
    return count;
  }

  constexpr State initial(std::size_t, AgentCount, Choice auto&) const { return {.value = 2}; }
  void interact(State& u, State& v, Choice auto&) const {
    for (const State& s : {u, v}) strangers() += s.value == 1 || s.value == 2 ? 0 : 1;
    if (u.value == 2) v.value = 1;
  }
  constexpr Role role(const State& s) const { return s.value == 2 ? Role::leader : Role::follower; }
  State arbitrary(Choice auto&) const { return {}; }
  State zero() const { return {}; }
  void set_role(State& s, Role role) const { s.value = role == Role::leader ? 2 : 1; }
};

namespace {

using protocols::AgMinions;
using protocols::Ciw;
using protocols::Coalescence;
using protocols::Fratricide;
using protocols::OptimalSilent;
using protocols::Pll;
using protocols::PllSym;
using protocols::Ppl;
using protocols::Prl;
using protocols::Timers;

Pll::Parameters printed() {
  Pll::Parameters parameters;
  parameters.reading = Pll::Reading::printed;
  return parameters;
}

Ppl::Parameters short_timers(std::uint64_t timers, std::uint64_t virus, Ppl::Hold hold) {
  Ppl::Parameters parameters;
  parameters.t_max = parameters.t_emit = timers;
  parameters.t_virus = virus;
  parameters.hold = hold;
  return parameters;
}

template <class P>
void expect_equal(const P& protocol, const BatchRequest& request) {
  const auto expected = one_by_one(protocol, request);
  const auto near = on_a_warp<Memory::near>(protocol, request);
  const auto far = on_a_warp<Memory::far>(protocol, request);
  ASSERT_EQ(near.size(), expected.size());
  for (std::size_t i = 0; i < near.size(); ++i) {
    EXPECT_EQ(text(near[i]), text(far[i]));
    EXPECT_EQ(text(near[i]), text(expected[i]))
        << "n = " << request.n << ", trial " << request.first_trial + i << ", start "
        << request.start << ", seed " << request.seed;
  }
  if constexpr (ClusterProtocol<P>) {
    BatchRequest fewer = request;  // its stretches are long where trials are short
    fewer.trials = std::min<std::uint64_t>(request.trials, 4);
    const auto by_cluster = emulated_by_cluster(protocol, fewer);
    for (std::size_t i = 0; i < by_cluster.size(); ++i) {
      if (by_cluster[i].has_drawn) continue;
      EXPECT_EQ(text(result_of(protocol, by_cluster[i])), text(expected[i]))
          << "a cluster, n = " << request.n;
    }
  }
}

// More than a warp has room for at once, so that some begin when others have ended.
#ifdef NDEBUG
constexpr std::uint64_t several = 21;
#else
constexpr std::uint64_t several = 9;  // under sanitizers
#endif

template <class P>
void expect_equal_for_sizes(const typename P::Parameters& parameters, std::size_t start,
                            std::uint64_t limit, std::initializer_list<std::uint32_t> sizes) {
  for (const std::uint32_t n : sizes) {
    expect_equal(P(parameters, n), {.n = n,
                                    .start = start,
                                    .limit = limit,
                                    .seed = 7 + n,
                                    .first_trial = 3,
                                    .trials = several});
  }
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForFratricide) {
  expect_equal_for_sizes<Fratricide>({}, 0, UINT64_MAX, {2, 3, 5, 8, 17, 100, 300});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForCoalescence) {
  expect_equal_for_sizes<Coalescence>({}, 0, UINT64_MAX, {2, 3, 8, 40});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForPll) {
  expect_equal_for_sizes<Pll>({}, 0, UINT64_MAX, {2, 3, 16, 64, 257, 600});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForThePrintedReadingOfPll) {
  expect_equal_for_sizes<Pll>(printed(), 0, 100'000, {16, 64, 300});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForPllSym) {
  expect_equal_for_sizes<PllSym>({}, 0, UINT64_MAX, {3, 16, 64, 257});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForAgMinions) {
  expect_equal_for_sizes<AgMinions>({}, 0, 100'000, {16, 64, 200});
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForRankings) {
  for (std::size_t start = 0; start < Ciw::starts.size(); ++start) {
    expect_equal_for_sizes<Ciw>({}, start, 5'000, {2, 16});
  }
  for (std::size_t start = 0; start < OptimalSilent::starts.size(); ++start) {
    expect_equal_for_sizes<OptimalSilent>({}, start, 5'000, {2, 20});
  }
}

TEST(TrialLoop, GivesTheTrialsOfAgentsOnTheRing) {
  Prl::Parameters parameters;
  for (std::size_t start = 0; start < Prl::starts.size(); ++start) {
    for (const std::uint32_t n : {4u, 9u, 32u, 70u}) {
      expect_equal(
          Prl(parameters, n),
          {.n = n, .start = start, .limit = 200'000, .seed = 5 + n, .first_trial = 3, .trials = 9});
    }
  }
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForTimersFromEveryStart) {
  Timers::Parameters parameters;
  parameters.t_max = 60;
  parameters.hold = Timers::Hold::yes;
  for (std::size_t start = 0; start < Timers::starts.size(); ++start) {
    expect_equal_for_sizes<Timers>(parameters, start, 6'000, {4, 20});
  }
}

TEST(TrialLoop, GivesTheTrialsOfAgentsForPplFromEveryStart) {
  for (std::size_t start = 0; start < Ppl::starts.size(); ++start) {
    expect_equal_for_sizes<Ppl>(short_timers(200, 20, Ppl::Hold::no), start, 50'000, {4, 32, 100});
  }
}

TEST(TrialLoop, GivesTheHoldingTimesOfAgents) {
  expect_equal_for_sizes<Ppl>(short_timers(40, 12, Ppl::Hold::yes), Ppl::all_leaders, 20'000,
                              {4, 16, 32});
  // Also where the start has converged, and where the limit cuts the holding short.
  expect_equal_for_sizes<Ppl>(short_timers(40, 12, Ppl::Hold::yes), Ppl::safe, 777, {4, 16, 64});
}

TEST(TrialLoop, DrawsTransitionsAndStartsInOrder) {
  for (const std::uint32_t n : {2u, 3u, 9u, 30u, 200u}) {
    expect_equal(CoinDuel{}, {.n = n, .limit = 20'000, .seed = 5, .first_trial = 0, .trials = 30});
  }
}

// In a cluster it is not known whose turn it is to draw, so such a trial is given up.
TEST(ClusterLoop, GivesUpTrialsWhoseInteractionsDraw) {
  BatchRequest request{.n = 30, .limit = 20'000, .trials = 5};
  for (const auto& trial : emulated_by_cluster(CoinDuel{}, request)) EXPECT_TRUE(trial.has_drawn);
  request.limit = 0;
  for (const auto& trial : emulated_by_cluster(CoinDuel{}, request)) EXPECT_FALSE(trial.has_drawn);
  const auto others = emulated_by_cluster(Pll({}, 30), {.n = 30, .trials = 5});
  for (const auto& trial : others) EXPECT_FALSE(trial.has_drawn);
}

// A warp has room for four trials. On a device, its memory is not empty.
TEST(TrialLoop, LanesWithoutATrialSeeNoGarbage) {
  Picky::strangers() = 0;
  on_a_warp(Picky{}, {.n = 10, .limit = 500, .trials = 2});
  EXPECT_EQ(Picky::strangers(), 0);
}

TEST(TrialLoop, StopsExactlyAtTheLimit) {
  for (std::uint64_t limit = 0; limit < 40; ++limit) {
    expect_equal(Pll({}, 12), {.n = 12, .limit = limit, .seed = 11, .first_trial = 0, .trials = 6});
  }
}

// Mutants. The first executes interactions that share an agent at once.
struct BlindWarp : HostWarp {
  template <class T>
  Own<T> from_around(const Own<T>&, int) const {
    Own<T> none;
    each([&](int lane) { none[lane] = static_cast<T>(0xfffeffffu); });
    return none;
  }
};

// This one overlooks what four lanes lie between.
struct ShortSightedWarp : HostWarp {
  template <class T>
  Own<T> from_around(const Own<T>& values, int distance) const {
    if (distance != lanes_per_trial / 2) return HostWarp::from_around(values, distance);
    return BlindWarp().from_around(values, distance);
  }
};

template <class Warp>
std::size_t differing_trials() {
  const Pll protocol({}, 20);
  const BatchRequest request{.n = 20, .limit = 5000, .seed = 3, .first_trial = 0, .trials = 20};
  return differing_trials(protocol, request, emulated<Memory::near, Warp>(protocol, request));
}

TEST(TrialLoop, IsWrongWhereInteractionsShareAnAgent) {
  EXPECT_GT(differing_trials<BlindWarp>(), 10u);
  EXPECT_GT(differing_trials<ShortSightedWarp>(), 3u);
  EXPECT_EQ(differing_trials<HostWarp>(), 0u);
}

TEST(TrialLoop, ComparesAgentsOfLargePopulations) {
  expect_equal(Fratricide({}, 70'000), {.n = 70'000, .limit = 300'000, .seed = 2, .trials = 5});
}

TEST(TrialLoop, GivesATrialTheSameResultInEveryBatch) {
  const Pll protocol({}, 50);
  const auto all = on_a_warp(protocol, {.n = 50, .seed = 3, .first_trial = 0, .trials = 9});
  const auto last = on_a_warp(protocol, {.n = 50, .seed = 3, .first_trial = 6, .trials = 3});
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_EQ(text(all[6 + i]), text(last[i]));
}

// With large bounds up to half of the words would bias a number, and are not used.
TEST(LaneStream, GivesTheNumbersOfStream) {
  constexpr StreamName name{.seed = 7, .trial = 3, .purpose = Purpose::start};
  Stream here(name);
  Lanes::State state;
  std::uint32_t next = 0;
  for (int lane = 0; lane < lanes_per_trial; ++lane) {
    LaneNames{name.seed, name.trial, lane}.generator(name.purpose).save(state, lane);
  }
  LaneStream there(state[0].data(), &next);
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  for (int i = 0; i < 1000; ++i) {
    for (const std::uint64_t bound :
         {std::uint64_t{1}, std::uint64_t{1000}, half, half + 1, half / 2 * 3, UINT64_MAX}) {
      ASSERT_EQ(there.below64(bound), here.below64(bound)) << bound;
    }
  }
}

}  // namespace
}  // namespace conclave::gpu
