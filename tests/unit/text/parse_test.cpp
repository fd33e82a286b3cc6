// The grammar of protocol texts, and the sentences that refuse other texts.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/text/arithmetic.hpp"
#include "conclave/text/number.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

using text::Compiled;
using text::Number;

constexpr std::string_view head = "states L, F\nstart clean: all of L\n";

struct Case {
  std::string content;
  std::string sentence;  // how the message begins
};

void expect_objections(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    const std::string message = objection(each.content);
    EXPECT_EQ(message.substr(0, each.sentence.size()), each.sentence) << each.content;
  }
}

TEST(ProtocolText, IsToldWhereARuleIsWrongAndWhatWasExpected) {
  expect_objections({
      {std::string(head) + "L + L > L + F\n",
       "my.pp:3:7: expected '->' and what becomes of the two agents, found '>'"},
      {std::string(head) + "L + L -> L\n",
       "my.pp:3:11: expected '+' between the two agents on the right of the rule, found the end"},
      {std::string(head) + "L + L -> L + G\n",
       "my.pp:3:14: unknown state 'G' (did you mean 'L'?); known: L, F"},
      {std::string(head) + "v + u -> L + F\n", "my.pp:3:1: the initiator is called u, not v"},
      {std::string(head) + "L + L -> L + F with 3/2\n", "my.pp:3:22: 3/2 is no probability"},
      {std::string(head) + "L + L -> L + F with 2/3 or F + L with 1/2\n",
       "my.pp:3:1: the probabilities of this rule add up to 7/6, more than 1"},
      {std::string(head) + "L + L -> L + F with sqrt(2)/3\n",
       "my.pp:3:28: a probability is an exact number"},
      {std::string(head) + "L + L -> L + F with 1/5000000000\n",
       "my.pp:3:1: the common denominator of the probabilities is larger than 2^32 - 1"},
      {std::string(head) + "L + L when 1/0 == 2 -> L + F\n", "my.pp:3:13: division by zero"},
      {std::string(head) + "L + L when state == L -> L + F\n",
       "my.pp:3:12: state is a field of two agents here: write u.state or v.state"},
      {std::string(head) + "L + L when u.state == G -> L + F\n", "my.pp:3:23: unknown name 'G'"},
      {std::string(head) + "L + L when u.stat == L -> L + F\n",
       "my.pp:3:12: unknown name 'stat' (did you mean 'state'?)"},
      {std::string(head) + "L + L when u.state < L -> L + F\n",
       "my.pp:3:20: only numbers can be larger or smaller"},
      {std::string(head) + "L + L when u.state == 1 -> L + F\n",
       "my.pp:3:23: expected one of L, F, found a number"},
      {std::string(head) + "L + L when count(L) == 1 -> L + F\n",
       "my.pp:3:12: count(...) is about the whole population"},
  });
}

