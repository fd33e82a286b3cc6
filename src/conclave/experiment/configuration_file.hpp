// Configurations as files, so that a run can be continued or branched: CSV with the columns state
// and count, one line per run of equal agents in their order (on the complete graph, where the
// order does not matter, one line per state), and a column trial before them where there are
// several.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

std::string configuration_header(bool has_trials);
std::string configuration_lines(std::uint64_t trial, bool has_trials,
                                const std::vector<NamedCount>& agents);

// Reads a file of one trial, which may come from a stranger: at most 256 MiB. States are names
// here; the protocol says later whether it has them. Throws Error with the place of what is wrong.
std::shared_ptr<const catalog::GivenStart> read_configuration(const std::string& path);

// How many agents it has.
Interactions agents_in(const catalog::GivenStart& start);

}  // namespace conclave::experiment
