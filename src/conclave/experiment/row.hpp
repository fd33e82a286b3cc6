// One trial as the user gets it: JSON lines, CSV. Rows hold what replays them and no timing, so
// equal seeds give equal bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/csv.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::experiment {

// One finished trial.
struct Row {
  std::uint64_t trial = 0;
  TrialResult result;
};

// Formats the rows of one run, which must outlive it. Safe to use from several threads at once.
class RowFormat {
 public:
  explicit RowFormat(const catalog::PreparedRun& run);

  std::string json(const Row& row) const;  // one object, no newline
  // The same without the brace that closes it, so that a writer can add members once it knows
  // whether another row follows; see interrupted_end.
  std::string unclosed_json(const Row& row) const;
  std::string json_head() const;          // the members that all rows share, as an object
  std::string csv(const Row& row) const;  // one line, no newline
  std::string csv_header() const;         // the same columns for every row of a run
  // Interactions over n, rounded to a double.
  double parallel_time(const Row& row) const;

  // The trace of one trial in CSV: a line per recorded point, with newlines.
  std::string trace_header(const Row& row) const;
  std::string trace(const Row& row) const;

 private:
  const catalog::PreparedRun* run_;
  std::string json_head_;  // up to and including "seed"
  std::string csv_head_;
};

// The end of the last row of an interrupted run that should have had `asked` trials: further
// members and the closing brace. And the line that says so at the end of CSV, with a newline.
std::string interrupted_end(std::uint64_t asked);
std::string interrupted_line(std::uint64_t trials, std::uint64_t asked);

// The value of an observable as rows show it, without quotes; empty where it has none.
std::string observation_text(const Observation& observation);

}  // namespace conclave::experiment
