// Reading a file of results: its cells, and the rows of each in the order of trials.
//
// A file may come from a stranger. Words and samplings of cells are checked when it is opened:
// names without control characters, a protocol of the catalog or a text that is kept in the file,
// numbers in their range. A row is checked whenever it is read: it must begin as all rows of its
// cell do, bear its own trial, and have the checksum it was stored with. A failed check throws an
// Error that names the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/row_fields.hpp"

namespace conclave::sweep {

namespace detail {
class Database;
class Statement;
}  // namespace detail

struct StoredCell {
  std::size_t id = 0;   // from 0, in the order of the plan
  std::size_t run = 0;  // which [[run]] of the plan
  experiment::RunText words;
  Sampling sampling;
  std::string head;        // what all its rows have in common, as a JSON object
  Fields fields;           // the same by name: protocol, engine, n, params.N, init, seed, ...
  std::uint64_t rows = 0;  // stored so far
};

// A file may be read while a sweep is writing it. An object is used by one thread at a time.
class Results {
 public:
  enum class Reading : std::uint8_t {
    whole,
    check,    // rows of no cell are left to check()
    salvage,  // rows are not counted, and may lie on damaged pages: see salvage()
  };

  // Throws Error if it is no file of results, damaged, or of another schema. Time and memory grow
  // with the number of cells; rows are read on demand.
  explicit Results(const std::string& path, Reading reading = Reading::whole);
  Results(Results&&) noexcept;
  Results& operator=(Results&&) noexcept;
  ~Results();

  const std::string& path() const;
  // "name", "plan" (its text), "shard" ("" or "1/3"); "" for any other key.
  std::string meta(std::string_view key) const;
  std::vector<std::string> code_versions() const;  // all that have written rows
  // The protocol files that the sweep was run with.
  KeptTexts texts() const;
  const std::vector<StoredCell>& cells() const { return cells_; }
  std::uint64_t rows() const;  // of all cells

  using TakeRow = std::function<void(std::uint64_t trial, const std::string& row)>;
  // In the order of trials. Reads a thousand rows at a time: the file is free for its writer while
  // `take` is at work, however long. Throws Error at the first damaged row.
  void for_each_row(std::size_t cell, const TakeRow& take) const;
  // The fields of a row that was read from here. Throws Error if it is no JSON.
  Fields fields_of_row(std::size_t cell, std::uint64_t trial, const std::string& row) const;
  std::string row(std::size_t cell, std::uint64_t trial) const;         // "" if there is none
  std::string first_row(std::size_t cell) const;                        // "" if there is none
  std::uint64_t trial_at(std::size_t cell, std::uint64_t index) const;  // of its rows, from 0
  std::uint64_t not_converged() const;                                  // rows of all cells
  // The version of the program that has made the row.
  std::string code_version(std::size_t cell, std::uint64_t trial) const;

  struct CodedRow {
    std::size_t cell;
    std::uint64_t trial;
    std::string code;  // the version that made it
    std::string row;
  };
  using TakeCodedRow = std::function<void(const CodedRow&)>;
  // All rows, each with the version that made it.
  void for_each(const TakeCodedRow& take) const;
  // The same for the rows that are whole. Returns a sentence for each of the others, and one for
  // each cell of which pages cannot be read.
  std::vector<std::string> salvage(const TakeCodedRow& take) const;

  // All rows and all pages of the file are looked at; damage is collected instead of thrown.
  struct Check {
    std::uint64_t rows = 0;
    std::uint64_t without_checksum = 0;  // of files that older versions have begun
    std::vector<std::string> damage{};   // a sentence each
  };
  Check check() const;

 private:
  struct StoredRow {
    std::size_t cell = 0;
    std::uint64_t trial = 0;
    std::string row{};
    std::optional<std::uint64_t> checksum{};
    std::string version{};    // of the program that has made it
    bool has_numbers = true;  // cell and trial are integers
  };
  std::string version_column(bool is_salvage) const;
  StoredRow read_row(const detail::Statement& statement) const;
  class Salvage;
  std::string damage_of(const StoredRow& stored) const;
  std::string what_is_wrong_with(const StoredRow& stored) const;
  // The same, with what only those find who read the fields of the row.
  std::string deep_damage_of(const StoredRow& stored) const;
  void demand_whole(const StoredRow& stored) const;
  StoredCell read_cell(const detail::Statement& statement, const KeptTexts& kept) const;

  std::unique_ptr<detail::Database> database_;
  std::string row_columns_;  // of a StoredRow, as SQL
  std::vector<StoredCell> cells_;
};

}  // namespace conclave::sweep
