// Trials and sweeps on several threads give the rows of one thread. Under the thread sanitizer
// (preset tsan) the same tests look for races in the runner, the sweep and what workers share.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/store.hpp"
#include "conclave/sweep/sweep.hpp"

#include "tests/support/temporary_folder.hpp"

namespace conclave::sweep {
namespace {

constexpr const char* plan_text = R"(
seed = 7
trials = 30
[[run]]
protocol = "fratricide"
n = [20, 300]
[[run]]
protocol = "fratricide"
n = 50
precision = 0.2
batch = 5
[[run]]
protocol = "flooding"
n = [8, 16]
)";

class Threads : public ::testing::Test {
 public:
  Threads() { folder_.write("plan.toml", plan_text); }

 protected:
  std::vector<std::string> rows(unsigned threads) const {
    const Plan plan = read_plan(folder_.file("plan.toml"));
    const std::string file = folder_.file(std::to_string(threads) + ".db");
    Store store(file, plan, {.code = "test"});
    Sweep sweep(plan, {}, Results(file), store, std::uint64_t{1} << 30);
    const std::atomic<bool> stop = false;
    std::atomic<bool> is_done = false;
    std::jthread watcher([&] {  // as the progress line does
      while (!is_done) {
        const auto progress = sweep.progress();  // one moment: what is wanted may grow
        EXPECT_LE(progress.trials_done, progress.trials);
      }
    });
    sweep.work(threads, stop);
    is_done = true;
    EXPECT_TRUE(sweep.is_complete());
    return rows_of(Results(file));
  }

 private:
  static std::vector<std::string> rows_of(const Results& results) {
    std::vector<std::string> rows;
    for (const StoredCell& cell : results.cells()) {
      results.for_each_row(cell.id, [&](std::uint64_t trial, const std::string& row) {
        rows.push_back(std::to_string(trial) + ' ' + row);
      });
    }
    return rows;
  }

  const conclave::testing::Folder folder_;
};

TEST_F(Threads, DoNotChangeTheRowsOfASweep) {
  const std::vector<std::string> alone = rows(1);
  EXPECT_GE(alone.size(), 30u * 4);
  EXPECT_EQ(rows(4), alone);
}

}  // namespace
}  // namespace conclave::sweep
