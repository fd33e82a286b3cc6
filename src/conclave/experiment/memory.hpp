// How many trials fit into the machine's memory at once.
#pragma once

#include <cstdint>
#include <optional>

#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

// Bytes that new allocations may use without swapping, as the system estimates it.
std::uint64_t available_memory();

// The number of worker threads: the requested number, or one per processor but no more than there
// are trials or than `memory` (in bytes) allows. Throws Error if the trials of the requested
// threads, or a single trial, do not fit into memory.
unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked, std::uint64_t memory);
// The same with the memory of this machine, which is asked for only where trials need much.
unsigned worker_count(const catalog::PreparedRun& run, std::uint64_t trials,
                      std::optional<unsigned> asked);

}  // namespace conclave::experiment
