#include "conclave/sweep/shard.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"

namespace conclave::sweep {

Shard parse_shard(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto index = parse_count(std::string_view(text).substr(0, slash));
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : parse_count(std::string_view(text).substr(slash + 1));
  if (!index || !count || *count < 1u || *count > 1'000'000u || *index > *count) {
    throw Error(fmt::format("--shard takes PART/PARTS, such as 1/3, 2/3 and 3/3, not '{}'", text));
  }
  return {*(*index % *count).as_uint64(), *count->as_uint64()};
}

std::string to_string(const Shard& shard) {
  if (shard.count == 1) return {};
  return fmt::format("{}/{}", shard.index == 0 ? shard.count : shard.index, shard.count);
}

}  // namespace conclave::sweep
