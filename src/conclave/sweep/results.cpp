#include "conclave/sweep/results.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/detail/schema.hpp"
#include "conclave/sweep/detail/sqlite.hpp"

namespace conclave::sweep {

Results::Results(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw Error(
        fmt::format("there is no file '{}': conclave sweep PLAN -o {} makes it", path, path));
  }
  database_ = std::make_unique<Database>(path, Database::Access::read);
  check_schema(*database_);
  Statement statement(*database_,
                      "SELECT id, run, head, request, sampling,"
                      " (SELECT count(*) FROM trial WHERE cell = id) FROM cell ORDER BY id");
  while (statement.step()) {
    cells_.push_back({.id = statement.number(0),
                      .run = statement.number(1),
                      .words = words_of(statement.text(3)),
                      .sampling = sampling_of(statement.text(4)),
                      .head = statement.text(2),
                      .fields = fields_of(statement.text(2)),
                      .rows = statement.number(5)});
  }
}

Results::Results(Results&&) noexcept = default;
Results& Results::operator=(Results&&) noexcept = default;
Results::~Results() = default;

std::string Results::meta(std::string_view key) const {
  Statement statement(*database_, "SELECT value FROM meta WHERE key = ?1");
  return statement.bind(1, key).step() ? statement.text(0) : std::string();
}

std::vector<std::string> Results::code_versions() const {
  std::vector<std::string> all;
  Statement statement(*database_, "SELECT version FROM code ORDER BY id");
  while (statement.step()) all.push_back(statement.text(0));
  return all;
}

KeptTexts Results::texts() const {
  KeptTexts texts;
  Statement statement(*database_, "SELECT path, name, content FROM source");
  while (statement.step()) texts[statement.text(0)] = {statement.text(1), statement.text(2)};
  return texts;
}

std::uint64_t Results::rows() const {
  std::uint64_t sum = 0;
  for (const StoredCell& cell : cells_) sum += cell.rows;
  return sum;
}

void Results::for_each_row(std::size_t cell, const TakeRow& take) const {
  constexpr std::size_t most_at_once = 1000;
  Statement statement(*database_, "SELECT trial, row FROM trial WHERE cell = ?1 AND trial >= ?2"
                                  " ORDER BY trial LIMIT ?3");
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  std::uint64_t begin = 0;
  do {
    rows.clear();
    statement.bind(1, cell).bind(2, begin).bind(3, most_at_once);
    while (statement.step()) rows.emplace_back(statement.number(0), statement.text(1));
    statement.reset();
    for (const auto& [trial, row] : rows) take(trial, row);
    if (!rows.empty()) begin = rows.back().first + 1;
  } while (rows.size() == most_at_once);
}

std::string Results::row(std::size_t cell, std::uint64_t trial) const {
  Statement statement(*database_, "SELECT row FROM trial WHERE cell = ?1 AND trial = ?2");
  return statement.bind(1, cell).bind(2, trial).step() ? statement.text(0) : std::string();
}

std::string Results::first_row(std::size_t cell) const {
  Statement statement(*database_, "SELECT row FROM trial WHERE cell = ?1 ORDER BY trial LIMIT 1");
  return statement.bind(1, cell).step() ? statement.text(0) : std::string();
}

std::uint64_t Results::trial_at(std::size_t cell, std::uint64_t index) const {
  Statement statement(*database_,
                      "SELECT trial FROM trial WHERE cell = ?1 ORDER BY trial LIMIT 1 OFFSET ?2");
  statement.bind(1, cell).bind(2, index).step();
  return statement.number(0);
}

std::uint64_t Results::not_converged() const {
  Statement statement(*database_,
                      "SELECT count(*) FROM trial WHERE NOT json_extract(row, '$.converged')");
  statement.step();
  return statement.number(0);
}

void Results::for_each(const std::function<void(const CodedRow&)>& take) const {
  Statement statement(*database_,
                      "SELECT cell, trial, version, row FROM trial JOIN code ON id = code"
                      " ORDER BY cell, trial");
  while (statement.step()) {
    take({statement.number(0), statement.number(1), statement.text(2), statement.text(3)});
  }
}

std::string Results::code_version(std::size_t cell, std::uint64_t trial) const {
  Statement statement(*database_, "SELECT version FROM trial JOIN code ON id = code"
                                  " WHERE cell = ?1 AND trial = ?2");
  return statement.bind(1, cell).bind(2, trial).step() ? statement.text(0) : std::string();
}

}  // namespace conclave::sweep
