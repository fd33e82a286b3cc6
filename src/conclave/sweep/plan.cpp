#include "conclave/sweep/plan.hpp"

#include <fmt/format.h>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::sweep {

catalog::Entry entry_of(const std::string& protocol, const KeptTexts& texts) {
  const auto kept = texts.find(protocol);
  if (kept == texts.end()) return catalog::find(protocol);
  return catalog::kept_text_entry(kept->second.name, kept->second.content);
}

std::unique_ptr<const catalog::PreparedRun> prepare(const experiment::RunText& words,
                                                    const KeptTexts& texts, unsigned device) {
  const catalog::Entry entry = entry_of(words.protocol, texts);
  catalog::RunRequest request = experiment::request_of(entry, words);
  request.device = device;
  return entry.prepare(request);
}

std::string cell_text(const Cell& cell) {
  std::string text = cell.words.kind.empty()
                         ? cell.words.protocol
                         : fmt::format("{} {}", cell.words.kind, cell.words.protocol);
  for (const auto& [option, value] : experiment::given_options(cell.words)) {
    const bool is_whole = option == "param" || value.empty();
    text += is_whole ? fmt::format(" {}", value.empty() ? option : value)
                     : fmt::format(" {}={}", option, value);
  }
  return text;
}

}  // namespace conclave::sweep
