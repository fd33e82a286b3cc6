// Protocol files on engine gpu: their transitions, starts and conditions as tables.
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/gpu/table_protocol.hpp"
#include "conclave/text/condition_tally.hpp"
#include "conclave/text/program.hpp"

namespace conclave::catalog {
namespace {

using gpu::Tables;

[[noreturn]] void refuse(const text::Compiled& compiled, const char* reason) {
  throw Error(fmt::format("engine gpu does not run {}: {}; use engine agents, whose trials it runs",
                          compiled.text().name(), reason));
}

Tables::Code code_of(const text::Compiled& compiled, const text::Node& condition) {
  const text::Program program({condition}, {1}, compiled.space(), compiled.agents());
  if (program.is_complete()) return program.code();
  refuse(compiled, "its conditions need more than whole numbers of 64 bits");
}

void check(const text::Compiled& compiled) {
  if (compiled.is_network()) refuse(compiled, "networks of reactions have a clock of their own");
  if (!compiled.transitions().has_table()) {
    refuse(compiled, "it has too many states for a table of its transitions");
  }
  if (compiled.follows_states()) {
    refuse(compiled, "its conditions speak of silence, or of sums, minima or maxima over the "
                     "agents, or count more than eight sets");
  }
  if (compiled.observes_census()) {
    refuse(compiled, "its observables need the whole configuration: silence, or sums, minima or "
                     "maxima over the agents");
  }
}

void add_start(Tables& tables, const text::CompiledStart& start) {
  if (start.is_random) return;
  for (std::size_t i = 0; i < start.census.size(); ++i) {
    tables.start_ends.push_back(start.ends[i]);
    tables.start_states.push_back(static_cast<std::uint32_t>(start.census[i].first));
  }
}

// Reactions on which chance decides, in the order in which the table names them.
void add_entries(Tables& tables, const text::Transitions& transitions) {
  const auto* const table = transitions.table();
  for (std::size_t i = 0; i < std::size_t{tables.states} * tables.states; ++i) {
    if (table[i].is_certain()) {
      tables.entries.push_back(table[i].word);
      continue;
    }
    const text::Reaction& reaction = transitions.random_reaction(table[i]);
    tables.entries.push_back(1u << 31 | static_cast<std::uint32_t>(tables.reactions.size()));
    tables.reactions.push_back({static_cast<std::uint32_t>(tables.outcomes.size()),
                                static_cast<std::uint32_t>(reaction.outcomes.size()),
                                reaction.total});
    for (const text::Outcome& each : reaction.outcomes) {
      tables.outcomes.push_back(
          {static_cast<std::uint32_t>(each.u), static_cast<std::uint32_t>(each.v), each.weight});
    }
  }
}

// The protocol for engine gpu, with all that it refers to.
template <class Word>
struct Owned {
  Owned(Tables made) : tables(std::move(made)), protocol(tables) {}
  Tables tables;
  gpu::TableProtocol<Word> protocol;
};

// The protocol alone, in the ownership of all.
template <class Word>
std::shared_ptr<const void> owned(Tables tables) {
  const auto all = std::make_shared<const Owned<Word>>(std::move(tables));
  return {all, &all->protocol};
}

}  // namespace

gpu::Tables tables_of(const text::Compiled& compiled, std::size_t start) {
  check(compiled);
  Tables tables{.states = static_cast<std::uint32_t>(compiled.space().size())};
  add_entries(tables, compiled.transitions());
  tables.words.assign(compiled.counting_steps(), compiled.counting_steps() + tables.states);
  add_start(tables, compiled.starts()[start]);
  tables.stop = code_of(compiled, compiled.stop());
  if (compiled.fail()) tables.fail = code_of(compiled, *compiled.fail());
  return tables;
}

std::unique_ptr<const PreparedRun> text_on_gpu(std::unique_ptr<const PreparedRun> agents,
                                               std::shared_ptr<const text::Compiled> compiled,
                                               std::size_t start, unsigned device) {
  Tables tables = tables_of(*compiled, start);
  const bool is_small = tables.states <= 1u << 8;
  DeviceRun run{.protocol = is_small ? owned<std::uint8_t>(std::move(tables))
                                     : owned<std::uint16_t>(std::move(tables)),
                .make = is_small ? gpu::engine_of_table_8 : gpu::engine_of_table_16,
                .device = device};
  run.finish = [compiled = std::move(compiled)](TrialResult& result) {
    std::vector<AgentCount> counts;
    for (const Observation& each : result.observations) {
      counts.push_back(std::get<std::uint64_t>(each.value));
    }
    result.observations = text::ConditionTally::observations_of(*compiled, counts);
  };
  return on_gpu(std::move(agents), std::move(run));
}

}  // namespace conclave::catalog
