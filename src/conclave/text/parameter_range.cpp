#include "conclave/text/parameter_range.hpp"

#include <cstdint>

namespace conclave::text {
namespace {

constexpr Number most_parameter(std::int64_t{1} << 62);

}  // namespace

ParameterRange range_of(const ParameterText& parameter, Resolver& resolver) {
  ParameterRange range{.low = parameter.low ? resolver.constant(*parameter.low) : Number(0),
                       .high = parameter.high ? resolver.constant(*parameter.high) : most_parameter,
                       .fallback = resolver.constant(parameter.fallback)};
  range.is_whole = range.fallback.is_whole() && range.low.is_whole() && range.high.is_whole() &&
                   !parameter.has_decimals();
  return range;
}

bool takes_decimals(const Document& document, std::string_view name, Constants known) try {
  Resolver resolver(document, known);
  for (const ParameterText& each : document.parameters) {
    const ParameterRange range = range_of(each, resolver);
    if (each.name.text == name) return !range.is_whole;
    known.try_emplace(each.name.text, range.fallback);
  }
  return false;
} catch (const Mistake&) {
  return false;
} catch (const NumberError&) {
  return false;
}

}  // namespace conclave::text
