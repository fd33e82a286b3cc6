// The catalog entry of a protocol file.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/catalog/catalog.hpp"
#include "conclave/text/compiled.hpp"

namespace conclave::chain {
struct TableProtocol;
}

namespace conclave::gpu {
struct Tables;
}

namespace conclave::catalog {

// Throws Error if the file cannot be read or makes no sense.
Entry text_entry(const std::string& path);

// The files that `find` reads for this name: of a file its own and those that it imports; none for
// a listed protocol, and for a path that is no plain file. Throws Error as `find` does.
std::vector<std::string> files_of(std::string_view protocol);

// The bytes in which an agent of this file is stored: 1, 2 or 8. States with a table of transitions
// are small; others have a word of their own.
std::size_t bytes_per_state(const text::Compiled& compiled);

// The run of a file on an engine of the processor, with states of that width. Throws Error if the
// request makes no sense. The run keeps `compiled` alive.
std::unique_ptr<const PreparedRun> prepare_text(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled);

// The run of a network whose molecules are born or die (open_run.cpp). Throws Error if the request
// makes no sense.
std::unique_ptr<const PreparedRun> prepare_open(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled);

// The command that shows, with the fewest agents, that the stop condition of a file may hold and
// then end, from this start; empty where populations of up to six agents do not show it.
std::string undone_command(const text::Compiled& compiled, const std::vector<Setting>& settings,
                           const std::string& start);

// Whether the file computes what it says, on the complete graph of its agents: a claim for each of
// its computations. Throws Error where there are too many configurations.
std::vector<exact::ClaimReport> computations_of(const text::Compiled& file,
                                                const ProgressCallback& progress);

// See PreparedRun::violation.
std::string violation_of(const text::Compiled& compiled, std::uint64_t trial,
                         const TrialResult& result);

// The parameters as a file takes them.
std::vector<text::Given> given_of(const std::vector<Setting>& settings);

// The census as a table for PRISM, from this start; the target is the stop condition. Nothing if
// PRISM could not read it: a random start, very many rules, weights beyond 31 bits.
std::optional<chain::TableProtocol> census_table(const text::Compiled& compiled, std::size_t start);

// A network of reactions as a continuous-time chain in PRISM's language, from this start, which is
// not a random one: a variable per species, a command per reaction with its propensity, the label
// "target" for the stop condition and a reward of 1 per unit of time. Throws Error if the file
// cannot be written.
void write_network(const text::Compiled& compiled, std::size_t start, const std::string& path);

// The tables of a file and one of its starts. Throws Error for files that engine gpu does not
// support: states without a table of transitions, conditions that need more than whole-number
// counts, observables that need the configuration.
gpu::Tables tables_of(const text::Compiled& compiled, std::size_t start);

// The run of a file on engine gpu, `agents` being that on engine agents; `start` is the number of
// its start. Throws Error as above, and where there is no device.
std::unique_ptr<const PreparedRun> text_on_gpu(std::unique_ptr<const PreparedRun> agents,
                                               std::shared_ptr<const text::Compiled> compiled,
                                               std::size_t start, unsigned device);

// The parameters in effect.
std::vector<ParameterValue> text_parameters(const text::Compiled& compiled);

}  // namespace conclave::catalog
