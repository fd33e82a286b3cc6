#include "conclave/sweep/rare_estimates.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/prefix.hpp"

namespace conclave::sweep {
namespace {

using experiment::RareSubject;

// Repetitions by function.
struct CellRepetitions {
  RareSubject subject;
  std::vector<std::vector<RareRepetition>> by_function{};
};

[[noreturn]] void refuse_cell(const Results& results, std::size_t cell, const char* what) {
  throw Error(fmt::format("'{}' is damaged: cell {}: {}", results.path(), cell, what));
}

void add_repetition(CellRepetitions& all, const PlacedRow& row) {
  std::vector<RareRepetition> found = experiment::repetitions_of_row(all.subject, row.json);
  for (std::size_t i = 0; i < found.size(); ++i) {
    all.by_function[i].push_back(std::move(found[i]));
  }
}

CellRepetitions none_yet(const StoredCell& cell) {
  CellRepetitions none{.subject = experiment::subject_of_head(cell.head)};
  none.by_function.resize(none.subject.functions.size());
  return none;
}

}  // namespace

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
    estimates.push_back({cell, experiment::RareRow(std::move(all.subject), all.by_function,
                                                   progress[cell].missing > 0)});
  }
  return estimates;
}

std::string estimates_text(const std::vector<CellEstimate>& estimates, const std::string& format) {
  if (estimates.empty()) throw Error("there are no estimates of rare failures (kind = \"rare\")");
  std::vector<const experiment::RareRow*> rows;
  for (const CellEstimate& each : estimates) rows.push_back(&each.row);
  return experiment::rows_text(rows, format);
}

}  // namespace conclave::sweep
