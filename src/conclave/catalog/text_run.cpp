// Prepares the runs of compiled protocol files. A source of its own, because each width of a state
// instantiates all engines.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

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
  return prepared(request, Subject<Protocol>{.protocol = Protocol(*compiled),
                                             .labels = {.info = info,
                                                        .starts = text.starts(),
                                                        .parameters = text_parameters(*compiled),
                                                        .source_hash = text.hash(),
                                                        .warnings = compiled->warnings(),
                                                        .undone = undone_of(request, compiled),
                                                        .owner = compiled}});
}

}  // namespace

std::unique_ptr<const PreparedRun> prepare_text(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  if (compiled->is_open()) return prepare_open(request, compiled);
  const std::size_t bytes = bytes_per_state(*compiled);
  if (bytes == 1) return prepare_width<std::uint8_t>(request, compiled);
  if (bytes == 2) return prepare_width<std::uint16_t>(request, compiled);
  return prepare_width<std::uint64_t>(request, compiled);
}

}  // namespace conclave::catalog
