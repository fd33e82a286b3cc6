#include "conclave/sweep/results.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/checksum.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/sweep/detail/schema.hpp"
#include "conclave/sweep/detail/sqlite.hpp"
#include "conclave/sweep/rare_cells.hpp"

namespace conclave::sweep {

using detail::check_schema;
using detail::Corrupt;
using detail::Database;
using detail::Statement;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(fmt::format("'{}' is damaged: {}", path, what));
}

// A word of a cell goes into tables, pages, pictures and commands.
void check_word(const std::string& word) {
  if (!is_printable(word)) {
    throw std::runtime_error(fmt::format("'{}' has control characters", excerpt(word)));
  }
}

bool is_catalog_name(const std::string& word) {
  return !word.empty() && word.size() <= 100 &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_") == std::string::npos;
}

void check_words(const experiment::RunText& words, const KeptTexts& kept) {
  check_word(words.protocol);
  if (!is_catalog_name(words.protocol) && !kept.contains(words.protocol)) {
    throw std::runtime_error(fmt::format("'{}' is no protocol", excerpt(words.protocol)));
  }
  const auto n = parse_count(words.n);
  if (!n || *n > catalog::most_agents) {
    throw std::runtime_error(fmt::format("'{}' is no population size", excerpt(words.n)));
  }
  if (!words.kind.empty() && words.kind != "rare") {
    throw std::runtime_error(fmt::format("'{}' is no kind of run", excerpt(words.kind)));
  }
  for (const auto& [option, value] : experiment::given_options(words)) check_word(value);
}

void check_sampling(const Sampling& sampling) {
  const bool is_sound = sampling.trials >= 1 && sampling.trials <= most_trials &&
                        sampling.precision >= 0 && sampling.precision < 1 &&
                        (sampling.precision == 0 || sampling.batch >= 2);
  if (!is_sound) throw std::runtime_error("its sampling makes no sense");
  check_word(sampling.measure);
}

void check_head(const Fields& head, const experiment::RunText& words) {
  for (const auto& [name, value] : head) {
    check_word(name);
    check_word(value);
  }
  if (field(head, "n") != words.n || !field(head, "protocol")) {
    throw std::runtime_error("its rows and its words are not of one run");
  }
}

// A row is the head of its cell, continued with the number of its trial.
bool begins_as_row(std::string_view row, const StoredCell& cell, std::uint64_t trial) {
  const std::string_view head = std::string_view(cell.head).substr(0, cell.head.size() - 1);
  if (!row.starts_with(head)) return false;
  return row.substr(head.size()).starts_with(fmt::format(",\"trial\":{},", trial));
}

// Without an early end, so that the compiler takes many characters at once.
bool has_controls(std::string_view row) {
  bool found = false;
  for (const char c : row) found |= static_cast<unsigned char>(c) < 0x20;
  return found;
}

// The fields of a row that begins with the head of its cell, whose fields are known.
Fields fields_of_whole(const std::string& row, const StoredCell& cell) {
  check_field_count(row);
  Fields fields = cell.fields;
  std::string rest = row.substr(cell.head.size() - 1);
  rest.front() = '{';
  std::ranges::move(fields_of(rest), std::back_inserter(fields));
  return fields;
}

}  // namespace

