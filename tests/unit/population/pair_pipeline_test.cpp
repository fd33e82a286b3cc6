#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/population/meeting_pipeline.hpp"

#include "tests/mutants/pairs.hpp"
#include "tests/unit/uniformity.hpp"

namespace conclave::population {
namespace {

using tests::p_value;
using tests::reject;
using tests::mutants::Meetings;

constexpr StreamName name{.seed = 11, .trial = 5, .purpose = Purpose::schedule};
constexpr AgentCount two_to_24 = AgentCount{1} << 24;
constexpr AgentCount bias_shows = AgentCount{3} << 30;  // 2^32 mod n is a third of n

const std::vector<AgentCount> populations{2,
                                          3,
                                          5,
                                          10,
                                          33,
                                          1000,
                                          two_to_24 - 1,
                                          two_to_24,
                                          two_to_24 + 12345,
                                          bias_shows,
                                          3'000'000'000,
                                          PairPipeline::most_agents};

// Drops `step` meetings at a time, or as many as there are.
Meetings take(PairPipeline& pipeline, std::size_t wanted, std::size_t step) {
  Meetings meetings;
  while (meetings.size() < wanted) {
    const std::span<const std::uint64_t> upcoming = pipeline.upcoming();
    const std::size_t used = std::min({step, upcoming.size(), wanted - meetings.size()});
    meetings.insert(meetings.end(), upcoming.begin(), upcoming.begin() + static_cast<long>(used));
    pipeline.drop(used);
  }
  return meetings;
}

Meetings meetings_of(AgentCount n, std::size_t wanted, std::size_t step = PairPipeline::block) {
  PairPipeline pipeline(name, n);
  return take(pipeline, wanted, step);
}

// The agents 0 ... n-1 in classes, by the size of their number or by its remainder.
struct Classes {
  AgentCount n;
  AgentCount count;
  bool by_remainder;

  AgentCount of(AgentCount agent) const { return by_remainder ? agent % count : agent * count / n; }

  // How many agents are in this class.
  double size(AgentCount number) const {
    const auto first_by_size = [this](AgentCount k) { return (k * n + count - 1) / count; };
    const AgentCount agents = by_remainder ? (n - number + count - 1) / count
                                           : first_by_size(number + 1) - first_by_size(number);
    return static_cast<double>(agents);
  }
};

Classes classes_of(AgentCount n, AgentCount most, bool by_remainder) {
  return {n, std::min(n, most), by_remainder};
}

// The class of the initiator, or of the responder, of every meeting.
using Sequence = std::vector<std::uint16_t>;

Sequence initiators(const Meetings& meetings, const Classes& classes) {
  Sequence sequence;
  for (const std::uint64_t word : meetings) {
    sequence.push_back(static_cast<std::uint16_t>(classes.of(Meeting{word}.initiator())));
  }
  return sequence;
}

Sequence responders(const Meetings& meetings, const Classes& classes) {
  Sequence sequence;
  for (const std::uint64_t word : meetings) {
    sequence.push_back(static_cast<std::uint16_t>(classes.of(Meeting{word}.responder())));
  }
  return sequence;
}

// Are agents uniform?
double single_p_value(const Sequence& agents, const Classes& classes) {
  std::vector<double> counts(classes.count);
  std::vector<double> weights(classes.count);
  for (const std::uint16_t agent : agents) ++counts[agent];
  for (std::size_t i = 0; i < classes.count; ++i) weights[i] = classes.size(i);
  return p_value(counts, weights);
}

// The weight of each pair of classes that two agents may belong to.
std::vector<double> pair_weights(const Classes& classes, bool distinct) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < classes.count; ++i) {
    for (std::size_t j = 0; j < classes.count; ++j) {
      const double left_out = distinct && i == j ? 1 : 0;
      weights.push_back(classes.size(i) * (classes.size(j) - left_out));
    }
  }
  return weights;
}

// Are initiator and responder uniform over all ordered pairs of distinct agents?
double pair_p_value(const Sequence& a, const Sequence& b, const Classes& classes) {
  std::vector<double> counts(classes.count * classes.count);
  for (std::size_t k = 0; k < a.size(); ++k) ++counts[a[k] * classes.count + b[k]];
  return p_value(counts, pair_weights(classes, true));
}

// Are agents of meetings that lie this far apart independent? Every meeting is used once, since
// overlapping pairs would not have the law of chi-square.
double serial_p_value(const Sequence& a, const Sequence& b, const Classes& classes,
                      std::size_t distance) {
  std::vector<double> counts(classes.count * classes.count);
  for (std::size_t begin = 0; begin + 2 * distance <= a.size(); begin += 2 * distance) {
    for (std::size_t k = begin; k < begin + distance; ++k) {
      ++counts[a[k] * classes.count + b[k + distance]];
    }
  }
  return p_value(counts, pair_weights(classes, false));
}

// Where the evidence against a scheduler is strongest.
struct Verdict {
  double p_value = 1;
  std::string check;

  void add(double other_p_value, const std::string& other_check) {
    if (other_p_value < p_value) *this = {other_p_value, other_check};
  }
  friend std::ostream& operator<<(std::ostream& out, const Verdict& verdict) {
    return out << verdict.check << ": p = " << verdict.p_value;
  }
};

