// SQLite, as much of it as the store needs: errors become exceptions with one sentence, statements
// are finalized by themselves. A file may come from a stranger, so a database is opened with
// SQLite's defences on, with limits on lengths, and with a limit on the work between two rows.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "conclave/base/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace conclave::sweep::detail {

// Another process is using the file, for longer than we waited.
class Busy : public Error {
 public:
  using Error::Error;
};

// Pages of the file are not what SQLite has written.
class Corrupt : public Error {
 public:
  using Error::Error;
};

std::string damage_sentence(const std::string& path, std::string_view reason);

class Database {
 public:
  enum class Access : std::uint8_t {
    create,   // reads and writes; made if missing
    write,    // reads and writes what is there
    read,     // changes nothing but what an interrupted writer has left half done
    salvage,  // the same, and a file that has lost its end is read as far as it goes
  };

  // Throws Error if the file cannot be opened so.
  Database(const std::string& path, Access access);

  // How long to wait for other processes that use the file.
  void set_patience(std::chrono::milliseconds patience) const;

  const std::string& path() const { return path_; }
  // Runs statements that give no rows; throws as fail() does.
  void execute(const std::string& sql) const;
  std::string text(const std::string& sql) const;  // the first column of the first row, or ""

  // Throws what the last result code means, Error for files that are no store.
  [[noreturn]] void fail(int code) const;
  // Owned by this object, for calls of the C interface.
  sqlite3* handle() const { return handle_.get(); }
  void restart_work() const { *work_ = 0; }  // of the limit on work between two rows

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::string path_;
  std::unique_ptr<std::uint64_t> work_;  // SQLite counts there
  std::unique_ptr<sqlite3, Close> handle_;
};

// One SQL statement, prepared once and run any number of times. The database must outlive it.
class Statement {
 public:
  Statement(const Database& database, const std::string& sql);

  // Parameters are numbered from 1.
  Statement& bind(int index, std::string_view text);
  Statement& bind(int index, std::uint64_t number);  // beyond 2^63: modulo 2^64, as number() reads
  bool step();                                       // whether there is a row
  bool is_done() const { return is_done_; }          // the last step has found no more
  void reset();                                      // to be run again

  // Columns of the present row, numbered from 0.
  std::string text(int column) const;
  std::uint64_t number(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  bool is_done_ = false;
};

// Rolls back everything since its beginning unless it was committed.
class Transaction {
 public:
  explicit Transaction(const Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  const Database& database_;
  bool is_open_ = true;
};

}  // namespace conclave::sweep::detail
