// States that do not matter before a failure: found, not believed.
#include "conclave/exact/lumped_states.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/exact/holding_time.hpp"
#include "conclave/protocols/population/importance/ppl.hpp"
#include "conclave/protocols/population/importance/timers.hpp"
#include "conclave/protocols/population/ppl.hpp"
#include "conclave/rare/make_prepared.hpp"

namespace conclave::exact {
namespace {

using protocols::Ppl;

// The meetings of agents of ppl from a start on until an output changes.
struct PplMeetings {
  PplMeetings(int t_max, int t_virus, int t_emit, std::size_t start, AgentCount n)
      : table(Ppl(parameters(t_max, t_virus, t_emit), n)),
        question(table, protocols::PplFailures{}),
        members(table, question, laws(start, n), 1024) {}

  static Ppl::Parameters parameters(int t_max, int t_virus, int t_emit) {
    Ppl::Parameters all;
    all.t_max = t_max;
    all.t_virus = t_virus;
    all.t_emit = t_emit;
    return all;
  }
  std::vector<StateLaw> laws(std::size_t start, AgentCount n) {
    std::vector<StateLaw> all;
    for (AgentCount i = 0; i < n; ++i) all.push_back(law_of_agent(table, start, i));
    return all;
  }
  // The partition into states that look alike.
  template <class Look>
  Partition by(Look look) {
    std::map<decltype(look(Ppl::State{})), StateNumber> seen;
    Partition blocks;
    for (StateNumber i = 0; i < members.size(); ++i) {
      const auto next = static_cast<StateNumber>(seen.size());
      blocks.push_back(seen.try_emplace(look(table.state(members.state(i))), next).first->second);
    }
    return blocks;
  }

