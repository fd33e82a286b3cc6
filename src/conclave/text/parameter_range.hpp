// Which numbers a parameter of a text may be.
#pragma once

#include <string_view>

#include "conclave/text/arithmetic.hpp"
#include "conclave/text/number.hpp"
#include "conclave/text/resolver.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

struct ParameterRange {
  Number low;
  Number high;
  Number fallback;
  // A parameter is a whole number unless its default or its range is written with a fraction.
  bool is_whole = true;
};

// The resolver knows n and the parameters before this one. Throws Mistake and NumberError.
ParameterRange range_of(const ParameterText& parameter, Resolver& resolver);

// Whether the parameter of this name may be a fraction. Parameters before it that are not `known`
// have their defaults. False where there is no such parameter, or its range makes no sense.
bool takes_decimals(const Document& document, std::string_view name, Constants known);

}  // namespace conclave::text
