#include "conclave/sweep/prefix.hpp"

#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::sweep {
namespace {

Shard shard_of(const Results& results) {
  const std::string text = results.meta("shard");
  return text.empty() ? Shard{} : parse_shard(text);
}

}  // namespace

void for_each_judged_row(const Results& results, std::size_t cell, const TakeJudgedRow& take) {
  const Shard shard = shard_of(results);
  const Sampling& sampling = results.cells()[cell].sampling;
  std::uint64_t next = 0;  // the trial that comes next where none is missing
  results.for_each_row(cell, [&](std::uint64_t trial, const std::string& row) {
    while (next < trial && !shard.has(cell, sampling, next)) ++next;
    take(trial, row, trial == next);
    if (trial == next) ++next;
  });
}

void for_each_row_of_prefix(const Results& results, std::size_t cell,
                            const Results::TakeRow& take) {
  for_each_judged_row(results, cell,
                      [&](std::uint64_t trial, const std::string& row, bool is_in_prefix) {
                        if (is_in_prefix) take(trial, row);
                      });
}

std::vector<CellProgress> progress_of(const Results& results) {
  const Plan plan = stored_plan(results);
  const Schedule schedule(plan, shard_of(results), results, UINT64_MAX);
  std::vector<CellProgress> cells;
  for (std::size_t cell = 0; cell < schedule.cells(); ++cell) {
    cells.push_back({.wanted = schedule.wanted(cell), .missing = schedule.left(cell)});
  }
  return cells;
}

}  // namespace conclave::sweep
