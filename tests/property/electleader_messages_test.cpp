// ElectLeader_r: both representations of the messages agree after every interaction, and what the
// paper says of messages and of the safe set holds after every interaction.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/model/fault.hpp"

#include "tests/mutants/broken_messages.hpp"
#include "tests/support/electleader_definitions.hpp"

namespace conclave::tests {
namespace {

template <class M>
using Engine = population::Stepping<el::ElectLeader<M>>;
using Lazy = Engine<el::LazyMessages>;
using Dense = Engine<el::DenseMessages>;

const std::vector<ElectLeaderCase> sizes{{2, 1}, {3, 1}, {5, 2}, {7, 3}, {8, 4}, {12, 6}, {13, 6}};

template <class E>
E& watching_nothing(E& engine) {
  engine.watch(Watch::nothing);
  return engine;
}

// Steps two engines through the same run, with faults on the way, and tells where they differ.
template <class A, class B>
std::string first_difference(const el::Parameters& parameters, const ElectLeaderCase& size,
                             std::size_t start, std::uint64_t steps, std::uint64_t every,
                             std::uint64_t trial = 0) {
  const StreamName name{.seed = 7, .trial = trial};
  A a(parameters, size.n, start, name);
  B b(parameters, size.n, start, name);
  watching_nothing(a);
  watching_nothing(b);
  for (std::uint64_t step = 0; step < steps; step += every) {
    if (step == steps / 2 || step == 3 * steps / 4) {
      Fault fault{.text = "", .kind = FaultKind::corrupt, .amount = 1};
      if (step == steps / 2) fault.kind = FaultKind::make_leaders;
      EXPECT_EQ(a.strike(fault), b.strike(fault));
    }
    const auto found = difference(a.configuration(), b.configuration());
    if (found) return *found + " after " + std::to_string(step);
    a.advance(every);
    b.advance(every);
  }
  return {};
}

#ifdef NDEBUG
constexpr std::uint64_t trials_of_each = 3;
#else
constexpr std::uint64_t trials_of_each = 1;  // under sanitizers
#endif

TEST(ElectLeaderMessages, OfBothRepresentationsAgreeAfterEveryInteraction) {
  for (const ElectLeaderCase& size : sizes) {
    for (std::size_t start = 0; start < el::Starts::table.size(); ++start) {
      for (std::uint64_t trial = 0; trial < trials_of_each; ++trial) {
        EXPECT_EQ(
            (first_difference<Lazy, Dense>(lively_parameters(size), size, start, 1000, 1, trial)),
            "")
            << case_name(size, start) << " trial " << trial;
      }
    }
  }
}

// Logs are carried out again and again.
class ShortLogs : public el::LazyMessages {
 public:
  ShortLogs(const el::Groups& groups, std::uint32_t n) : LazyMessages(groups, n, 50) {}
};

// Looked at rarely, ledgers have to catch up with many events at once.
TEST(ElectLeaderMessages, OfBothRepresentationsAgreeAfterLongRuns) {
  for (const ElectLeaderCase& size : {ElectLeaderCase{4, 2}, ElectLeaderCase{7, 3}}) {
    for (const std::size_t start :
         {el::Starts::correct, el::Starts::correct_corrupt, el::Starts::dup, el::Starts::random}) {
      const el::Parameters parameters = lively_parameters(size);
      EXPECT_EQ((first_difference<Lazy, Dense>(parameters, size, start, 20'000, 1000)), "")
          << case_name(size, start);
      EXPECT_EQ((first_difference<Lazy, Engine<ShortLogs>>(parameters, size, start, 20'000, 1000)),
                "")
          << case_name(size, start);
    }
  }
}

TEST(ElectLeaderMessages, AgreeAlsoWithCoinsInsteadOfRandomChoices) {
  const ElectLeaderCase size{8, 4};
  el::Parameters parameters = lively_parameters(size);
  parameters.derandomize = el::Derandomize::yes;
  for (std::size_t start = 0; start < el::Starts::table.size(); ++start) {
    EXPECT_EQ((first_difference<Lazy, Dense>(parameters, size, start, 1500, 3)), "")
        << case_name(size, start);
  }
}

TEST(ElectLeaderMessages, OfBrokenRepresentationsAreFoundToDiffer) {
  const ElectLeaderCase size{8, 4};
  const auto differ = [&]<class Mutant>(std::size_t start) {
    bool found = false;
    for (std::uint64_t trial = 0; trial < 20; ++trial) {
      found |= !first_difference<Engine<Mutant>, Dense>(lively_parameters(size), size, start, 400,
                                                        1, trial)
                    .empty();
    }
    return found;
  };
  EXPECT_TRUE(differ.operator()<OverlooksDoubles>(el::Starts::dupq0));
  EXPECT_TRUE(differ.operator()<BalancesTheOtherWay>(el::Starts::correct));
  EXPECT_TRUE(differ.operator()<NeverRefreshes>(el::Starts::correct));
}

// Errata 33 to 36: outcomes alone would not reveal a mistake here.
TEST(ElectLeaderMessages, AreTwiceTheGroupSizeOfEachRankAtEveryAgent) {
  for (const ElectLeaderCase& size : sizes) {
    for (std::size_t start = 0; start < el::Starts::table.size(); ++start) {
      Lazy engine(lively_parameters(size), size.n, start, {.seed = 3, .trial = start});
      watching_nothing(engine);
      for (int step = 0; step < 400; ++step) {
        const auto broken = broken_message_rule(engine.configuration());
        ASSERT_FALSE(broken) << *broken << ", " << case_name(size, start) << " step " << step;
        engine.advance(1u);
      }
    }
  }
  const ElectLeaderCase size{8, 4};
  el::Parameters as_printed = lively_parameters(size);
  as_printed.reading = el::Reading::half_of_ids;
  Dense engine(as_printed, size.n, el::Starts::correct, {.seed = 3});
  watching_nothing(engine).advance(200u);
  EXPECT_TRUE(broken_message_rule(engine.configuration()));
}

// The census of messages: from a correct ranking, every (rank, ID) is held exactly once, for ever.
TEST(ElectLeaderMessages, AreEachHeldOnceAfterACorrectRanking) {
  for (const ElectLeaderCase& size : sizes) {
    Lazy engine(lively_parameters(size), size.n, el::Starts::correct, {.seed = 5});
    watching_nothing(engine);
    for (int step = 0; step < 1000; ++step) {
      for (std::uint32_t group = 0; group < engine.configuration().groups().count(); ++group) {
        ASSERT_TRUE(group_is_consistent(engine.configuration(), group, 0))
            << case_name(size, el::Starts::correct) << " step " << step;
      }
      engine.advance(1u);
    }
  }
}

TEST(ElectLeaderSafety, IsKnownAtTheExactInteraction) {
  for (const ElectLeaderCase& size : sizes) {
    for (std::size_t start = 0; start < el::Starts::table.size(); ++start) {
      for (std::uint64_t trial = 0; trial < 2; ++trial) {
        Lazy engine(lively_parameters(size), size.n, start, {.seed = 11, .trial = trial});
        watching_nothing(engine);
        for (int step = 0; step < 1500; ++step) {
          ASSERT_EQ(engine.converged(), is_safe_by_definition(engine.configuration()))
              << case_name(size, start) << " trial " << trial << " step " << step;
          engine.advance(1u);
        }
      }
    }
  }
}

std::vector<std::uint32_t> ranks_of(Lazy& engine) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t u = 0; u < engine.size(); ++u) {
    ranks.push_back(engine.configuration().agent(u).verifier.rank);
  }
  return ranks;
}

// Lemma 6.1: in the safe set, nothing happens to the ranks, and soft resets happen at most once.
TEST(ElectLeaderSafety, IsNeverLostAndKeepsTheRanks) {
  for (const ElectLeaderCase& size : sizes) {
    for (const std::size_t start : {el::Starts::clean, el::Starts::correct, el::Starts::random,
                                    el::Starts::correct_one_corrupt, el::Starts::correct_corrupt}) {
      Lazy engine(lively_parameters(size), size.n, start, {.seed = 13});
      engine.advance(10'000'000u);
      ASSERT_TRUE(engine.converged()) << case_name(size, start);
      const std::vector<std::uint32_t> ranks = ranks_of(engine);
      const auto full_resets = engine.configuration().history().full_resets();
      watching_nothing(engine);
      for (int step = 0; step < 20'000; ++step) {
        engine.advance(1u);
        ASSERT_TRUE(engine.converged()) << case_name(size, start) << " step " << step;
        ASSERT_EQ(engine.leaders(), 1u);
      }
      EXPECT_EQ(ranks_of(engine), ranks);
      EXPECT_EQ(engine.configuration().history().full_resets(), full_resets);
    }
  }
}

// Erratum 28: wrong messages under a correct ranking cost one soft reset per agent and nothing
// more.
TEST(ElectLeaderSafety, CorruptedMessagesCostEveryAgentOneSoftResetAndNoFullOne) {
  const ElectLeaderCase size{16, 8};
  for (const std::size_t start : {el::Starts::correct_one_corrupt, el::Starts::correct_corrupt}) {
    for (std::uint64_t trial = 0; trial < 25; ++trial) {
      Lazy engine(electleader_parameters(size), size.n, start, {.seed = 1, .trial = trial});
      watching_nothing(engine).advance(20'000u);
      EXPECT_EQ(engine.configuration().history().full_resets(), 0u) << trial;
      EXPECT_EQ(engine.configuration().history().soft_resets(), size.n) << trial;
      EXPECT_TRUE(engine.converged());
    }
  }
}

}  // namespace
}  // namespace conclave::tests
