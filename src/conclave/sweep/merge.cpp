#include "conclave/sweep/merge.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/sweep/results.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/store.hpp"

namespace conclave::sweep {
namespace {

std::uint64_t missing_rows(const Plan& plan, const Results& results) {
  const Schedule schedule(plan, {}, results, UINT64_MAX);
  std::uint64_t missing = 0;
  for (std::size_t cell = 0; cell < schedule.cells(); ++cell) missing += schedule.left(cell);
  return missing;
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
  const Results all(output);
  return {.rows = all.rows(), .missing = missing_rows(plan, all)};
}

}  // namespace conclave::sweep
