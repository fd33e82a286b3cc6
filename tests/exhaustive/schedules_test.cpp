// Every schedule of every message-passing protocol on two, three and four nodes, and what the
// walk itself must get right.
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/protocols/message/afek_gafni_async.hpp"
#include "conclave/protocols/message/afek_gafni_sync.hpp"
#include "conclave/protocols/message/flooding.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"
#include "conclave/protocols/message/kmpp_sync.hpp"
#include "conclave/schedules/asynchronous.hpp"
#include "conclave/schedules/search.hpp"
#include "conclave/schedules/synchronous.hpp"

#include "tests/mutants/broken_elections.hpp"

namespace conclave::tests {
namespace {

using protocols::AfekGafniAsync;
using protocols::AfekGafniSync;
using protocols::Flooding;
using protocols::KmppAsync;
using protocols::KmppReading;
using protocols::KmppSync;
using protocols::KmppSyncReading;
using schedules::SearchResult;

// Which of the properties, in their order; the last is termination.
enum : std::size_t { one_at_most, one_in_the_end, right_one, no_rule_broken, fifth };

constexpr std::uint64_t plenty = 4'000'000;

template <MessageProtocol P>
auto schedules(const P& protocol, std::size_t n, bool has_ids) {
  if constexpr (AsynchronousProtocol<P>)
    return schedules::AsynchronousSchedules<P>(protocol, n, has_ids);
  else
    return schedules::SynchronousSchedules<P>(protocol, n, has_ids);
}

template <MessageProtocol P>
SearchResult explore(const typename P::Parameters& parameters, std::size_t n, bool has_ids = true) {
  const P protocol(parameters, n);
  const auto system = schedules(protocol, n, has_ids);
  SearchResult result = schedules::search(system, {.configurations = plenty});
  EXPECT_TRUE(result.is_complete) << P::info.name << " n = " << n;
  return result;
}

// Fails with the shortest schedule.
template <MessageProtocol P>
void expect_all_hold(const typename P::Parameters& parameters, std::size_t n, bool has_ids = true) {
  const P protocol(parameters, n);
  const auto system = schedules(protocol, n, has_ids);
  const SearchResult result = schedules::search(system, {.configurations = plenty});
  ASSERT_TRUE(result.is_complete) << P::info.name << " n = " << n;
  EXPECT_GT(result.final_configurations, 0u);
  for (const schedules::Verdict& verdict : result.verdicts) {
    std::string schedule;
    for (const schedules::TraceStep& step : system.trace(verdict.counterexample)) {
      schedule += "  " + step.title + '\n';
      for (const std::string& detail : step.details) schedule += "      " + detail + '\n';
    }
    EXPECT_TRUE(verdict.holds) << P::info.name << " n = " << n << ": " << verdict.property << '\n'
                               << schedule;
  }
}

std::set<std::size_t> failing(const SearchResult& result) {
  std::set<std::size_t> numbers;
  for (std::size_t i = 0; i < result.verdicts.size(); ++i) {
    if (!result.verdicts[i].holds) numbers.insert(i);
  }
  return numbers;
}

using Failing = std::set<std::size_t>;

// ---- the walk itself

// All schedules one by one, without remembering configurations: the reference for their number,
// for the longest, and for the shortest that leads to a violation.
template <class System>
struct OneByOne {
  explicit OneByOne(const System& walked) : system(walked) { walk(system.beginning(), 0); }

  const System& system;
  double schedules = 0;
  std::uint64_t longest = 0;
  std::array<std::uint64_t, System::properties.size()> shortest{};

