// Sweeps of rare failures: rows are repetitions, and what they say together is what
// `conclave rare` says.
#include <atomic>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/rare/prepared.hpp"
#include "conclave/sweep/rare_cells.hpp"
#include "conclave/sweep/store.hpp"
#include "conclave/sweep/sweep.hpp"

#include "tests/unit/sweep/sweep_folder.hpp"

namespace conclave::sweep {
namespace {

class RareSweep : public testing_support::SweepFolder {
 protected:
  static constexpr std::string_view text =
      "kind = \"rare\"\nprotocol = \"ppl\"\nparams = { t_max = 6, t_virus = 2, t_emit = 10 }\n"
      "n = [4, 8]\nparticles = 20\nrepetitions = 4\nseed = 7\n";

  // The estimates of all cells from their stored repetitions.
  static std::string estimates(const std::string& file) {
    const Results results(file);
    return estimates_text(estimates_of(results, Filter({}, results)), "jsonl");
  }

  // The row that `conclave rare` prints for so many repetitions of a cell.
  static std::string told_by_rare(const Cell& cell, std::uint64_t repetitions) {
    const catalog::Entry entry = catalog::find(cell.words.protocol);
    const auto rare = entry.rare(experiment::rare_request_of(entry, cell.words));
    rare::Progress progress;
    const std::atomic<bool> stop = false;
    const auto found = rare::run_rare(*rare, {repetitions, 2}, progress, stop);
    const bool is_cut = repetitions < cell.sampling.trials;
    return rare::Row((*rare).subject(), found, is_cut).json() + '\n';
  }

  std::string swept(const Plan& read, const std::string& file, unsigned threads,
                    const Shard& shard = {}) const {
    Store opened(path(file), read, {.code = "1", .shard = shard});
    const std::atomic<bool> stop = false;
    Sweep(read, shard, Results(path(file)), opened, UINT64_MAX).work(threads, stop);
    return path(file);
  }

  static std::vector<std::string> rows(const std::string& file) {
    std::vector<std::string> all;
    Results(file).for_each([&](const Results::CodedRow& each) { all.push_back(each.row); });
    return all;
  }
};

TEST_F(RareSweep, SaysWhatTheCommandSays) {
  const Plan read = plan(text);
  EXPECT_EQ(estimates(swept(read, "results.db", 1)),
            told_by_rare(read.cells[0], 4) + told_by_rare(read.cells[1], 4));
}

TEST_F(RareSweep, RowsDoNotDependOnThreadsShardsOrOrder) {
  const Plan read = plan(text);
  const std::vector<std::string> whole = rows(swept(read, "one.db", 1));
  EXPECT_EQ(whole.size(), 8u);
  EXPECT_EQ(rows(swept(read, "three.db", 3)), whole);
  swept(read, "a.db", 2, parse_shard("1/2"));
  swept(read, "b.db", 2, parse_shard("2/2"));
  EXPECT_EQ(merge({path("b.db"), path("a.db")}, path("merged.db")).missing, 0u);
  EXPECT_EQ(rows(path("merged.db")), whole);
  EXPECT_EQ(rows_of(read, 1, {3, 0}), (std::vector{whole[7], whole[4]}));
}

TEST_F(RareSweep, GoesOnWhereItWasLeft) {
  const Plan read = plan(text);
  store(read, 0, {0, 2});
  store(read, 1, {1});
  EXPECT_EQ(rows(swept(read, "results.db", 2)), rows(swept(read, "whole.db", 2)));
}

// A lost repetition must not go unnoticed: those behind the gap are not used, since which of them
// are there may depend on how long they take.
TEST_F(RareSweep, UsesRepetitionsBeforeTheFirstMissingOne) {
  const Plan read = plan(text);
  swept(read, "results.db", 2);
  execute("DELETE FROM trial WHERE trial = 2");
  const std::string two = told_by_rare(read.cells[0], 2);
  EXPECT_NE(two.find("\"interrupted\":true"), std::string::npos);
  EXPECT_EQ(estimates(path("results.db")), two + told_by_rare(read.cells[1], 2));
}

TEST_F(RareSweep, RowsHoldEveryBit) {
  std::string both_modes(text);  // with t_virus = 2 a suicide is impossible, and has no function
  both_modes.replace(both_modes.find("t_virus = 2"), 11, "t_virus = 3");
  const Plan read = plan(both_modes);
  const rare::Subject subject = rare::subject_of_head(read.cells[0].head);
  const std::vector<RareRepetition> given{
      {.ln_rate = -0.1 - 1e-16, .factors = {1.0 / 3, 0}, .ancestors = 7},
      {.ln_rate = -40000.1, .factors = {}, .ancestors = 0},
      {.ln_rate = -2.0 / 3, .factors = {1, 1e-300, 0.1}, .ancestors = 20},
      {.ln_rate = -std::numeric_limits<double>::infinity(), .factors = {0.7}, .ancestors = 0}};
  ASSERT_EQ(subject.functions.size(), given.size());
  const auto read_back = rare::repetitions_of_row(
      subject, rare::repetition_json(subject, read.cells[0].head, 3, given));
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(read_back[i].ln_rate, given[i].ln_rate);
    EXPECT_EQ(read_back[i].factors, given[i].factors);
    EXPECT_EQ(read_back[i].ancestors, given[i].ancestors);
  }
}

TEST_F(RareSweep, HeadsReadBackAsTheyWere) {
  const Plan read =
      plan(std::string(text) + "[[run]]\n[[run]]\nprotocol = \"electleader\"\nn = 16\n"
                               "params = { r = 4 }\nmax_interactions = \"9*n^2/r\"\n");
  for (const Cell& cell : read.cells) {
    EXPECT_EQ(rare::subject_of_head(cell.head).head(), cell.head);
  }
  EXPECT_EQ(read.cells.back().words.max_interactions, "576");
}

TEST_F(RareSweep, RefusesRowsThatAreNone) {
  const Plan read = plan(text);
  const std::string& head = read.cells[0].head;
  const rare::Subject subject = rare::subject_of_head(head);
  for (const std::string& row :
       {std::string("{}"), std::string("[1"), head,
        std::string(R"({"rates":[{"ln_rate":"x","ancestors":1,"factors":""}]})"),
        std::string(R"({"rates":[{"ln_rate":-1,"ancestors":1,"factors":"0.5 y"}]})"),
        std::string(R"({"rates":[{"ln_rate":-1,"ancestors":-1,"factors":"0.5"}]})")}) {
    EXPECT_THROW(rare::repetitions_of_row(subject, row), std::runtime_error) << row;
  }
  for (const char* wrong : {"{}", R"({"protocol":"ppl","n":4,"init":"safe","seed":1})"}) {
    EXPECT_THROW(rare::subject_of_head(wrong), std::runtime_error);
  }
}

TEST_F(RareSweep, FilesWithAWrongKindAreRefused) {
  swept(plan(text), "results.db", 1);
  execute(R"(UPDATE cell SET checksum = NULL, request = replace(request, '"rare"', '"odd"'))");
  EXPECT_NE(testing_support::message_of<Error>([&] {
              Results(path("results.db"));
            }).find("no kind of run"),
            std::string::npos);
}

TEST_F(RareSweep, AnInterruptKeepsWhatIsFinished) {
  const Plan read = plan(text);
  const std::atomic<bool> stop = true;
  PreparedCells cells(read);
  const Done done = Worker(cells, stop).run({.cell = 0, .trials = {0, 1}});
  EXPECT_TRUE(done.rows.empty());
  EXPECT_TRUE(done.task.trials.empty());
}

}  // namespace
}  // namespace conclave::sweep
