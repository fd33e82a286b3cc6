// Writing a file of results: rows in batches, each batch wholly or not at all. docs/sweeps.md has
// the schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/shard.hpp"

namespace conclave::sweep {

class FileLock;

// Who writes.
struct Origin {
  std::string code;  // version of this program
  Shard shard{};
  bool extends = false;         // accept a plan that has grown
  bool mixes_versions = false;  // go on with a file that another version has begun
};

class Store {
 public:
  // Makes the file, or goes on with one of the same plan. Throws Error where another process is
  // writing it, where it holds something else, and where the plan has changed since.
  Store(const std::string& path, const Plan& plan, const Origin& origin);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();  // forgets what was not committed

  void add(std::size_t cell, std::uint64_t trial, std::string row);
  // Throws std::runtime_error where the disk is full; what was committed before stays. While
  // somebody is reading, rows stay for the next time, unless `waits`.
  void commit(bool waits = true);

  // Takes over all rows of others, or none: throws Error where two rows of one trial differ.
  void merge(const std::vector<Results>& parts);

 private:
  struct Waiting {
    std::size_t cell;
    std::uint64_t trial;
    std::string row;
  };

  std::unique_ptr<FileLock> lock_;
  std::unique_ptr<Database> database_;
  std::uint64_t code_ = 0;
  std::vector<Waiting> waiting_;
};

// What has changed since a file of results was begun, in words; empty if the plan is the same.
std::string difference(const Results& stored, const Plan& plan);

// The plan that a file of results was made from.
Plan stored_plan(const Results& results);

}  // namespace conclave::sweep