  StateTable<Ppl> table;
  rare::ExactFailures<Ppl, protocols::PplFailures> question;
  MeetingStates members;
};

auto what_matters(const Ppl::State& s) {
  return std::vector<std::uint32_t>{s.leader, s.virus, s.leader ? 0 : s.timer_l,
                                    s.leader && s.shield, s.leader ? s.timer_i : 0};
}

TEST(LumpedStates, DropAFollowersShieldAndEmissionTimer) {
  PplMeetings ppl(5, 3, 3, Ppl::safe, 3);
  EXPECT_EQ(ppl.members.violation(ppl.by(what_matters)), std::nullopt);
  const Partition coarsest = ppl.members.coarsest();
  EXPECT_EQ(ppl.members.violation(coarsest), std::nullopt);
  // A projection that follows from the paper's text is refined by no block that was computed.
  std::map<std::vector<std::uint32_t>, StateNumber> block;
  for (StateNumber i = 0; i < ppl.members.size(); ++i) {
    const auto look = what_matters(ppl.table.state(ppl.members.state(i)));
    EXPECT_EQ(block.try_emplace(look, coarsest[i]).first->second, coarsest[i]);
  }
  EXPECT_LT(block.size(), ppl.members.size());
}

TEST(LumpedStates, WrongProjectionsAreRejectedWithThePairThatShowsIt) {
  PplMeetings ppl(5, 3, 3, Ppl::safe, 3);
  const auto rejected = [&](auto forget) {
    const Partition blocks = ppl.by([&](Ppl::State s) {
      forget(s);
      return what_matters(s);
    });
    const auto violation = ppl.members.violation(blocks);
    EXPECT_THROW(LumpedStates(ppl.members, blocks), Error);
    return violation.value_or("accepted");
  };
  for (const std::string& sentence :
       {rejected([](Ppl::State& s) { s.virus = 0; }),
        rejected([](Ppl::State& s) { s.shield = false; }),
        rejected([](Ppl::State& s) { s.timer_l = 1; }),
        rejected([](Ppl::State& s) { s.timer_i = s.timer_i > 2 ? 2 : s.timer_i; })}) {
    EXPECT_NE(sentence.find(") differ when they interact with ("), std::string::npos) << sentence;
  }
  EXPECT_NE(rejected([](Ppl::State& s) { s.leader = false; }).find("differ for the question"),
            std::string::npos);
}

// Were two blocks of the coarsest partition the same, there would be a coarser one.
TEST(LumpedStates, NoTwoBlocksOfTheCoarsestPartitionCanBeMerged) {
  PplMeetings ppl(5, 4, 6, Ppl::safe, 4);
  const Partition coarsest = ppl.members.coarsest();
  const std::size_t blocks = LumpedStates(ppl.members, coarsest).size();
  EXPECT_GT(blocks, 10u);
  for (StateNumber a = 0; a < blocks; ++a) {
    for (StateNumber b = a + 1; b < blocks; ++b) {
      Partition merged = coarsest;
      for (StateNumber& each : merged) each = each == b ? a : each;
      EXPECT_TRUE(ppl.members.violation(merged).has_value()) << a << ' ' << b;
    }
  }
}

struct Case {
  std::string protocol;
  std::uint64_t n;
  std::vector<catalog::Setting> settings;
  std::string start = "safe";
};

// ln of the time, and the number of configurations, as rare solves it.
std::pair<double, std::uint64_t> lumped(const catalog::Entry& entry, const catalog::RunRequest& run,
                                        std::size_t ways) {
  catalog::RareRequest request{.run = run};
  request.choice.importance = {"exact"};
  const auto prepared = entry.rare(request);
  double rate = 0;
  std::uint64_t configurations = 0;
  for (std::size_t i = 0; i < prepared->subject().functions.size(); ++i) {
    prepared->pilot(i, {});
    const RareRepetition solved = prepared->run(i, 0, {});
    rate += std::exp(solved.ln_rate);
    configurations = solved.configurations;
  }
  EXPECT_LE(prepared->subject().functions.size(), ways);
  return {-std::log(rate), configurations};
}

TEST(HoldingTimes, AreThoseOfTheUnmergedChain) {
  const auto ppl = [](const char* t_max, const char* t_virus, const char* t_emit) {
    return std::vector<catalog::Setting>{
        {"t_max", t_max}, {"t_virus", t_virus}, {"t_emit", t_emit}};
  };
  for (const Case& each : std::vector<Case>{{"ppl", 3, ppl("5", "2", "3")},
                                            {"ppl", 3, ppl("9", "3", "5")},
                                            {"ppl", 3, ppl("2", "6", "3")},
                                            {"ppl", 4, ppl("4", "3", "2")},
                                            {"ppl", 3, ppl("6", "4", "4"), "half-timers"},
                                            {"timers", 4, {{"t_max", "6"}}},
                                            {"timers", 5, {{"t_max", "4"}, {"reading", "late"}}}}) {
    catalog::RunRequest run;
    run.n = each.n;
    run.settings = each.settings;
    run.start = each.start;
    catalog::VerifyRequest request{run};
    request.options.extent = Extent::start;
    const Report plain = catalog::find(each.protocol).verify(request).report;
    const auto [ln_time, configurations] = lumped(catalog::find(each.protocol), run, 2);
    EXPECT_NEAR(ln_time, std::log(plain.start_holding.value()), 1e-8) << each.protocol << each.n;
    EXPECT_LT(configurations, plain.classes);
  }
}

TEST(HoldingTimes, OfProtocolFilesAreTimesToTheStopCondition) {
  // Colours do not matter for the condition, and are merged.
  const catalog::Entry entry = catalog::kept_text_entry("colours.pp", R"(
states S, R, B
start all: all of R
R + S -> R + B
B + S -> B + R
R + R -> S + R
R + B -> S + B
B + R -> S + R
B + B -> S + B
stop when count(S) == n - 1
)");
  catalog::RunRequest run;
  run.n = std::uint64_t{12};
  catalog::VerifyRequest request{run};
  request.options.extent = Extent::start;
  const Report plain = entry.verify(request).report;
  const auto [ln_time, configurations] = lumped(entry, run, 1);
  EXPECT_NEAR(ln_time, std::log(plain.start.mean), 1e-8);
  EXPECT_EQ(configurations, 12u);
  EXPECT_GT(plain.classes, 40u);
}

// The bound on timeouts is one, and is near where there are two followers.
TEST(TimeoutBound, IsBelowTheExactTime) {
  for (std::uint64_t n = 3; n <= 7; ++n) {
    for (const char* t_max : {"1", "2", "5", "8"}) {
      catalog::RunRequest run;
      run.n = n;
      run.settings = {{"t_max", t_max}};
      const double ln_time = lumped(catalog::find("timers"), run, 1).first;
      const double bound = protocols::ln_timeout_bound(n, std::stoull(t_max));
      EXPECT_LE(bound, ln_time + 1e-9) << n << ' ' << t_max;
      if (n == 3) {
        EXPECT_GT(bound, ln_time - std::log(1.5) - 1e-9) << t_max;
      }
    }
  }
}

}  // namespace
}  // namespace conclave::exact
