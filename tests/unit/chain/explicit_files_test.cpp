// Exported files are read back here by a reader of its own, and solved.
#include "conclave/chain/explicit_files.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/export.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/rational_chain.hpp"

#include "tests/support/known_chains.hpp"
#include "tests/support/scratch_folder.hpp"

namespace conclave::chain {
namespace {

class Files : public testing_support::ScratchFolder {};

std::string message_of(const std::string& path) {
  try {
    read_transitions(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(Files, TransitionsReadBackBitForBit) {
  const MarkovChain chain = tests::random_chain(500, 5, 1).chain.rounded();
  write_transitions(chain, path("c.tra"));
  const MarkovChain again = read_transitions(path("c.tra"));
  ASSERT_EQ(again.size(), chain.size());
  ASSERT_EQ(again.transitions(), chain.transitions());
  for (StateIndex state = 0; state < chain.size(); ++state) {
    EXPECT_TRUE(std::ranges::equal(again.successors(state), chain.successors(state)));
    EXPECT_TRUE(std::ranges::equal(again.probabilities(state), chain.probabilities(state)));
  }
}

// Plain streams and plain Gauss-Seidel: nothing of what is tested.
TEST_F(Files, ExportedChainsAreSolvedAlikeByASeparateReader) {
  const tests::KnownChain known = tests::coalescence(8, false);
  write_transitions(known.chain.rounded(), path("c.tra"));
  write_labels({{"init", "target"}, {{0}, known.target}}, known.chain.size(), path("c.lab"));
  std::ifstream transitions(path("c.tra"));
  std::size_t states = 0;
  std::size_t count = 0;
  transitions >> states >> count;
  std::vector<std::map<std::size_t, double>> rows(states);
  std::size_t from = 0;
  std::size_t to = 0;
  double probability = 0;
  while (transitions >> from >> to >> probability) rows.at(from)[to] = probability;
  std::map<std::size_t, bool> target;
  std::ifstream labels(path("c.lab"));
  std::string line;
  std::getline(labels, line);
  EXPECT_EQ(line, "0=\"init\" 1=\"target\"");
  while (std::getline(labels, line)) {
    target[std::stoul(line)] = line.find(" 1") != std::string::npos;
  }
  std::vector<double> x(states);
  for (int sweep = 0; sweep < 20'000; ++sweep) {
    for (std::size_t i = 0; i < states; ++i) {
      if (target[i]) continue;
      x[i] = 1;
      double stay = 0;
      for (const auto& [j, p] : rows[i]) (j == i ? stay : x[i]) += j == i ? p : p * x[j];
      x[i] /= 1 - stay;
    }
  }
  EXPECT_NEAR(x[0], 84, 1e-9);
  EXPECT_NEAR(hitting_times(read_transitions(path("c.tra")), known.target_set()).mean[0], 84, 1e-9);
}

TEST_F(Files, TransitionsMayComeInAnyOrderAsFractionsAndWithActions) {
  const MarkovChain chain = read_transitions(
      write("c.tra", "# a comment\n3 5\n2 2 1\n0 1 1/3 go\n1 1 0.5\n0 2 2/3 stay\r\n1 0 5e-1\n"));
  EXPECT_EQ(chain.transitions(), 5u);
  EXPECT_DOUBLE_EQ(chain.probabilities(0)[1], 2.0 / 3);
  EXPECT_EQ(chain.successors(1)[0], 0u);
}

// A transition of probability 0 to a trap does not make the expectation infinite.
TEST_F(Files, TransitionsOfProbabilityZeroAreNone) {
  const std::string file = write("c.tra", "3 5\n0 0 0.5\n0 1 0.5\n0 2 0\n1 1 1\n2 2 1\n");
  const StateSet target = set_of(std::vector<StateIndex>{1}, 3);
  EXPECT_EQ(hitting_times(read_transitions(file), target).mean[0], 2);
  EXPECT_EQ(rational_hitting_times(read_rational_transitions(file), target, {0}).mean.front(), 2);
}

TEST_F(Files, CountsBeyondTheFileTakeNoMemory) {
  const std::string file = write("c.tra", "4294967295 4294967295\n0 0 1\n");
  EXPECT_NE(message_of(file).find("line 1: 4294967295 states"), std::string::npos);
  EXPECT_THROW(read_rational_transitions(file), Error);
}

TEST_F(Files, RationalTransitionsJoinStatesThatExist) {
  EXPECT_THROW(read_rational_transitions(write("c.tra", "1 1\n0 1 1\n")), Error);
  EXPECT_THROW(read_rational_transitions(write("d.tra", "1 1\n1 0 1\n")), Error);
}

TEST_F(Files, RewardsThatOverflowAreRefused) {
  EXPECT_THROW(read_state_rewards(write("c.srew", "1 2\n0 1e308\n0 1e308\n"), 1), Error);
}

TEST_F(Files, MistakesAreNamedWithTheirLine) {
  EXPECT_NE(message_of(write("a.tra", "2 2\n0 1 x\n1 1 1\n")).find("line 2: a number"),
            std::string::npos);
  EXPECT_NE(message_of(write("b.tra", "2 2\n0 1 1\n1 2 1\n")).find("line 3: state 2 does not"),
            std::string::npos);
  EXPECT_NE(message_of(write("c.tra", "2 2\n0 1 0.9\n1 1 1\n")).find("state 0 miss 1 by 0.1"),
            std::string::npos);
  EXPECT_NE(message_of(write("d.tra", "2 3\n0 1 1\n1 1 1\n")).find("3 transitions were announced"),
            std::string::npos);
  EXPECT_NE(message_of(write("e.tra", "2 2 2\n0 0 1 1\n")).find("decision process"),
            std::string::npos);
  EXPECT_NE(message_of(write("f.tra", "")).find("empty"), std::string::npos);
  EXPECT_NE(message_of(path("none.tra")).find("cannot read"), std::string::npos);
  EXPECT_NE(message_of(write("g.tra", "2 2\n0 1 -1\n1 1 1\n")).find("not a probability"),
            std::string::npos);
}

std::string message_of_text(std::string_view text) {
  try {
    parse_transitions(text, "text");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// Twenty bytes once claimed eight gigabytes, one row for every state announced.
TEST(Texts, ClaimNoMoreThanTheyHold) {
  EXPECT_EQ(message_of_text("1000000000 1\n0 0 1\n"),
            "text, line 1: 1000000000 states need more than 1 transitions, at least one each");
  EXPECT_EQ(
      message_of_text("1000000000 4000000000\n0 0 1\n"),
      "text, line 1: 1000000000 states and 4000000000 transitions were announced, but the file "
      "has room for 5 transitions at most");
  EXPECT_THROW(parse_rational_transitions("1000000000 1\n0 0 1\n", "text"), Error);
  EXPECT_THROW(parse_rational_transitions("2 2\n0 2 1\n1 1 1\n", "text"), Error);
  EXPECT_EQ(parse_transitions("1 1\n0 0 1", "text").size(), 1u);
}

TEST(Texts, AreRepeatedBrieflyAndWithoutControlCharacters) {
  const std::string message = message_of_text("1 1\n0 0 \x1b[2J" + std::string(1000, 'x') + "\n");
  EXPECT_EQ(message, "text, line 2: a number was expected, not '?[2J" + std::string(36, 'x') + "'");
  EXPECT_THROW(parse_labels("0=\"\x1b[2J\"\n", "text", 1), Error);
  EXPECT_THROW(parse_state_rewards("1 1\n0 -1\n", "text", 1), Error);
  const MarkovChain chain = parse_transitions("1 1\n0 0 1\n", "text");
  EXPECT_EQ(parse_transition_rewards("1 1\n0 0 2\n", "text", chain), std::vector<double>{2});
  EXPECT_THROW(parse_transition_rewards("1 1\n0 1 2\n", "text", chain), Error);
}

TEST_F(Files, LabelsSayTheNearestName) {
  const std::string file = write("c.lab", "0=\"init\" 1=\"deadlock\" 2=\"done\"\n0: 0\n4: 1 2\n");
  const Labels labels = read_labels(file, 5);
  EXPECT_EQ(labels.of("done"), std::vector<StateIndex>{4});
  EXPECT_TRUE(labels.has("init"));
  try {
    labels.of("dome");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'done'"), std::string::npos);
  }
  EXPECT_THROW(read_labels(file, 3), Error);
}

TEST_F(Files, RewardsOfTransitionsAreWeightedWithTheirProbabilities) {
  const MarkovChain chain = read_transitions(write("c.tra", "2 3\n0 0 0.75\n0 1 0.25\n1 1 1\n"));
  write_state_rewards(std::vector<double>{2.5, 0}, path("c.srew"));
  EXPECT_EQ(read_state_rewards(path("c.srew"), 2), (std::vector<double>{2.5, 0}));
  EXPECT_EQ(read_transition_rewards(write("c.trew", "2 1\n0 1 8\n"), chain),
            (std::vector<double>{2, 0}));
}

TEST_F(Files, DrawingsAndStatesShowNames) {
  const MarkovChain chain = read_transitions(write("c.tra", "2 3\n0 0 0.75\n0 1 0.25\n1 1 1\n"));
  const auto name = [](StateIndex state) { return std::to_string(2 - state); };
  write_dot(chain, set_of(std::vector<StateIndex>{1}, 2), name, path("c.dot"));
  EXPECT_NE(read("c.dot").find("0 -> 1 [label=\"0.25\"]"), std::string::npos);
  EXPECT_NE(read("c.dot").find("1 [label=\"1\", shape=doublecircle]"), std::string::npos);
  write_states("leaders", name, 2, path("c.sta"));
  EXPECT_EQ(read("c.sta"), "(leaders)\n0:(2)\n1:(1)\n");
  EXPECT_THROW(write_dot(tests::fratricide(300).chain.rounded(), StateSet(300), name, path("d")),
               Error);
}

// Evaluates the expressions of exported modules: sums, products and quotients of names, numbers,
// min and max.
class Evaluator {
 public:
  Evaluator(std::string text, const std::map<std::string, double>& names)
      : text_(std::move(text)), names_(names) {}

  double value() {
    double result = product();
    while (peek() == '+' || peek() == '-') result += take() == '+' ? product() : -product();
    return result;
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  char take() {
    peek();
    return text_[at_++];
  }
  double product() {
    double result = atom();
    while (peek() == '*' || peek() == '/') {
      if (take() == '*') {
        result *= atom();
      } else {
        result /= atom();
      }
    }
    return result;
  }
  double atom() {
    if (peek() == '(') {
      take();
      const double inner = value();
      take();
      return inner;
    }
    std::string word;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '_') word += take();
    if (word == "min" || word == "max") {
      take();
      const double a = value();
      take();
      const double b = value();
      take();
      return word == "min" ? std::min(a, b) : std::max(a, b);
    }
    return std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? std::stod(word)
                                                                  : names_.at(word);
  }

  std::string text_;
  const std::map<std::string, double>& names_;
  std::size_t at_ = 0;
};

// The census after one update such as "(a'=max(a-1,0)) & (b'=min(b+1,n))".
std::map<std::string, double> after(const std::map<std::string, double>& now,
                                    const std::string& updates) {
  auto next = now;
  for (std::size_t prime = updates.find("'="); prime != std::string::npos;
       prime = updates.find("'=", prime + 1)) {
    const std::size_t begin = updates.rfind('(', prime) + 1;
    const std::size_t end = std::min(updates.find(" & ", prime), updates.size()) - 1;
    next[updates.substr(begin, prime - begin)] =
        Evaluator(updates.substr(prime + 2, end - prime - 2), now).value();
  }
  return next;
}

// Explores an exported module as PRISM would, and solves it.
double expected_steps(const std::string& module, std::map<std::string, double> start,
                      const std::string& leader) {
  std::vector<std::pair<std::string, std::string>> branches;  // probability, updates
  std::istringstream lines(module.substr(module.find("->") + 3));
  for (std::string line; std::getline(lines, line) && line != "endmodule";) {
    const std::size_t colon = line.find(" : ");
    std::string updates = line.substr(colon + 3);
    updates.resize(updates.find_last_not_of(" +;") + 1);
    branches.emplace_back(line.substr(0, colon), updates);
  }
  std::vector<std::map<std::string, double>> censuses{std::move(start)};
  std::vector<StateIndex> target;
  ChainBuilder builder;
  for (std::size_t i = 0; i < censuses.size(); ++i) {
    if (censuses[i].at(leader) == 1) target.push_back(static_cast<StateIndex>(i));
    for (const auto& [text, updates] : branches) {
      const double probability = Evaluator(text, censuses[i]).value();
      if (probability == 0) continue;
      const auto next = after(censuses[i], updates);
      auto found = std::ranges::find(censuses, next);
      if (found == censuses.end()) found = censuses.insert(censuses.end(), next);
      builder.add(static_cast<StateIndex>(found - censuses.begin()), probability);
    }
    builder.end_row();
  }
  const std::size_t states = censuses.size();
  return hitting_times(std::move(builder).build(), set_of(target, states)).mean[0];
}

TEST_F(Files, ModulesOfCensusChainsMeanWhatTheTableSays) {
  TableProtocol protocol{.states = {"leader", "follower"},
                         .initial_counts = {7, 0},
                         .rules = {{0, 0, 0, 1}},
                         .target = "leader = 1"};
  write_prism_module(protocol, path("fratricide.pm"));
  EXPECT_NE(read("fratricide.pm").find("leader : [0..n] init 7;"), std::string::npos);
  const std::map<std::string, double> start{{"leader", 7}, {"follower", 0}, {"n", 7}, {"all", 42}};
  EXPECT_NEAR(expected_steps(read("fratricide.pm"), start, "leader"), 36, 1e-9);
  // Only one meeting in four has its effect; a second rule changes nothing that counts.
  protocol.rules = {{0, 0, 0, 1, 1}, {1, 0, 0, 1, 3}};
  protocol.total_weight = 4;
  write_prism_module(protocol, path("lazy.pm"));
  auto lazy = start;
  lazy["all"] = 168;
  EXPECT_NEAR(expected_steps(read("lazy.pm"), lazy, "leader"), 144, 1e-8);
}

}  // namespace
}  // namespace conclave::chain