  void walk(const typename System::Configuration& c, std::uint64_t depth) {
    const std::uint32_t violated = system.violated(c);
    for (std::size_t i = 0; i < shortest.size(); ++i) {
      const bool is_first = shortest[i] == 0 || depth < shortest[i];
      if ((violated >> i & 1) != 0 && is_first) shortest[i] = depth;
    }
    bool is_final = true;
    system.for_each_step(c, [&](typename System::Configuration&& next) {
      is_final = false;
      walk(next, depth + 1);
    });
    if (!is_final) return;
    ++schedules;
    longest = std::max(longest, depth);
  }
};

template <MessageProtocol P>
void expect_same_one_by_one(const typename P::Parameters& parameters, std::size_t n,
                            bool has_ids = true) {
  const P protocol(parameters, n);
  const auto system = schedules(protocol, n, has_ids);
  const SearchResult result = schedules::search(system, {.configurations = plenty});
  const OneByOne reference(system);
  EXPECT_EQ(result.schedules, reference.schedules) << P::info.name << " n = " << n;
  EXPECT_EQ(result.longest, reference.longest) << P::info.name << " n = " << n;
  for (std::size_t i = 0; i < reference.shortest.size(); ++i) {
    EXPECT_EQ(result.verdicts[i].counterexample.size(), reference.shortest[i])
        << P::info.name << " n = " << n << ": " << result.verdicts[i].property;
  }
}

TEST(Schedules, AreAsManyAndAsLongAndFailAsEarlyAsCountedOneByOne) {
  expect_same_one_by_one<Flooding>({}, 3);
  expect_same_one_by_one<AfekGafniAsync>({}, 3);
  expect_same_one_by_one<AfekGafniSync>({}, 3);
  expect_same_one_by_one<KmppSync>({.ranks = 1}, 3);
  for (const auto reading : {KmppReading::corrected, KmppReading::printed, KmppReading::by_rank,
                             KmppReading::not_own_referee}) {
    expect_same_one_by_one<KmppAsync>({.reading = reading, .ranks = 2}, 2, false);
  }
  expect_same_one_by_one<KmppAsync>(
      {.reading = KmppReading::chosen_in_c1, .phases = 2, .referees = 1, .ranks = 1}, 3);
}

// Three nodes that all may be woken: who wakes sends 1 and then 2 to all; there are no answers.
struct TwoLetters {
  enum class Kind : std::uint8_t { letter };
  static constexpr std::array<std::string_view, 1> kinds{"LETTER"};
  struct Message {
    Kind kind = Kind::letter;
    std::uint8_t number = 0;
    [[maybe_unused]] friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind},
                                       Field{"number", &Message::number}};
  };
  struct Node {
    Standing standing = Standing::asleep;
    std::uint32_t story = 0;  // sender's port and number of each letter, as digits
    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"story", &Node::story}};
  };
  using Parameters = NoParameters;
  static constexpr ProtocolInfo info{};
  static constexpr bool is_port_blind = true;
  static std::string objection(const Parameters&, NodeCount) { return {}; }

  TwoLetters(const Parameters&, NodeCount) {}
  Node asleep(Identifier) const { return {}; }
  NodeView view(const Node& node) const { return {.standing = node.standing}; }
  std::uint32_t bits(const Message&) const { return 1; }
  void on(Node& node, WakeUp, auto& effects, Choice auto&) const {
    node.standing = Standing::candidate;
    effects.broadcast(Message{Kind::letter, 1});
    effects.broadcast(Message{Kind::letter, 2});
  }
  void on(Node& node, const Received<Message>& event, auto&, Choice auto&) const {
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    node.story = 100 * node.story + 10 * (event.port + 1) + event.message.number;
  }
};
static_assert(AsynchronousProtocol<TwoLetters>);

// The records of the nodes in all final configurations.
std::set<std::uint32_t> stories(std::size_t n) {
  const TwoLetters protocol({}, n);
  const auto system = schedules(protocol, n, false);
  std::set<std::uint32_t> all;
  std::set<std::string> seen;
  std::vector<schedules::detail::Configuration<TwoLetters>> open{system.beginning()};
  while (!open.empty()) {
    const auto now = open.back();
    open.pop_back();
    std::string bytes;
    now.encode(bytes);
    if (!seen.insert(bytes).second) continue;
    if (now.under_way.empty()) {
      for (std::size_t i = 0; i < n; ++i) all.insert(now.nodes[i].story);
    }
    system.for_each_step(now, [&](auto&& next) { open.push_back(next); });
  }
  return all;
}

TEST(Schedules, KeepTheOrderOnAnEdgeAndNoOther) {
  EXPECT_EQ(stories(2), (std::set<std::uint32_t>{0, 1112}));
  EXPECT_EQ(stories(3),
            (std::set<std::uint32_t>{0, 1112, 2122,  // from one, or from two:
                                     11122122, 11211222, 11212212, 21111222, 21112212, 21221112}));
}

// Waking is a choice in every configuration, and everybody may be left asleep for ever.
TEST(Schedules, WakeEverySetOfNodesInEveryOrder) {
  const TwoLetters protocol({}, 2);
  const auto system = schedules(protocol, 2, false);
  const SearchResult result = schedules::search(system, {.configurations = plenty});
  // First 0 or 1; then the other is woken before, between and after the letters, or by one.
  EXPECT_EQ(result.schedules, 2 * 1 + 2 * 6.0);
  EXPECT_EQ(failing(result), Failing{one_in_the_end});
  EXPECT_EQ(result.verdicts[one_in_the_end].counterexample.size(), 3u);  // wake, letter, letter
}

