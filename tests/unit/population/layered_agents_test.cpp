// One trial on several threads: layers of the schedule keep the order of interactions that share an
// agent, and the trial is the same as on one thread, wherever it pauses, stops or draws at random.
#include "conclave/population/detail/layered_agents.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/jump.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/team.hpp"
#include "conclave/base/thread_team.hpp"
#include "conclave/population/agents.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/timers.hpp"

namespace conclave::population {
namespace {

using detail::LayerSizes;
using detail::ScheduleLayers;

TEST(Jump, OfAllLanesIsAsManyWords) {
  for (const std::size_t words : {0U, 8U, 512U, 4096U}) {
    Lanes at_once({.seed = 3});
    Lanes step_by_step({.seed = 3});
    std::vector<std::uint64_t> drawn(words);
    step_by_step.fill(drawn);
    Jump::of(words / Lanes::count).advance(at_once.state());
    EXPECT_EQ(at_once.state(), step_by_step.state()) << words;
  }
}

TEST(ThreadTeam, RunsEveryMemberAndWaitsForAll) {
  ThreadTeam team(4);
  ASSERT_EQ(team.size(), 4U);
  for (int round = 0; round < 20; ++round) {
    std::vector<int> before(4);
    std::vector<int> sums(4);
    team.run([&](unsigned member) {
      before[member] = static_cast<int>(member) + 1;
      team.wait_for_all();
      for (const int each : before) sums[member] += each;
      team.wait_for_all();
      before[member] = 0;
    });
    EXPECT_EQ(sums, std::vector<int>(4, 10));
  }
}

// The interactions of a stretch, by their numbers, and their layers.
struct Arranged {
  std::vector<std::uint64_t> pairs;
  std::vector<std::uint32_t> layers;
};
Arranged arranged(const ScheduleLayers& layers) {
  Arranged result{std::vector<std::uint64_t>(layers.interactions()),
                  std::vector<std::uint32_t>(layers.interactions())};
  for (std::uint32_t layer = 0; layer < layers.layers(); ++layer) {
    for (std::uint32_t i = 0; i < layers.size(layer); ++i) {
      const std::size_t place = layers.first(layer) + i;
      result.pairs.at(layers.numbers()[place]) = layers.pairs()[place];
      result.layers.at(layers.numbers()[place]) = layer;
    }
  }
  return result;
}

TEST(ScheduleLayers, KeepTheOrderOfInteractionsThatShareAnAgent) {
  for (const AgentCount n : {200U, 1000U, 5000U}) {
    const LayerSizes sizes{.stamps = 256, .window = 8, .stretch = 1024};
    ScheduleLayers layers(sizes);
    Lanes lanes({.seed = n});
    Lanes plain({.seed = n});
    ASSERT_TRUE(layers.draw(lanes.state(), AllPairs(n)));
    std::vector<std::uint64_t> expected(sizes.stretch);
    expected.resize(AllPairs(n).fill(plain.state(), expected.data(), sizes.stretch));
    const Arranged all = arranged(layers);
    EXPECT_EQ(all.pairs, expected);
    EXPECT_EQ(lanes.state(), plain.state());
    std::map<std::uint32_t, std::uint32_t> latest;  // layers of agents
    for (std::size_t i = 0; i < all.pairs.size(); ++i) {
      const Meeting pair{all.pairs[i]};
      for (const std::uint32_t agent : {pair.initiator(), pair.responder()}) {
        if (const auto known = latest.find(agent); known != latest.end()) {
          EXPECT_GE(all.layers[i], known->second + ScheduleLayers::latency) << n << ' ' << i;
        }
      }
      latest[pair.initiator()] = latest[pair.responder()] = all.layers[i];
    }
  }
}

TEST(ScheduleLayers, RefuseAFewAgentsInMostInteractions) {
  ScheduleLayers layers({.stamps = 256, .window = 8, .stretch = 1024});
  Lanes lanes({.seed = 1});
  EXPECT_FALSE(layers.draw(lanes.state(), AllPairs(3)));
}

// Two leaders decide by a coin which of them stays.
struct Duels {
  struct State {
    bool leader = true;
    std::uint32_t interactions = 0;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader},
                                       Field{"interactions", &State::interactions}};
  };
  State initial(std::size_t, AgentCount agent, Choice auto&) const { return {agent < 3, 0}; }
  void interact(State& u, State& v, Choice auto& choice) const {
    ++u.interactions;
    v.interactions += 2;
    if (u.leader && v.leader) (choice.chance(1, 2) ? u : v).leader = false;
  }
  Role role(const State& state) const { return state.leader ? Role::leader : Role::follower; }
};

