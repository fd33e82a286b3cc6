// A stable counting sort, in the form in which sparse matrices need it: items are visited twice,
// first to count them per key, then to be put into their places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace conclave::chain::detail {

// for_each(visit) calls visit(key, item...) for every item, twice in the same order, with
// key < keys. Calls place(position, item...) once for each and returns, per key, where its
// positions begin; one entry more at the end is the number of items. O(keys + items).
template <class ForEach, class Place>
std::vector<std::uint64_t> counting_sort(std::size_t keys, const ForEach& for_each,
                                         const Place& place) {
  std::vector<std::uint64_t> starts(keys + 1, 0);
  for_each([&](std::size_t key, const auto&...) { ++starts[key + 1]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
  for_each([&](std::size_t key, const auto&... item) { place(next[key]++, item...); });
  return starts;
}

}  // namespace conclave::chain::detail