// Counts to three, or goes round from two to one.
struct Counter {
  using Configuration = std::uint32_t;
  static constexpr std::array<std::string_view, 1> properties{"it is not three"};
  bool has_circle = false;

  Configuration beginning() const { return 0; }
  void encode(const Configuration& c, std::string& bytes) const { bytes += static_cast<char>(c); }
  template <class Visit>
  void for_each_step(const Configuration& c, Visit&& visit) const {
    if (c < 3) visit(Configuration{c + 1});
    if (c == 2 && has_circle) visit(Configuration{1});
  }
  std::uint32_t violated(const Configuration& c) const { return c == 3 ? 1 : 0; }
};

TEST(Search, FindsACircle) {
  const SearchResult straight = schedules::search(Counter{}, {.configurations = 10});
  EXPECT_EQ(failing(straight), Failing{0});
  EXPECT_EQ(straight.schedules, 1);
  EXPECT_EQ(straight.longest, 3u);
  const SearchResult round = schedules::search(Counter{.has_circle = true}, {.configurations = 10});
  EXPECT_EQ(failing(round), (Failing{0, 1}));
  EXPECT_EQ(round.verdicts[1].counterexample, (schedules::Schedule{0, 0, 1}));
}

TEST(Search, SaysThatItIsNotComplete) {
  const SearchResult limited = schedules::search(Counter{}, {.configurations = 2});
  EXPECT_FALSE(limited.is_complete);
  EXPECT_FALSE(limited.all_hold());
  const SearchResult stopped = schedules::search(
      Counter{}, {.configurations = 10, .progress = [](auto...) { return false; }});
  EXPECT_FALSE(stopped.is_complete);
}

