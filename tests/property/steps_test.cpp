// The steps of the pseudocode that protocols say they execute: noting them changes nothing, every
// one is in the protocol's list, each that is listed is executed by some pair of states, and every
// variable that an interaction changes is one that an executed step sets. For ppl and prl, a step
// is executed exactly when its condition holds, written down here once more from the paper.
#include "conclave/model/steps.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/protocols/population/ag_minions.hpp"
#include "conclave/protocols/population/ciw.hpp"
#include "conclave/protocols/population/coalescence.hpp"
#include "conclave/protocols/population/fischer_jiang.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/optimal_silent.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/pll_sym.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/protocols/population/prl.hpp"
#include "conclave/protocols/population/timers.hpp"

namespace conclave::tests {
namespace {

using namespace protocols;  // NOLINT

using Lines = std::set<std::string, std::less<>>;

bool sets(const PseudocodeStep& step, std::string_view variable) {
  if (variable == "variable") {  // of pll: a member with four names
    return std::ranges::any_of(protocols::detail::pll_variables,
                               [&](std::string_view name) { return sets(step, name); });
  }
  const std::string all = ", " + std::string(step.sets) + ",";
  return all.find(", " + std::string(variable) + ",") != std::string::npos;
}

template <class P>
class Watched {
 public:
  explicit Watched(const P& protocol) : protocol_(protocol) {}

  // One meeting; says which steps it executed.
  Lines meet(typename P::State u, typename P::State v) {
    NotingStream noting(stream_);
    Stream plain = stream_;
    typename P::State new_u = u;
    typename P::State new_v = v;
    interact(new_u, new_v, noting);
    Lines lines(noting.lines().begin(), noting.lines().end());
    explain(u, new_u, lines);
    explain(v, new_v, lines);
    interact(u, v, plain);
    EXPECT_TRUE(u == new_u && v == new_v) << "notes change the interaction";
    executed_.insert(lines.begin(), lines.end());
    return lines;
  }

  void expect_all_executed() const {
    Lines listed;
    for (const PseudocodeStep& step : P::info.steps) listed.emplace(step.line);
    EXPECT_EQ(executed_, listed) << P::info.name;
  }

  bool is_leaderless = false;  // for protocols that ask an oracle

 private:
  void interact(auto& u, auto& v, auto& choice) const {
    if constexpr (requires { protocol_.interact_leaderless(u, v, choice); }) {
      if (is_leaderless) return protocol_.interact_leaderless(u, v, choice);
    }
    protocol_.interact(u, v, choice);
  }

  void explain(const typename P::State& before, const typename P::State& after,
               const Lines& lines) const {
    std::apply([&](const auto&... field) { (explain(before, after, lines, field), ...); },
               P::State::fields);
  }

  void explain(const auto& before, const auto& after, const Lines& lines, const auto& field) const {
    if (before.*field.member == after.*field.member) return;
    const bool is_explained = std::ranges::any_of(P::info.steps, [&](const PseudocodeStep& step) {
      return lines.contains(step.line) && sets(step, field.name);
    });
    EXPECT_TRUE(is_explained) << P::info.name << ": " << field.name << " changes";
  }

  P protocol_;
  Stream stream_{StreamName{.seed = 5}};
  Lines executed_;
};

// Meetings of any two states, and of agents of a small population one after the other.
template <class P, class Check>
void meet_often(const P& protocol, AgentCount n, const Check& check) {
  Watched<P> watched(protocol);
  Stream choice({.seed = 9});
  std::vector<typename P::State> agents;
  for (AgentCount agent = 0; agent < n; ++agent) {
    agents.push_back(protocol.initial(0, agent, choice));
  }
  for (int i = 0; i < 6'000; ++i) {
    watched.is_leaderless = i % 3 == 0;
    const auto u = protocol.arbitrary(choice);
    const auto v = i % 4 == 0 ? u : protocol.arbitrary(choice);
    check(u, v, watched.meet(u, v));
    const auto a = choice.below(static_cast<std::uint32_t>(n));
    const auto b = (a + 1) % static_cast<std::uint32_t>(n);
    check(agents[a], agents[b], watched.meet(agents[a], agents[b]));
    protocol.interact(agents[a], agents[b], choice);
  }
  watched.expect_all_executed();
}

template <class P>
void expect_steps(const typename P::Parameters& parameters, AgentCount n) {
  meet_often(P(parameters, n), n, [](const auto&, const auto&, const Lines&) {});
}

TEST(Steps, AreListedExecutedAndExplainEveryChange) {
  expect_steps<Fratricide>({}, 8);
  expect_steps<Coalescence>({}, 8);
  expect_steps<Ciw>({}, 6);
  expect_steps<AgMinions>({}, 8);
  expect_steps<OptimalSilent>({}, 6);
  expect_steps<FischerJiang>({}, 6);
  Timers::Parameters timers;
  timers.t_max = 3;
  expect_steps<Timers>(timers, 6);
  Pll::Parameters toy;
  toy.c_max = 3;
  toy.k = 1;
  expect_steps<Pll>(toy, 6);
  expect_steps<PllSym>(toy, 6);
}

// Algorithm 1 of ppl once more, as conditions.
TEST(Steps, OfPplAreExecutedWhenTheirConditionsHold) {
  Ppl::Parameters parameters;
  parameters.t_max = 4;
  parameters.t_virus = 3;
  parameters.t_emit = 3;
  const auto check = [](const Ppl::State& a, const Ppl::State& b, const Lines& lines) {
    const auto timer = std::max(a.timer_l, b.timer_l);
    const bool times_out = timer <= 1;
    const bool some_leads = times_out || a.leader || b.leader;
    const bool is_infected = std::max(a.virus, b.virus) > 1;
    const auto leads = [&](const Ppl::State& s) { return times_out || s.leader; };
    const auto dies = [&](const Ppl::State& s) { return is_infected && leads(s) && !s.shield; };
    const auto fires = [](const Ppl::State& s) { return s.timer_i <= 1; };
    Lines expected{"1", "4", "6"};
    if (times_out) expected.insert("2");
    if (some_leads) expected.insert("3");
    if (dies(a) || dies(b)) expected.insert("5");
    if (fires(a) && leads(a) && !dies(a)) expected.insert("7");
    if (fires(b) && leads(b) && !dies(b)) expected.insert("8");
    if (fires(a) || fires(b)) expected.insert("9");
    EXPECT_EQ(lines, expected);
  };
  meet_often(Ppl(parameters, 6), 6, check);
}

// Algorithm 1 of prl once more, as conditions.
TEST(Steps, OfPrlAreExecutedWhenTheirConditionsHold) {
  constexpr AgentCount n = 5;
  const auto check = [](const Prl::State& l, const Prl::State& r, const Lines& lines) {
    using Bullet = decltype(l.bullet);
    const auto distance = l.leader ? 0 : l.distance;
    const bool creates = r.leader                   ? false
                         : r.bullet == Bullet::none ? distance + 1 >= n
                                                    : r.distance == n;
    const bool r_leads = r.leader || creates;
    const bool fires = l.leader && l.signal;
    Lines expected{"16"};
    if (l.leader) expected.insert("1");
    if (r.leader || r.bullet == Bullet::none) expected.insert("2");
    if (creates) expected.insert("3-5");
    if (fires) expected.insert("6-7");
    if (r.leader && r.signal) expected.insert("8-9");
    if (l.bullet != Bullet::none || fires) expected.insert(r_leads ? "10-12" : "13-15");
    EXPECT_EQ(lines, expected);
  };
  meet_often(Prl({}, n), n, check);
}

}  // namespace
}  // namespace conclave::tests
