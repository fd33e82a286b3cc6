// The tables in which papers compare themselves with others: what each row promises, and what comes
// of it where its algorithm is in the catalog. A row whose algorithm is not available says so.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_text.hpp"

namespace conclave::experiment {

// The quantity that a table's promises are about.
enum class TableUnit : std::uint8_t { parallel_time, interactions, messages };

// One row as the paper has it. `promised` has as many entries as the table has headings.
struct PromisedRow {
  std::string_view work;  // authors and year
  std::array<std::string_view, 3> promised;
  std::string_view protocol{};   // of the catalog; empty: cannot be run
  std::string_view obstacle{};   // then: why, unless it is that we have no text
  std::string_view parameter{};  // "r=1"; the value n/2 stands for half of n

  // Why the row cannot be run; empty where it can.
  constexpr std::string_view reason() const {
    return protocol.empty() && obstacle.empty() ? "paper not available to us" : obstacle;
  }
};

struct PaperTable {
  std::string_view name;   // of the protocol whose paper it is
  std::string_view title;  // what is compared, and where the table stands
  TableUnit unit;
  std::array<std::string_view, 3> headings;
  std::span<const PromisedRow> rows;
  std::string_view sizes;  // measured within some seconds, as "100,1000"
};

// Throws Error, with the nearest name, for an unknown one.
const PaperTable& find_paper_table(std::string_view name);

// A request for a table: the sizes, and the options of all runs without protocol and size; an empty
// option is each protocol's own choice.
struct TableRequest {
  std::vector<std::string> sizes;
  std::uint64_t trials = 1;
  RunText words{};
};

// A row of the table at one size. Where `refusal` is not empty, nothing was measured.
struct MeasuredRow {
  const PromisedRow* row = nullptr;
  std::string refusal{};
  Interactions n{};
  std::string_view source{};  // how the algorithm is known: read, second-hand, reconstructed
  std::string_view start{};
  Interactions states{};  // per agent; 0 where there is no such number
  std::uint64_t trials = 0;
  std::uint64_t converged = 0;
  Summary amount{};  // of the table's unit, over the trials that converged; messages per node
  Summary time{};    // messages only: units or rounds
};

// Every row at every size, size by size. Deterministic. Rows that cannot be run appear once per
// size, with the reason. Throws Error if no row can be run as asked. Stops early, with the rows so
// far, when `stop` becomes true.
std::vector<MeasuredRow> measure_table(const PaperTable& table, const TableRequest& request,
                                       const std::atomic<bool>& stop);

// The same trials as a plan for `conclave sweep`, in TOML: one [[run]] for each row that can be
// run, in the order of the rows, at the sizes that its protocol takes; for the others a comment
// says why not. Its name is table_plan_name, by which a report recognizes it. Throws Error if no
// row can be run as asked.
std::string plan_of(const PaperTable& table, const TableRequest& request);
std::string table_plan_name(const PaperTable& table);

// How the algorithm of a row is known; empty if it is not in the catalog.
std::string_view source_of(const PromisedRow& row);

// The table whose plan has this name; null if there is none.
const PaperTable* table_of_plan(std::string_view plan_name);

}  // namespace conclave::experiment
