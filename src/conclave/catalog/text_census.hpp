// The census of a protocol file as a table for PRISM.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "conclave/chain/export.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::catalog {

// From this start; the target is the stop condition. Nothing if PRISM could not read it: a random
// start, very many rules, weights beyond 31 bits.
std::optional<chain::TableProtocol> census_table(const text::Compiled& compiled, std::size_t start);

// A network of reactions as a continuous-time chain in PRISM's language, from this start, which is
// not a random one: a variable per species, a command per reaction with its propensity, the label
// "target" for the stop condition and a reward of 1 per unit of time. Throws Error if the file
// cannot be written.
void write_network(const text::Compiled& compiled, std::size_t start, const std::string& path);

}  // namespace conclave::catalog
