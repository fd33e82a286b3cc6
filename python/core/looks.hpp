// The history of a simulation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/core/core.hpp"

namespace conclave::python {

// Censuses at times, by columns that appear when a state does: a table that Python sees without
// copying it. What has been shown is never written again. Lines are added behind it, and where
// there is no room for that, or the last line is to change, the table goes on elsewhere.
class Looks {
 public:
  Looks() = default;
  Looks(const Looks& other)
      : table_(std::make_shared<Table>(*other.table_)),
        columns_(other.columns_),
        places_(other.places_) {}
  Looks& operator=(Looks&&) = default;
  Looks(Looks&&) = default;
  ~Looks() = default;

  void add(double time, const std::vector<NamedCount>& census) {
    std::vector<std::pair<std::size_t, std::uint64_t>> cells;
    for (const NamedCount& each : census) cells.emplace_back(place_of(each.name), each.count);
    make_room();
    const std::size_t line = table_->counts.size();
    table_->times.push_back(time);
    table_->counts.resize(line + table_->width);
    for (const auto& [column, count] : cells) table_->counts[line + column] = count;
  }

  bool is_at(double time) const { return !table_->times.empty() && table_->times.back() == time; }
  void forget_last() {
    const std::size_t lines = table_->times.size() - 1;
    if (shown_ > lines) return go_on_elsewhere(lines, table_->width);
    table_->times.pop_back();
    table_->counts.resize(lines * table_->width);
  }

  // Columns, times and counts.
  py::tuple table() {
    const std::size_t lines = table_->times.size();
    shown_ = lines;
    Array<double> times{{table_, &table_->times}, lines};
    Array<std::uint64_t> counts{{table_, &table_->counts}, lines, columns_.size(), table_->width};
    times.is_shared = counts.is_shared = true;
    return py::make_tuple(columns_, std::move(times), std::move(counts));
  }

 private:
  // `width` numbers per line, of which the last may belong to no column yet.
  struct Table {
    std::size_t width = 8;
    std::vector<double> times;
    std::vector<std::uint64_t> counts;
  };

  std::size_t place_of(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, columns_.size());
    if (is_new) columns_.push_back(name);
    return place->second;
  }

  // For one more line.
  void make_room() {
    const std::size_t lines = table_->times.size();
    const bool is_wide_enough = columns_.size() <= table_->width;
    const bool is_long_enough = lines < table_->times.capacity() &&
                                (lines + 1) * table_->width <= table_->counts.capacity();
    if (is_wide_enough && is_long_enough) return;
    go_on_elsewhere(lines, is_wide_enough ? table_->width : 2 * columns_.size());
  }

  // With so many of the lines, and room for as many again.
  void go_on_elsewhere(std::size_t lines, std::size_t width) {
    const auto table = std::make_shared<Table>(Table{width, {}, {}});
    table->times.reserve(2 * lines + 16);
    table->counts.reserve((2 * lines + 16) * width);
    table->times.assign(table_->times.begin(),
                        table_->times.begin() + static_cast<std::ptrdiff_t>(lines));
    table->counts.resize(lines * width);
    for (std::size_t line = 0; line < lines; ++line) {
      std::copy_n(&table_->counts[line * table_->width], table_->width,
                  &table->counts[line * width]);
    }
    table_ = table;
    shown_ = 0;
  }

  std::shared_ptr<Table> table_ = std::make_shared<Table>();
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> places_;
  std::size_t shown_ = 0;  // lines of this table
};

}  // namespace conclave::python
