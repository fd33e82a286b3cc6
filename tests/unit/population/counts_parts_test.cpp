// The parts of the `counts` engine, each by itself: the pool of agents, pairs that meet all
// together, the table of species, and the pairs that would react.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/statistics.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/detail/pairing.hpp"
#include "conclave/population/detail/reacting_pairs.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/species_of.hpp"

#include "tests/support/small_protocols.hpp"

namespace conclave::tests {
namespace {

using population::detail::Outcome;
using population::detail::OutcomeDistribution;
using population::detail::Pairing;
using population::detail::Pool;
using population::detail::ReactingPairs;
using population::detail::SpeciesId;
using population::detail::SpeciesOf;

constexpr double rejected_below = 1e-6;

// Few ranks are walked along, many are looked up.
const std::vector<std::vector<AgentCount>>& pools() {
  static const std::vector<std::vector<AgentCount>> all{
      {3, 0, 1, 5}, {0, 2, 7, 1, 1, 1, 0, 9, 3, 3, 4, 1, 0, 2, 2, 30, 1}};
  return all;
}

TEST(Pool, GivesAwayEveryAgentOnce) {
  for (const std::vector<AgentCount>& counts : pools()) {
    Stream stream({.seed = 1});
    Pool pool;
    pool.fill(counts);
    std::vector<AgentCount> taken(counts.size(), 0);
    while (pool.total() != 0) ++taken[pool.take_one(stream)];
    EXPECT_EQ(taken, counts);
  }
}

// The second agent, which depends on the first, over all pairs of ranks.
TEST(Pool, DrawsEveryPairOfAgentsAsOften) {
  for (const std::vector<AgentCount>& counts : pools()) {
    constexpr int trials = 60'000;
    const std::size_t ranks = counts.size();
    const AgentCount total = std::accumulate(counts.begin(), counts.end(), AgentCount{0});
    Stream stream({.seed = 2});
    std::vector<double> observed(ranks * ranks, 0.0), expected(ranks * ranks);
    Pool pool;
    for (int trial = 0; trial < trials; ++trial) {
      pool.fill(counts);
      const std::size_t first = pool.take_one(stream);
      ++observed[first * ranks + pool.take_one(stream)];
    }
    for (std::size_t a = 0; a < ranks; ++a) {
      for (std::size_t b = 0; b < ranks; ++b) {
        const auto pairs = static_cast<double>(counts[a] * (counts[b] - (a == b && counts[a] > 0)));
        expected[a * ranks + b] = trials * pairs / static_cast<double>(total * (total - 1));
        EXPECT_TRUE(pairs > 0 || observed[a * ranks + b] == 0);
      }
    }
    const Buckets buckets = pool_buckets(observed, expected);
    EXPECT_GE(chi_square(buckets.observed, buckets.expected).p_value, rejected_below);
  }
}

TEST(Pool, TakesAllOfARank) {
  Pool pool;
  pool.fill({4, 7, 2});
  EXPECT_EQ(pool.take_all(1), 7u);
  EXPECT_EQ(pool.take_all(1), 0u);
  EXPECT_EQ(pool.total(), 6u);
  EXPECT_EQ(pool.counts(), (std::vector<AgentCount>{4, 0, 2}));
}

TEST(Pool, HoldsTwoToThe62AgentsOfManyRanks) {
  std::vector<AgentCount> counts(40, AgentCount{1} << 56);
  counts[7] = (AgentCount{1} << 62) - 39 * (AgentCount{1} << 56);
  Pool pool;
  pool.fill(counts);
  Stream stream({.seed = 3});
  double of_the_largest = 0;
  for (int i = 0; i < 10'000; ++i) of_the_largest += pool.take_one(stream) == 7 ? 1 : 0;
  const double share = static_cast<double>(counts[7]) / 0x1p62;  // 25/64
  EXPECT_NEAR(of_the_largest / 10'000, share, 5 * 0.005);
  EXPECT_EQ(pool.total(), (AgentCount{1} << 62) - 10'000);
}

// --- pairs that meet all together ---

using Counted = std::vector<std::int64_t>;  // by species, the change of their numbers

// All ways to draw pairs one after the other, with their probabilities.
class EveryMeeting {
 public:
  using OutcomeOf = std::function<Outcome(SpeciesId, SpeciesId)>;

  EveryMeeting(std::vector<AgentCount> pool, int pairs, OutcomeOf outcome_of)
      : outcome_of_(std::move(outcome_of)), changes_(16, 0) {
    draw(pool, pairs, 1);
  }
  const std::map<Counted, double>& law() const { return law_; }

 private:
  void draw(std::vector<AgentCount>& pool, int pairs, double probability) {
    if (pairs == 0) {
      law_[changes_] += probability;
      return;
    }
    const auto total =
        static_cast<double>(std::accumulate(pool.begin(), pool.end(), AgentCount{0}));
    for (SpeciesId u = 0; u < pool.size(); ++u) {
      const auto us = static_cast<double>(pool[u]);
      if (pool[u]-- == 0) {
        ++pool[u];
        continue;
      }
      for (SpeciesId v = 0; v < pool.size(); ++v) {
        const auto vs = static_cast<double>(pool[v]);
        if (vs == 0) continue;
        --pool[v];
        const Outcome outcome = outcome_of_(u, v);
        change(u, v, outcome, 1);
        draw(pool, pairs - 1, probability * us * vs / (total * (total - 1)));
        change(u, v, outcome, -1);
        ++pool[v];
      }
      ++pool[u];
    }
  }

  void change(SpeciesId u, SpeciesId v, const Outcome& outcome, std::int64_t by) {
    changes_[u] -= by;
    changes_[v] -= by;
    changes_[outcome.u] += by;
    changes_[outcome.v] += by;
  }

  OutcomeOf outcome_of_;
  Counted changes_;
  std::map<Counted, double> law_;
};

struct PairingCase {
  std::string name;
  EveryMeeting::OutcomeOf outcome_of;
};

Outcome certain(SpeciesId u, SpeciesId v) {
  return {.u = u, .v = v, .kind = Outcome::Kind::certain};
}

// Five species; what comes of their meetings has more or less structure.
std::vector<PairingCase> pairing_cases() {
  return {
      {"initiators grow to a larger responder",
       [](SpeciesId u, SpeciesId v) { return certain(std::max(u, v), v); }},
      {"responders shrink", [](SpeciesId u, SpeciesId v) { return certain(u, std::min(u, v)); }},
      {"both change, in classes",
       [](SpeciesId u, SpeciesId v) { return certain(5 + u % 2, v < 2 ? 7u : 8u); }},
      {"partners change, own fate is one",
       [](SpeciesId u, SpeciesId v) { return certain(9, (u + v) % 5); }},
      {"no structure",
       [](SpeciesId u, SpeciesId v) {
         return certain((3 * u + 7 * v + u * v) % 5, (u + 2 * v) % 5);
       }},
      {"nothing happens", [](SpeciesId u, SpeciesId v) { return certain(u, v); }},
  };
}

TEST(Pairing, LetsAgentsMeetAsIfOneByOne) {
  const std::vector<AgentCount> pool{3, 1, 0, 2, 2};
  const std::vector<SpeciesId> species{0, 1, 2, 3, 4};
  constexpr int trials = 20'000;
  for (const auto& [name, outcome_of] : pairing_cases()) {
    const EveryMeeting every(pool, 3, outcome_of);
    Pairing pairing;
    pairing.learn(species, outcome_of);
    Stream stream({.seed = 4});
    std::map<Counted, double> found;
    for (int trial = 0; trial < trials; ++trial) {
      pairing.meet(pool, 8, 3, stream);
      Counted changes(16, 0);
      for (const auto& [from, to, count] : pairing.moves()) {
        changes[from] -= static_cast<std::int64_t>(count);
        changes[to] += static_cast<std::int64_t>(count);
      }
      ++found[changes];
    }
    std::vector<double> observed, expected;
    for (const auto& [changes, probability] : every.law()) {
      observed.push_back(found[changes]);
      expected.push_back(trials * probability);
    }
    ASSERT_EQ(found.size(), every.law().size()) << name << ": impossible results";
    const Buckets buckets = pool_buckets(observed, expected);
    if (buckets.expected.size() < 2) continue;
    const TestResult result = chi_square(buckets.observed, buckets.expected);
    EXPECT_GE(result.p_value, rejected_below) << name << ": chi-square " << result.statistic;
  }
}

// A one-way epidemic of 1000 species: the larger one wins. Its cost must be far from all pairs.
TEST(Pairing, TakesNoMoreVariatesThanThereAreDifferences) {
  std::vector<SpeciesId> species(1000);
  std::iota(species.begin(), species.end(), SpeciesId{0});
  Pairing two_classes;
  two_classes.learn(species, [](SpeciesId u, SpeciesId v) { return certain(v < 500 ? u : 0, v); });
  Stream stream({.seed = 5});
  const std::vector<AgentCount> pool(1000, 1'000'000);
  two_classes.meet(pool, 1'000'000'000, 30'000'000, stream);
  EXPECT_LE(two_classes.samples(), 2000u);  // a state's agents, and how many of them meet v >= 500
  Pairing nothing;
  nothing.learn(species, [](SpeciesId u, SpeciesId v) { return certain(u, v); });
  nothing.meet(pool, 1'000'000'000, 30'000'000, stream);
  EXPECT_TRUE(nothing.moves().empty());
}

TEST(Pairing, LeavesRandomOutcomesToTheirLotteries) {
  Pairing pairing;
  pairing.learn({0, 1}, [](SpeciesId u, SpeciesId v) {
    Outcome outcome = certain(u, v);
    if (u == 0 && v == 1) outcome.kind = Outcome::Kind::random;
    return outcome;
  });
  Stream stream({.seed = 6});
  pairing.meet({4, 4}, 8, 4, stream);
  EXPECT_TRUE(pairing.moves().empty());
  for (const auto& meetings : pairing.random_meetings()) {
    EXPECT_EQ(meetings.u, 0u);
    EXPECT_EQ(meetings.v, 1u);
    EXPECT_LE(meetings.count, 4u);
  }
}

// --- species ---

// A leader that meets another resigns in one of 1000 cases, of which only the last does anything.
struct LateChoice : SmallProtocol {
  Letter initial(std::size_t, AgentCount, Choice auto&) const { return {1}; }
  Role role(Letter s) const { return s.value == 1 ? Role::leader : Role::follower; }
  void interact(Letter& u, Letter& v, Choice auto& choice) const {
    if (u.value == 1 && v.value == 1 && choice.below(1000) == 999) v.value = 0;
  }
};

TEST(Species, ExpectAnythingOfMoreOutcomesThanAreListed) {
  const LateChoice protocol;
  SpeciesOf<LateChoice> species(protocol);
  const SpeciesId leader = species.id_of({1});
  const Outcome outcome = species.outcome(leader, leader);
  EXPECT_EQ(outcome.kind, Outcome::Kind::too_many);
  EXPECT_TRUE(outcome.changes);
  EXPECT_TRUE(outcome.is_counted);
}

TEST(Species, ListTheOutcomesOfAMeetingWithTheirWeights) {
  const Duel protocol(10);
  SpeciesOf<Duel> species(protocol);
  const SpeciesId leader = species.id_of({1});
  EXPECT_EQ(species.id_of({1}), leader);
  const Outcome outcome = species.outcome(leader, leader);
  ASSERT_EQ(outcome.kind, Outcome::Kind::random);
  EXPECT_TRUE(outcome.is_counted);
  const OutcomeDistribution& distribution = species.distribution(outcome);
  EXPECT_EQ(distribution.total, 6u);
  std::map<std::pair<int, int>, std::uint64_t> weights;
  for (const auto& branch : distribution.branches) {
    weights[{species.state(branch.u).value, species.state(branch.v).value}] += branch.weight;
  }
  const std::map<std::pair<int, int>, std::uint64_t> expected{
      {{1, 0}, 2}, {{2, 0}, 2}, {{0, 1}, 1}, {{0, 2}, 1}};
  EXPECT_EQ(weights, expected);
  const SpeciesId follower = species.id_of({0});
  EXPECT_FALSE(species.outcome(leader, follower).changes);
}

TEST(Species, KeepTheirStatesAndMeetingsWhenTheTableGrowsAndWhenTheyAreRenumbered) {
  const MeetingCounter protocol(10);
  SpeciesOf<MeetingCounter> species(protocol);
  const auto check = [&](std::uint8_t u, std::uint8_t v) {
    const SpeciesId id_u = species.id_of({u});
    const SpeciesId id_v = species.id_of({v});
    const Outcome outcome = species.outcome(id_u, id_v);
    EXPECT_EQ(species.state(outcome.u).value, u + 1);
    EXPECT_EQ(species.state(outcome.v).value, v + 1);
  };
  for (std::uint8_t round = 0; round < 2; ++round) {
    for (std::uint8_t u = 0; u < 150; u = static_cast<std::uint8_t>(u + 7)) {
      for (std::uint8_t v = 0; v < 150; v = static_cast<std::uint8_t>(v + 13)) check(u, v);
    }
  }
  std::vector<SpeciesId> kept{species.id_of({20}), species.id_of({3})};
  species.keep(kept);
  EXPECT_EQ(species.size(), 2u);
  EXPECT_EQ(species.id_of({20}), 0u);
  EXPECT_EQ(species.id_of({3}), 1u);
  check(3, 20);
  check(20, 3);
}

// --- reacting pairs ---

TEST(ReactingPairs, AreCountedAsByHandAfterEveryMoveAndNewRankAndWithoutEmptyRanks) {
  std::vector<std::size_t> kinds{0, 1, 2, 3, 4};  // by rank
  const auto reacts = [&](std::size_t u, std::size_t v) {
    return (kinds[u] + 2 * kinds[v]) % 3 == 0;
  };
  std::vector<AgentCount> counts{5, 0, 3, 7, 1};
  ReactingPairs pairs;
  pairs.count(counts, reacts);
  Stream stream({.seed = 7});
  for (int step = 0; step < 400; ++step) {
    if (step % 16 == 15) {
      counts.push_back(0);
      kinds.push_back(5 + static_cast<std::size_t>(step) / 16);
      pairs.add_rank(reacts);
    }
    if (step % 50 == 49) {
      std::vector<std::size_t> kept, kept_kinds;
      for (std::size_t rank = 0; rank < counts.size(); ++rank) {
        if (counts[rank] == 0) continue;
        kept.push_back(rank);
        kept_kinds.push_back(kinds[rank]);
      }
      pairs.keep(kept);
      pairs.update_number();
      kinds = kept_kinds;
      std::erase(counts, AgentCount{0});
    }
    std::uint64_t by_hand = 0;
    for (std::size_t u = 0; u < counts.size(); ++u) {
      for (std::size_t v = 0; v < counts.size(); ++v) {
        if (reacts(u, v) && counts[u] > 0) by_hand += counts[u] * (counts[v] - (u == v ? 1 : 0));
      }
    }
    ASSERT_EQ(pairs.number(), Interactions(by_hand));
    if (by_hand == 0) break;
    const auto [initiator, responder] = pairs.pick(stream);
    EXPECT_TRUE(reacts(initiator, responder));
    EXPECT_GE(counts[initiator], 1u);
    EXPECT_GE(counts[responder], initiator == responder ? 2u : 1u);
    const std::size_t to = stream.below(static_cast<std::uint32_t>(counts.size()));
    --counts[initiator];
    ++counts[to];
    pairs.move_one(initiator, to);
    pairs.update_number();
  }
}

TEST(ReactingPairs, ArePickedByWeight) {
  const std::vector<AgentCount> counts{2, 4, 1};
  const auto weight = [](std::size_t u, std::size_t v) {
    return static_cast<std::uint32_t>(u == 2 ? 0 : 1000 * u + v);
  };
  ReactingPairs pairs;
  pairs.count({2, 3, 2}, weight);
  pairs.move_one(2, 1);
  pairs.update_number();
  constexpr double trials = 40'000;
  std::vector<double> observed(9, 0.0), expected;
  Stream stream({.seed = 9});
  for (double trial = 0; trial < trials; ++trial) {
    const auto [u, v] = pairs.pick(stream);
    ++observed[u * 3 + v];
  }
  std::vector<double> seen;
  for (std::size_t u = 0; u < 3; ++u) {
    for (std::size_t v = 0; v < 3; ++v) {
      const AgentCount pairs_of = counts[u] * (counts[v] - (u == v ? 1 : 0));
      const auto share = static_cast<double>(weight(u, v) * pairs_of);
      if (share == 0) {
        EXPECT_EQ(observed[u * 3 + v], 0);
        continue;
      }
      expected.push_back(share * trials / pairs.number().as_double());
      seen.push_back(observed[u * 3 + v]);
    }
  }
  const Buckets buckets = pool_buckets(seen, expected);
  EXPECT_GE(chi_square(buckets.observed, buckets.expected).p_value, rejected_below);
}

TEST(ReactingPairs, AreAllPickedAsOften) {
  const std::vector<AgentCount> counts{2, 4, 1};
  const auto reacts = [](std::size_t u, std::size_t v) { return u != 2 || v == 0; };
  ReactingPairs pairs;
  pairs.count(counts, reacts);
  constexpr double trials = 40'000;
  std::vector<double> observed(9, 0.0), expected(9, 0.0);
  Stream stream({.seed = 8});
  for (double trial = 0; trial < trials; ++trial) {
    const auto [u, v] = pairs.pick(stream);
    ++observed[u * 3 + v];
  }
  for (std::size_t u = 0; u < 3; ++u) {
    for (std::size_t v = 0; v < 3; ++v) {
      if (!reacts(u, v)) continue;
      const auto weight = static_cast<double>(counts[u] * (counts[v] - (u == v ? 1 : 0)));
      expected[u * 3 + v] = trials * weight / pairs.number().as_double();
    }
  }
  const Buckets buckets = pool_buckets(observed, expected);
  EXPECT_GE(chi_square(buckets.observed, buckets.expected).p_value, rejected_below);
}

}  // namespace
}  // namespace conclave::tests
