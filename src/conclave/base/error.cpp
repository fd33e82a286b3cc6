#include "conclave/base/error.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/base/printable.hpp"

namespace conclave {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> names) {
  constexpr std::size_t longest = 200;  // the time grows with the product of the lengths
  if (given.size() > longest) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 2) + 1;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(given, name);
    // A beginning of a name is as good as one wrong letter: "frat" means "fratricide".
    const bool is_prefix = given.size() >= 2 && name.starts_with(given);
    const std::size_t score = is_prefix ? std::min<std::size_t>(distance, 1) : distance;
    if (score < best_distance) {
      best = name;
      best_distance = score;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view given,
                         std::span<const std::string_view> names) {
  const std::string_view nearest = nearest_name(given, names);
  const std::string hint =
      nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
  const std::string text = fmt::format("unknown {} '{}'{}", kind, excerpt(given), hint);
  return names.empty() ? text : fmt::format("{}; known: {}", text, join_parts(names, ", "));
}

}  // namespace conclave
