#include "conclave/experiment/option_values.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"

namespace conclave::experiment {

void check_not_empty(std::string_view option, std::string_view text) {
  if (text.empty()) throw Error(fmt::format("{} needs a value, not an empty text", option));
}

Interactions count_option(std::string_view option, const std::string& text) {
  const std::optional<Interactions> count = parse_count(text);
  if (!count) {
    throw Error(
        fmt::format("{} takes a whole number such as 1000, 1e6 or 2^20, not '{}'", option, text));
  }
  return *count;
}

std::uint64_t count_option_64(std::string_view option, const std::string& text, std::uint64_t low,
                              std::uint64_t high) {
  const Interactions count = count_option(option, text);
  if (count < low || count > high) {
    throw Error(fmt::format("{} takes a number from {} to {}, not {}", option, low, high, text));
  }
  return *count.as_uint64();
}

double real_option(std::string_view option, const std::string& text) {
  const std::optional<double> value = parse_real(text);
  if (!value || *value < 0) {
    throw Error(fmt::format("{} takes a number such as 100 or 2.5e3, not '{}'", option, text));
  }
  return *value;
}

std::size_t size_option(std::string_view option, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 4> units{
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  constexpr std::uint64_t most = std::uint64_t{1} << 46;
  std::string digits = text;
  unsigned shift = 0;
  for (const auto& [unit, bits] : units) {
    if (!text.ends_with(unit)) continue;
    digits.resize(text.size() - unit.size());
    shift = bits;
  }
  const auto count = parse_count(digits);
  const auto size = count ? count->as_uint64() : std::nullopt;
  if (!size || *size == 0 || *size > (most >> shift)) {
    throw Error(fmt::format("{} takes a number of bytes up to 64 TiB, such as 4GiB, 512MiB or 1e9, "
                            "not '{}'",
                            option, excerpt(text)));
  }
  return static_cast<std::size_t>(*size << shift);
}

std::vector<std::string> list_option(std::string_view option, const std::string& text) {
  std::vector<std::string> values;
  for (const std::string_view part : split_parts(text, ',')) {
    if (part.empty()) {
      throw Error(fmt::format("{} takes values with a comma between them; one is empty in '{}'",
                              option, excerpt(text)));
    }
    values.emplace_back(part);
  }
  return values;
}

std::vector<catalog::Setting> param_options(const std::vector<std::string>& texts) {
  std::vector<catalog::Setting> result;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(fmt::format("--param takes NAME=VALUE, such as m=20, not '{}'", text));
    }
    result.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return result;
}

}  // namespace conclave::experiment
