// The subjects of `conclave bench` with the sizes they allow. The command
// line checks a request against this list and hands it to `conclave-bench`, the program that has
// the engines of the benchmarks; so the main program is built without them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace conclave::bench {

struct Subject {
  std::string_view name;
  std::uint64_t smallest = 0;  // n; both 0: the subject has sizes of its own
  std::uint64_t largest = 0;
};

inline constexpr std::array subjects{
    Subject{"agents", 1000, 0xffffffffu},
    Subject{"all"},
    Subject{"counts", 1000, std::uint64_t{1} << 62},
    Subject{"electleader", 16, 10'000},
    Subject{"exact", 1000, 100'000'000},
    Subject{"network", 1000, 20'000'000},
    Subject{"pairing"},
    Subject{"reactions", 1000, std::uint64_t{1} << 40},
    Subject{"texts"},
};

// The workloads of subject counts, in the order of its table.
inline constexpr std::array<std::string_view, 10> counts_workloads{
    "epidemic",   "majority", "fratricide", "table-10",   "table-100",
    "table-1000", "clock-10", "clock-100",  "clock-1000", "pll"};

}  // namespace conclave::bench
