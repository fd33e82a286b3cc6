#include "conclave/sweep/store.hpp"

#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"

#include "tests/unit/sweep/sweep_folder.hpp"

namespace conclave::sweep {
namespace {

using testing_support::message_of;

class Storage : public testing_support::SweepFolder {
 protected:
  std::string mistake(const std::string& file = "results.db") const {
    return message_of<Error>(
        [&] { Results(path(file)).for_each([](const Results::CodedRow&) {}); });
  }
};

TEST_F(Storage, GivesBackWhatWasStored) {
  const Plan two = plan();
  const Results results(store(two, 1, {0, 4}));
  EXPECT_EQ(results.rows(), 2u);
  EXPECT_EQ(results.cells().size(), 2u);
  EXPECT_EQ(results.row(1, 4), rows_of(two, 1, {4}).front());
  EXPECT_EQ(results.row(1, 3), "");
  EXPECT_EQ(results.first_row(1), results.row(1, 0));
  EXPECT_EQ(results.trial_at(1, 1), 4u);
  EXPECT_EQ(results.code_version(1, 4), "1");
  EXPECT_EQ(results.meta("name"), "plan");
  EXPECT_EQ(results.not_converged(), 0u);
  EXPECT_EQ(results.check().rows, 2u);
  EXPECT_TRUE(results.check().damage.empty());
}

TEST_F(Storage, ForgetsWhatWasNotCommitted) {
  const Plan two = plan();
  {
    Store opened(path("results.db"), two, {"1"});
    opened.add(0, 0, rows_of(two, 0, {0}).front());
  }
  EXPECT_EQ(Results(path("results.db")).rows(), 0u);
}

TEST_F(Storage, GoesOnWithTheSamePlanOnly) {
  store(plan(), 0, {0});
  store(plan(), 0, {1});
  EXPECT_EQ(Results(path("results.db")).rows(), 2u);
  const Plan other = plan("protocol = \"fratricide\"\nn = [10, 21]\ntrials = 6\n");
  EXPECT_THROW(store(other, 0, {}), Error);
  EXPECT_THROW(store(plan(), 0, {}, {"2"}), Error);
  store(plan(), 0, {}, {.code = "2", .mixes_versions = true});
}

TEST_F(Storage, KeepsRowsOfAPlanThatHasGrown) {
  store(plan(), 1, {0, 5});
  const Plan grown = plan("protocol = \"fratricide\"\nn = [5, 10, 20]\ntrials = 8\n");
  EXPECT_THROW(store(grown, 0, {}), Error);
  const Results results(store(grown, 0, {}, {.code = "1", .extends = true}));
  EXPECT_EQ(results.cells()[2].rows, 2u);
  EXPECT_TRUE(results.check().damage.empty());
}

TEST_F(Storage, NoticesAlteredRows) {
  store(plan(), 0, {0, 1, 2});
  execute("UPDATE trial SET row = replace(row, 'true', 'false') WHERE trial = 1");
  EXPECT_NE(mistake().find("is damaged: cell 0, trial 1: the checksum"), std::string::npos)
      << mistake();
  EXPECT_EQ(Results(path("results.db")).check().damage.size(), 1u);
}

TEST_F(Storage, NoticesRowsOfAnotherTrialWithoutAChecksum) {
  store(plan(), 0, {0, 1});
  execute("UPDATE trial SET trial = 3, checksum = NULL WHERE trial = 1");
  EXPECT_NE(mistake().find("is no row of this trial"), std::string::npos) << mistake();
}

TEST_F(Storage, NoticesAlteredCells) {
  for (const char* change :
       {"UPDATE cell SET head = '{}'", "UPDATE cell SET request = '{}'",
        "UPDATE cell SET request = replace(request, 'fratricide', 'pll')",
        "UPDATE cell SET sampling = '{\"trials\":7}'", "UPDATE cell SET id = 9 WHERE id = 1",
        "UPDATE cell SET checksum = NULL, request = replace(request, 'fratricide', 'x''y')"}) {
    std::filesystem::remove(path("results.db"));
    store(plan(), 0, {0});
    execute(change);
    EXPECT_NE(mistake().find("results.db' is damaged: cell "), std::string::npos)
        << change << ": " << mistake();
  }
}

TEST_F(Storage, ReadsAndUpgradesFilesWithoutChecksums) {
  store(plan(), 0, {0, 1});
  execute("ALTER TABLE trial DROP COLUMN checksum; ALTER TABLE cell DROP COLUMN checksum;"
          "PRAGMA user_version = 1");
  EXPECT_EQ(Results(path("results.db")).check().without_checksum, 2u);
  const Results results(store(plan(), 0, {2}));
  EXPECT_EQ(results.check().without_checksum, 2u);
  EXPECT_EQ(results.rows(), 3u);
}

TEST_F(Storage, RefusesOtherSchemas) {
  store(plan(), 0, {});
  execute("PRAGMA user_version = 3");
  EXPECT_NE(mistake().find("has schema 3"), std::string::npos);
  execute("PRAGMA user_version = 2; DROP VIEW result; DROP TABLE trial;"
          "CREATE VIEW trial AS SELECT 0 AS cell, 0 AS trial, 0 AS code, '' AS row, 0 AS checksum");
  EXPECT_NE(mistake().find("its view 'trial' is none"), std::string::npos) << mistake();
}

TEST_F(Storage, RefusesTriggersOfTheFile) {
  store(plan(), 0, {0});
  execute("CREATE TRIGGER t AFTER INSERT ON trial BEGIN DELETE FROM trial WHERE trial = 0; END");
  EXPECT_NE(mistake().find("its trigger 't' is none"), std::string::npos) << mistake();
}

class Merging : public testing_support::SweepFolder {
 protected:
  void SetUp() override {
    SweepFolder::SetUp();
    const Plan two = plan();
    store(two, 0, {0, 2, 4}, {.code = "1", .shard = {0, 2}}, "a.db");
    store(two, 0, {1, 3}, {.code = "1", .shard = {1, 2}}, "b.db");
  }
};

TEST_F(Merging, PutsPartsTogetherAndCountsWhatIsMissing) {
  const Merged merged = merge({path("a.db"), path("b.db")}, path("all.db"));
  EXPECT_EQ(merged.rows, 5u);
  EXPECT_EQ(merged.missing, 7u);
  EXPECT_TRUE(Results(path("all.db")).check().damage.empty());
  EXPECT_EQ(merge({path("a.db")}, path("all.db")).rows, 5u);
}

TEST_F(Merging, RefusesContradictionsAndOtherPlans) {
  EXPECT_THROW(merge({path("a.db"), path("b.db")}, path("b.db")), Error);
  execute("UPDATE trial SET checksum = NULL, row = replace(row, 'true', 'false')", "b.db");
  merge({path("b.db")}, path("all.db"));
  store(plan(), 0, {3}, {.code = "1", .shard = {1, 2}}, "c.db");
  EXPECT_THROW(merge({path("c.db")}, path("all.db")), Error);
  store(plan("protocol = \"fratricide\"\nn = 11\n"), 0, {}, {"1"}, "d.db");
  EXPECT_THROW(merge({path("a.db"), path("d.db")}, path("all.db")), Error);
}

}  // namespace
}  // namespace conclave::sweep
