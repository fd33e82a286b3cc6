#include "conclave/experiment/option_values.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"

namespace conclave::experiment {
namespace {

constexpr std::array<std::string_view, 4> kinds{"corrupt", "zero", "kill-leaders", "make-leaders"};
constexpr std::string_view usage =
    "WHAT@TIME, such as corrupt:50%@200, make-leaders:3@10 or kill-leaders@convergence+5";

double positive(std::string_view text, const std::string& fault) {
  const auto value = parse_real(text);
  if (value && *value >= 0) return *value;
  throw Error(fmt::format("--fault takes {}; '{}' in '{}' is not a number", usage, text, fault));
}

void parse_time(std::string_view text, Fault& fault) {
  constexpr std::string_view convergence = "convergence";
  if (text.starts_with(convergence)) {
    fault.after_convergence = true;
    text.remove_prefix(convergence.size());
    if (text.empty()) return;
    if (text.front() != '+') {
      throw Error(fmt::format("--fault takes {}, not '{}'", usage, fault.text));
    }
    text.remove_prefix(1);
  }
  fault.parallel_time = positive(text, fault.text);
}

void parse_amount(std::string_view text, Fault& fault) {
  if (text.starts_with('#')) {
    const auto agent = parse_count(text.substr(1));
    fault.agent = agent ? agent->as_uint64() : std::nullopt;
    if (fault.agent) return;
    throw Error(
        fmt::format("--fault {}: after # comes the number of an agent, from 0", fault.text));
  }
  fault.is_percentage = text.ends_with('%');
  if (fault.is_percentage) text.remove_suffix(1);
  fault.amount = positive(text, fault.text);
  if (fault.is_percentage && fault.amount > 100) {
    throw Error(fmt::format("--fault {}: at most 100% of the agents can be hit", fault.text));
  }
  if (!fault.is_percentage && fault.amount != std::floor(fault.amount)) {
    throw Error(fmt::format("--fault {}: a number of agents is a whole number", fault.text));
  }
}

}  // namespace

void check_not_empty(std::string_view option, std::string_view text) {
  if (text.empty()) throw Error(fmt::format("{} needs a value, not an empty string", option));
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

Fault parse_fault(const std::string& text) {
  Fault fault;
  fault.text = text;
  const std::size_t at = text.find('@');
  if (at == std::string::npos) {
    throw Error(fmt::format("--fault takes {}, not '{}'", usage, text));
  }
  const std::string_view what = std::string_view(text).substr(0, at);
  const std::size_t colon = what.find(':');
  const std::string_view name = what.substr(0, colon);
  const auto kind = std::ranges::find(kinds, name) - kinds.begin();
  if (kind == std::ssize(kinds)) throw Error(unknown_name("fault", name, kinds));
  fault.kind = static_cast<FaultKind>(kind);
  const bool needs_amount = fault.kind != FaultKind::kill_leaders;
  if (needs_amount != (colon != std::string_view::npos)) {
    throw Error(fmt::format("--fault {} {}", text,
                            needs_amount ? "lacks how many agents, as in corrupt:10 or corrupt:50%"
                                         : "kills all leaders and takes no number"));
  }
  if (needs_amount) parse_amount(what.substr(colon + 1), fault);
  parse_time(std::string_view(text).substr(at + 1), fault);
  return fault;
}

TraceGrid parse_grid(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = std::string_view(text).substr(0, colon);
  constexpr std::array<std::string_view, 2> grids{"log", "linear"};
  if (std::ranges::find(grids, name) == grids.end()) throw Error(unknown_name("grid", name, grids));
  TraceGrid grid{.is_logarithmic = name == "log", .step = name == "log" ? 1.12 : 1};
  if (colon == std::string::npos) return grid;
  const auto step = parse_real(std::string_view(text).substr(colon + 1));
  if (!step || !(*step > (grid.is_logarithmic ? 1 : 0))) {
    throw Error(
        fmt::format("--trace-grid takes log:FACTOR with a factor above 1 or linear:STEP with "
                    "a positive step of parallel time, not '{}'",
                    text));
  }
  grid.step = *step;
  return grid;
}

TraceGrid grid_of(const std::string& every, Interactions n) {
  const auto step = parse_fraction(every);
  if (!step || step->numerator == 0u) {
    throw Error(
        fmt::format("--every takes a parallel time such as 1 or 0.25, not '{}'", excerpt(every)));
  }
  if (n > 0u && step->numerator < Interactions::max() / n &&
      step->numerator * n < step->denominator) {
    throw Error(fmt::format("--every {} is less than one interaction, 1/{} of parallel time",
                            excerpt(every), to_string(n)));
  }
  return {.is_logarithmic = false, .step = step->as_double(), .every = *step};
}

}  // namespace conclave::experiment
