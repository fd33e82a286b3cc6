// Parts of the gpu engine for large populations: jumps of the generator, interactions in layers,
// and trials on an emulated cluster. That these are the trials of the agents engine is also tested
// with those of warps (trial_loop_test.cpp).
#include "conclave/gpu/cluster_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/jump.hpp"
#include "conclave/base/random.hpp"
#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/layers.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "tests/support/gpu_trials.hpp"

namespace conclave::gpu {
namespace {

using protocols::Fratricide;
using protocols::Pll;
using protocols::Ppl;

TEST(Jump, IsAsManySteps) {
  for (const std::uint64_t steps : {0u, 1u, 2u, 7u, 128u, 1000u, 12'345u}) {
    LaneGenerator step_by_step = LaneNames{5, 9, 3}.generator(Purpose::schedule);
    LaneGenerator at_once = step_by_step;
    for (std::uint64_t i = 0; i < steps; ++i) step_by_step.next();
    Jump::of(steps).advance(at_once);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(at_once.next(), step_by_step.next()) << steps;
  }
}

// A stretch of random pairs, now and then a word that is none, and its layers.
class Arranged {
 public:
  static constexpr std::uint32_t window = 500;
  static constexpr std::uint32_t size = 4 * window;

  explicit Arranged(std::uint32_t n) {
    Stream stream({.seed = n});
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t u = stream.below(n);
      const std::uint32_t v = stream.below(n);
      drawn_[i] = u == v ? PlacedPair::none : PlacedPair::of(u, v, i).word;
      if (u != v) pairs_[i] = {u, v};
    }
    constexpr std::uint32_t words = 1u << 14;
    std::vector<std::uint32_t> near(LayersMemory::bytes(words) / sizeof(std::uint32_t));
    Layers<HostCrew>(HostCrew(), LayersMemory::in(near.data(), words), n,
                     {.drawn = drawn_,
                      .size = size,
                      .window = window,
                      .arranged = list_.data(),
                      .contested = contested_.data(),
                      .waiting = waiting_[0].data(),
                      .also_waiting = waiting_[1].data(),
                      .ends = ends_.data(),
                      .layers = &layers_})
        .arrange();
  }

  std::vector<std::vector<PlacedPair>> layers() const {
    std::vector<std::vector<PlacedPair>> all(layers_);
    for (std::uint32_t layer = 0; layer < layers_; ++layer) {
      for (std::uint32_t i = ends_[layer]; i < ends_[layer + 1]; ++i) {
        all[layer].push_back({list_[i]});
      }
    }
    return all;
  }
  const std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>& pairs() const {
    return pairs_;
  }

 private:
  using List = std::vector<std::uint64_t>;
  // The list of layers may take the place of what was drawn a window before.
  List list_ = List(size + window);
  std::uint64_t* drawn_ = list_.data() + window;
  List contested_ = List(size);
  List waiting_[2] = {List(size), List(size)};
  std::vector<std::uint32_t> ends_ = std::vector<std::uint32_t>(size + 5);
  std::uint32_t layers_ = 0;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> pairs_;
};

TEST(Layers, HaveEveryInteractionOnceAfterAllThatItMustWaitFor) {
  // The last one is larger than the bits for agents that were seen.
  for (const std::uint32_t n : {2u, 3u, 40u, 5'000u, 200'000u, 3'000'000u}) {
    const Arranged arranged(n);
    std::set<std::uint32_t> positions;
    std::map<std::uint32_t, std::uint32_t>
        last;  // the last interaction of an agent so far, plus one
    for (const auto& layer : arranged.layers()) {
      EXPECT_FALSE(layer.empty());
      std::set<std::uint32_t> agents;
      for (const PlacedPair pair : layer) {
        const auto found = arranged.pairs().find(pair.position());
        ASSERT_NE(found, arranged.pairs().end());
        EXPECT_EQ(found->second, std::pair(pair.initiator(), pair.responder()));
        EXPECT_TRUE(positions.insert(pair.position()).second);
        for (const std::uint32_t agent : {pair.initiator(), pair.responder()}) {
          EXPECT_TRUE(agents.insert(agent).second) << "twice in a layer, n = " << n;
          EXPECT_LE(last[agent], pair.position()) << "out of order, n = " << n;
          last[agent] = pair.position() + 1;
        }
      }
    }
    EXPECT_EQ(positions.size(), arranged.pairs().size());
  }
}

TEST(Layers, AreAFewMoreThanWindowsWhereAgentsAreMany) {
  EXPECT_LE(Arranged(200'000).layers().size(), 8u);
}

Ppl::Parameters short_timers() {
  Ppl::Parameters parameters;
  parameters.t_max = parameters.t_emit = 100;
  parameters.t_virus = 20;
  return parameters;
}

// A stretch of so few agents has 384 words, and a turn three of them.
TEST(ClusterLoop, StopsExactlyAtTheLimit) {
  const Ppl protocol(short_timers(), 40);
  for (const std::uint64_t limit : {0u, 1u, 200u, 370u, 383u, 384u, 385u, 1153u, 60'000u}) {
    const BatchRequest request{.n = 40, .start = Ppl::random, .limit = limit, .trials = 3};
    const auto expected = one_by_one(protocol, request);
    const auto found = on_a_cluster(protocol, request);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(text(found[i]), text(expected[i]));
  }
}

// With two streams of words per block.
TEST(ClusterLoop, GivesTheTrialsOfAgentsOfLargePopulations) {
  const Ppl protocol(short_timers(), 100'000);
  const BatchRequest request{.n = 100'000, .start = Ppl::random, .limit = 400'000, .trials = 2};
  EXPECT_EQ(differing_trials(protocol, request, emulated_by_cluster(protocol, request)), 0u);
}

// Nearly all interactions are events at first, of a byte each.
TEST(ClusterLoop, NotifiesTheTallyOfManyEventsInTheirOrder) {
  const Fratricide protocol({}, 40'000);
  const BatchRequest request{.n = 40'000, .limit = 300'000, .trials = 2};
  EXPECT_EQ(differing_trials(protocol, request, emulated_by_cluster(protocol, request)), 0u);
  const Pll pll({}, 3'000);  // with milestones
  const BatchRequest whole{.n = 3'000, .seed = 6, .trials = 2};
  EXPECT_EQ(differing_trials(pll, whole, emulated_by_cluster(pll, whole)), 0u);
}

// Mutants. This one overlooks agents that occur twice, and the next lets later interactions win.
struct BlindCrew : HostCrew {
  static bool set_bit(std::uint32_t*, std::uint32_t) { return false; }
};
struct GreedyCrew : HostCrew {
  static void lower(std::uint32_t* value, std::uint32_t other) { *value = other; }
};
template <class OtherCrew>
struct ClusterOf : HostCluster {
  using Crew = OtherCrew;
  template <class Action>
  void each_block(Action action) {
    HostCluster::each_block([&](HostCrew, std::uint32_t block, const LayersMemory& near) {
      action(OtherCrew(), block, near);
    });
  }
};

template <class Cluster>
std::size_t differing_trials() {
  const Ppl protocol(short_timers(), 400);
  const BatchRequest request{.n = 400, .start = Ppl::random, .limit = 20'000, .trials = 10};
  return differing_trials(protocol, request, emulated_by_cluster<Cluster>(protocol, request));
}

TEST(ClusterLoop, IsWrongWhereInteractionsOfALayerShareAnAgent) {
  EXPECT_GT(differing_trials<ClusterOf<BlindCrew>>(), 5u);
  EXPECT_GT(differing_trials<ClusterOf<GreedyCrew>>(), 5u);
  EXPECT_EQ(differing_trials<ClusterOf<HostCrew>>(), 0u);
}

}  // namespace
}  // namespace conclave::gpu
