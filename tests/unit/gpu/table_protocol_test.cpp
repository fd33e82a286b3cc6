// Protocol files as tables, on an emulated warp and cluster, give the trials of the agents engine.
#include "conclave/gpu/table_protocol.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/protocol_text.hpp"
#include "conclave/text/text_protocol.hpp"

#include "tests/support/gpu_trials.hpp"

namespace conclave::gpu {
namespace {

using text::Compiled;
using text::ProtocolText;
using CompiledText = std::shared_ptr<const Compiled>;

CompiledText shipped(const std::string& name, AgentCount n) {
  return Compiled::make(ProtocolText::read(std::string(CONCLAVE_EXAMPLES) + "/" + name), {}, n);
}

CompiledText written(std::string_view content, AgentCount n) {
  return Compiled::make(std::make_shared<const ProtocolText>("test.pp", content), {}, n);
}

std::string refusal(const CompiledText& compiled) {
  try {
    catalog::tables_of(*compiled, 0);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

void expect_same(const Compiled& compiled, TrialResult found, const TrialResult& expected) {
  std::vector<AgentCount> counts;
  for (const Observation& each : found.observations) {
    counts.push_back(std::get<std::uint64_t>(each.value));
  }
  found.observations = text::ConditionTally::observations_of(compiled, counts);
  EXPECT_EQ(text(found), text(expected)) << compiled.text().name() << " n = " << compiled.agents();
}

// On a warp; and on a cluster, unless chance decides.
template <class Word>
void expect_same_trials(const Compiled& compiled, std::size_t start, std::uint64_t limit) {
  const auto n = static_cast<std::uint32_t>(compiled.agents());
  BatchRequest request{.n = n, .start = start, .limit = limit, .seed = 4, .trials = 12};
  const auto expected = one_by_one(text::TextProtocol<Word>(compiled), request);
  const Tables tables = catalog::tables_of(compiled, start);
  const TableProtocol<Word> protocol(tables);
  request.start = 0;  // the only one of the tables
  const auto found = on_a_warp(protocol, request);
  for (std::size_t i = 0; i < found.size(); ++i) expect_same(compiled, found[i], expected[i]);
  request.trials = 3;
  const auto by_cluster = emulated_by_cluster(protocol, request);
  for (std::size_t i = 0; i < by_cluster.size(); ++i) {
    const bool draws = !tables.reactions.empty() && expected[i].interactions != 0u;
    EXPECT_EQ(by_cluster[i].has_drawn, draws);
    if (by_cluster[i].has_drawn) continue;
    expect_same(compiled, result_of(protocol, by_cluster[i]), expected[i]);
  }
}

TEST(TableProtocol, GivesTheTrialsOfShippedFiles) {
  for (const char* const name :
       {"approximate_majority.pp", "epidemic.pp", "exact_majority.pp", "fratricide.pp",
        "phase_clock.pp", "rumor_with_cancel.pp", "synthetic_coin.pp"}) {
    for (const AgentCount n : {4u, 30u, 101u}) {
      expect_same_trials<std::uint8_t>(*shipped(name, n), 0, 10'000);
    }
  }
  expect_same_trials<std::uint8_t>(*shipped("junta_clock.pp", 60), 0, 10'000);
}

constexpr std::string_view dice =
    "fields score: 0..6, lead: bool\n"
    "leader = lead\n"
    "start clean: all of {lead = true}\n"
    "start mixed: 3 of {lead = true, score = 2}, rest of {lead = false}\n"
    "start any: randomly\n"
    "u + v do {\n"
    "  with probability 1/3 { u.score = min(u.score + 1, 6) }\n"
    "  else with probability 2/7 { v.score = 0 }\n"
    "  if u.lead and v.lead and u.score > v.score { v.lead = false }\n"
    "}\n"
    "observe high = count(score == 6)\n"
    "observe share = count(score == 6) / n\n"
    "stop when count(lead) <= 2 and floor(count(score == 6) / 3) >= floor((n - 3) / 6) - "
    "count(lead) "
    "mod 2\n"
    "fail when if count(lead) == 0 then max(count(score == 6), 1) != 0 else count(lead) > n\n";

TEST(TableProtocol, DrawsChanceAsTheFileDoes) {
  for (const AgentCount n : {5u, 24u, 90u}) {
    const CompiledText compiled = written(dice, n);
    for (std::size_t start = 0; start < 3; ++start) {
      expect_same_trials<std::uint8_t>(*compiled, start, 4'000);
    }
  }
}

TEST(TableProtocol, HasStatesOfTwoBytes) {
  const CompiledText compiled = written(
      "fields digit: 0..499, marked: bool\n"
      "let ahead = (v.digit - u.digit) mod 500\n"
      "start s: 5 of {marked = true}, rest of {marked = false}\n"
      "u + v when 0 < ahead < 250 or ahead == 0 and v.marked -> u.digit = (u.digit + 1) mod 500\n"
      "stop when all(digit >= 3)\n",
      40);
  expect_same_trials<std::uint16_t>(*compiled, 0, 8'000);
}

TEST(TableProtocol, ClearSentencesForWhatTablesCannotDo) {
  EXPECT_NE(refusal(shipped("ranking.pp", 20)).find("conditions speak of silence"),
            std::string::npos);
  EXPECT_NE(refusal(shipped("lottery.pp", 20)).find("observables need the whole configuration"),
            std::string::npos);
  EXPECT_NE(refusal(written("fields x: 0..9999\nstart s: all of {x = 0}\n"
                            "u + v -> u.x = min(u.x + 1, 9999)\nstop when all(x > 5)\n",
                            20))
                .find("too many states for a table"),
            std::string::npos);
  EXPECT_NE(refusal(written("states A, B\nstart s: 2 of A, rest of B\nA + B -> A + A\n"
                            "stop when count(A) / count(B) > 1\n",
                            20))
                .find("conditions need more than whole numbers"),
            std::string::npos);
}

}  // namespace
}  // namespace conclave::gpu
