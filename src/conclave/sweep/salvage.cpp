// Reading what is left of a damaged file of results.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/sweep/detail/sqlite.hpp"
#include "conclave/sweep/results.hpp"

namespace conclave::sweep {

using detail::Corrupt;
using detail::Statement;

// Reads what is left of the rows of one cell. Where a page is damaged, SQLite ends a search: so the
// trials are approached from below and from above, and what lies between is halved, until nothing
// is left but trials that cannot be reached from anywhere.
class Results::Salvage {
 public:
  Salvage(const Results& results, std::size_t cell, const TakeCodedRow& take)
      : results_(results), cell_(cell), take_(take) {
    for (const char* const order : {"ASC", "DESC"}) {
      scans_.emplace_back(*results.database_,
                          fmt::format("SELECT {} FROM trial WHERE cell = ?1 AND trial >= ?2 AND"
                                      " trial < ?3 ORDER BY trial {}",
                                      results.row_columns_, order));
    }
  }

  // Returns whether all pages could be read; `lost` gets a sentence for each damaged row.
  bool read(std::vector<std::string>& lost) {
    bool is_whole = true;
    std::vector<Range> left{{0, results_.cells_[cell_].sampling.trials}};
    for (std::size_t searches = 0; !left.empty() && searches < most_searches; ++searches) {
      Range range = left.back();
      left.pop_back();
      if (scan(Direction::up, range, lost)) continue;
      is_whole = false;
      if (scan(Direction::down, range, lost) || range.end - range.begin < 2) continue;
      const std::uint64_t middle = range.begin + (range.end - range.begin) / 2;
      left.push_back({middle, range.end});
      left.push_back({range.begin, middle});
    }
    return is_whole;
  }

 private:
  enum class Direction : std::uint8_t { up, down };
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };
  static constexpr std::size_t most_searches = 500'000;  // some seconds

  // Takes the rows at one end off the range. Returns whether it came to the other end.
  bool scan(Direction direction, Range& range, std::vector<std::string>& lost) {
    Statement& statement = scans_[direction == Direction::up ? 0 : 1];
    try {
      statement.bind(1, cell_).bind(2, range.begin).bind(3, range.end);
      while (statement.step()) {
        StoredRow stored = results_.read_row(statement);
        const bool is_inside = stored.trial >= range.begin && stored.trial < range.end;
        if (stored.cell != cell_ || !is_inside) break;  // pages out of order
        (direction == Direction::up ? range.begin : range.end) =
            stored.trial + (direction == Direction::up ? 1 : 0);
        std::string damage = results_.deep_damage_of(stored);
        if (damage.empty()) {
          take_({stored.cell, stored.trial, std::move(stored.version), std::move(stored.row)});
        } else {
          lost.push_back(std::move(damage));
        }
      }
      const bool is_done = statement.is_done();
      statement.reset();
      return is_done;
    } catch (const Corrupt&) {
      statement.reset();
      return false;
    }
  }

  const Results& results_;
  std::size_t cell_;
  const TakeCodedRow& take_;
  std::vector<Statement> scans_;
};

std::vector<std::string> Results::salvage(const TakeCodedRow& take) const {
  std::vector<std::string> lost;
  for (const StoredCell& cell : cells_) {
    if (Salvage(*this, cell.id, take).read(lost)) continue;
    lost.push_back(fmt::format("cell {}: pages of it cannot be read", cell.id));
  }
  return lost;
}

}  // namespace conclave::sweep
