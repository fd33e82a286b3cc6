#include "conclave/sweep/rare_cells.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/schedule.hpp"

namespace conclave::sweep {

RareCell::RareCell(const experiment::RunText& words, const KeptTexts& texts) {
  const catalog::Entry entry = entry_of(words.protocol, texts);
  catalog::require_rare(entry);
  rare_ = entry.rare(experiment::rare_request_of(entry, words));
  head_ = rare_->subject().head();
  if (rare_->subject().functions.empty()) {
    throw Error(
        fmt::format("{} with n = {} has nothing to be estimated: conclave rare gives the reason",
                    rare_->subject().protocol, rare_->subject().n));
  }
  pilots_ = std::vector<Pilot>(rare_->subject().functions.size());
}

void RareCell::choose_levels_of(std::size_t function, const KeepComputing& keep_computing) {
  if (pilots_[function].is_done) return;
  rare_->pilot(function, keep_computing);
  pilots_[function].is_done = true;
}

// First the functions that no other thread is at work on, then what is left.
void RareCell::choose_levels(const KeepComputing& keep_computing) {
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const std::unique_lock lock(pilots_[i].mutex, std::try_to_lock);
    if (lock.owns_lock()) choose_levels_of(i, keep_computing);
  }
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const std::scoped_lock lock(pilots_[i].mutex);
    choose_levels_of(i, keep_computing);
  }
}

RareCell::Repetition RareCell::run(std::uint64_t repetition, const KeepComputing& keep_computing) {
  choose_levels(keep_computing);
  std::vector<RareRepetition> results;
  Repetition done;
  for (std::size_t i = 0; i < rare_->subject().functions.size(); ++i) {
    results.push_back(rare_->run(i, repetition, keep_computing));
    done.interactions += results.back().interactions;
  }
  done.row = rare::repetition_json(rare_->subject(), head_, repetition, results);
  return done;
}

namespace {

// Repetitions by function.
struct CellRepetitions {
  rare::Subject subject;
  std::vector<std::vector<RareRepetition>> by_function{};
};

[[noreturn]] void refuse_cell(const Results& results, std::size_t cell, const char* what) {
  throw Error(fmt::format("'{}' is damaged: cell {}: {}", results.path(), cell, what));
}

void add_repetition(CellRepetitions& all, const PlacedRow& row) {
  std::vector<RareRepetition> found = rare::repetitions_of_row(all.subject, row.json);
  for (std::size_t i = 0; i < found.size(); ++i) {
    all.by_function[i].push_back(std::move(found[i]));
  }
}

CellRepetitions none_yet(const StoredCell& cell) {
  CellRepetitions none{.subject = rare::subject_of_head(cell.head)};
  none.by_function.resize(none.subject.functions.size());
  return none;
}

}  // namespace

void check_repetition(const StoredCell& cell, const std::string& row) {
  rare::repetitions_of_row(rare::subject_of_head(cell.head), row);
}

std::vector<CellEstimate> estimates_of(const Results& results, const Filter& filter) {
  if (std::ranges::none_of(results.cells(), is_rare)) return {};
  std::map<std::size_t, CellRepetitions> cells;
  const auto take = [&](const PlacedRow& row) {
    const StoredCell& cell = results.cells()[row.cell];
    if (!is_rare(cell)) return;
    try {
      if (!cells.contains(row.cell)) cells.emplace(row.cell, none_yet(cell));
      add_repetition(cells.at(row.cell), row);
    } catch (const std::runtime_error& error) {
      refuse_cell(results, row.cell, error.what());
    }
  };
  for_each_row(results, filter, take, RowChoice::prefix);
  std::vector<CellEstimate> estimates;
  const std::vector<CellProgress> progress = progress_of(results);
  for (auto& [cell, all] : cells) {
    estimates.push_back(
        {cell, rare::Row(std::move(all.subject), all.by_function, progress[cell].missing > 0)});
  }
  return estimates;
}

std::string estimates_text(const std::vector<CellEstimate>& estimates, const std::string& format) {
  if (estimates.empty()) throw Error("there are no estimates of rare failures (kind = \"rare\")");
  std::vector<const rare::Row*> rows;
  for (const CellEstimate& each : estimates) rows.push_back(&each.row);
  return rare::rows_text(rows, format);
}

}  // namespace conclave::sweep
