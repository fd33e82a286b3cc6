// A space-time diagram of a cluster, for people: a column per process, time runs
// down, messages are arrows at the moment of their arrival.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "election/member.hpp"

namespace conclave::election::testing {

class SpaceTime {
 public:
  // Keeps the newest rows only.
  explicit SpaceTime(std::size_t most_rows = 120) : most_rows_(most_rows) {}

  void add(Instant at, MemberIndex who, std::string_view what) {
    std::string row(begin_of(who), ' ');
    row += '*';
    row += what;
    keep(at, row);
  }

  void add(Instant at, MemberIndex from, MemberIndex to, std::string_view what) {
    const auto [left, right] = std::minmax(from, to);
    std::string row(begin_of(left), ' ');
    std::string arrow(std::max(begin_of(right) - begin_of(left), std::size_t{2}) + 1, '-');
    arrow.front() = from < to ? '+' : '<';
    arrow.back() = from < to ? '>' : '+';
    const std::string_view label = what.substr(0, arrow.size() > 4 ? arrow.size() - 4 : 0);
    arrow.replace(2, label.size(), label);
    keep(at, row + arrow);
  }

  std::string text() const {
    std::string result;
    for (const std::string& row : rows_) result += row + "\n";
    return result;
  }

 private:
  static constexpr std::size_t width = 18;
  static std::size_t begin_of(MemberIndex who) { return who * width; }
  void keep(Instant at, const std::string& row) {
    rows_.push_back(fmt::format("{:9.4f} s  {}", std::chrono::duration<double>(at).count(), row));
    if (rows_.size() > most_rows_) rows_.pop_front();
  }

  std::size_t most_rows_;
  std::deque<std::string> rows_;
};

}  // namespace conclave::election::testing
