// Verdicts of claims whose premise never occurs, and what is refused before it is explored.
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/exact/reachable_bound.hpp"
#include "conclave/exact/verifier.hpp"
#include "conclave/protocols/population/lemmas/coalescence.hpp"
#include "conclave/protocols/population/lemmas/fratricide.hpp"
#include "conclave/protocols/population/lemmas/pll.hpp"
#include "conclave/protocols/population/lemmas/pll_sym.hpp"

#include "tests/support/verified.hpp"

namespace conclave::exact {

// Nothing ever happens to three leaders. Claims of every kind, about all configurations and about
// none, are made about them.
struct Idlers {
  struct State {
    bool leader = true;
    friend bool operator==(const State&, const State&) = default;
    static constexpr std::tuple fields{Field{"leader", &State::leader}};
  };
  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  void interact(State&, State&, Choice auto&) const {}
  Role role(const State& s) const { return s.leader ? Role::leader : Role::follower; }
  static constexpr ProtocolInfo info{};
};

inline Claims<Idlers::State> claims_of(const Idlers&) {
  using View = ConfigurationView<Idlers::State>;
  using OneStep = Step<Idlers::State>;
  const auto always = [](const OneStep&) { return true; };
  const auto never = [](const OneStep&) { return false; };
  const auto nowhere = [](View) { return false; };
  const std::string whole(whole_set);
  Claims<Idlers::State> claims;
  claims.sets = {{"none", "no configuration", nowhere},
                 {"all", "all configurations", [](View) { return true; }}};
  claims.claims = {{"here", "", ClaimKind::everywhere, "all"},
                   {"nowhere", "", ClaimKind::everywhere, "all", {}, {}, nowhere},
                   {"wrong", "", ClaimKind::everywhere, "none", {}, {}, nowhere},
                   {"closed", "", ClaimKind::closed, "all"},
                   {"closed none", "", ClaimKind::closed, "none"},
                   {"safe none", "", ClaimKind::safe, "none"},
                   {"equal none", "", ClaimKind::equal, "none"},
                   {"reached", "", ClaimKind::reached, "all"},
                   {"step", "", ClaimKind::steps, whole, always},
                   {"step in none", "", ClaimKind::steps, "none", never},
                   {"step without premise", "", ClaimKind::steps, whole, always, never},
                   {"wrong step", "", ClaimKind::steps, whole, never, never}};
  return claims;
}

namespace {

using protocols::Coalescence;
using protocols::Fratricide;
using protocols::Pll;
using protocols::PllSym;
using tests::pll;
using tests::ppl;
using tests::prl;
using tests::verdict;
using tests::verified;

TEST(Verdicts, AreVacuousWhereThePremiseNeverOccurs) {
  const Report report = verified(Idlers{}, Network::complete(3));
  EXPECT_EQ(report.classes, 1u);
  for (const char* claim : {"here", "closed", "step"}) {
    EXPECT_EQ(verdict(report, claim), Verdict::holds) << claim;
  }
  for (const char* claim : {"nowhere", "closed none", "safe none", "equal none", "reached",
                            "step in none", "step without premise"}) {
    EXPECT_EQ(verdict(report, claim), Verdict::vacuous) << claim;
  }
  for (const char* claim : {"wrong", "wrong step"}) {  // a counterexample needs no premise
    EXPECT_EQ(verdict(report, claim), Verdict::fails) << claim;
  }
}

TEST(Verdicts, AreVacuousForCoinsOfThreeAgents) {
  EXPECT_EQ(verdict(verified(pll<PllSym>(3, 3, 1), Network::complete(3)), "Section 4"),
            Verdict::vacuous);
  EXPECT_EQ(verdict(verified(pll<PllSym>(4, 1, 1), Network::complete(4)), "Section 4"),
            Verdict::holds);
}

// No lemma of prl is vacuous where all configurations are explored.
TEST(Verdicts, HoldForEveryLemmaOfPrl) {
  for (const ClaimReport& claim : verified(prl(3, 3), Network::directed_ring(3)).claims) {
    EXPECT_EQ(claim.verdict, Verdict::holds) << claim.name;
  }
}

// The bound and the number of configurations that are really reached.
template <class P>
std::pair<double, double> bound_and_truth(const P& protocol, const Network& network) {
  StateTable<P> table(protocol);
  std::vector<StateNumber> start;
  for (AgentCount agent = 0; agent < network.agents(); ++agent) {
    start.push_back(law_of_agent(table, 0, agent).front().first);
  }
  const Report report = verified(protocol, network, {.extent = Extent::start});
  const Reachable by_halves = reachable_by_halves(network, table, start);
  EXPECT_LE(by_halves.transitions, static_cast<double>(report.transitions));
  const double most = std::max(by_halves.configurations, reachable_at_least(network, table, start));
  return {most, static_cast<double>(report.classes)};
}

TEST(ReachableAtLeast, IsABoundThatIsOftenNear) {
  const auto expect_bound = [](const std::pair<double, double>& found, double least) {
    EXPECT_LE(found.first, found.second);
    EXPECT_GE(found.first, least);
  };
  expect_bound(bound_and_truth(Fratricide({}, 20), Network::complete(20)), 11);
  expect_bound(bound_and_truth(pll<Pll>(3, 2, 1), Network::complete(3)), 10);
  expect_bound(bound_and_truth(pll<PllSym>(3, 1, 1), Network::complete(3)), 10);
  expect_bound(bound_and_truth(pll<Pll>(4, 2, 1), Network::complete(4)), 300);
  expect_bound(bound_and_truth(pll<Pll>(6, 2, 1), Network::complete(6)), 50000);  // by halves
  expect_bound(bound_and_truth(ppl(2, 2, 2, 2), Network::complete(2)), 2);
  expect_bound(bound_and_truth(Coalescence({}, 9), Network::directed_ring(9)), 1);
  const Digraph path(4, {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}});
  expect_bound(bound_and_truth(Coalescence({}, 4), Network::of(path)), 4);
}

TEST(Verification, RefusesWhatIsHopelessBeforeItExplores) {
  VerifyOptions options;
  options.bounds.memory = std::uint64_t{1} << 40;
  options.bounds.progress = [](std::string_view, std::uint64_t, std::uint64_t) {
    ADD_FAILURE() << "explores";
    return false;
  };
  const auto expect_refusal = [&](const auto& protocol, AgentCount n) {
    try {
      verified(protocol, Network::complete(n), options);
      ADD_FAILURE() << "not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("can be reached"), std::string::npos)
          << error.what();
    }
  };
  expect_refusal(Pll({}, 100'000), 100'000);
  expect_refusal(Pll({}, 20), 20);
  expect_refusal(PllSym({}, 100'000), 100'000);  // two symmetric agents alone never differ
}

TEST(Verification, LooksUpOftenWhereConfigurationsAreLarge) {
  std::uint64_t looks = 0;
  VerifyOptions options;
  options.bounds.progress = [&](std::string_view what, std::uint64_t, std::uint64_t) {
    looks += what.starts_with("exploring") ? 1 : 0;
    return true;
  };
  verified(Fratricide({}, 900), Network::complete(900), options);
  EXPECT_GE(looks, 2u);
}

}  // namespace
}  // namespace conclave::exact