template <class P>
std::vector<typename P::State> states(const Agents<P>& engine) {
  std::vector<typename P::State> all;
  for (AgentCount agent = 0; agent < engine.size(); ++agent) all.push_back(engine.state(agent));
  return all;
}

// Members take turns, in a random order, and only while they wait: the same course every time. What
// does not wait for another member although it must, sees what that has not done yet.
class TurnTeam final : public Team {
 public:
  TurnTeam(unsigned size, std::uint64_t seed) : size_(size), order_({.seed = seed}) {}

  unsigned size() override { return size_; }
  void run(FunctionRef<void(unsigned)> work) override {
    is_done_.assign(size_, false);
    turn_ = order_.below(size_);
    std::vector<std::jthread> others;
    const auto serve = [&](unsigned member) {
      me_ = member;
      await_turn();
      work(member);
      is_done_[member] = true;
      pass_on();
    };
    for (unsigned member = 1; member < size_; ++member) others.emplace_back(serve, member);
    serve(0);
  }
  void pause(unsigned) override {
    pass_on();
    await_turn();
  }

 private:
  void await_turn() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return turn_ == me_; });
  }
  void pass_on() {
    const std::scoped_lock lock(mutex_);
    if (std::ranges::count(is_done_, false) == 0) return;
    do turn_ = order_.below(size_);
    while (is_done_[turn_]);
    changed_.notify_all();
  }

  unsigned size_;
  Stream order_;
  std::vector<bool> is_done_;
  unsigned turn_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  static thread_local unsigned me_;
};
thread_local unsigned TurnTeam::me_ = 0;

// Compares a trial on a team with the same on one thread, after each of some random chunks.
template <class P>
void expect_same_trial(const P& protocol, AgentCount n, std::size_t start, std::uint64_t seed,
                       Team& team) {
  const StreamName name{.seed = seed};
  AgentMemory memories[2];
  Agents<P> plain(protocol, n, start, name, memories[0]);
  Agents<P> layered(protocol, n, start, name, memories[1]);
  Stream choice({.seed = seed, .purpose = Purpose::fault});
  layered.use(team, {.stamps = 1U << (5 + choice.below(8)),
                     .window = 8 + choice.below(60),
                     .stretch = 512 * (1 + choice.below(4))});
  for (int chunk = 0; chunk < 8; ++chunk) {
    const std::uint64_t budget = 1 + choice.below(choice.chance(1, 3) ? 3000 : 40'000);
    for (Interactions left(budget); left > 0U && !layered.has_stopped();) {
      left -= layered.advance(left, std::uint64_t{1} << 18);
    }
    plain.advance(budget);
    ASSERT_EQ(layered.now(), plain.now()) << "seed " << seed << ", chunk " << chunk;
    ASSERT_EQ(layered.converged(), plain.converged());
    ASSERT_EQ(layered.leaders(), plain.leaders());
    ASSERT_EQ(layered.next_meeting().agents, plain.next_meeting().agents);
    ASSERT_EQ(states(layered), states(plain)) << "seed " << seed << ", chunk " << chunk;
    if (plain.has_stopped()) {  // as a fault or a horizon lets it go on
      plain.watch(Watch::nothing);
      layered.watch(Watch::nothing);
    }
  }
}

// Trials of protocols with short timers, some of which converge.
void expect_same_trials(std::uint64_t seed, Team& team) {
  protocols::Timers::Parameters timers;
  timers.t_max = 40;
  protocols::Ppl::Parameters ppl;
  ppl.t_max = 60;
  ppl.t_virus = 12;
  ppl.t_emit = 30;
  const AgentCount n = 30 + seed * 37;
  expect_same_trial(protocols::Fratricide({}, n), n, 0, seed, team);
  expect_same_trial(Duels(), n, 0, seed, team);
  expect_same_trial(protocols::Timers(timers, n), n, seed % 3, seed, team);
  expect_same_trial(protocols::Ppl(ppl, n), n, seed % 4, seed, team);
}

TEST(LayeredAgents, AreTheSameTrialAsOnOneThread) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    TurnTeam team(static_cast<unsigned>(1 + seed % 4), seed);
    expect_same_trials(seed, team);
  }
}

TEST(LayeredAgents, AreTheSameTrialOnThreads) {
  ThreadTeam team(2);
  for (std::uint64_t seed = 13; seed <= 14; ++seed) expect_same_trials(seed, team);
}

}  // namespace
}  // namespace conclave::population
