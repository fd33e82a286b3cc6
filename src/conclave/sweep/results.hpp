// Reading a file of results: its cells, and the rows of each in the order of trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/sweep/fields.hpp"
#include "conclave/sweep/plan.hpp"

namespace conclave::sweep {

class Database;

struct StoredCell {
  std::size_t id = 0;   // from 0, in the order of the plan
  std::size_t run = 0;  // which [[run]] of the plan
  experiment::RunText words;
  Sampling sampling;
  std::string head;        // what all its rows have in common, as a JSON object
  Fields fields;           // the same by name: protocol, engine, n, params.N, init, seed, ...
  std::uint64_t rows = 0;  // stored so far
};

// A file may be read while a sweep is writing it.
class Results {
 public:
  // Throws Error where it is no file of results, damaged, or of another schema.
  explicit Results(const std::string& path);
  Results(Results&&) noexcept;
  Results& operator=(Results&&) noexcept;
  ~Results();

  // "name", "plan" (its text), "shard" ("" or "1/3"); "" for what there is not.
  std::string meta(std::string_view key) const;
  std::vector<std::string> code_versions() const;  // all that have written rows
  KeptTexts texts() const;
  const std::vector<StoredCell>& cells() const { return cells_; }
  std::uint64_t rows() const;  // of all cells

  using TakeRow = std::function<void(std::uint64_t trial, const std::string& row)>;
  // Not all at once: the file is free for its writer while `take` is at work, however long.
  void for_each_row(std::size_t cell, const TakeRow& take) const;
  std::string row(std::size_t cell, std::uint64_t trial) const;         // "" if there is none
  std::string first_row(std::size_t cell) const;                        // "" if there is none
  std::uint64_t trial_at(std::size_t cell, std::uint64_t index) const;  // of its rows, from 0
  std::uint64_t not_converged() const;                                  // rows of all cells
  std::string code_version(std::size_t cell, std::uint64_t trial) const;

  struct CodedRow {
    std::size_t cell;
    std::uint64_t trial;
    std::string code;  // the version that made it
    std::string row;
  };
  void for_each(const std::function<void(const CodedRow&)>& take) const;

 private:
  std::unique_ptr<Database> database_;
  std::vector<StoredCell> cells_;
};

}  // namespace conclave::sweep
