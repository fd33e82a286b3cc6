// Networks of reactions: what is read, what is refused and where, and that the protocol they become
// has exactly the propensities of the network.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/text/uniformized.hpp"

#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

using text::Number;
using text::StateIndex;

std::shared_ptr<const text::Compiled> network(std::string_view content, AgentCount n,
                                              const std::vector<text::Given>& given = {}) {
  return compiled(content, n, given, "my.crn");
}

// The propensities of all changes per unit of time, for a census that has one molecule of each
// species and a second one of each: keyed by the sorted species before and after.
using Change = std::pair<std::vector<StateIndex>, std::vector<StateIndex>>;
using Propensities = std::map<Change, Number>;

void add(Propensities& all, std::vector<StateIndex> before, std::vector<StateIndex> after,
         const Number& amount) {
  // A molecule that stays as it is takes no part.
  for (std::size_t i = 0; i < before.size();) {
    const auto same = std::ranges::find(after, before[i]);
    if (same == after.end()) {
      ++i;
      continue;
    }
    after.erase(same);
    before.erase(before.begin() + static_cast<std::ptrdiff_t>(i));
  }
  std::ranges::sort(before);
  std::ranges::sort(after);
  if (before.empty()) return;
  Number& sum = all[{before, after}];
  sum = sum + amount;
}

// By mass action, for these counts.
Propensities by_mass_action(const std::vector<text::MassAction>& reactions,
                            const std::vector<std::int64_t>& counts, const Number& volume) {
  Propensities all;
  for (const text::MassAction& each : reactions) {
    const auto [u, v] = each.reactants;
    if (!each.is_pair) {
      add(all, {u}, {each.products[0]}, each.rate * Number(counts[u]));
      continue;
    }
    Number pairs = Number(counts[u]) * Number(counts[v]);
    if (u == v) pairs = Number(counts[u] * (counts[u] - 1)) / Number(2);
    add(all, {u, v}, {each.products[0], each.products[1]}, each.rate * pairs / volume);
  }
  std::erase_if(all, [](const auto& each) { return compare(each.second, 0) == 0; });
  return all;
}

// By meetings of pairs at the ticks.
Propensities by_meetings(const text::Uniformized& protocol, const std::vector<std::int64_t>& counts,
                         std::int64_t n) {
  Propensities all;
  const std::size_t species = counts.size();
  const Number per_pair = protocol.ticks_per_molecule / Number(n - 1);
  for (StateIndex u = 0; u < species; ++u) {
    for (StateIndex v = 0; v < species; ++v) {
      const text::Reaction& reaction = protocol.reactions[u * species + v];
      std::uint64_t sum = 0;
      for (const text::Outcome& each : reaction.outcomes) {
        const Number chance = Number::fraction(static_cast<Number::Whole>(each.weight),
                                               static_cast<Number::Whole>(reaction.total));
        const Number pairs(counts[u] * (counts[v] - (u == v ? 1 : 0)));
        add(all, {u, v}, {each.u, each.v}, chance * pairs * per_pair);
        sum += each.weight;
      }
      EXPECT_LE(sum, reaction.total);
    }
  }
  std::erase_if(all, [](const auto& each) { return compare(each.second, 0) == 0; });
  return all;
}

// By the channels of the direct method.
Propensities by_channels(const text::Channels& channels, const std::vector<std::int64_t>& counts,
                         const Number& ticks_per_time) {
  Propensities all;
  for (const text::Channel& each : channels.list) {
    const auto [u, v] = each.reactants;
    Number ways(counts[u]);
    if (each.is_pair) ways = ways * Number(counts[v] - (u == v ? 1 : 0));
    const Number chance = Number::fraction(static_cast<Number::Whole>(each.weight),
                                           static_cast<Number::Whole>(channels.total));
    if (each.is_pair) {
      add(all, {u, v}, {each.products[0], each.products[1]}, chance * ways * ticks_per_time);
    } else {
      add(all, {u}, {each.products[0]}, chance * ways * ticks_per_time);
    }
  }
  std::erase_if(all, [](const auto& each) { return compare(each.second, 0) == 0; });
  return all;
}

void expect_equal(const Propensities& a, const Propensities& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (const auto& [change, amount] : a) {
    ASSERT_TRUE(b.contains(change)) << what;
    EXPECT_EQ(to_string(amount), to_string(b.at(change))) << what;
  }
}

std::vector<text::MassAction> random_network(std::size_t species, Stream& stream) {
  std::vector<text::MassAction> all(1 + stream.below(6));
  for (text::MassAction& each : all) {
    each.is_pair = stream.chance(2, 3);
    for (int i = 0; i < (each.is_pair ? 2 : 1); ++i) {
      each.reactants[static_cast<std::size_t>(i)] =
          stream.below(static_cast<std::uint32_t>(species));
      each.products[static_cast<std::size_t>(i)] =
          stream.below(static_cast<std::uint32_t>(species));
    }
    each.rate = Number::fraction(stream.below(20), 1 + stream.below(7));
  }
  return all;
}

