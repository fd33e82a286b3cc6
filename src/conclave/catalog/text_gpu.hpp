// Protocol files on engine gpu: their transitions, starts and conditions as tables.
#pragma once

#include <memory>

#include "conclave/catalog/catalog.hpp"
#include "conclave/gpu/table_protocol.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::catalog {

// The tables of a file and one of its starts. Throws Error for files that engine gpu does not
// support: states without a table of transitions, conditions that need more than whole-number
// counts, observables that need the configuration.
gpu::Tables tables_of(const text::Compiled& compiled, std::size_t start);

// The run of a file on engine gpu, `agents` being that on engine agents; `start` is the number of
// its start. Throws Error as above, and where there is no device.
std::unique_ptr<const PreparedRun> text_on_gpu(std::unique_ptr<const PreparedRun> agents,
                                               std::shared_ptr<const text::Compiled> compiled,
                                               std::size_t start, unsigned device);

}  // namespace conclave::catalog
