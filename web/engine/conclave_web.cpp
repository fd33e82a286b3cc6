// See conclave_web.h. Errors of the catalog become a sentence; everything else is a thin layer over
// population::Trial.
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
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_options.hpp"
#include "conclave/graph/make_graph.hpp"
#include "conclave/population/trial.hpp"

namespace conclave {
namespace {

using population::Trial;

// A page has less memory than a machine.
constexpr std::uint64_t most_bytes = std::uint64_t{512} << 20;

// A page cannot interrupt its module.
const KeepGoing always = [](const Moment&) { return true; };

struct WatchRequest {
  experiment::RunText words{};
  std::uint64_t trial = 0;
  std::string content{};  // of the protocol file that `words.protocol` names; empty: a listed one
  std::optional<TraceGrid> grid{};  // none: no trace
};

catalog::Entry entry_of(const WatchRequest& request) {
  const std::string& name = request.words.protocol;
  if (request.content.empty()) return catalog::find(name);
  return catalog::kept_text_entry(name, request.content);
}

std::unique_ptr<const catalog::PreparedRun> prepared(const WatchRequest& request,
                                                     const catalog::Entry& entry) {
  catalog::RunRequest wanted = request_of(entry, request.words);
  wanted.plan.grid = request.grid;
  auto run = entry.prepare(wanted);
  if (run->bytes_per_trial() <= most_bytes) return run;
  throw Error(fmt::format("there is no room for n = {} with engine {}: it takes about {} MB, and "
                          "{} MB are allowed",
                          run->n(), run->engine(), run->bytes_per_trial() / 1'000'000,
                          most_bytes / 1'000'000));
}

// The trial that is watched, with what it refers to. A trial of message passing runs to its end at
// once, and is its result.
struct Watched {
  explicit Watched(const WatchRequest& request)
      : words(request.words),
        number(request.trial),
        entry(entry_of(request)),
        run(prepared(request, entry)),
        workspace(run->workspace()),
        trial(run->begin({.seed = run->seed(), .trial = number}, *workspace, {})) {
    if (trial) {
      trial->follow_steps();
      trial->advance_to(0u, always);
    } else {
      result_at_once = run->run(number, *workspace, always);
    }
  }

  const TrialResult& result() const { return trial ? trial->result() : result_at_once; }
  bool is_over() const { return !trial || trial->is_over(); }
  // The trial must be over.
  experiment::Row row() const {
    if (!is_over()) throw Error("the trial is not over");
    return {number, result()};
  }

