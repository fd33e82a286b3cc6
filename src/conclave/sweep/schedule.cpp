#include "conclave/sweep/schedule.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/sweep/row_fields.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::sweep {
namespace {

// The measure of a converged trial, otherwise NaN.
double measure_of(const std::string& row, const std::string& measure) {
  const Fields fields = fields_of(row);
  if (field(fields, "converged") != "true") return NAN;
  return number_field(fields, measure).value_or(NAN);
}

Shard shard_of(const Results& results) {
  const std::string text = results.meta("shard");
  return text.empty() ? Shard{} : parse_shard(text);
}

}  // namespace

Schedule::Schedule(const Plan& plan, const Shard& shard, const Results& stored,
                   std::uint64_t memory)
    : plan_(plan), shard_(shard), memory_(memory), cells_(plan.cells.size()) {
  for (std::size_t cell = 0; cell < cells_.size(); ++cell) {
    take_stored(cell, stored);
    const Sampling& sampling = plan.cells[cell].sampling;
    const bool has_precision = sampling.precision > 0;
    set_target(cell, has_precision ? std::min(sampling.batch, sampling.trials) : sampling.trials);
    settle(cell);
  }
  first_open_ = 0;
}

void Schedule::take_stored(std::size_t cell, const Results& stored) {
  const bool has_precision = plan_.cells[cell].sampling.precision > 0;
  stored.for_each_row(cell, [&](std::uint64_t trial, const std::string& row) {
    std::vector<bool>& is_stored = cells_[cell].stored;
    if (is_stored.size() <= trial) is_stored.resize(trial + 1, false);
    is_stored[trial] = true;
    if (has_precision) note(cell, trial, row);
  });
}

bool Schedule::is_mine(std::size_t cell, std::uint64_t trial) const {
  return shard_.has(cell, plan_.cells[cell].sampling, trial);
}

bool Schedule::is_stored(std::size_t cell, std::uint64_t trial) const {
  const std::vector<bool>& stored = cells_[cell].stored;
  return trial < stored.size() && stored[trial];
}

void Schedule::set_target(std::size_t cell, std::uint64_t target) {
  Progress& progress = cells_[cell];
  for (std::uint64_t trial = progress.target; trial < target; ++trial) {
    if (!is_mine(cell, trial)) continue;
    ++progress.wanted;
    if (!is_stored(cell, trial)) ++progress.left;
  }
  progress.target = target;
  first_open_ = std::min(first_open_, cell);
}

bool Schedule::fits(std::size_t cell) const {
  const std::uint64_t bytes = plan_.cells[cell].bytes;
  return memory_in_use_ == 0 || (bytes <= memory_ && memory_in_use_ <= memory_ - bytes);
}

std::optional<Task> Schedule::next(std::size_t most) {
  for (std::size_t cell = first_open_; cell < cells_.size(); ++cell) {
    Progress& progress = cells_[cell];
    if (!fits(cell)) return std::nullopt;
    Task task{.cell = cell};
    const std::size_t most_here = std::max(most, plan_.cells[cell].at_once);
    for (; progress.cursor < progress.target && task.trials.size() < most_here; ++progress.cursor) {
      const std::uint64_t trial = progress.cursor;
      if (is_mine(cell, trial) && !is_stored(cell, trial)) task.trials.push_back(trial);
    }
    if (cell == first_open_ && progress.cursor == progress.target) ++first_open_;
    if (task.trials.empty()) continue;
    memory_in_use_ += plan_.cells[cell].bytes;
    return task;
  }
  return std::nullopt;
}

void Schedule::finish(const Task& task, const std::vector<std::string>& rows) {
  memory_in_use_ -= plan_.cells[task.cell].bytes;
  cells_[task.cell].left -= rows.size();
  if (plan_.cells[task.cell].sampling.precision > 0) {
    for (std::size_t i = 0; i < rows.size(); ++i) note(task.cell, task.trials[i], rows[i]);
  }
  settle(task.cell);
}

void Schedule::note(std::size_t cell, std::uint64_t trial, const std::string& row) {
  std::vector<double>& values = cells_[cell].values;
  if (values.size() <= trial) values.resize(trial + 1, NAN);
  values[trial] = measure_of(row, plan_.cells[cell].sampling.measure);
}

void Schedule::settle(std::size_t cell) {
  Progress& progress = cells_[cell];
  const Sampling& sampling = plan_.cells[cell].sampling;
  while (progress.left == 0 && !progress.is_complete) {
    if (needs_more(cell)) {
      set_target(cell, std::min(progress.target + sampling.batch, sampling.trials));
    } else {
      progress.is_complete = true;
      ++complete_cells_;
    }
  }
}

bool Schedule::needs_more(std::size_t cell) const {
  const Sampling& sampling = plan_.cells[cell].sampling;
  const Progress& progress = cells_[cell];
  if (sampling.precision == 0 || progress.target >= sampling.trials || !is_mine(cell, 0)) {
    return false;
  }
  std::vector<double> values(
      progress.values.begin(),
      progress.values.begin() + static_cast<std::ptrdiff_t>(progress.target));
  std::erase_if(values, [](double value) { return std::isnan(value); });
  if (values.size() < 2) return true;
  const Summary summary = summarize(values);
  const Interval interval = mean_interval(summary);
  return interval.high - interval.low > 2 * sampling.precision * std::abs(summary.mean);
}

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = parse_count(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : parse_count(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1u || *count > 1'000'000u || *index > *count) {
    throw Error(fmt::format("--shard takes PART/PARTS, such as 1/3, 2/3 and 3/3, not '{}'", text));
  }
  return {*(*index % *count).as_uint64(), *count->as_uint64()};
}

std::string to_string(const Shard& shard) {
  if (shard.count == 1) return {};
  return fmt::format("{}/{}", shard.index == 0 ? shard.count : shard.index, shard.count);
}

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
