// Writing a file of results: rows in batches, each batch wholly or not at all. sweeps.md has
// the schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/schedule.hpp"

namespace conclave::sweep {
namespace detail {
class FileLock;
}  // namespace detail

// The program that writes, and what it has been allowed to do.
struct Origin {
  std::string code;  // version of this program
  Shard shard{};
  bool extends = false;         // accept a plan that has grown
  bool mixes_versions = false;  // go on with a file that another version has begun
};

class Store {
 public:
  // Makes the file, or goes on with one of the same plan. Throws Error if another process is
  // writing it, if it holds something else, and if the plan has changed since.
  Store(const std::string& path, const Plan& plan, const Origin& origin);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();  // forgets what was not committed

  // Keeps the row in memory until the next commit.
  void add(std::size_t cell, std::uint64_t trial, std::string row);
  // Throws std::runtime_error if the disk is full; what was committed before stays. While another
  // process is reading, rows stay in memory for the next commit, unless `waits`.
  void commit(bool waits = true);

  // After a failure: commits what there is, as far as that is possible, and removes a file that
  // this object has made and that has no row.
  void give_up();

  // Takes over all rows of others, or none: throws Error if two rows of one trial differ.
  void merge(const std::vector<Results>& parts);
  // The same for the rows that `give` passes on.
  void take_over(const std::function<void(const Results::TakeCodedRow&)>& give);

 private:
  struct Waiting {
    std::size_t cell;
    std::uint64_t trial;
    std::string row;
  };

  std::unique_ptr<detail::FileLock> lock_;
  std::unique_ptr<detail::Database> database_;
  std::uint64_t code_ = 0;
  bool is_new_ = false;
  std::vector<Waiting> waiting_;
};

// Says in one sentence how the plan differs from that of a file of results; empty if it does not.
std::string difference(const Results& stored, const Plan& plan);

// The plan that a file of results was made from.
Plan stored_plan(const Results& results);

// Puts the results of shards together.
struct Merged {
  std::uint64_t rows = 0;
  std::uint64_t missing = 0;  // rows that the plan wants and no file has, as far as is known
};

// Makes `output`, or adds to it. Throws Error if the files are not of one plan and one version, or
// contradict each other; then nothing was changed.
Merged merge(const std::vector<std::string>& inputs, const std::string& output);

struct Salvaged {
  Merged saved{};
  std::vector<std::string> lost{};  // a sentence for each row or range of pages that is damaged
};

// Makes `output` of all rows of a damaged file that are whole; a sweep of its plan runs the others.
// Throws Error if `output` is there, or if the plan in the file is damaged. `code` is the version
// of this program, for a file that has lost those that have written it.
Salvaged salvage(const std::string& input, const std::string& output, const std::string& code);

}  // namespace conclave::sweep
