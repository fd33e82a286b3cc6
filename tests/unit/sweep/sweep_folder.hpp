// A folder with plans and files of results.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/sweep/detail/sqlite.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/store.hpp"
#include "conclave/sweep/worker.hpp"

#include "tests/support/scratch_folder.hpp"

namespace conclave::testing_support {

class SweepFolder : public ScratchFolder {
 protected:
  static constexpr std::string_view two_cells =
      "protocol = \"fratricide\"\nn = [10, 20]\ntrials = 6\n";

  sweep::Plan plan(std::string_view text = two_cells) const {
    return sweep::read_plan(write("plan.toml", text));
  }

  static std::vector<std::string> rows_of(const sweep::Plan& plan, std::size_t cell,
                                          const std::vector<std::uint64_t>& trials) {
    const std::atomic<bool> stop = false;
    sweep::PreparedCells cells(plan);
    return sweep::Worker(cells, stop).run({.cell = cell, .trials = trials}).rows;
  }

  // Makes the file, or adds these trials of one cell to it.
  std::string store(const sweep::Plan& plan, std::size_t cell,
                    const std::vector<std::uint64_t>& trials, const sweep::Origin& origin = {"1"},
                    const std::string& file = "results.db") const {
    sweep::Store opened(path(file), plan, origin);
    const std::vector<std::string> rows = rows_of(plan, cell, trials);
    for (std::size_t i = 0; i < rows.size(); ++i) opened.add(cell, trials[i], rows[i]);
    opened.commit();
    return path(file);
  }

  void execute(const std::string& sql, const std::string& file = "results.db") const {
    sweep::detail::Database(path(file), sweep::detail::Database::Access::write).execute(sql);
  }
};

}  // namespace conclave::testing_support
