// The result of repetitions of rare failures as a row: the expected holding time with its interval,
// by way and importance function, and whether it is confirmed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conclave/base/json.hpp"
#include "conclave/rare/estimate.hpp"
#include "conclave/rare/subject.hpp"

namespace conclave::rare {

// The estimate of one way: that of its first function. Confirmed if another function's interval
// overlaps the first one's, both are without warnings, and the bound, where there is one, is not
// above the estimate; or if it was solved exactly. A way without functions has a bound instead, and
// counts as confirmed if that makes it too rare to show in the time of all ways.
struct WayResult {
  std::size_t way = 0;
  std::vector<std::size_t> functions{};  // indices into the estimates
  bool confirmed = false;
  std::vector<std::string> warnings{};
};

class Row {
 public:
  // `repetitions` by function of the subject; each needs one at least. A way without functions has
  // a floor.
  Row(Subject subject, std::span<const std::vector<RareRepetition>> repetitions,
      bool is_interrupted);

  // All ways together: the time, whether every way is confirmed, and the number of repetitions.
  const Time& time() const { return time_; }
  bool confirmed() const { return confirmed_; }
  std::uint64_t repetitions() const {
    return estimates_.empty() ? 0 : estimates_.front().repetitions;
  }
  // The subject, its estimates by function, and its ways, in the order of the subject.
  const Subject& subject() const { return subject_; }
  std::span<const Estimate> estimates() const { return estimates_; }
  std::span<const WayResult> ways() const { return ways_; }
  // The logarithms as a row shows them: of the time, or of the probability of an attempt.
  Time displayed(const Time& time) const;

  std::string json() const;        // one object, no newline
  std::string csv_header() const;  // one line, no newline; equal for rows that may stand together
  std::string csv() const;         // one line per function, then one for all ways; with newlines
  std::string table() const;       // for people

 private:
  WayResult way_result(std::size_t way) const;
  bool by_attempt() const { return subject_.by_attempt(); }
  // The way alone: a time without an upper end where there is only a bound.
  Time time_of(const WayResult& way) const;
  void add_way(Json& ways, const WayResult& each) const;
  std::string function_line(std::size_t function) const;
  std::string ending() const;  // of the table
  std::string csv_line(std::string_view way, std::string_view function, const Time& time,
                       bool confirmed, const Estimate* estimate) const;

  Subject subject_;
  bool is_interrupted_;
  std::vector<Estimate> estimates_;  // by function
  std::vector<WayResult> ways_;
  Time time_{};
  bool confirmed_ = true;
};

// The rows in format jsonl, csv or json. Throws Error if a CSV would need two headers, that of
// times and that of probabilities. There is at least one row.
std::string rows_text(std::span<const Row* const> rows, std::string_view format);

}  // namespace conclave::rare
