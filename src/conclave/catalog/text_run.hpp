// Prepares the run of a compiled protocol text.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/catalog/make_entry.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave::catalog {

// The start that a request names must fit n.
inline void check_start(const RunRequest& request, const text::Compiled& compiled) {
  for (std::size_t i = 0; i < compiled.starts().size(); ++i) {
    const bool is_chosen =
        request.start.empty() ? i == 0 : compiled.text().starts()[i].name == request.start;
    const std::string& objection = compiled.starts()[i].objection;
    if (is_chosen && !objection.empty()) throw Error(objection);
  }
}

template <class Word>
std::unique_ptr<const PreparedRun> prepare_text(const RunRequest& request,
                                                std::shared_ptr<const text::Compiled> compiled) {
  using Protocol = text::TextProtocol<Word>;
  static_assert(PopulationProtocol<Protocol> && TallyOf<typename Protocol::Tally, Protocol>);
  static_assert(Corruptible<Protocol> && NamesCensus<Protocol>);
  check_start(request, *compiled);
  const text::ProtocolText& text = compiled->text();
  std::vector<ParameterValue> parameters;
  for (const auto& [name, value] : compiled->parameters()) parameters.push_back({name, value});
  ProtocolInfo info{};
  info.name = text.name();
  info.observables = text.observables();
  return prepared(request, Subject<Protocol>{.protocol = Protocol(compiled),
                                             .info = info,
                                             .starts = text.starts(),
                                             .parameters = std::move(parameters),
                                             .source_hash = text.hash(),
                                             .warnings = compiled->warnings()});
}

}  // namespace conclave::catalog
