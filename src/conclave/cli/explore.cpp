// `conclave explore`: every schedule of a message-passing protocol on a handful of nodes.
//
// A property that fails comes with a shortest schedule, step by step; two that fail on the same
// schedule show it once. Interrupted, nothing is said to hold, since not all schedules were seen.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/json.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/progress_line.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/exact_text.hpp"

namespace conclave::cli {
namespace {

using catalog::Exploration;
using catalog::ExploredProperty;
struct ExploreOptions {
  experiment::RunText words;
  std::string most_configurations;
  std::string format = "table";
  bool quiet = false;
};

std::string parameters_text(const Exploration& result) {
  std::string text;
  for (const auto& [name, value] : result.parameters) {
    text +=
        fmt::format(", {} = {}", name,
                    std::visit([](const auto& each) { return fmt::format("{}", each); }, value));
  }
  return text;
}

void print_schedule(const ExploredProperty& property) {
  const std::size_t steps = property.counterexample.size() - 1;
  for (std::size_t i = 0; i < property.counterexample.size(); ++i) {
    const schedules::TraceStep& step = property.counterexample[i];
    fmt::print("  {:>3} {}\n", i < steps ? fmt::format("{}.", i + 1) : "", step.title);
    for (const std::string& detail : step.details) fmt::print("          {}\n", detail);
  }
}

bool is_same_schedule(const ExploredProperty& a, const ExploredProperty& b) {
  return std::ranges::equal(a.counterexample, b.counterexample,
                            [](const schedules::TraceStep& x, const schedules::TraceStep& y) {
                              return x.title == y.title;
                            });
}

void print_counterexamples(const Exploration& result) {
  const ExploredProperty* last = nullptr;
  for (const ExploredProperty& property : result.properties) {
    if (property.holds) continue;
    if (last != nullptr && is_same_schedule(*last, property)) {
      fmt::print("\n\"{}\" fails on the same schedule.\n", property.name);
      continue;
    }
    last = &property;
    fmt::print("\n\"{}\" does not hold. A shortest schedule:\n\n", property.name);
    print_schedule(property);
  }
}

void print_text(const ExploreOptions& options, const Exploration& result) {
  fmt::print("{}, n = {}{}, {} nodes{}\n\n", options.words.protocol, result.n,
             options.words.graph.empty() ? "" : ", graph " + options.words.graph,
             result.has_identifiers ? "identified" : "anonymous", parameters_text(result));
  fmt::print("  {:<22} {}\n", "configurations", result.configurations);
  fmt::print("  {:<22} {}\n", "steps between them", result.transitions);
  if (result.is_complete) {
    if (std::isinf(result.schedules)) {
      fmt::print("  {:<22} infinitely many: coins may be drawn again\n", "schedules");
    } else {
      fmt::print("  {:<22} {:.6g}\n", "schedules", result.schedules);
      fmt::print("  {:<22} {} steps\n", "the longest", result.longest);
    }
    fmt::print("  {:<22} {}\n", "ends", result.final_configurations);
  } else {
    fmt::print("  not all of them: the exploration was interrupted\n");
  }
  fmt::print("\n");
  for (const ExploredProperty& property : result.properties) {
    const std::string_view verdict = !property.holds ? "FAILS" : result.is_complete ? "holds" : "?";
    fmt::print("  {:<6} {}\n", verdict, property.name);
  }
  print_counterexamples(result);
}

Json json_of(const schedules::TraceEvent& event) {
  using Kind = schedules::TraceEvent::Kind;
  constexpr std::array<std::string_view, 5> names{"wake", "receive", "send", "become", "timeout"};
  Json json{{"event", names[static_cast<std::size_t>(event.kind)]}};
  if (event.message.empty()) json["node"] = event.node;
  if (event.kind == Kind::become) {
    json["standing"] = event.standing;
    json["phase"] = event.phase;
  }
  if (event.message.empty()) return json;
  const bool is_sent = event.kind == Kind::send;
  json["from"] = is_sent ? event.node : event.peer;
  json["to"] = is_sent ? event.peer : event.node;
  json["kind"] = event.message;
  json["payload"] = Json::object();
  for (const auto& [name, value] : event.payload) json["payload"][std::string(name)] = value;
  return json;
}

Json json_of(const ExploredProperty& property) {
  Json json{{"property", property.name}, {"holds", property.holds}};
  if (property.holds) return json;
  Json steps = Json::array();
  for (const schedules::TraceStep& step : property.counterexample) {
    Json events = Json::array();
    for (const schedules::TraceEvent& event : step.events) events.push_back(json_of(event));
    steps.push_back(
        {{"step", step.title}, {"details", step.details}, {"events", std::move(events)}});
  }
  json["counterexample"] = std::move(steps);
  return json;
}

void print_json(const ExploreOptions& options, const Exploration& result) {
  Json properties = Json::array();
  for (const ExploredProperty& property : result.properties) {
    properties.push_back(json_of(property));
  }
  Json json{{"protocol", options.words.protocol},
            {"n", result.n},
            {"params", experiment::json_of(result.parameters)},
            {"ids", result.has_identifiers ? "unique" : "anonymous"},
            {"complete", result.is_complete},
            {"configurations", result.configurations},
            {"transitions", result.transitions},
            {"schedules", result.schedules},
            {"longest", result.longest},
            {"ends", result.final_configurations},
            {"properties", properties}};
  if (!options.words.graph.empty()) json["graph"] = options.words.graph;
  if (std::isinf(result.schedules)) json["schedules"] = json["longest"] = Json();
  fmt::print("{}\n", json.dump(2));
}

Exploration explored(const ExploreOptions& options, const catalog::Entry& entry,
                     const std::atomic<bool>& stop) {
  catalog::ExplorationRequest asked =
      experiment::exploration_request(entry, options.words, options.most_configurations);
  PhaseLine line(options.quiet, stop);
  asked.progress = std::ref(line);
  return entry.explore(asked);
}

Exit explore(const ExploreOptions& options) {
  const catalog::Entry& entry = catalog::find(options.words.protocol);
  const std::atomic<bool>& stop = interrupted_flag();
  const Exploration result = explored(options, entry, stop);
  if (options.format == "json")
    print_json(options, result);
  else
    print_text(options, result);
  const bool all_hold = std::ranges::all_of(result.properties, &ExploredProperty::holds);
  if (!all_hold) return Exit::does_not_hold;
  return stop ? Exit::interrupted : Exit::done;
}

constexpr const char* explore_examples = R"(
Examples:
  conclave explore kmpp-async --n 4
  conclave explore kmpp-async --n 2 --param reading=printed
  conclave explore kmpp-async --n 3 --param reading=chosen-in-c1 --param phases=2 --param referees=1
  conclave explore kmpp-sync --n 5
  conclave explore afek-gafni-async --n 4 --format json
  conclave explore chang-roberts --n 4
  conclave explore flood-max --n 4 --graph undirected-ring

Exit status: 0 everything holds, 2 misused or too large, 4 a property does not hold (a shortest
schedule is printed), 130 interrupted.)";

}  // namespace

void add_explore(Command& conclave) {
  auto options = std::make_shared<ExploreOptions>();
  Command command = conclave.subcommand(
      "explore", "Try all schedules of a message-passing protocol on a few nodes");
  command.word("PROTOCOL", options->words.protocol, "A name from `conclave list`");
  command.run_options(
      experiment::by_explore, options->words,
      {{"n", "Number of nodes, 1 ... 6"},
       {"ids", "unique or anonymous nodes (default unique)"},
       {"graph",
        "The network, as in `run`, for protocols of any graph (default the protocol's own)"}});
  command.option("--max-configurations", "X", options->most_configurations,
                 "End at this many configurations, about 500 bytes each (default 4e6)");
  command.option("--format", "F", options->format, "table or json (default table)");
  command.flag("--quiet", options->quiet, "No progress line");
  command.file_size_option();
  command.footer(explore_examples);
  command.runs([options] {
    options->format = format_option(options->format, table_or_json);
    return explore(*options);
  });
}

}  // namespace conclave::cli
