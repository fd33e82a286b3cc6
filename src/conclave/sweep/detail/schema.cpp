#include "conclave/sweep/detail/schema.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"

namespace conclave::sweep::detail {
namespace {

constexpr int application = 0x434f4e43;  // "CONC", in the header of the file
constexpr int version = 2;               // 1 had no checksums

// `head` and `row` are JSON; the columns made from them cost no space and cannot
// contradict them.
constexpr const char* tables = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE code (id INTEGER PRIMARY KEY, version TEXT NOT NULL UNIQUE);
CREATE TABLE source (
  path TEXT PRIMARY KEY, name TEXT NOT NULL, content TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE cell (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  head TEXT NOT NULL,
  request TEXT NOT NULL,
  sampling TEXT NOT NULL,
  protocol TEXT AS (json_extract(head, '$.protocol')),
  n INTEGER AS (json_extract(head, '$.n')),
  init TEXT AS (json_extract(head, '$.init')),
  engine TEXT AS (json_extract(head, '$.engine')),
  params TEXT AS (json_extract(head, '$.params')),
  seed INTEGER AS (json_extract(head, '$.seed')),
  graph TEXT AS (json_extract(head, '$.graph')),
  ids TEXT AS (json_extract(head, '$.ids')),
  delay TEXT AS (json_extract(head, '$.delay')),
  wakeup TEXT AS (json_extract(head, '$.wakeup')),
  faults TEXT AS (json_extract(request, '$.faults')),
  source_hash TEXT AS (json_extract(head, '$.source_hash')),
  checksum INTEGER);
CREATE TABLE trial (
  cell INTEGER NOT NULL REFERENCES cell (id),
  trial INTEGER NOT NULL,
  code INTEGER NOT NULL REFERENCES code (id),
  row TEXT NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (cell, trial)) WITHOUT ROWID;
CREATE VIEW result AS SELECT
  t.cell, c.run, c.protocol, c.n, c.init, c.engine, c.params, c.graph, c.ids, c.delay, c.wakeup,
  c.faults, c.seed, t.trial,
  json_extract(t.row, '$.converged') AS converged,
  json_extract(t.row, '$.interactions') AS interactions,
  json_extract(t.row, '$.parallel_time') AS parallel_time,
  json_extract(t.row, '$.messages') AS messages,
  json_extract(t.row, '$.time') AS time,
  json_extract(t.row, '$.rounds') AS rounds,
  json_extract(t.row, '$.leaders') AS leaders,
  json_extract(t.row, '$.observables') AS observables,
  k.version AS code, t.row
FROM trial t JOIN cell c ON c.id = t.cell JOIN code k ON k.id = t.code;
)";

// A statement without white space, and without the column that schema 1 has not.
std::string normalized(std::string_view sql) {
  std::string result;
  for (const char c : sql) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') result += c;
  }
  constexpr std::string_view column = ",checksumINTEGER";
  const std::size_t place = result.find(column);
  return place == std::string::npos ? result : result.erase(place, column.size());
}

// Each of our statements in this form, by what it makes: "table cell", "view result".
std::map<std::string, std::string> our_statements() {
  std::map<std::string, std::string> statements;
  std::string_view rest = tables;
  for (std::size_t end = rest.find(';'); end != std::string_view::npos; end = rest.find(';')) {
    std::string_view statement = rest.substr(rest.find('C'), end - rest.find('C'));
    rest.remove_prefix(end + 1);
    std::string wanted = normalized(statement);
    statement.remove_prefix(std::string_view("CREATE ").size());
    const std::size_t kind = statement.find(' ');
    const std::string_view name = statement.substr(kind + 1);
    statements[fmt::format("{} {}", statement.starts_with("TABLE") ? "table" : "view",
                           name.substr(0, name.find(' ')))] = std::move(wanted);
  }
  return statements;
}

// A view in the place of a table, an expression in a table or an index, and a trigger could compute
// for ever or take all memory. So a file holds our tables and our view, word for word, and nothing
// else; SQLite's own index of `code` has no words.
void check_schema_words(const Database& database) {
  std::map<std::string, std::string> missing = our_statements();
  Statement found(database, "SELECT type, name, sql FROM sqlite_schema"
                            " ORDER BY type <> 'table', name = 'result'");
  while (found.step()) {
    if (found.is_null(2) && found.text(1) == "sqlite_autoindex_code_1") continue;
    const auto wanted = missing.find(fmt::format("{} {}", found.text(0), found.text(1)));
    if (wanted != missing.end() && normalized(found.text(2)) == wanted->second) {
      missing.erase(wanted);
      continue;
    }
    throw Error(fmt::format("'{}' is damaged: its {} '{}' is none of a file of results",
                            database.path(), excerpt(found.text(0)), excerpt(found.text(1))));
  }
  missing.erase("view result");  // for people alone
  if (missing.empty()) return;
  throw Error(
      fmt::format("'{}' is damaged: its {} is missing", database.path(), missing.begin()->first));
}

}  // namespace

void create_schema(const Database& database) {
  database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};{}",
                               application, version, tables));
}

int check_schema(const Database& database) {
  const std::string& path = database.path();
  if (database.text("PRAGMA application_id") != fmt::format("{}", application)) {
    throw Error(fmt::format("'{}' is no file of results of conclave", path));
  }
  const std::string found = database.text("PRAGMA user_version");
  if (found != "1" && found != fmt::format("{}", version)) {
    throw Error(
        fmt::format("'{}' has schema {}, and this conclave reads and writes schema {}: use "
                    "the conclave that wrote it, or choose another file; it was left as it is",
                    path, found, version));
  }
  check_schema_words(database);
  return found == "1" ? 1 : version;
}

void upgrade_schema(const Database& database) {
  database.execute(fmt::format("ALTER TABLE cell ADD COLUMN checksum INTEGER;"
                               "ALTER TABLE trial ADD COLUMN checksum INTEGER;"
                               "PRAGMA user_version = {}",
                               version));
}

}  // namespace conclave::sweep::detail