void examine_pairs(const Meetings& meetings, const Classes& classes, const std::string& bits,
                   Verdict& verdict) {
  const Sequence u = initiators(meetings, classes);
  const Sequence v = responders(meetings, classes);
  verdict.add(pair_p_value(u, v, classes), "pairs" + bits);
  for (const std::size_t distance : {1u, 8u}) {  // words 8 apart come from the same lane
    const std::string apart = std::to_string(distance) + " apart" + bits;
    verdict.add(serial_p_value(u, u, classes, distance), "initiator and initiator " + apart);
    verdict.add(serial_p_value(u, v, classes, distance), "initiator and responder " + apart);
    verdict.add(serial_p_value(v, u, classes, distance), "responder and initiator " + apart);
    verdict.add(serial_p_value(v, v, classes, distance), "responder and responder " + apart);
  }
}

bool are_two_agents(Meeting meeting, AgentCount n) {
  return meeting.initiator() != meeting.responder() && meeting.initiator() < n &&
         meeting.responder() < n;
}

// Are these meetings independent and uniform over the n(n-1) ordered pairs?
Verdict examine(const Meetings& meetings, AgentCount n) {
  const auto is_possible = [n](std::uint64_t word) { return are_two_agents(Meeting{word}, n); };
  if (!std::ranges::all_of(meetings, is_possible)) return {0, "not two agents"};
  Verdict verdict;
  for (const bool low : {false, true}) {
    const std::string bits = low ? ", low bits" : ", high bits";
    const Classes fine = classes_of(n, 1024, low);
    verdict.add(single_p_value(initiators(meetings, fine), fine), "initiators" + bits);
    verdict.add(single_p_value(responders(meetings, fine), fine), "responders" + bits);
    examine_pairs(meetings, classes_of(n, 64, low), bits, verdict);
  }
  return verdict;
}

TEST(PairPipelineLaws, GivesIndependentUniformPairs) {
  for (const AgentCount n : populations) {
    const Verdict verdict = examine(meetings_of(n, 2'000'000), n);
    EXPECT_GT(verdict.p_value, reject) << verdict << ", n = " << n << ", seed " << name.seed;
  }
}

using Mutant = Meetings (*)(const StreamName&, std::uint64_t, std::size_t);

void expect_rejected(Mutant mutant, std::initializer_list<AgentCount> sizes) {
  for (const AgentCount n : sizes) {
    const Verdict verdict = examine(mutant(name, n, 500'000), n);
    EXPECT_LT(verdict.p_value, reject) << verdict << ", n = " << n << ", seed " << name.seed;
  }
}

TEST(PairPipelineLaws, IsToldFromAMutantWithReplacement) {
  expect_rejected(tests::mutants::with_replacement, {2, 33, 1000});
}

TEST(PairPipelineLaws, IsToldFromAMutantThatMovesEqualAgentsApart) {
  expect_rejected(tests::mutants::moved_apart, {3, 5, 33});
}

TEST(PairPipelineLaws, IsToldFromAMutantByModulo) {
  expect_rejected(tests::mutants::by_modulo, {bias_shows, 3'000'000'000});
}

TEST(PairPipelineLaws, IsToldFromAMutantWithoutOrder) {
  expect_rejected(tests::mutants::unordered, {2, 3, 33, two_to_24 - 1, bias_shows});
}

TEST(PairPipelineLaws, IsToldFromAMutantThatSharesAStream) {
  expect_rejected(tests::mutants::shared_stream, {3, 33, two_to_24 - 1, bias_shows});
}

TEST(PairPipelineLaws, IsToldFromAMutantThatWalks) {
  expect_rejected(tests::mutants::walking, {2, 3, 33, two_to_24 - 1, bias_shows});
}

TEST(PairPipeline, GivesTheSameMeetingsHoweverTheyAreDropped) {
  for (const AgentCount n : populations) {
    const Meetings in_blocks = meetings_of(n, 10'000);
    for (const std::size_t step : {1u, 2u, 31u, 32u, 33u, 100u}) {
      EXPECT_EQ(meetings_of(n, 10'000, step), in_blocks) << "n " << n << " step " << step;
    }
  }
}

TEST(PairPipeline, GivesTheSameMeetingsWhenDroppedIrregularly) {
  Stream steps({.seed = 12, .trial = 0, .purpose = Purpose::test});
  PairPipeline pipeline(name, 1000);
  Meetings meetings;
  while (meetings.size() < 10'000) {
    const Meetings some = take(pipeline, steps.below(70), 1 + steps.below(64));
    meetings.insert(meetings.end(), some.begin(), some.end());
  }
  EXPECT_EQ(meetings, meetings_of(1000, meetings.size()));
}

TEST(PairPipeline, ShowsWhatComesBehindTheSpan) {
  for (const AgentCount n : populations) {
    PairPipeline pipeline(name, n);
    const Meetings expected = meetings_of(n, 20'000);
    for (std::size_t dropped = 0; dropped < 15'000;) {
      const std::span<const std::uint64_t> upcoming = pipeline.upcoming();
      ASSERT_GE(upcoming.size(), PairPipeline::least);
      const std::size_t visible = upcoming.size() + PairPipeline::lookahead;
      ASSERT_TRUE(std::equal(upcoming.data(), upcoming.data() + visible, &expected[dropped]));
      pipeline.drop(upcoming.size() - dropped % 7);
      dropped += upcoming.size() - dropped % 7;
    }
  }
}

TEST(PairPipelineDeathTest, RefusesImpossiblePopulations) {
  EXPECT_DEATH(PairPipeline(name, 1), "n >= 2");
  EXPECT_DEATH(PairPipeline(name, PairPipeline::most_agents + 1), "n <= most_agents");
}

}  // namespace
}  // namespace conclave::population
