#include "conclave/sweep/plan.hpp"

#include <fmt/format.h>

#include "conclave/catalog/kept_text.hpp"

namespace conclave::sweep {

catalog::Entry entry_of(const std::string& protocol, const KeptTexts& texts) {
  const auto kept = texts.find(protocol);
  if (kept == texts.end()) return catalog::find(protocol);
  return catalog::kept_text_entry(kept->second.name, kept->second.content);
}

std::unique_ptr<const catalog::PreparedRun> prepare(const experiment::RunWords& words,
                                                    const KeptTexts& texts) {
  const catalog::Entry entry = entry_of(words.protocol, texts);
  return entry.prepare(experiment::request_of(words));
}

std::string cell_text(const Cell& cell) {
  const experiment::RunWords& words = cell.words;
  std::string text = fmt::format("{} n={}", words.protocol, words.n);
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {}={}", name, value);
  };
  for (const std::string& param : words.params) text += ' ' + param;
  add("init", words.init);
  add("engine", words.engine);
  add("graph", words.graph);
  for (const std::string& fault : words.faults) add("fault", fault);
  add("delay", words.delay);
  add("wakeup", words.wakeup);
  add("ids", words.ids);
  add("seed", words.seed);
  return text;
}

}  // namespace conclave::sweep