TEST(ProtocolText, IsToldWhereAnythingElseIsWrongAndWhatWasExpected) {
  const std::string rule = std::string(head) + "L + L -> L + F\n";
  expect_objections({
      {"", "my.pp:1:1: there are no states"},
      {"states A, B\n", "my.pp:1:1: there is no start"},
      {"sates A, B\n", "my.pp:1:1: expected a rule such as A + B -> A + A, or one of title"},
      {"states A B\n", "my.pp:1:10: expected the end of the statement"},
      {"states A, A\nstart s: all of A\n", "my.pp:1:11: the state 'A' is called like something"},
      {"states A, n\n", "my.pp:1:11: expected the name of a state, found the reserved word 'n'"},
      {"states A,\nstart s: all of A\n",
       "my.pp:1:10: expected the name of a state, found the end of the statement"},
      {"title fratricide\n", "my.pp:1:7: expected a title in quotes, found 'fratricide'"},
      {"title \"open\n", "my.pp:1:7: this string has no closing quote on its line"},
      {rule + "stop when cuont(L) == 1\n",
       "my.pp:4:11: unknown function 'cuont' (did you mean 'count'?)"},
      {rule + "stop when count(L)\n", "my.pp:4:11: expected a condition (true or false), found a"},
      {rule + "stop when count(L) = 1\n", "my.pp:4:20: expected '==' to compare, found '='"},
      {rule + "stop when count(L, F) == 1\n", "my.pp:4:11: count takes 1 argument, not 2"},
      {rule + "stop count(L) == 1\n", "my.pp:4:6: expected 'when' and a condition"},
      {rule + "always count(L)\n", "my.pp:4:8: expected a condition (true or false), found a"},
      {rule + "eventually count(L)\n", "my.pp:4:12: expected a condition (true or false), found"},
      {rule + "invariant\n", "my.pp:4:10: expected"},
      {rule + "computes L > F\n", "my.pp:4:10: this file has no outputs; add lines such as"},
      {rule + "output yes = L\noutput no = F\ncomputes n > 3\n",
       "my.pp:6:10: this names no state in which agents start; add 'over' and a list of states"},
      {rule + "output yes = L\noutput no = F\ncomputes n > 3 over L, G\n",
       "my.pp:6:24: unknown state 'G'"},
      {rule + "output yes = L\noutput no = F\ncomputes if L > 3 then maybe else no\n",
       "my.pp:6:24: "},
      {rule + "output yes = L\noutput no = F\ncomputes if L > 3 then 1 + 1 else no\n",
       "my.pp:6:26: expected the name of an output"},
      {rule + "alway any(L)\n", "my.pp:4:1: expected a rule such as A + B -> A + A, or one of"},
      {rule + "stop when silent\nstop when silent\n", "my.pp:5:6: when to stop was given before"},
      {rule + "start clean: all of F\n", "my.pp:4:7: the start 'clean' is called like something"},
      {rule + "observe x = output == A\n", "my.pp:4:13: unknown name 'output'"},
      {rule + "let a = a + 1\nobserve x = a\n",
       "my.pp:4:9: 'a' is used before it is defined: a definition may use those above it"},
      {rule + "fun g(x) = g(x - 1)\nobserve y = g(1)\n",
       "my.pp:4:12: 'g' is used before it is defined: a definition may use those above it"},
      {rule + "fun g(x) = h(x)\nfun h(x) = x\nobserve y = g(1)\n",
       "my.pp:4:12: 'h' is used before it is defined"},
      {rule + "let small = 1e-308\nobserve x = small\n",
       "my.pp:4:13: 1e-308 is too close to zero: its denominator is larger than 2^64"},
      {rule + "let large = 1e308\nobserve x = large\n", "my.pp:4:13: 1e308 is too large a number"},
      {"states L\nstart s: 3 of L\n",
       "my.pp:2:7: start s gives states to 3 agents, but n = 10; add 'rest of ...'"},
      {"states L\nstart s: m of L\n", "my.pp:2:10: unknown name 'm'"},
      {"states L\nstart s: 10^39 of L\n", "my.pp:2:12: a number needs more than 127 bits"},
      {"states L\nstart s: 11 of L\n", "my.pp:2:10: start s needs more agents than n = 10"},
      {"states L\nstart s: 5 - n of L\n", "my.pp:2:10: -5 is no number of agents"},
      {"states L\nstart s: rest of L, rest of L\n", "my.pp:2:21: 'rest' stands twice"},
      {"states L\nstart s: sqrt(n) of L\n", "my.pp:2:10: 3.16"},
      {"fields d: 0..3\nstart s: all of {d = 4}\n", "my.pp:2:22: d = 4 is not in 0..3"},
      {"fields d: 0..3\nstart s: all of {e = 4}\n",
       "my.pp:2:18: unknown field 'e' (did you mean 'd'?); known: d"},
      {"fields d: 3..0\nstart s: all of {d = 0}\n", "my.pp:1:8: field d has the impossible range"},
      {"fields d: 0..n/4\nstart s: all of {d = 0}\n",
       "my.pp:1:15: the largest value is 5/2, which is no whole number"},
      {"fields d: 0..2^40, e: 0..2^40\nstart s: all of {d = 0}\n",
       "my.pp:1:20: the fields of an agent need more than 64 bits"},
      {"fields d: 0..3\nstart s: all of {d = 0}\nu + v -> u.d = u.d + 1\n",
       "my.pp:3:20: d becomes 4, which is not in 0..3, when u is {d = 3} and v is {d = 0}"},
      {"fields d: 0..3\nstart s: all of {d = 0}\nu + v -> u.d = 1, u.d = 2\n",
       "my.pp:3:21: d gets two values"},
      {"fields d: 0..3\nstart s: all of A\n", "my.pp:2:17: unknown state 'A': this protocol has"},
      {"param q = 1 in 2..3\nstates A\nstart s: all of A\n",
       "my.pp:1:11: the default 1 of parameter q is not in 2..3"},
      {std::string(head) + "L + L -> L \xc3\xa9 F\n", "my.pp:3:12: unexpected byte 0xc3"},
      {std::string(head) + "L + L -> L + F ?\n", "my.pp:3:16: unexpected character '?'"},
      {std::string(head) + "stop when " + std::string(300, '('), "my.pp:3:2"},
  });
}