TEST(Search, EstimatesTheNumberOfSchedules) {
  const Flooding protocol({}, 3);
  const auto system = schedules(protocol, 3, true);
  const SearchResult result = schedules::search(system, {.configurations = plenty});
  const schedules::Estimate estimate = schedules::estimate_schedules(system, 20'000);
  EXPECT_NEAR(estimate.schedules / result.schedules, 1, 0.05);
  EXPECT_LE(estimate.steps, static_cast<double>(result.longest));
}

// ---- kmpp-async

TEST(KmppAsyncSchedules, ElectExactlyOneAndTellEverybody) {
  expect_all_hold<KmppAsync>({.ranks = 1}, 1);
  expect_all_hold<KmppAsync>({.ranks = 1}, 2);
  expect_all_hold<KmppAsync>({.ranks = 1}, 3);
#ifdef NDEBUG  // with sanitizers twenty seconds more, and nothing that others do not find
  expect_all_hold<KmppAsync>({.ranks = 1}, 4);
#endif
}

// Fewer referees than neighbours, as in large networks: every choice of them.
TEST(KmppAsyncSchedules, ElectExactlyOneWithEveryChoiceOfReferees) {
  for (const std::uint64_t phases : {2u, 3u, 4u, 5u}) {
    expect_all_hold<KmppAsync>({.phases = phases, .referees = 1, .ranks = 1}, 3);
  }
  expect_all_hold<KmppAsync>({.phases = 2, .referees = 1, .ranks = 1}, 4);
}

// Identifiers break ties, whatever the ranks.
TEST(KmppAsyncSchedules, ElectExactlyOneWithAllRanks) {
  expect_all_hold<KmppAsync>({.ranks = 2}, 2);
  expect_all_hold<KmppAsync>({.ranks = 3}, 3);
}

// Anonymous nodes with equal ranks may retire each other, but never elect two.
TEST(KmppAsyncSchedules, OfAnonymousNodesElectAtMostOne) {
  const SearchResult two = explore<KmppAsync>({.ranks = 2}, 2, false);
  EXPECT_EQ(failing(two), Failing{one_in_the_end});
  const SearchResult three = explore<KmppAsync>({.ranks = 3}, 3, false);
  EXPECT_EQ(failing(three), Failing{one_in_the_end});
}

// docs/explanation/errata-kmpp.md, one mistake each.
TEST(KmppAsyncSchedules, FailWithTheOtherReadings) {
  const auto fails = [](KmppReading reading, std::optional<std::uint64_t> referees, std::size_t n,
                        bool has_ids = true) {
    const std::optional<std::uint64_t> phases =
        referees ? std::optional<std::uint64_t>(2) : std::nullopt;
    return failing(explore<KmppAsync>(
        {.reading = reading, .phases = phases, .referees = referees, .ranks = has_ids ? 1 : n}, n,
        has_ids));
  };
  EXPECT_EQ(fails(KmppReading::printed, std::nullopt, 2), Failing{one_in_the_end});
  EXPECT_EQ(fails(KmppReading::printed, std::nullopt, 3), Failing{one_in_the_end});
  EXPECT_EQ(fails(KmppReading::chosen_in_c1, 1, 3), Failing{one_in_the_end});
  EXPECT_EQ(fails(KmppReading::by_rank, std::nullopt, 2, false),
            (Failing{one_at_most, one_in_the_end}));
  EXPECT_EQ(fails(KmppReading::not_own_referee, std::nullopt, 2),
            (Failing{one_at_most, one_in_the_end}));
  EXPECT_EQ(fails(KmppReading::not_own_referee, 1, 3), Failing{no_rule_broken});
}

TEST(KmppAsyncSchedules, TellTheShortestCounterexample) {
  const KmppAsync protocol({.reading = KmppReading::printed, .ranks = 1}, 2);
  const auto system = schedules(protocol, 2, true);
  const SearchResult result = schedules::search(system, {.configurations = plenty});
  const auto steps = system.trace(result.verdicts[one_in_the_end].counterexample);
  ASSERT_EQ(steps.size(), 5u);
  EXPECT_EQ(steps[0].title, "node 0 is woken -> candidate, phase 1, rank 1, awaits 1");
  EXPECT_EQ(steps[0].details, std::vector<std::string>{"node 0 sends REQUEST phase=1 id=1 rank=1 "
                                                       "to 1"});
  EXPECT_EQ(steps[1].title, "node 1 gets REQUEST phase=1 id=1 rank=1 from 0 -> not elected");
  EXPECT_EQ(steps[3].title, "node 1 gets REQUEST phase=2 id=1 rank=1 from 0");
  EXPECT_TRUE(steps[3].details.empty());  // the answer that never comes
  EXPECT_EQ(steps[4].details.back(), "nothing is under way");
}

// ---- kmpp-sync

TEST(KmppSyncSchedules, ElectExactlyOneWithinNineRounds) {
  for (const std::size_t n : {1u, 2u, 3u, 4u, 5u}) expect_all_hold<KmppSync>({.ranks = 1}, n);
  for (const std::uint64_t referees : {1u, 2u}) {
    expect_all_hold<KmppSync>({.referees = referees, .ranks = 1}, 4);
  }
  expect_all_hold<KmppSync>({.ranks = 3}, 3);
}

// The bound is attained.
TEST(KmppSyncSchedules, NeedNineRounds) {
  EXPECT_EQ(explore<KmppSync>({.ranks = 1}, 3).longest, 10u);  // the last one receives only
}

TEST(KmppSyncSchedules, FailWithTheOtherReadings) {
  const auto fails = [](KmppSyncReading reading) {
    return failing(explore<KmppSync>({.reading = reading, .referees = 1, .ranks = 1}, 3));
  };
  EXPECT_EQ(fails(KmppSyncReading::corrected), Failing{});
  EXPECT_EQ(fails(KmppSyncReading::replies_first), (Failing{right_one, fifth}));
  EXPECT_EQ(fails(KmppSyncReading::toss_first), Failing{fifth});
  EXPECT_EQ(fails(KmppSyncReading::answer_after_winner), Failing{fifth});
  EXPECT_EQ(fails(KmppSyncReading::active_retires), (Failing{one_in_the_end, fifth}));
}

// ---- baselines, and what is almost one of them

TEST(BaselineSchedules, ElectExactlyOneAndTellEverybody) {
  for (const std::size_t n : {1u, 2u, 3u, 4u}) {
    expect_all_hold<Flooding>({}, n);
    expect_all_hold<AfekGafniAsync>({}, n);
    expect_all_hold<AfekGafniSync>({}, n);
    expect_all_hold<AfekGafniSync>({.c = 3}, n);
  }
}

TEST(BaselineSchedules, FailOfWhatIsAlmostRight) {
  EXPECT_TRUE(failing(explore<CapturesOthersOnly>({}, 2)).contains(one_at_most));
  EXPECT_EQ(failing(explore<DeadOwnersAreSilent>({}, 3)), Failing{one_in_the_end});
  EXPECT_TRUE(failing(explore<OwnsItselfTooLate>({.c = 2}, 2)).contains(one_at_most));
  EXPECT_FALSE(failing(explore<ImpatientFlooding>({}, 3)).empty());
}

}  // namespace
}  // namespace conclave::tests