TEST(Uniformized, HasThePropensitiesOfTheNetwork) {
  Stream stream({.seed = 1});
  for (int round = 0; round < 300; ++round) {
    const std::size_t species = 1 + stream.below(4);
    const std::vector<text::MassAction> reactions = random_network(species, stream);
    std::vector<std::int64_t> counts;
    std::int64_t n = 0;
    for (std::size_t i = 0; i < species; ++i) n += counts.emplace_back(1 + stream.below(5));
    if (n < 2) n = counts[0] = 2;
    const Number volume = Number::fraction(1 + stream.below(9), 1 + stream.below(5));
    const auto protocol = text::uniformized(reactions, species, static_cast<AgentCount>(n), volume);
    expect_equal(by_mass_action(reactions, counts, volume), by_meetings(protocol, counts, n),
                 fmt::format("round {}", round));
    const auto channels =
        text::channels(reactions, static_cast<AgentCount>(n), volume, protocol.ticks_per_molecule);
    expect_equal(by_mass_action(reactions, counts, volume),
                 by_channels(channels, counts, protocol.ticks_per_molecule * Number(n)),
                 fmt::format("channels of round {}", round));
  }
}

TEST(Channels, AreNotListedWhereTheNumbersDoNotFit) {
  const text::MassAction pair{.is_pair = true, .reactants = {0, 1}, .products = {1, 1}, .rate = 3};
  text::MassAction odd = pair;
  odd.rate = Number::fraction(1'000'003, 999'983);
  const auto total = [&](AgentCount n) {
    const Number volume(static_cast<std::int64_t>(n));
    const auto ticks = text::uniformized({pair, odd}, 2, n, volume).ticks_per_molecule;
    return text::channels({pair, odd}, n, volume, ticks).total;
  };
  EXPECT_GT(total(1000), 0u);
  EXPECT_EQ(total(10'000'000'000), 0u);
}

// The propensities of the network must reject this mistake.
TEST(Uniformized, IsNotOffByTheFactorTwoOfEqualMolecules) {
  const text::MassAction pair{.is_pair = true, .reactants = {0, 0}, .products = {1, 1}, .rate = 3};
  text::MassAction halved = pair;
  halved.rate = Number::fraction(3, 2);
  const auto right = by_meetings(text::uniformized({pair}, 2, 10, 5), {6, 4}, 10);
  EXPECT_EQ(to_string(right.begin()->second), "9");  // 3 * 6 * 5 / 2 / 5
  const auto wrong = by_meetings(text::uniformized({halved}, 2, 10, 5), {6, 4}, 10);
  EXPECT_NE(to_string(wrong.begin()->second), "9");
}

TEST(Uniformized, AUniformProtocolNeedsNoChance) {
  // Every pair reacts at the same rate: a tick is an interaction and nothing is left to chance.
  const auto majority = network("A + B -> U + U rate 2\nA + U -> A + A rate 2\n"
                                "B + U -> B + B rate 2\ninit A = 60, B = 40\n",
                                100);
  EXPECT_TRUE(majority->transitions().is_deterministic());
  EXPECT_EQ(to_string(majority->ticks_per_time()), "99");  // volume n
}

TEST(Uniformized, WeighsJumpsByProbabilitiesRoundedUp) {
  text::Reaction reaction{.outcomes = {{0, 1, 1}, {1, 1, 1}}, .total = 3};
  EXPECT_EQ(text::jump_weight(reaction, 1), 1u);
  EXPECT_EQ(text::jump_weight(reaction, 1u << 10), 683u);
  EXPECT_EQ(text::jump_weight({}, 1u << 10), 0u);
  EXPECT_EQ(text::jump_scale(AgentCount{1} << 62), 1u);
  EXPECT_EQ(text::jump_scale(1000), 1u << 31);
  EXPECT_EQ(text::jump_scale(10'000'000'000), 1u << 28);
}

// Numbers are reduced before they are multiplied, so that only results need to fit into 127 bits.
TEST(Network, MayHaveRatesOfManyDigitsAndManyMolecules) {
  const auto many = network("A + B -> C + D rate 28724999999/25000000000\n"
                            "C + D -> A + B rate 28724999999/25000000000\n"
                            "A + C -> C + C rate 28724999999/50000000000\n"
                            "init A = 3000000001, B = 3919439732\n",
                            6919439733);
  const text::Reaction half = many->reaction(0, 2);
  ASSERT_EQ(half.outcomes.size(), 1u);
  EXPECT_EQ(half.total, half.outcomes[0].weight);  // the first order takes it all
}

TEST(Network, ReadsReactionsOfAllKinds) {
  const auto read =
      network("title \"T\"\nparam k = 3\nvolume 50\n"
              "A + B -> C + D rate 2.5\nA <-> B rate 1, 0.5\nE + A -> E + B rate k/4\n2 A -> A + B "
              "rate 1e-2\n"
              "init A = 10, B = 5\ninit C = n/4, D = rest\n"
              "stop when B == 0 or A + B < 3\nobserve free = A + B\nobserve half = count(C) / 2\n",
              100);
  EXPECT_EQ(read->space().size(), 5u);
  EXPECT_EQ(read->text().document().reactions.size(), 5u);
  const auto& census = read->starts()[0].census;
  ASSERT_EQ(census.size(), 4u);
  EXPECT_EQ(census[2].second, 25u);
  EXPECT_EQ(census[3].second, 60u);
  EXPECT_EQ(read->text().starts()[0].name, "init");
}

TEST(Network, KnowsItsPopulation) {
  const auto population = [](std::string_view content, const std::vector<text::Given>& given = {}) {
    return text::Compiled::fixed_population(
        std::make_shared<const text::ProtocolText>("my.crn", content), given);
  };
  EXPECT_EQ(population("A -> B\ninit A = 1000, B = 2"), 1002u);
  EXPECT_EQ(population("param a = 7\nA -> B\ninit A = a"), 7u);
  EXPECT_EQ(population("param a = 7\nA -> B\ninit A = a", {{"a", "12"}}), 12u);
  EXPECT_EQ(population("A -> B\ninit A = n/2, B = rest"), std::nullopt);
  EXPECT_EQ(population("A -> B\nstart clean: all of A"), std::nullopt);
}

std::string complaint(std::string_view content, AgentCount n = 100) {
  try {
    network(content, n);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Network, KnowsBirthsAndDeaths) {
  for (const char* text : {"A -> 2 A", "A ->", "A -> nothing", "A -> 0", "0 -> A", "-> A",
                           "2 A -> B", "A + B -> 5 B rate 1/3"}) {
    const auto read = network(std::string(text) + "\ninit A = n, B = 0", 100);
    EXPECT_TRUE(read->is_open()) << text;
    EXPECT_EQ(compare(read->volume(), 1), 0) << text;
  }
  const auto read = network("2 A -> A rate 1/3\nA + B -> 3 B rate 0.5\n-> B rate 2\nvolume 4\n"
                            "init A = n",
                            100);
  const text::OpenNetwork& open = read->open();
  EXPECT_EQ(open.scale, 24);  // of 1/24, 1/8 and 8
  EXPECT_EQ(open.reactions[0].weight, 1u);
  EXPECT_EQ(open.reactions[1].weight, 3u);
  EXPECT_EQ(open.reactions[2].weight, 192u);
  EXPECT_FALSE(network("A -> B\ninit A = n", 100)->is_open());
}

TEST(Network, ANegativeNumberOfMoleculesIsNamedAsSuch) {
  const auto text = std::make_shared<const text::ProtocolText>(
      "my.crn", "init A = -5\ninit B = 3\nA + B -> B + B\n");
  try {
    text::Compiled::fixed_population(text, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(sentence_of(error.what()), "my.crn:1:6: -5 is no number of agents");
  }
}

TEST(Network, RefusesWhatItCannotRun) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"A -> B\n  A + B -> A", "my.crn:2:3: expected the end"},
      {"-> nothing\ninit A = n", "my.crn:1:1: this reaction has neither reactants nor products"},
      {"A + B + C -> A + A + A",
       "my.crn:1:1: a reaction has at most two reactants, this one has 3"},
      {"4 A -> 4 B", "my.crn:1:1: a reaction has at most two reactants, this one has 4"},
      {"10 A -> B", "my.crn:1:1: a reaction has 1 to 9 molecules of a species on the left"},
      {"A -> 2 A\ninit A = n\nstop when silent and A > 2",
       "my.crn:3:18: where molecules are born or die, 'silent' is a stop condition of its own "
       "only"},
      {"-> A rate 1/7340033\nA -> rate 0.123456789123456789\ninit A = n",
       "my.crn:1:1: the rates and the volume have too many digits"},
      {"A <-> B rate 1",
       "my.crn:1:15: expected ',' and the rate of the reaction from right to left"},
      {"A -> B rate -1\ninit A = n", "my.crn:1:13: the rate -1 is negative"},
      {"A -> B rate sqrt(2)\ninit A = n", "my.crn:1:13: 1.4142135623730951 is no exact number"},
      {"A -> B rate x\ninit A = n", "my.crn:1:13: unknown"},
      {"A -> B", "my.crn:1:1: there is no start: add lines such as init A = 1000"},
      {"init A = 3", "my.crn:1:1: there are no reactions"},
      {"volume 0\nA -> B\ninit A = n", "my.crn:1:8: the volume is 0, which is not positive"},
      {"volume 1\nvolume 2", "my.crn:2:1: the volume was given before"},
      {"A + rate -> B + B", "my.crn:1:5: expected the name of a species, found the word 'rate'"},
      {"field x: bool\nA -> B\ninit A = n",
       "my.crn:1:7: the molecules of a network have no fields"},
      {"A | B + C -> C + C", "my.crn:1:1: a network has reactions between species"},
      {"A => B", "my.crn:1:1: expected a rule"},
      {"A -> B\ninit A = n\nstop when X == 0", "my.crn:3:11: unknown"},
      {"volume 1/7340033\nA -> B rate 0.123456789123456789\n"
       "A + A -> B + B rate 0.987654321987654323\ninit A = n",
       "my.crn:2:1: "},
  };
  for (const auto& [content, begin] : cases) {
    EXPECT_EQ(complaint(content).substr(0, begin.size()), begin) << content;
  }
}

TEST(Network, ShowsTheLineAndThePlaceOfAMistake) {
  EXPECT_EQ(complaint("A -> B\nB -> A rate x\ninit A = n\n").substr(0, 12), "my.crn:2:13:");
  const std::string shown = complaint("A -> B\n\tB -> A rate x\ninit A = n\n");
  EXPECT_TRUE(complaint("A -> B\nB -> A rate x\ninit A = n\n")
                  .ends_with("\n  B -> A rate x\n              ^"));
  EXPECT_EQ(complaint("A -> B").find('^'), complaint("A -> B").size() - 1);
  EXPECT_EQ(shown.find('\t'), std::string::npos);
  EXPECT_EQ(complaint("A -> \x01").find('^'), std::string::npos);
}

TEST(Network, ASumThatIsNotNIsRefused) {
  const auto read = network("A -> B\ninit A = 10\n", 20);
  EXPECT_NE(read->starts()[0].objection, "");
}

std::string described(const text::Reaction& reaction) {
  std::string all = fmt::format("of {}:", reaction.total);
  for (const auto& each : reaction.outcomes) {
    all += fmt::format(" {} {} {}", each.u, each.v, each.weight);
  }
  return all;
}

// The same network as a file of its own and as a block in a protocol text.
TEST(Networks, StandInProtocolTextsAsBlocks) {
  const auto file =
      network("A + B -> B + B rate 2.5\nB -> C rate 0.3\nC <-> A rate 1, 1/2\nvolume n/2\n"
              "init A = 90, B = rest\nobserve infected = B\nstop when B == 0\n",
              100);
  const auto block = compiled(
      "let k = 2.5\nstates A, B, C\nstart clean: 90 of A, rest of B\n"
      "reactions {\n  A + B -> B + B rate k\n  B -> C rate 0.3; C <-> A rate 1, 1/2\n  volume n/2\n"
      "}\nobserve infected = count(B)\nstop when B == 0\n",
      100);
  EXPECT_TRUE(block->is_network());
  EXPECT_EQ(to_string(block->ticks_per_time()), to_string(file->ticks_per_time()));
  EXPECT_EQ(block->starts()[0].census, file->starts()[0].census);
  for (StateIndex u = 0; u < 3; ++u) {
    for (StateIndex v = 0; v < 3; ++v) {
      EXPECT_EQ(described(block->reaction(u, v)), described(file->reaction(u, v)));
    }
  }
}

TEST(Networks, InTextsAreRefusedWhereTheyAreMistaken) {
  const std::string start = "start s: all of A\n";
  EXPECT_EQ(objection(start + "reactions { A -> B }\nA + B -> B + B\n"),
            "my.pp:3:1: a file has either rules or reactions, and this one has reactions");
  EXPECT_EQ(objection(start + "reactions { -> }\n"),
            "my.pp:2:13: this reaction has neither reactants nor products");
  EXPECT_EQ(objection(start + "reactions { A -> B\n"),
            "my.pp:2:19: expected the name of a species, found the end of the statement");
  EXPECT_EQ(objection(start + "fields x: 0..3\nreactions { A -> B }\n"),
            "my.pp:2:8: the molecules of a network have no fields, only species");
  EXPECT_EQ(objection("states reactions, A\nstart s: all of A\nreactions + A -> A + A\n"), "");
}

TEST(Networks, ThatAreShippedAreRead) {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(CONCLAVE_EXAMPLES)) {
    if (file.path().extension() != ".crn") continue;
    const auto shipped = text::Compiled::make(text::ProtocolText::read(file.path()), {}, 1000);
    EXPECT_FALSE(shipped->reactions().empty()) << file.path();
    ++found;
  }
  EXPECT_GE(found, 4u);
}

}  // namespace
}  // namespace conclave::tests
