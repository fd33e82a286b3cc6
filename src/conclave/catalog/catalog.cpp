#include "conclave/catalog/catalog.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/population/trial.hpp"
#include "conclave/text/protocol_text.hpp"

namespace conclave::catalog {

std::vector<Entry> all_entries();  // generated from the protocol folder

TrialResult PreparedRun::run(std::uint64_t trial, Workspace& workspace,
                             const KeepGoing& keep_going) const {
  try {
    const StreamName name{.seed = seed(), .trial = trial};
    auto engine = engine_at_start(name, workspace, keep_going);
    auto clock = clock_for(*engine, name);
    population::Trial begun(std::move(engine), plan(), std::move(clock));
    begun.advance_to_end(keep_going);
    return std::move(begun).result();
  } catch (const Interrupted&) {  // before its first interaction
    return {.ending = Ending::interrupted};
  }
}

std::unique_ptr<population::Trial> PreparedRun::begin(const StreamName& name, Workspace& workspace,
                                                      const KeepGoing& keep_going) const {
  auto engine = engine_at_start(name, workspace, keep_going);
  if (!engine) return nullptr;
  auto clock = clock_for(*engine, name);
  return std::make_unique<population::Trial>(std::move(engine), plan(), std::move(clock));
}

std::unique_ptr<Clock> PreparedRun::clock_for(population::TrialEngine& engine,
                                              const StreamName& name) const {
  auto clock = engine.own_clock();
  return clock ? std::move(clock) : clock_of(name);
}

std::unique_ptr<population::TrialEngine> PreparedRun::engine_at_start(const StreamName&, Workspace&,
                                                                      const KeepGoing&) const {
  return nullptr;
}

double PreparedRun::state_bits() const { return std::log2(state_count().as_double()); }

void PreparedRun::check_fault(const Fault&) const {
  throw Error(fmt::format("{} does not support fault injection", protocol()));
}

std::span<const Entry> entries() {
  static const std::vector<Entry> sorted = [] {
    std::vector<Entry> all = all_entries();
    for (Entry& entry : electleader_entries()) all.push_back(std::move(entry));
    std::ranges::sort(all, {}, [](const Entry& entry) { return entry.info.name; });
    return all;
  }();
  return sorted;
}

Entry find(std::string_view name) {
  if (text::ProtocolText::is_path(name)) return text_entry(std::string(name));
  std::vector<std::string_view> names;
  for (const Entry& entry : entries()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  throw Error(unknown_name("protocol", name, names));
}

std::string file_of(std::string_view protocol) {
  return text::ProtocolText::is_path(protocol) ? std::string(protocol) : std::string();
}

AgentCount checked_population(Interactions n) {
  if (n < 2u) {
    throw Error(fmt::format("n = {}: a population has at least 2 agents", to_string(n)));
  }
  if (n > most_agents) {
    throw Error(fmt::format("n = {} is too large: at most 2^62 = {} agents are allowed",
                            to_string(n), to_string(most_agents)));
  }
  return *n.as_uint64();
}

void refuse_network_options(const RunRequest& request, std::string_view protocol) {
  const NetworkRequest& asked = request.network;
  const std::array<std::pair<std::string_view, bool>, 4> options{
      {{"--delay", !asked.delay.empty()},
       {"--wakeup", !asked.wakeup.empty()},
       {"--ids", !asked.ids.empty()},
       {"--count-edges", asked.counts_edges}}};
  for (const auto& [name, is_given] : options) {
    if (!is_given) continue;
    throw Error(
        fmt::format("{} is for message passing, and {} is a population protocol", name, protocol));
  }
}

}  // namespace conclave::catalog