TEST(ProtocolText, ObjectsToParametersLikeTheCatalog) {
  const std::string content = "param q = 5 in 2..9\nstates A\nstart s: all of A\n";
  EXPECT_EQ(objection(content, 10, {{"q", "7"}}), "");
  EXPECT_EQ(objection(content, 10, {{"q", "10"}}),
            "parameter q = 10 is out of range: 2 ... 9 is allowed");
  EXPECT_EQ(objection(content, 10, {{"q", "x"}}), "parameter q: 'x' is not a whole number");
  EXPECT_EQ(objection(content, 10, {{"Q", "3"}}),
            "unknown parameter of my.pp 'Q' (did you mean 'q'?); known: q");
  EXPECT_EQ(objection(content, 10, {{"q", "3"}, {"q", "3"}}), "parameter q was given twice");
}

TEST(ProtocolText, WarnsOfRulesThatNeverApply) {
  const auto protocol =
      compiled(std::string(head) + "L + L -> L + F\n* + L -> F + *\n"
                                   "L|F + L -> F + F\nu + v when 1 > 2 -> v + u\n",
               10);
  ASSERT_EQ(protocol->warnings().size(), 2u);
  EXPECT_EQ(protocol->warnings()[0].substr(0, 34), "my.pp:5:1: this rule never applies");
}

