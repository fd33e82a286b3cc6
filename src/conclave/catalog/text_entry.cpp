#include "conclave/catalog/text_entry.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/catalog/engines.hpp"
#include "conclave/text/protocol_text.hpp"

namespace conclave::catalog {
namespace {

// What `describe` shows is worked out for this many agents and the default parameters.
constexpr AgentCount described_n = 1000;

std::shared_ptr<const text::Compiled> compile(std::shared_ptr<const text::ProtocolText> text,
                                              const std::vector<Setting>& settings, AgentCount n) {
  std::vector<text::Given> given;
  for (const Setting& each : settings) given.push_back({each.name, each.value});
  return text::Compiled::make(std::move(text), given, n);
}

// States with a table of transitions are small; the others are slow anyway.
std::size_t bytes_per_state(const text::Compiled& compiled) {
  if (compiled.space().size() <= 1u << 8) return 1;
  return compiled.transitions().has_table() ? 2 : 4;
}

std::unique_ptr<const PreparedRun> prepare(const RunRequest& request,
                                           std::shared_ptr<const text::ProtocolText> text) {
  auto compiled = compile(std::move(text), request.settings, checked_population(request.n));
  const std::size_t bytes = bytes_per_state(*compiled);
  if (bytes == 1) return prepare_text_8(request, std::move(compiled));
  if (bytes == 2) return prepare_text_16(request, std::move(compiled));
  return prepare_text_32(request, std::move(compiled));
}

// The strings that the views of an entry look at.
struct Strings {
  std::shared_ptr<const text::ProtocolText> text;
  std::string convergence;
  std::string states;
  std::vector<std::string> domains;
  std::vector<Variable> variables;
};

std::shared_ptr<const Strings> strings_of(std::shared_ptr<const text::ProtocolText> text,
                                          const text::Compiled& compiled) {
  auto strings = std::make_shared<Strings>();
  strings->convergence = fmt::format("the first time that {}", text->document().stop_text);
  strings->states = fmt::format("{}", compiled.space().size());
  if (!text->document().parameters.empty()) {
    strings->states += fmt::format(" with the default parameters and n = {}", described_n);
  }
  const auto& fields = compiled.space().fields();
  for (const text::Field& field : fields) strings->domains.push_back(field.domain());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    strings->variables.push_back({text->document().fields[i].name.text, strings->domains[i], {}});
  }
  strings->text = std::move(text);
  return strings;
}

ProtocolInfo info_of(const Strings& strings) {
  ProtocolInfo info{};
  info.name = strings.text->name();
  info.title = strings.text->document().title;
  info.paper = strings.text->document().paper;
  info.network = "complete graph, or any with --graph";
  info.convergence = strings.convergence;
  info.states = strings.states;
  info.demo_n = described_n;
  info.variables = strings.variables;
  info.observables = strings.text->observables();
  return info;
}

std::vector<ParameterInfo> parameters_of(const text::ProtocolText& text) {
  std::vector<ParameterInfo> all;
  for (const text::ParameterText& each : text.document().parameters) {
    const std::string allowed = each.range_text.empty() ? "any whole number" : each.range_text;
    all.push_back({each.name.text, each.meaning, each.fallback_text, allowed});
  }
  return all;
}

std::vector<Detail> details_of(const text::ProtocolText& text) {
  std::vector<Detail> details{{"rules", fmt::format("{}", text.document().rules.size())}};
  std::vector<std::string> outputs;
  for (const auto& output : text.document().outputs) outputs.push_back(output.name.text);
  if (!outputs.empty()) details.push_back({"outputs", fmt::format("{}", fmt::join(outputs, ", "))});
  details.push_back({"source hash", text.hash()});
  return details;
}

}  // namespace

Entry text_entry(const std::string& path) {
  const auto text = text::ProtocolText::read(path);
  const auto compiled = compile(text, {}, described_n);
  const auto strings = strings_of(text, *compiled);
  return {.info = info_of(*strings),
          .starts = text->starts(),
          .parameters = parameters_of(*text),
          .engines = {agents_engine, events_engine, counts_engine},
          .bytes_per_agent = bytes_per_state(*compiled),
          .details = details_of(*text),
          .warnings = compiled->warnings(),
          .owner = strings,
          .prepare = [text](const RunRequest& request) { return prepare(request, text); }};
}

}  // namespace conclave::catalog
