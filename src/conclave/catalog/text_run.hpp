// Prepares the run of a compiled protocol file.
#pragma once

#include <memory>
#include <utility>

#include "conclave/catalog/make_entry.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave::catalog {

template <class Word>
std::unique_ptr<const PreparedRun> prepare_text(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  using Protocol = text::TextProtocol<Word>;
  static_assert(PopulationProtocol<Protocol> && TallyOf<typename Protocol::Tally, Protocol>);
  static_assert(Corruptible<Protocol> && NamesCensus<Protocol>);
  const text::ProtocolText& text = compiled->text();
  ProtocolInfo info{};
  info.name = text.name();
  info.observables = text.observables();
  return prepared(request, Subject<Protocol>{.protocol = Protocol(*compiled),
                                             .labels = {.info = info,
                                                        .starts = text.starts(),
                                                        .parameters = text_parameters(*compiled),
                                                        .source_hash = text.hash(),
                                                        .warnings = compiled->warnings(),
                                                        .owner = compiled}});
}

}  // namespace conclave::catalog
