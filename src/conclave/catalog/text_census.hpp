// The census of a protocol text as a table for PRISM.
#pragma once

#include <cstddef>
#include <optional>

#include "conclave/chain/export.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::catalog {

// From this start; the target is the stop condition. Nothing where PRISM could not read it: a
// random start, very many rules, weights beyond 31 bits.
std::optional<chain::TableProtocol> census_table(const text::Compiled& compiled, std::size_t start);

}  // namespace conclave::catalog