Results::Results(const std::string& path, Reading reading) {
  std::error_code problem;
  const std::filesystem::file_status found = std::filesystem::status(path, problem);
  if (found.type() == std::filesystem::file_type::not_found) {
    throw Error(
        fmt::format("there is no file '{}': conclave sweep PLAN -o {} makes it", path, path));
  }
  if (!std::filesystem::status_known(found)) {
    throw Error(fmt::format("cannot read '{}': {}", path, problem.message()));
  }
  if (!std::filesystem::is_regular_file(found)) {
    throw Error(fmt::format("'{}' is no file of results: it is no plain file", path));
  }
  const bool is_salvage = reading == Reading::salvage;
  database_ = std::make_unique<Database>(
      path, is_salvage ? Database::Access::salvage : Database::Access::read);
  const bool has_checksums = check_schema(*database_) > 1;
  const std::string checksum = has_checksums ? "checksum" : "NULL";
  row_columns_ = fmt::format("cell, trial, row, {}, {}", checksum, version_column(is_salvage));
  const KeptTexts kept = texts();
  // One statement, since a sweep may be writing.
  const std::string counts =
      is_salvage ? "0, 0"
                 : "(SELECT count(*) FROM trial WHERE cell = id), (SELECT count(*) FROM trial)";
  std::uint64_t all_rows = 0;
  Statement statement(*database_,
                      fmt::format("SELECT id, run, head, request, sampling, {}, {} FROM cell"
                                  " ORDER BY id",
                                  checksum, counts));
  while (statement.step()) {
    try {
      cells_.push_back(read_cell(statement, kept));
      all_rows = statement.number(7);
    } catch (const std::runtime_error& error) {
      refuse(path, fmt::format("cell {}: {}", cells_.size(), error.what()));
    }
  }
  // Rows of no cell are not seen by those who read cell by cell.
  if (reading == Reading::whole && all_rows != rows()) {
    refuse(path, fmt::format("of its {} rows {} belong to its cells", all_rows, rows()));
  }
}

// The version that has made a row; null where its number has none.
std::string Results::version_column(bool is_salvage) const try {
  if (is_salvage) code_versions();
  return "(SELECT version FROM code WHERE id = trial.code)";
} catch (const Corrupt&) {
  return "'unknown'";
}

StoredCell Results::read_cell(const Statement& statement, const KeptTexts& kept) const {
  const std::string head = statement.text(2);
  const std::string request = statement.text(3);
  const std::string sampling = statement.text(4);
  StoredCell cell{.id = statement.number(0),
                  .run = statement.number(1),
                  .words = words_of(request),
                  .sampling = sampling_of(sampling),
                  .head = head,
                  .fields = fields_of(head),
                  .rows = statement.number(6)};
  if (cell.id != cells_.size()) throw std::runtime_error("its number is missing");
  check_words(cell.words, kept);
  check_sampling(cell.sampling);
  check_head(cell.fields, cell.words);
  if (!statement.is_null(5) && statement.number(5) != checksum_of(head + request + sampling)) {
    throw std::runtime_error("its checksum does not match: it was altered");
  }
  return cell;
}

Results::StoredRow Results::read_row(const Statement& statement) const {
  StoredRow stored{.cell = statement.number(0),
                   .trial = statement.number(1),
                   .row = statement.text(2),
                   .version = statement.text(4),
                   .has_numbers = statement.is_integer(0) && statement.is_integer(1)};
  if (!statement.is_null(3)) stored.checksum = statement.number(3);
  return stored;
}

// Empty where the row is as it was written.
std::string Results::damage_of(const StoredRow& stored) const {
  const std::string damage = what_is_wrong_with(stored);
  if (damage.empty()) return damage;
  return fmt::format("cell {}, trial {}: {}", stored.cell, stored.trial, damage);
}

std::string Results::what_is_wrong_with(const StoredRow& stored) const {
  if (!stored.has_numbers) return "its numbers are none";
  if (stored.cell >= cells_.size()) return "there is no such cell";
  if (stored.version.empty()) return "no program has made it";
  const StoredCell& cell = cells_[stored.cell];
  if (stored.trial >= cell.sampling.trials) return "too many trials";
  if (stored.checksum && *stored.checksum != checksum_of(stored.row)) {
    return "the checksum of its row does not match: it was altered";
  }
  if (!begins_as_row(stored.row, cell, stored.trial) || has_controls(stored.row)) {
    return fmt::format("'{}' is no row of this trial", excerpt(stored.row));
  }
  return {};
}

std::string Results::deep_damage_of(const StoredRow& stored) const {
  std::string damage = damage_of(stored);
  if (!damage.empty()) return damage;
  const StoredCell& cell = cells_[stored.cell];
  try {
    fields_of_whole(stored.row, cell);
    if (is_rare(cell)) check_repetition(cell, stored.row);
  } catch (const std::runtime_error& error) {
    return fmt::format("cell {}, trial {}: {}", stored.cell, stored.trial, error.what());
  }
  return {};
}

void Results::demand_whole(const StoredRow& stored) const {
  const std::string damage = damage_of(stored);
  if (!damage.empty()) refuse(path(), damage);
}

