#include "conclave/sweep/detail/sqlite.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "conclave/base/read_text.hpp"

namespace conclave::sweep::detail {
namespace {

constexpr std::chrono::seconds usual_patience{10};  // with others in the middle of a commit

// SQLite calls us back after this many of its instructions, and gives up when we have counted this
// many calls without a row in between: some minutes, far more than a file of a billion rows needs.
constexpr int instructions_between = 1'000'000;
constexpr std::uint64_t most_times = 20'000;

int count_and_judge(void* counter) {
  return ++*static_cast<std::uint64_t*>(counter) > most_times ? 1 : 0;
}

void set_limits(sqlite3* database) {
  // SQLite itself allows at most 10^9 bytes, or what Debian has built it with.
  const auto longest = static_cast<int>(
      std::min<std::size_t>(file_limit(std::size_t{512} << 20), std::numeric_limits<int>::max()));
  const std::array<std::pair<int, int>, 8> limits{{{SQLITE_LIMIT_LENGTH, longest},
                                                   {SQLITE_LIMIT_SQL_LENGTH, 100'000},
                                                   {SQLITE_LIMIT_COLUMN, 100},
                                                   {SQLITE_LIMIT_EXPR_DEPTH, 50},
                                                   {SQLITE_LIMIT_COMPOUND_SELECT, 3},
                                                   {SQLITE_LIMIT_ATTACHED, 0},
                                                   {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
                                                   {SQLITE_LIMIT_TRIGGER_DEPTH, 1}}};
  for (const auto& [limit, value] : limits) sqlite3_limit(database, limit, value);
}

// The triggers of a file do not run, and it cannot be used to change SQLite's own tables. The
// schema must stay trusted: ours calls json_extract, which SQLite 3.40 does not count among
// harmless functions. check_schema makes up for it: everything in a file must be ours, word for
// word.
//
// SQLite reads a file that has lost its end if its own tables may be changed, which nobody does.
void set_defences(sqlite3* database, bool is_salvage) {
  for (const auto& [option, value] :
       {std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        std::pair{SQLITE_DBCONFIG_DEFENSIVE, is_salvage ? 0 : 1},
        std::pair{SQLITE_DBCONFIG_WRITABLE_SCHEMA, is_salvage ? 1 : 0}}) {
    sqlite3_db_config(database, option, value, nullptr);
  }
}

}  // namespace

std::string damage_sentence(const std::string& path, std::string_view reason) {
  return fmt::format("'{}' is damaged ({}); it was left as it is: conclave results FILE --salvage "
                     "NEW saves the rows that are whole",
                     path, reason);
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }
void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Database::Database(const std::string& path, Access access)
    : path_(path), work_(std::make_unique<std::uint64_t>(0)) {
  const auto open = [&](int flags) {
    sqlite3* raw = nullptr;
    const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);
    return code;
  };
  int code = open(access == Access::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                           : SQLITE_OPEN_READWRITE);
  // A file without permission to write can still be read.
  const bool only_reads = access == Access::read || access == Access::salvage;
  if (only_reads && code != SQLITE_OK) code = open(SQLITE_OPEN_READONLY);
  if (code != SQLITE_OK) fail(code);
  set_patience(usual_patience);
  sqlite3_extended_result_codes(handle_.get(), 1);
  set_limits(handle_.get());
  set_defences(handle_.get(), access == Access::salvage);
  sqlite3_progress_handler(handle_.get(), instructions_between, count_and_judge, work_.get());
}

void Database::set_patience(std::chrono::milliseconds patience) const {
  sqlite3_busy_timeout(handle_.get(), static_cast<int>(patience.count()));
}

void Database::execute(const std::string& sql) const {
  restart_work();
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::string Database::text(const std::string& sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : std::string();
}

void Database::fail(int code) const {
  const std::string reason = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw Error(fmt::format("'{}' is no file of results", path_));
    case SQLITE_CORRUPT:
      throw Corrupt(damage_sentence(path_, reason));
    case SQLITE_INTERRUPT:
      throw Error(fmt::format("'{}' takes far longer to read than a file of results does", path_));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw Error(fmt::format("cannot open '{}': {}", path_, reason));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw Busy(fmt::format("'{}' is in use by another program", path_));
    case SQLITE_FULL:
    case SQLITE_IOERR:
      throw std::runtime_error(
          fmt::format("cannot write '{}': {}; what was committed is kept, and the same command "
                      "goes on from there once there is room",
                      path_, code == SQLITE_FULL ? "the disk is full" : reason));
    default:
      throw std::runtime_error(fmt::format("'{}': {}", path_, reason));
  }
}

Statement::Statement(const Database& database, const std::string& sql) : database_(&database) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(database.handle(), sql.c_str(),
                                      static_cast<int>(sql.size()) + 1, &raw, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) database.fail(code);
}

Statement& Statement::bind(int index, std::string_view text) {
  const int code = sqlite3_bind_text64(handle_.get(), index, text.data(), text.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) database_->fail(code);
  return *this;
}

Statement& Statement::bind(int index, std::uint64_t number) {
  const int code = sqlite3_bind_int64(handle_.get(), index, static_cast<sqlite3_int64>(number));
  if (code != SQLITE_OK) database_->fail(code);
  return *this;
}

bool Statement::step() {
  database_->restart_work();
  const int code = sqlite3_step(handle_.get());
  is_done_ = code == SQLITE_DONE;
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->fail(code);
  return code == SQLITE_ROW;
}

void Statement::reset() { sqlite3_reset(handle_.get()); }

std::string Statement::text(int column) const {
  const auto* const bytes = sqlite3_column_text(handle_.get(), column);
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_NULL;
}

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(handle_.get(), column) == SQLITE_INTEGER;
}

std::uint64_t Statement::number(int column) const {
  return static_cast<std::uint64_t>(sqlite3_column_int64(handle_.get(), column));
}

// IMMEDIATE: a second writer is noticed now, not in the middle.
Transaction::Transaction(const Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (is_open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.execute("COMMIT");
  is_open_ = false;
}

}  // namespace conclave::sweep::detail
