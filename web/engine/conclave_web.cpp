// See conclave_web.h. Errors of the catalog become a sentence; everything else is a thin layer over
// experiment::WatchedTrial.
#include "web/engine/conclave_web.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/fault_text.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/experiment/watched_trial.hpp"
#include "conclave/graph/make_graph.hpp"

namespace conclave {
namespace {

using experiment::WatchedTrial;

// A page has less memory than a machine.
constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20;

// Everything that an instance remembers.
struct Page {
  std::string error;
  std::string answer;
  std::unique_ptr<WatchedTrial> trial;
  experiment::RunText words;
  population::AgentTable table;
  std::vector<double> counts;
};

Page& page() {
  static Page the_page;
  return the_page;
}

// Makes the answer from the value of `work`; null where it throws.
template <class Work>
const char* answer(Work work) {
  try {
    page().answer = work();
    return page().answer.c_str();
  } catch (const std::exception& error) {
    page().error = error.what();
    return nullptr;
  }
}

WatchedTrial& trial() {
  if (!page().trial) throw Error("no trial was begun");
  return *page().trial;
}

Interactions interactions(double number) {
  if (!(number > 0)) return 0u;
  if (number >= 9e18) return Interactions::max();
  return static_cast<std::uint64_t>(number);
}

// Puts the value of an option into the request: the protocol, the number of the trial, or an option
// of the table that the explorer accepts.
void read_option(std::string_view name, const std::string& value, experiment::WatchRequest& into) {
  if (name == "trial") {
    into.trial = experiment::count_option_64("--trial", value, 0, UINT64_MAX);
    return;
  }
  for (const experiment::Option<experiment::RunText>& option : experiment::run_options()) {
    const bool is_known = option.is_accepted_by(experiment::by_explorer) || name == "protocol";
    if (!is_known || option.dashed() != name) continue;
    if (const auto* const text = std::get_if<std::string experiment::RunText::*>(&option.value)) {
      into.words.** text = value;
    } else {
      const auto list = std::get<std::vector<std::string> experiment::RunText::*>(option.value);
      (into.words.*list).push_back(value);
    }
    return;
  }
  throw Error(fmt::format("the explorer does not know the option --{}", name));
}

experiment::WatchRequest request_of(std::string_view words, std::string content,
                                    const std::string& grid) {
  experiment::WatchRequest request{.content = std::move(content), .most_bytes = most_bytes};
  for (const std::string_view line : split_parts(words, '\n')) {
    const std::size_t space = line.find(' ');
    if (line.empty()) continue;
    if (space == std::string_view::npos) throw Error(fmt::format("'{}' has no value", line));
    read_option(line.substr(0, space), std::string(line.substr(space + 1)), request);
  }
  if (!grid.empty()) request.grid = experiment::parse_grid(grid);
  return request;
}

Json agents_of(const std::optional<std::pair<AgentCount, AgentCount>>& agents) {
  if (!agents) return {};
  Json pair = Json::array();
  pair.push_back(agents->first);
  pair.push_back(agents->second);
  return pair;
}

Json observables_of(const WatchedTrial& watched) {
  Json all = Json::object();
  for (const Observation& each : watched.observations()) {
    const std::string text = experiment::observation_text(each);
    if (!text.empty()) all[each.name] = text;
  }
  return all;
}

Json faults_of(const WatchedTrial& watched) {
  Json all = Json::array();
  for (const FaultOutcome& each : watched.faults()) {
    Json fault{{"text", each.text},
               {"at", each.at.as_double()},
               {"agents", each.agents},
               {"leaders", each.leaders},
               {"recovered", each.recovered}};
    if (each.recovered) fault["recovery"] = each.recovery.as_double();
    all.push_back(std::move(fault));
  }
  return all;
}

// The names of the options that have a value, in the order of the command line.
std::vector<std::string> option_names(const experiment::RunText& words) {
  std::vector<std::string> names;
  for (experiment::GivenOption& given : experiment::given_options(words)) {
    names.push_back(std::move(given.option));
  }
  return names;
}

Json look_of(WatchedTrial& watched) {
  Json look{{"now", to_string(watched.now())},
            {"time", watched.time()},
            {"leaders", watched.leaders()},
            {"converged", watched.is_converged()},
            {"over", watched.is_over()},
            {"engine", watched.run().engine()},
            {"start", watched.run().start()},
            {"n", watched.run().n()},
            {"population", watched.is_population()},
            {"observables", observables_of(watched)},
            {"faults", faults_of(watched)},
            {"options", option_names(page().words)}};
  if (!watched.is_population()) return look;
  const population::NextMeeting next = watched.next_meeting();
  if (!watched.steps().empty()) look["steps"] = watched.steps();
  look["next"] = Json{{"number", next.number.as_double()}, {"agents", agents_of(next.agents)}};
  return look;
}

Json events_of(const WatchedTrial& watched) {
  Json all = Json::array();
  for (const NetworkEvent& each : watched.events()) {
    Json event{{"time", each.time}, {"event", each.event}, {"node", each.node}};
    if (each.message.empty()) {
      event["phase"] = each.phase;
    } else {
      event["from"] = each.peer;
      event["message"] = each.message;
      event["sent"] = each.sent;
    }
    all.push_back(std::move(event));
  }
  return all;
}

Json columns_of(const population::AgentTable& table) {
  Json all = Json::array();
  for (const auto& each : table.variables) {
    all.push_back(Json{{"name", each.name}, {"labels", each.labels}});
  }
  return all;
}

Json arcs_of(const experiment::RunText& words) {
  const auto graph = experiment::request_of(trial().entry(), words).digraph;
  if (!graph) return {};
  Json all = Json::array();
  for (Arc arc = 0; arc < graph->arcs(); ++arc) {
    all.push_back(agents_of(std::pair(graph->initiator(arc), graph->responder(arc))));
  }
  return all;
}

Json list() {
  Json all = Json::array();
  for (const catalog::Entry& entry : catalog::entries()) {
    Json one = experiment::description_of(entry);
    one["demo_n"] = entry.info.demo_n;
    one["part_of"] = entry.info.part_of;
    one["problem"] = name_of(entry.info.problem);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace
}  // namespace conclave

using namespace conclave;

extern "C" {

__attribute__((export_name("conclave_room"))) char* conclave_room(uint32_t bytes) {
  return static_cast<char*>(std::malloc(bytes));
}

__attribute__((export_name("conclave_forget"))) void conclave_forget(char* room) {
  std::free(room);
}

__attribute__((export_name("conclave_error"))) const char* conclave_error(void) {
  return page().error.c_str();
}

__attribute__((export_name("conclave_list"))) const char* conclave_list(void) {
  return answer([] { return list().dump(); });
}

__attribute__((export_name("conclave_describe"))) const char* conclave_describe(
    const char* name, const char* content) {
  return answer([&] {
    catalog::Entry entry = catalog::kept_text_entry(name, content);
    if (entry.examine) entry.examine(entry);
    return experiment::description_of(entry).dump();
  });
}

__attribute__((export_name("conclave_open"))) uint32_t conclave_open(const char* words,
                                                                     const char* content,
                                                                     const char* grid) {
  page().trial.reset();
  const char* const done = answer([&]() -> std::string {
    const auto request = request_of(words, content, grid);
    page().trial = std::make_unique<WatchedTrial>(request);
    page().words = request.words;
    return {};
  });
  return done != nullptr ? 1 : 0;
}

__attribute__((export_name("conclave_advance"))) void conclave_advance(double number) {
  trial().advance_to(interactions(number));
}

__attribute__((export_name("conclave_interactions_at"))) const char* conclave_interactions_at(
    const char* time) {
  return answer([&] {
    const auto fraction = parse_fraction(time);
    if (!fraction) throw Error(fmt::format("'{}' is no time, such as 12.5", time));
    return Json(trial().interactions_at(*fraction).as_double()).dump();
  });
}

__attribute__((export_name("conclave_change"))) const char* conclave_change(double most) {
  return answer([&]() -> std::string {
    const auto change = trial().advance_to_change(interactions(most));
    if (!change) return "null";
    Json told{{"number", change->number.as_double()}};
    if (change->has_agents)
      told["agents"] = agents_of(std::pair(change->initiator, change->responder));
    return told.dump();
  });
}

__attribute__((export_name("conclave_look"))) const char* conclave_look(void) {
  return answer([] { return look_of(trial()).dump(); });
}

__attribute__((export_name("conclave_table"))) uint32_t conclave_table(void) {
  Page& all = page();
  all.table = trial().table();
  all.counts.assign(all.table.counts.begin(), all.table.counts.end());
  return static_cast<uint32_t>(all.table.values.size() / (1 + all.table.variables.size()));
}

__attribute__((export_name("conclave_values"))) const double* conclave_values(void) {
  return page().table.values.data();
}

__attribute__((export_name("conclave_counts"))) const double* conclave_counts(void) {
  return page().table.has_agents ? nullptr : page().counts.data();
}

__attribute__((export_name("conclave_columns"))) const char* conclave_columns(void) {
  return answer([] { return columns_of(page().table).dump(); });
}

__attribute__((export_name("conclave_row"))) const char* conclave_row(void) {
  return answer([] { return trial().row(); });
}

__attribute__((export_name("conclave_trace"))) const char* conclave_trace(void) {
  return answer([] { return trial().trace(); });
}

__attribute__((export_name("conclave_events"))) const char* conclave_events(void) {
  return answer([] { return events_of(trial()).dump(); });
}

__attribute__((export_name("conclave_arcs"))) const char* conclave_arcs(void) {
  return answer([] { return arcs_of(page().words).dump(); });
}

}  // extern "C"
