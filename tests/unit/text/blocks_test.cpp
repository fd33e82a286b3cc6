// Blocks, draws, steps and functions: what they mean, pair by pair.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/support/texts.hpp"

namespace conclave::tests {
namespace {

using text::Compiled;
using text::StateIndex;

// The reaction of two states, as text: new states and their weights of the total.
std::string reaction(const Compiled& protocol, StateIndex u, StateIndex v) {
  const text::Reaction found = protocol.reaction(u, v);
  std::string result;
  for (const text::Outcome& each : found.outcomes) {
    result += std::to_string(each.u) + ' ' + std::to_string(each.v) + ' ' +
              std::to_string(each.weight) + '/' + std::to_string(found.total) + ", ";
  }
  return result;
}

constexpr std::string_view numbers = "fields x: 0..9\nstart s: all of {x = 0}\n";

TEST(Lists, AddUpLinesWithTheSameLeftSide) {
  const auto protocol = compiled(
      "start s: all of a\na,b -> a,a : 1/2\nb,a -> b,b\na,b -> b,b : 1/2\nunordered a,c -> c,c "
      ": 1/3\nc,a -> a,a : 1/3\n",
      10, {}, "x.rules");
  EXPECT_EQ(reaction(*protocol, 0, 1), "0 0 1/2, 1 1 1/2, ");
  EXPECT_EQ(reaction(*protocol, 1, 0), "1 1 1/1, ");
  EXPECT_EQ(reaction(*protocol, 0, 2), "2 2 1/3, ");
  EXPECT_EQ(reaction(*protocol, 2, 0), "2 2 1/3, 0 0 1/3, ");
  EXPECT_EQ(objection("start s: all of a\na,b -> a,a\na,b -> b,b : 1/2\n", 10, {}, "x.rules"),
            "x.rules:2:1: the probabilities of the rules with this left side add up to 3/2, more "
            "than 1");
}

TEST(Parameters, AreFractionsWhereTheyAreWrittenAsSuch) {
  const std::string content =
      "param p = 0.3 in 0..1\nstates A, B\nstart s: all of A\nA + A -> A + B with p/2 + 1/n\n";
  EXPECT_EQ(reaction(*compiled(content, 10), 0, 0), "0 1 1/4, ");
  EXPECT_EQ(reaction(*compiled(content, 7, {{"p", "1/7"}}), 0, 0), "0 1 3/14, ");
  EXPECT_EQ(to_string(compiled(content, 7, {{"p", "1/7"}})->parameters()[0].second), "1/7");
  EXPECT_EQ(objection(content, 10, {{"p", "1.5"}}),
            "parameter p = 1.5 is out of range: 0 ... 1 is allowed");
  EXPECT_EQ(objection(content, 10, {{"p", "sqrt(2)"}}),
            "parameter p: 'sqrt(2)' is not an exact number such as 0.3 or 1/7");
  EXPECT_EQ(objection("param q = 3 in -2..5\nstates A\nstart s: all of A\n", 10, {{"q", "2.5"}}),
            "parameter q: '2.5' is not a whole number");
  EXPECT_EQ(objection("param q = 3 in -2..5\nstates A\nstart s: all of A\n", 10, {{"q", "-2"}}),
            "");
}

TEST(Blocks, RunOneStatementAfterTheOther) {
  const auto protocol =
      compiled(std::string(numbers) + "u + v when u.x < 9 do {\n"
                                      "   u.x = u.x + 1\n"
                                      "   v.x = u.x          # the new one\n"
                                      "   let old = u.x\n"
                                      "   if old == 3 { u.x = 0 } else if old == 4 { v.x = 0 }\n"
                                      "   u.x = v.x, v.x = u.x   # at once\n"
                                      "}\n",
               10);
  EXPECT_EQ(reaction(*protocol, 0, 5), "1 1 1/1, ");
  EXPECT_EQ(reaction(*protocol, 2, 5), "3 0 1/1, ");
  EXPECT_EQ(reaction(*protocol, 3, 5), "0 4 1/1, ");
  EXPECT_EQ(reaction(*protocol, 9, 5), "");
}

TEST(Blocks, EnumerateTheirRandomDraws) {
  const auto die =
      compiled(std::string(numbers) + "u + v do { choose k in 1..6  u.x = k mod 3 }\n", 10);
  EXPECT_EQ(reaction(*die, 7, 5), "1 5 1/3, 2 5 1/3, 0 5 1/3, ");
  EXPECT_EQ(reaction(*die, 0, 5), "1 5 1/3, 2 5 1/3, ");
  const auto coins =
      compiled(std::string(numbers) + "param p = 0.5 in 0..1\n"
                                      "u + v do {\n"
                                      "  with probability p { u.x = 1 } else { u.x = 2 }\n"
                                      "  with probability u.x/n { v.x = 3 }\n"
                                      "  else with probability 0 { v.x = 4 }\n"
                                      "}\n",
               10);
  EXPECT_EQ(reaction(*coins, 0, 0), "1 3 1/20, 1 0 9/20, 2 3 2/20, 2 0 8/20, ");
}

TEST(Blocks, HoldListsOfRules) {
  const auto protocol = compiled("states L, F\nfields x: 0..1\nstart s: all of L\n"
                                 "step duel {\n"
                                 "  L + L -> L + F with 1/2 or F + L with 1/4\n"
                                 "  unordered L + F -> F + F\n"
                                 "}\n"
                                 "u + v do { duel  each { x = 1 - x } }\n",
                                 10);
  // L0 L1 F0 F1 are 0 1 2 3.
  EXPECT_EQ(reaction(*protocol, 0, 0), "1 3 2/4, 3 1 1/4, 1 1 1/4, ");
  EXPECT_EQ(reaction(*protocol, 2, 1), "3 2 1/1, ");
  EXPECT_EQ(reaction(*protocol, 2, 2), "3 3 1/1, ");
}

TEST(Functions, MeanTheirExpressionWithTheArgumentsInPlace) {
  const auto protocol =
      compiled("states P, Q\nfields x: 0..9\nstart s: all of P\n"
               "param q = 10\n"
               "fun ahead(a, b) = (b - a) mod q\n"
               "fun both(s) = u.state == s and v.state == s\n"
               "fun twice(a) = ahead(0, a + a)\n"
               "u + v when both(P) and ahead(u.x, v.x) == 3 -> u.x = twice(v.x)\n",
               10);
  EXPECT_EQ(reaction(*protocol, 4, 7), "");  // x is 4 already
  EXPECT_EQ(reaction(*protocol, 5, 8), "6 8 1/1, ");
  EXPECT_EQ(reaction(*protocol, 9, 2), "4 2 1/1, ");
  EXPECT_EQ(reaction(*protocol, 15, 18), "");
}

TEST(Blocks, AreToldWhereTheyAreWrong) {
  const auto expect = [](const std::string& body, const std::string& sentence) {
    const std::string message = objection(std::string(numbers) + body);
    EXPECT_EQ(message.substr(0, sentence.size()), sentence) << body;
  };
  expect("u + v do { u.x = 10 }\n",
         "my.pp:3:18: x becomes 10, which is not in 0..9, when u is {x = 0} and v is {x = 0}");
  expect("u + v do { u.x = 1, u.x = 2 }\n", "my.pp:3:23: x gets two values");
  expect("u + v do { x = 1 }\n", "my.pp:3:12: x is a field of two agents here: write u.x or v.x,");
  expect("u + v do { choose k in 3..1 }\n", "my.pp:3:12: 3..1 is no range of 1 to 65536 numbers");
  expect("u + v do { with probability 3/2 { } }\n", "my.pp:3:30: 3/2 is no probability");
  expect("u + v do { with 1/2 { } }\n", "my.pp:3:17: expected 'probability' and a number");
  expect("u + v do { tick }\n", "my.pp:3:12: unknown step 'tick': no step stands before this");
  expect("step a { b }\nstep b { }\n", "my.pp:3:10: unknown step 'b': no step stands before");
  expect("step a { }\nstep b { c }\n", "my.pp:4:10: unknown step 'c' (did you mean 'a'?)");
  expect("u + v do { let n2 = 1  let n2 = 2 }\n", "my.pp:3:24: 'n2' is called like something");
  expect("u + v do { if u.x == 1 { let k = 1 } u.x = k }\n", "my.pp:3:44: unknown name 'k'");
  expect("u + v do { u.x = f(1) }\n", "my.pp:3:18: unknown function 'f'");
  expect("fun f(a) = a\nu + v do { u.x = f(1, 2) }\n", "my.pp:4:18: f takes 1 argument, not 2");
  expect("fun f(a) = a\nu + v do { u.x = f }\n", "my.pp:4:18: f is a function: write f(...)");
  expect("fun f(a) = f(a)\nu + v do { u.x = f(1) }\n",
         "my.pp:3:12: 'f' is used before it is defined");
  expect("u + v do { u.x = 1\n", "my.pp:3:19: expected a statement");
  expect("u + v do {\n  choose a in 1..60000  choose b in 1..2\n}\n",
         "my.pp:3:1: this rule takes more than 65536 random paths");
  expect("step s {" + std::string(100, '{') + "\n", "my.pp:3:");
}

TEST(Words, ThatCameLaterStillNameStates) {
  const auto protocol =
      compiled("states step, fun, each, do, always\nstart s: all of step\nstep + fun -> fun + fun\n"
               "always + fun -> fun + fun\n",
               10);
  EXPECT_EQ(reaction(*protocol, 0, 1), "1 1 1/1, ");
  EXPECT_EQ(reaction(*protocol, 4, 1), "1 1 1/1, ");
}

}  // namespace
}  // namespace conclave::tests
