#include "conclave/sweep/detail/schema.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::sweep {
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

// The columns that are read, by table; all must be stored ones.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> columns_read{
    {{"meta", "key value"},
     {"code", "id version"},
     {"source", "path name content"},
     {"cell", "id run head request sampling"},
     {"trial", "cell trial code row"}}};

// A view or a virtual table in the place of a table could compute for ever, or anything.
void check_table(const Database& database, std::string_view table, std::string_view columns) {
  Statement kind(database, "SELECT type, rootpage FROM sqlite_schema WHERE name = ?1");
  const bool is_table = kind.bind(1, table).step() && kind.text(0) == "table" && kind.number(1) > 0;
  std::string stored;
  Statement column(database, fmt::format("PRAGMA table_xinfo({})", table));
  while (is_table && column.step()) {
    constexpr int name = 1;
    constexpr int hidden = 6;  // 0: stored
    const std::string padded = fmt::format(" {} ", columns);
    const bool is_read = padded.find(fmt::format(" {} ", column.text(name))) != std::string::npos;
    if (!is_read || column.number(hidden) != 0) continue;
    stored += (stored.empty() ? "" : " ") + column.text(name);
  }
  if (stored == columns) return;
  throw Error(fmt::format("'{}' is damaged: its table '{}' is none of a file of results",
                          database.path(), table));
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
  for (const auto& [table, columns] : columns_read) check_table(database, table, columns);
  return found == "1" ? 1 : version;
}

void upgrade_schema(const Database& database) {
  database.execute(fmt::format("ALTER TABLE cell ADD COLUMN checksum INTEGER;"
                               "ALTER TABLE trial ADD COLUMN checksum INTEGER;"
                               "PRAGMA user_version = {}",
                               version));
}

}  // namespace conclave::sweep