TEST(ProtocolText, HasStartsInCountsFractionsAndTheRest) {
  const auto protocol =
      compiled("states A, B, C\n"
               "start one: 1 of A, 25% of B, rest of C\n"
               "start two: n/2 + n/1000 of A, rest of B\n"
               "start three: floor(sqrt(n)) + 1 of A, ceil(log2(n)) of B, rest of C\n"
               "start four-way: evenly\n"
               "start all-a: all of A\n",
               1'000'001);
  using Groups = std::vector<std::pair<text::StateIndex, AgentCount>>;
  const auto& starts = protocol->starts();
  EXPECT_EQ(starts[0].census, (Groups{{0, 1}, {1, 250'000}, {2, 750'000}}));
  EXPECT_EQ(starts[1].census, (Groups{{0, 501'000}, {1, 499'001}}));
  EXPECT_EQ(starts[2].census, (Groups{{0, 1001}, {1, 20}, {2, 998'980}}));
  EXPECT_EQ(starts[3].census, (Groups{{0, 333'334}, {1, 333'334}, {2, 333'333}}));
  EXPECT_EQ(starts[4].census, (Groups{{0, 1'000'001}}));
  EXPECT_EQ(protocol->text().starts()[3].name, "four-way");
}

TEST(ProtocolText, IsExactForTheLargestPopulations) {
  const AgentCount n = AgentCount{1} << 62;
  const auto protocol = compiled("states A, B\nstart s: 3*n/4 + 1 of A, rest of B\n", n);
  EXPECT_EQ(protocol->starts()[0].census[0].second, n / 4 * 3 + 1);
  EXPECT_EQ(protocol->starts()[0].census[1].second, n / 4 - 1);
}

TEST(ProtocolText, NumbersStatesWithTheLastFieldFastest) {
  const auto protocol =
      compiled("fields x: 2..4, on: bool, c: {red, blue}\nstart s: all of {x = 3, c = blue}\n", 10);
  EXPECT_EQ(protocol->space().size(), 12u);
  EXPECT_EQ(protocol->space().name(0), "{x = 2, on = false, c = red}");
  EXPECT_EQ(protocol->space().name(5), "{x = 3, on = false, c = blue}");
  EXPECT_EQ(protocol->starts()[0].census[0].first, 5u);
}

// The reaction of two states, as text.
std::string reaction(const Compiled& protocol, text::StateIndex u, text::StateIndex v) {
  const text::Reaction found = protocol.transitions().reaction(u, v);
  std::string result;
  for (const text::Outcome& each : found.outcomes) {
    result += protocol.space().name(each.u) + protocol.space().name(each.v) + ' ' +
              std::to_string(each.weight) + '/' + std::to_string(found.total) + ' ';
  }
  return result;
}

TEST(Rules, AreOrderedAndTheFirstThatAppliesDecides) {
  const auto protocol = compiled("states A, B, C\nstart s: all of A\n"
                                 "A + B -> A + A with 1/2 or B + B with 1/3\n"
                                 "A + * -> C + *\n"
                                 "unordered B + C -> B + B\n"
                                 "C|B + A -> * + C\n",
                                 10);
  EXPECT_EQ(reaction(*protocol, 0, 1), "AA 3/6 BB 2/6 ");
  EXPECT_EQ(reaction(*protocol, 0, 0), "CA 1/1 ");
  EXPECT_EQ(reaction(*protocol, 0, 2), "CC 1/1 ");
  EXPECT_EQ(reaction(*protocol, 1, 2), "BB 1/1 ");
  EXPECT_EQ(reaction(*protocol, 2, 1), "BB 1/1 ");
  EXPECT_EQ(reaction(*protocol, 2, 0), "CC 1/1 ");
  EXPECT_EQ(reaction(*protocol, 1, 0), "BC 1/1 ");
  EXPECT_EQ(reaction(*protocol, 1, 1), "");
  EXPECT_EQ(reaction(*protocol, 2, 2), "");
}

TEST(Rules, AssignFromTheOldStatesAndCopyAgents) {
  const auto protocol =
      compiled("states P, Q\nfields x: 0..2\nstart s: all of P\n"
               "let next = (x + 1) mod 3\n"
               "P{x == 0} + P -> u.x = v.x, v.x = u.x\n"      // swap
               "P + Q -> v + u\n"                             // swap with the state
               "Q{x >= 1} + * -> Q{x = next} + P{x = u.x}\n"  // bare names are the agent's own
               "Q + * when v.x > u.x -> P + *{x = if u.state == P then 2 else 1}\n",
               10);
  const auto name = [](int state, int x) {
    return std::string("{state = ") + "PQ"[state] + ", x = " + std::to_string(x) + "}";
  };
  EXPECT_EQ(reaction(*protocol, 0, 2), name(0, 2) + name(0, 0) + " 1/1 ");
  EXPECT_EQ(reaction(*protocol, 1, 5), name(1, 2) + name(0, 1) + " 1/1 ");
  EXPECT_EQ(reaction(*protocol, 5, 0), name(1, 0) + name(0, 2) + " 1/1 ");
  EXPECT_EQ(reaction(*protocol, 3, 5), name(0, 0) + name(1, 1) + " 1/1 ");
  EXPECT_EQ(reaction(*protocol, 3, 3), "");
}

TEST(Rules, CanBeAListAsOtherToolsWriteThem) {
  const auto protocol = compiled(
      "start main: 2 of a, rest of u\na,b -> u,b : 1/2\nb,u -> b,b\nu,a->a,a\n", 10, {}, "x.rules");
  EXPECT_EQ(protocol->space().fields()[0].domain(), "{a, b, u}");
  EXPECT_EQ(reaction(*protocol, 0, 1), "ub 1/2 ");
  EXPECT_EQ(reaction(*protocol, 1, 2), "bb 1/1 ");
  EXPECT_EQ(reaction(*protocol, 2, 0), "aa 1/1 ");
  EXPECT_EQ(reaction(*protocol, 0, 2), "");
}

TEST(Numbers, AreExactAndRoundDownwards) {
  const auto fraction = [](int a, int b) { return Number::fraction(a, b); };
  EXPECT_EQ(to_string(fraction(1, 3) + fraction(1, 6)), "1/2");
  EXPECT_EQ(to_string(fraction(2, -4)), "-1/2");
  EXPECT_EQ(to_string(floor(fraction(-1, 2))), "-1");
  EXPECT_EQ(to_string(ceiling(fraction(-1, 2))), "0");
  EXPECT_EQ(to_string(nearest_whole(fraction(5, 2))), "3");
  EXPECT_EQ(to_string(modulo(Number(-7), Number(3))), "2");
  EXPECT_EQ(to_string(modulo(fraction(7, 2), Number(2))), "3/2");
  EXPECT_EQ(to_string(floor(square_root(Number((std::int64_t{1} << 62) - 1)))), "2147483647");
  EXPECT_EQ(to_string(square_root(Number(std::int64_t{1} << 62))), "2147483648");
  EXPECT_EQ(to_string(binary_logarithm(Number(std::int64_t{1} << 61))), "61");
  EXPECT_NEAR(binary_logarithm(Number(10)).as_double(), 3.321928094887362, 1e-14);
  EXPECT_NEAR(natural_logarithm(Number(10)).as_double(), 2.302585092994046, 1e-14);
  EXPECT_EQ(compare(fraction(1, 3), fraction(3333, 10000)), 1);
  EXPECT_THROW(power(Number(10), Number(39)), text::NumberError);
  EXPECT_THROW(Number(1) / Number(0), text::NumberError);
}

TEST(Examples, CompileForAllSizesAndWarnOfNothing) {
  for (const char* name : example_names) {
    for (const AgentCount n : {2u, 3u, 10u, 1000u}) {
      const auto protocol = Compiled::make(example(name), {}, n);
      EXPECT_TRUE(protocol->warnings().empty()) << name;
      if (n >= 10 && std::string_view(name) != "approximate_majority") {
        for (const auto& start : protocol->starts()) EXPECT_EQ(start.objection, "") << name;
      }
    }
  }
}

// Whatever bytes are changed, there is a protocol or one sentence with a place.
TEST(Examples, NeverCrashWithChangedBytes) {
  Stream stream({.seed = 5, .trial = 0, .purpose = Purpose::test});
  const std::string_view alphabet = "ABLu v+->*{}()=,.|:0123456789\n#\"%/withorwhenmod..";
  const auto letters = static_cast<std::uint32_t>(alphabet.size());
  int understood = 0;
  for (const char* name : example_names) {
    const std::string original = example_content(name);
    for (int round = 0; round < 80; ++round) {
      std::string content = original;
      for (std::uint32_t i = 0; i <= stream.below(4); ++i) {
        const std::size_t place = stream.below(static_cast<std::uint32_t>(content.size()));
        const char byte = stream.chance(1, 10) ? static_cast<char>(stream.below(256))
                                               : alphabet[stream.below(letters)];
        if (stream.chance(1, 3))
          content.erase(place, 1 + stream.below(3));
        else if (stream.chance(1, 2))
          content.insert(place, 1, byte);
        else
          content[place] = byte;
      }
      try {
        compiled(content, 20);
        ++understood;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()).substr(0, 6), "my.pp:") << error.what();
      }
    }
  }
  EXPECT_GT(understood, 100);
}

TEST(Arithmetic, IsExactAndKnowsItsConstants) {
  const text::Constants constants{{"n", Number(1000)}, {"r", Number(3)}};
  const auto value = [&](std::string_view expression) {
    return to_string(text::evaluate(expression, constants));
  };
  EXPECT_EQ(value("4*n"), "4000");
  EXPECT_EQ(value("n/r"), "1000/3");
  EXPECT_EQ(value("floor(n/r)"), "333");
  EXPECT_EQ(value("ceil(lg(n))"), "10");
  EXPECT_EQ(value("lg(2^20)"), "20");
  EXPECT_EQ(value("-(1.5e3 - n)"), "-500");
  EXPECT_THROW(text::evaluate("4*m", constants), text::Mistake);
  EXPECT_THROW(text::evaluate("4 n", constants), text::Mistake);
  EXPECT_THROW(text::evaluate("", constants), text::Mistake);
  EXPECT_THROW(text::evaluate("count(n)", constants), text::Mistake);
  EXPECT_THROW(text::evaluate("1 / (n - n)", constants), text::NoValue);
  EXPECT_EQ(text::names_in("lg(b - a) / (a + 1e3)"), (std::vector<std::string>{"b", "a"}));
  EXPECT_THROW(text::names_in("a / / b"), text::Mistake);
}

// A protocol of a paper fits on half a page; only the cascade of 20 species is longer.
TEST(Examples, AreShort) {
  std::size_t found = 0;
  for (const auto& file : std::filesystem::directory_iterator(CONCLAVE_EXAMPLES)) {
    if (!file.is_regular_file() || file.path().stem() == "cascade") continue;
    std::ifstream text(file.path());
    const auto lines = std::count(std::istreambuf_iterator<char>(text), {}, '\n');
    EXPECT_LE(lines, 30) << file.path();
    ++found;
  }
  EXPECT_GE(found, 16u);
}

}  // namespace
}  // namespace conclave::tests
