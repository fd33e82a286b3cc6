// Prepares the runs of compiled protocol files. A source of its own, because each width of a state
// instantiates all engines.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/join_parts.hpp"
#include "conclave/catalog/make_entry.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave::catalog {
namespace {

// Not looked at on graphs, where a census does not say who may interact.
std::function<std::string()> undone_of(const RunRequest& request,
                                       const std::shared_ptr<const text::Compiled>& compiled) {
  if (request.digraph || request.given || compiled->lasting()) return {};
  const bool holds = std::ranges::any_of(request.settings, [](const Setting& each) {
    return each.name == "hold" && each.value != "0";
  });
  if (holds) return {};  // such trials go on
  return [compiled, settings = request.settings, start = request.start] {
    return undone_command(*compiled, settings, start);
  };
}

std::function<std::string(std::uint64_t, const TrialResult&)> violation_in(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  if (!request.plan.checks) return {};
  return [compiled](std::uint64_t trial, const TrialResult& result) {
    return violation_of(*compiled, trial, result);
  };
}

template <class Word>
std::unique_ptr<const PreparedRun> prepare_width(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  using Protocol = text::TextProtocol<Word>;
  static_assert(PopulationProtocol<Protocol> && TallyOf<typename Protocol::Tally, Protocol>);
  static_assert(Corruptible<Protocol> && NamesCensus<Protocol>);
  const text::ProtocolText& text = compiled->text();
  ProtocolInfo info{};
  info.name = text.name();
  info.observables = compiled->listed_observables();
  return prepared(request,
                  Subject<Protocol>{.protocol = Protocol(*compiled),
                                    .labels = {.info = info,
                                               .starts = text.starts(),
                                               .parameters = text_parameters(*compiled),
                                               .source_hash = text.hash(),
                                               .warnings = compiled->warnings(),
                                               .undone = undone_of(request, compiled),
                                               .violation = violation_in(request, compiled),
                                               .owner = compiled}});
}

}  // namespace

std::string violation_of(const text::Compiled& compiled, std::uint64_t trial,
                         const TrialResult& result) {
  std::map<text::StateIndex, AgentCount> counts;
  for (const NamedCount& each : result.final_agents) {
    counts[compiled.space().state_named(each.name).value()] += each.count;
  }
  const text::ConditionTally::States census(counts.begin(), counts.end());
  const auto& properties = compiled.text().document().properties;
  for (std::size_t i = 0; i < properties.size(); ++i) {
    if (text::holds_in(compiled, compiled.properties()[i], census)) continue;
    std::vector<std::string> parts;
    for (const auto& [state, count] : census) {
      parts.push_back(fmt::format("{} of {}", count, compiled.space().name(state)));
    }
    const std::string placed = compiled.text().placed(
        properties[i].condition.place,
        fmt::format("always {} fails in trial {} after {} interactions: {}", properties[i].text,
                    trial, to_string(result.interactions), join_parts(parts, ", ")));
    return placed.substr(0, placed.find('\n'));
  }
  return {};
}

std::unique_ptr<const PreparedRun> prepare_text(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  if (compiled->is_open()) return prepare_open(request, compiled);
  const std::size_t bytes = bytes_per_state(*compiled);
  if (bytes == 1) return prepare_width<std::uint8_t>(request, compiled);
  if (bytes == 2) return prepare_width<std::uint16_t>(request, compiled);
  return prepare_width<std::uint64_t>(request, compiled);
}

}  // namespace conclave::catalog