  experiment::RunText words;
  std::uint64_t number;
  catalog::Entry entry;  // before the run, which looks at its strings
  std::unique_ptr<const catalog::PreparedRun> run;
  std::unique_ptr<catalog::Workspace> workspace;
  std::unique_ptr<Trial> trial;  // of populations
  TrialResult result_at_once;    // of message passing
};

// Everything that an instance remembers.
struct Page {
  std::string error;
  std::string answer;
  std::unique_ptr<Watched> watched;
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

Watched& watched() {
  if (!page().watched) throw Error("no trial was begun");
  return *page().watched;
}

Interactions interactions(double number) {
  if (!(number > 0)) return 0u;
  if (number >= 9e18) return Interactions::max();
  return static_cast<std::uint64_t>(number);
}

// Puts the value of an option into the request: the protocol, the number of the trial, or an option
// of the table that the explorer accepts.
void read_option(std::string_view name, const std::string& value, WatchRequest& into) {
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

WatchRequest request_of(std::string_view words, std::string content, const std::string& grid) {
  WatchRequest request{.content = std::move(content)};
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

Json observables_of(const std::vector<Observation>& observations) {
  Json all = Json::object();
  for (const Observation& each : observations) {
    const std::string text = experiment::observation_text(each);
    if (!text.empty()) all[each.name] = text;
  }
  return all;
}

Json faults_of(const std::vector<FaultOutcome>& faults) {
  Json all = Json::array();
  for (const FaultOutcome& each : faults) {
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

Json look_of(Watched& watched) {
  const catalog::PreparedRun& run = *watched.run;
  Json look{{"over", watched.is_over()},
            {"engine", run.engine()},
            {"start", run.start()},
            {"n", run.n()},
            {"population", watched.trial != nullptr},
            {"faults", faults_of(watched.result().faults)},
            {"options", option_names(watched.words)}};
  if (!watched.trial) {
    const TrialResult& result = watched.result();
    look["now"] = to_string(result.interactions);
    look["time"] = result.network ? result.network->time : 0;
    look["leaders"] = result.leaders;
    look["converged"] = result.ending == Ending::converged;
    look["observables"] = observables_of(result.observations);
    return look;
  }
  Trial& trial = *watched.trial;
  look["now"] = to_string(trial.now());
  look["time"] = trial.clock().time_after(trial.now());
  look["leaders"] = trial.engine().leaders();
  look["converged"] = trial.engine().converged();
  look["observables"] = observables_of(trial.engine().observations());
  if (!trial.steps().empty()) look["steps"] = trial.steps();
  const population::NextMeeting next = trial.engine().next_meeting();
  look["next"] = Json{{"number", next.number.as_double()}, {"agents", agents_of(next.agents)}};
  return look;
}

Json events_of(const TrialResult& result) {
  Json all = Json::array();
  if (!result.network) return all;
  for (const NetworkEvent& each : result.network->trace) {
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

Json arcs_of(const Watched& watched) {
  const auto graph = request_of(watched.entry, watched.words).digraph;
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
  page().watched.reset();
  const char* const done = answer([&]() -> std::string {
    page().watched = std::make_unique<Watched>(request_of(words, content, grid));
    return {};
  });
  return done != nullptr ? 1 : 0;
}

__attribute__((export_name("conclave_advance"))) void conclave_advance(double number) {
  Trial* const trial = watched().trial.get();
  if (trial == nullptr) return;
  const Interactions time = interactions(number);
  if (time == Interactions::max()) return trial->advance_to_end(always);
  trial->advance_to(time, always);
}

__attribute__((export_name("conclave_interactions_at"))) const char* conclave_interactions_at(
    const char* time) {
  return answer([&] {
    const auto fraction = parse_fraction(time);
    if (!fraction) throw Error(fmt::format("'{}' is no time, such as 12.5", time));
    Trial* const trial = watched().trial.get();
    if (trial == nullptr) return std::string("0.0");
    return Json(trial->clock().interactions_at(*fraction).as_double()).dump();
  });
}

__attribute__((export_name("conclave_change"))) const char* conclave_change(double most) {
  return answer([&]() -> std::string {
    Trial* const trial = watched().trial.get();
    if (trial == nullptr) return "null";
    const auto change = trial->advance_to_change(interactions(most), always);
    if (!change) return "null";
    Json found{{"number", change->number.as_double()}};
    if (change->agents) found["agents"] = agents_of(change->agents);
    return found.dump();
  });
}

__attribute__((export_name("conclave_look"))) const char* conclave_look(void) {
  return answer([] { return look_of(watched()).dump(); });
}

__attribute__((export_name("conclave_table"))) uint32_t conclave_table(void) {
  Page& all = page();
  const Trial* const trial = watched().trial.get();
  all.table = trial != nullptr ? trial->engine().table() : population::AgentTable{};
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
  return answer([] { return experiment::RowFormat(*watched().run).json(watched().row()); });
}

__attribute__((export_name("conclave_trace"))) const char* conclave_trace(void) {
  return answer([] {
    const experiment::RowFormat format(*watched().run);
    const experiment::Row row = watched().row();
    return format.trace_header(row) + format.trace(row);
  });
}

__attribute__((export_name("conclave_events"))) const char* conclave_events(void) {
  return answer([] { return events_of(watched().result()).dump(); });
}

__attribute__((export_name("conclave_arcs"))) const char* conclave_arcs(void) {
  return answer([] { return arcs_of(watched()).dump(); });
}

}  // extern "C"