const std::string& Results::path() const { return database_->path(); }

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
  Statement statement(*database_, fmt::format("SELECT {} FROM trial WHERE cell = ?1 AND trial >= ?2"
                                              " ORDER BY trial LIMIT ?3",
                                              row_columns_));
  std::vector<StoredRow> rows;
  std::uint64_t begin = std::uint64_t{1} << 63;  // for SQLite, of all integers the least
  do {
    rows.clear();
    statement.bind(1, cell).bind(2, begin).bind(3, most_at_once);
    while (statement.step()) rows.push_back(read_row(statement));
    statement.reset();
    for (const StoredRow& each : rows) {
      demand_whole(each);
      take(each.trial, each.row);
    }
    if (!rows.empty()) begin = rows.back().trial + 1;
  } while (rows.size() == most_at_once);
}

Fields Results::fields_of_row(std::size_t cell, std::uint64_t trial, const std::string& row) const {
  try {
    return fields_of_whole(row, cells_[cell]);
  } catch (const std::runtime_error& error) {
    refuse(path(), fmt::format("cell {}, trial {}: {}", cell, trial, error.what()));
  }
}

std::string Results::row(std::size_t cell, std::uint64_t trial) const {
  Statement statement(
      *database_, fmt::format("SELECT {} FROM trial WHERE cell = ?1 AND trial = ?2", row_columns_));
  if (!statement.bind(1, cell).bind(2, trial).step()) return {};
  StoredRow stored = read_row(statement);
  demand_whole(stored);
  return std::move(stored.row);
}

std::string Results::first_row(std::size_t cell) const {
  Statement statement(
      *database_,
      fmt::format("SELECT {} FROM trial WHERE cell = ?1 ORDER BY trial LIMIT 1", row_columns_));
  if (!statement.bind(1, cell).step()) return {};
  StoredRow stored = read_row(statement);
  demand_whole(stored);
  return std::move(stored.row);
}

std::uint64_t Results::trial_at(std::size_t cell, std::uint64_t index) const {
  Statement statement(*database_,
                      "SELECT trial FROM trial WHERE cell = ?1 ORDER BY trial LIMIT 1 OFFSET ?2");
  statement.bind(1, cell).bind(2, index).step();
  return statement.number(0);
}

// A trial that has run until the time it was asked for has done its work, as in `conclave run`.
std::uint64_t Results::not_converged() const {
  Statement statement(*database_, "SELECT count(*) FROM trial WHERE NOT json_valid(row)"
                                  " OR (NOT json_extract(row, '$.converged')"
                                  " AND json_extract(row, '$.reached') IS NOT 'until')");
  statement.step();
  return statement.number(0);
}

void Results::for_each(const TakeCodedRow& take) const {
  Statement statement(*database_,
                      fmt::format("SELECT {} FROM trial ORDER BY cell, trial", row_columns_));
  while (statement.step()) {
    StoredRow stored = read_row(statement);
    const std::string damage = deep_damage_of(stored);
    if (!damage.empty()) refuse(path(), damage);
    take({stored.cell, stored.trial, std::move(stored.version), std::move(stored.row)});
  }
}

Results::Check Results::check() const {
  Check result;
  try {
    const std::string pages = database_->text("PRAGMA integrity_check(1)");
    if (pages != "ok") result.damage.push_back(pages);
    Statement statement(*database_,
                        fmt::format("SELECT {} FROM trial ORDER BY cell, trial", row_columns_));
    while (statement.step()) {
      const StoredRow stored = read_row(statement);
      ++result.rows;
      if (!stored.checksum) ++result.without_checksum;
      std::string damage = deep_damage_of(stored);
      if (!damage.empty()) result.damage.push_back(std::move(damage));
    }
  } catch (const Corrupt& error) {
    result.damage.emplace_back(error.what());
  }
  return result;
}

std::string Results::code_version(std::size_t cell, std::uint64_t trial) const {
  Statement statement(*database_, "SELECT version FROM trial JOIN code ON id = code"
                                  " WHERE cell = ?1 AND trial = ?2");
  return statement.bind(1, cell).bind(2, trial).step() ? statement.text(0) : std::string();
}

}  // namespace conclave::sweep
