#include "conclave/sweep/store.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/checksum.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/sweep/detail/file_lock.hpp"
#include "conclave/sweep/detail/schema.hpp"
#include "conclave/sweep/detail/sqlite.hpp"
#include "conclave/sweep/row_fields.hpp"

namespace conclave::sweep {
namespace {

using detail::Busy;
using detail::check_schema;
using detail::create_schema;
using detail::damage_sentence;
using detail::Database;
using detail::FileLock;
using detail::Statement;
using detail::Transaction;
using detail::upgrade_schema;

constexpr const char* insert_row =
    "INSERT INTO trial (cell, trial, code, row, checksum) VALUES (?1, ?2, ?3, ?4, ?5)";

void write_meta(const Database& database, const Plan& plan, const Shard& shard) {
  Statement statement(database, "INSERT INTO meta VALUES (?1, ?2)");
  for (const auto& [key, value] : {std::pair{"name", plan.name}, std::pair{"plan", plan.text},
                                   std::pair{"shard", to_string(shard)}}) {
    statement.bind(1, std::string_view(key)).bind(2, value).step();
    statement.reset();
  }
}

void write_plan(const Database& database, const Plan& plan, const Shard& shard) {
  write_meta(database, plan, shard);
  Statement source(database, "INSERT INTO source VALUES (?1, ?2, ?3)");
  for (const auto& [path, text] : plan.texts) {
    source.bind(1, path).bind(2, text.name).bind(3, text.content).step();
    source.reset();
  }
  Statement insert(database, "INSERT INTO cell (id, run, head, request, sampling, checksum)"
                             " VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
  for (std::size_t id = 0; id < plan.cells.size(); ++id) {
    const Cell& cell = plan.cells[id];
    const std::string request = json_of(cell.words);
    const std::string sampling = json_of(cell.sampling);
    insert.bind(1, id).bind(2, cell.run).bind(3, cell.head).bind(4, request).bind(5, sampling);
    insert.bind(6, checksum_of(fmt::format("{}{}{}", cell.head, request, sampling))).step();
    insert.reset();
  }
}

// True where all trials made for one sampling belong to the other as well.
bool has_grown(const Sampling& then, const Sampling& now) {
  if (then.precision == 0 || now.precision == 0) {
    return then.precision == now.precision && now.trials >= then.trials;
  }
  return now.precision <= then.precision && now.trials >= then.trials && now.batch == then.batch &&
         now.measure == then.measure;
}

// For each stored cell its number in a plan that has grown; throws Error if one is missing.
std::vector<std::size_t> places_in(const Plan& plan, const Results& stored,
                                   const std::string& path) {
  std::vector<std::size_t> places;
  std::vector<bool> is_taken(plan.cells.size());
  for (const StoredCell& old : stored.cells()) {
    std::size_t place = 0;
    while (place < plan.cells.size() && (is_taken[place] || plan.cells[place].words != old.words ||
                                         plan.cells[place].head != old.head ||
                                         !has_grown(old.sampling, plan.cells[place].sampling))) {
      ++place;
    }
    if (place == plan.cells.size()) {
      throw Error(fmt::format("--extend keeps all rows of '{}', but the plan has no cell {} ({}) "
                              "with {} any more: choose another file with -o",
                              path, old.id, old.head, json_of(old.sampling)));
    }
    is_taken[place] = true;
    places.push_back(place);
  }
  return places;
}

// Cells get the numbers of the new plan, and their rows follow.
void extend(const Database& database, const Plan& plan, const Shard& shard,
            const std::vector<std::size_t>& places) {
  database.execute("UPDATE trial SET cell = -1 - cell");  // out of the way of the new numbers
  Statement move(database, "UPDATE trial SET cell = ?2 WHERE cell = -1 - ?1");
  for (std::size_t old = 0; old < places.size(); ++old) {
    move.bind(1, old).bind(2, places[old]).step();
    move.reset();
  }
  database.execute("DELETE FROM meta; DELETE FROM source; DELETE FROM cell");
  write_plan(database, plan, shard);
}

void check_origin(const std::string& path, const Results& stored, const Origin& origin) {
  if (stored.meta("shard") != to_string(origin.shard)) {
    const auto named = [](const std::string& shard) {
      return shard.empty() ? std::string("the whole plan") : "shard " + shard;
    };
    throw Error(fmt::format("'{}' was begun for {}, not for {}: choose another file with -o", path,
                            named(stored.meta("shard")), named(to_string(origin.shard))));
  }
  const auto versions = stored.code_versions();
  if (!origin.mixes_versions && std::ranges::find(versions, origin.code) == versions.end()) {
    throw Error(fmt::format("'{}' was begun by conclave {}, and this is {}: choose another file "
                            "with -o, or add --mix-versions to go on (every row keeps the version "
                            "that made it)",
                            path, join_parts(versions, ", "), origin.code));
  }
}

std::uint64_t code_id(const Database& database, const std::string& version) {
  Statement(database, "INSERT OR IGNORE INTO code (version) VALUES (?1)").bind(1, version).step();
  Statement find(database, "SELECT id FROM code WHERE version = ?1");
  find.bind(1, version).step();
  return find.number(0);
}

// Looking at it first makes SQLite roll back what was not committed: of a file whose creation was
// cut short, everything.
bool holds_something(const Database& database) {
  database.text("PRAGMA application_id");
  std::error_code missing;
  const std::uintmax_t bytes = std::filesystem::file_size(database.path(), missing);
  return !missing && bytes > 0;
}

}  // namespace

std::string difference(const Results& stored, const Plan& plan) {
  const auto& cells = stored.cells();
  for (std::size_t i = 0; i < std::min(cells.size(), plan.cells.size()); ++i) {
    const Cell& now = plan.cells[i];
    const Cell then{.run = cells[i].run, .words = cells[i].words, .sampling = cells[i].sampling};
    if (then.words != now.words) {
      return fmt::format("cell {} was {}, and is now {}", i, cell_text(then), cell_text(now));
    }
    if (then.sampling != now.sampling) {
      return fmt::format("of cell {} ({}) the sampling was {}, and is now {}", i, cell_text(now),
                         json_of(then.sampling), json_of(now.sampling));
    }
    if (cells[i].head != now.head) {
      return fmt::format("rows of cell {} began with {}, and now with {}", i, cells[i].head,
                         now.head);
    }
  }
  if (stored.texts() != plan.texts) return "a file that it names is another one";
  if (cells.size() != plan.cells.size()) {
    return fmt::format("it had {} cells, and has now {}", cells.size(), plan.cells.size());
  }
  return {};
}

Plan stored_plan(const Results& results) {
  Plan plan{.name = results.meta("name"), .text = results.meta("plan"), .texts = results.texts()};
  for (const StoredCell& cell : results.cells()) {
    plan.cells.push_back(
        {.run = cell.run, .words = cell.words, .sampling = cell.sampling, .head = cell.head});
  }
  return plan;
}

Store::Store(const std::string& path, const Plan& plan, const Origin& origin)
    : lock_(std::make_unique<FileLock>(path)) {
  std::vector<std::size_t> places;
  database_ = std::make_unique<Database>(path, Database::Access::create);
  const bool is_old = holds_something(*database_);
  int schema = 0;
  if (is_old) {
    schema = check_schema(*database_);
    std::string damage = database_->text("PRAGMA quick_check(1)");
    std::ranges::replace(damage, '\n', ' ');
    if (damage != "ok") {
      throw Error(damage_sentence(path, damage));
    }
    const Results stored(path);
    const std::string change = difference(stored, plan);
    if (!change.empty() && !origin.extends) {
      throw Error(fmt::format("the plan has changed since '{}' was begun: {}; choose another file "
                              "with -o, or change the plan back, or add --extend if there is only "
                              "more to do",
                              path, change));
    }
    check_origin(path, stored, origin);
    if (!change.empty()) places = places_in(plan, stored, path);
  }
  database_->execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA");
  Transaction transaction(*database_);
  is_new_ = !is_old;
  if (!is_old) {
    create_schema(*database_);
    write_plan(*database_, plan, origin.shard);
  }
  if (schema == 1) upgrade_schema(*database_);
  if (!places.empty()) extend(*database_, plan, origin.shard, places);
  code_ = code_id(*database_, origin.code);
  transaction.commit();
}

Store::~Store() = default;

void Store::add(std::size_t cell, std::uint64_t trial, std::string row) {
  waiting_.push_back({cell, trial, std::move(row)});
}

void Store::commit(bool waits) try {
  if (waiting_.empty()) return;
  database_->set_patience(waits ? std::chrono::minutes(10) : std::chrono::milliseconds(20));
  Transaction transaction(*database_);
  Statement insert(*database_, insert_row);
  for (const Waiting& each : waiting_) {
    insert.bind(1, each.cell).bind(2, each.trial).bind(3, code_).bind(4, each.row);
    insert.bind(5, checksum_of(each.row)).step();
    insert.reset();
  }
  transaction.commit();
  waiting_.clear();
} catch (const Busy&) {
  if (waits) throw;
}

void Store::give_up() try {
  commit();
  if (!is_new_ || database_->text("SELECT count(*) FROM trial") != "0") return;
  std::filesystem::remove(database_->path());
} catch (const std::exception&) {  // it is the failure before this one that is told
}

void Store::take_over(const std::function<void(const Results::TakeCodedRow&)>& give) {
  Transaction transaction(*database_);
  Statement insert(*database_, fmt::format("{} ON CONFLICT DO NOTHING", insert_row));
  Statement find(*database_, "SELECT row FROM trial WHERE cell = ?1 AND trial = ?2");
  const auto take = [&](const Results::CodedRow& each) {
    insert.bind(1, each.cell).bind(2, each.trial).bind(3, code_id(*database_, each.code));
    insert.bind(4, each.row).bind(5, checksum_of(each.row)).step();
    insert.reset();
    find.bind(1, each.cell).bind(2, each.trial).step();
    const bool is_same = find.text(0) == each.row;
    find.reset();
    if (is_same) return;
    throw Error(fmt::format("two rows of cell {}, trial {} differ: were they made by different "
                            "versions of conclave?",
                            each.cell, each.trial));
  };
  give(take);
  transaction.commit();
}

void Store::merge(const std::vector<Results>& parts) {
  take_over([&](const Results::TakeCodedRow& take) {
    for (const Results& part : parts) part.for_each(take);
  });
}

namespace {

Merged merged_in(const std::string& path) {
  const Results all(path);
  Merged merged{.rows = all.rows()};
  for (const CellProgress& cell : progress_of(all)) merged.missing += cell.missing;
  return merged;
}

}  // namespace

Merged merge(const std::vector<std::string>& inputs, const std::string& output) {
  std::vector<Results> parts;
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (std::filesystem::equivalent(input, output, missing)) {
      throw Error(fmt::format("'{}' is both a part and the file for all rows", input));
    }
    parts.emplace_back(input);
  }
  const Plan plan = stored_plan(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string change = difference(parts[i], plan);
    if (change.empty()) continue;
    throw Error(
        fmt::format("'{}' and '{}' are not of one plan: {}", inputs[i], inputs.front(), change));
  }
  {
    Store store(output, plan,
                {.code = parts.front().code_versions().front(), .mixes_versions = true});
    store.merge(parts);
  }
  return merged_in(output);
}

namespace {

// The first version that has written the file; `other` where its table of them is damaged.
std::string version_in(const Results& results, const std::string& other) try {
  const std::vector<std::string> versions = results.code_versions();
  return versions.empty() ? other : versions.front();
} catch (const detail::Corrupt&) {
  return other;
}

}  // namespace

Salvaged salvage(const std::string& input, const std::string& output, const std::string& code) {
  std::error_code problem;
  if (std::filesystem::symlink_status(output, problem).type() !=
      std::filesystem::file_type::not_found) {
    throw Error(fmt::format("'{}' is there already: name a new file for the rows", output));
  }
  const Results part(input, Results::Reading::salvage);
  const std::string shard = part.meta("shard");
  Salvaged result;
  {
    Store store(output, stored_plan(part),
                {.code = version_in(part, code),
                 .shard = shard.empty() ? Shard{} : parse_shard(shard),
                 .mixes_versions = true});
    store.take_over([&](const Results::TakeCodedRow& take) { result.lost = part.salvage(take); });
  }
  result.saved = merged_in(output);
  return result;
}

}  // namespace conclave::sweep
