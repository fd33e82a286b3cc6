// Protocols, prepared runs, and the trials of a run with all that is kept of them.
#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"
#include "conclave/experiment/description.hpp"
#include "conclave/experiment/execution_text.hpp"
#include "conclave/experiment/history.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/runner.hpp"
#include "conclave/experiment/summary.hpp"
#include "conclave/plot/space_time.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

Protocol find(const std::string& name) { return {name, catalog::find(name)}; }

Protocol text(const std::string& name, const std::string& content) {
  return {name, catalog::kept_text_entry(name, content)};
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const catalog::Entry& entry : catalog::entries()) result.emplace_back(entry.info.name);
  return result;
}

// As JSON, what `conclave describe --format json` prints.
std::string described(const Protocol& protocol) {
  catalog::Entry entry = protocol.entry();
  if (entry.examine) entry.examine(entry);
  return experiment::description_of(entry).dump();
}

Prepared prepare(const Protocol& protocol, const py::dict& options) {
  const experiment::RunText words = words_of(options, protocol.name());
  const experiment::ExecutionText execution = execution_of(options);
  experiment::check_outputs(execution, words);
  catalog::RunRequest request =
      request_of(protocol.entry(), words, extras_of(options), {.command = "run", .n = "1e6"});
  experiment::plan_samples(execution, request.n, request.plan);
  request.plan.keeps_census_at_horizon = true;  // for the summary
  struct Owner {
    std::shared_ptr<const catalog::Entry> entry;
    std::unique_ptr<const catalog::PreparedRun> run;
  };
  auto owner =
      std::make_shared<const Owner>(Owner{protocol.shared(), protocol.entry().prepare(request)});
  return {protocol.shared(), {owner, owner->run.get()}};
}

template <class Number>
py::buffer_info buffer_of(const Array<Number>& array) {
  using Extents = std::vector<py::ssize_t>;
  const auto rows = static_cast<py::ssize_t>(array.rows);
  const auto columns = static_cast<py::ssize_t>(array.columns);
  const auto width = static_cast<py::ssize_t>(array.width);
  const auto size = static_cast<py::ssize_t>(sizeof(Number));
  const bool is_table = array.width != 0;
  return py::buffer_info(const_cast<Number*>(array.values->data()), size,
                         py::format_descriptor<Number>::format(), is_table ? 2 : 1,
                         is_table ? Extents{rows, columns} : Extents{rows},
                         is_table ? Extents{size * width, size} : Extents{size}, array.is_shared);
}

// The rows of a run, and the summary, formatted when they are asked for.
class Trials {
 public:
  Trials(Prepared prepared, std::uint64_t asked)
      : prepared_(std::move(prepared)),
        format_(*prepared_.run),
        summary_(*prepared_.run),
        asked_(asked) {}

  void take(const experiment::Row& row) {
    summary_.add(row);
    rows_.push_back(row);
    if (!prepared_.run->plan().keeps_final) rows_.back().result.final_agents.clear();
  }
  void finish() {
    if (rows_.size() < asked_) summary_.mark_interrupted(asked_);
  }
  // Ctrl-C came while they ran: these are the first trials, all that were complete.
  void interrupt() { was_interrupted_ = true; }
  bool was_interrupted() const { return was_interrupted_; }

  const catalog::PreparedRun& run() const { return *prepared_.run; }
  std::size_t size() const { return rows_.size(); }
  std::uint64_t not_converged() const { return summary_.not_converged(); }

  // Marked: the last line of interrupted trials says so, as on the command line.
  std::string csv(bool is_marked) const {
    std::string text = rows_.empty() ? std::string() : format_.csv_header() + '\n';
    for (const auto& row : rows_) text += format_.csv(row) + '\n';
    if (is_marked && was_interrupted_) text += experiment::interrupted_line(rows_.size(), asked_);
    return text;
  }
  std::string jsonl(bool is_marked) const {
    std::string text;
    for (const auto& row : rows_) {
      const bool has_mark = is_marked && was_interrupted_ && &row == &rows_.back();
      text += format_.unclosed_json(row);
      text += has_mark ? experiment::interrupted_end(asked_) : "}";
      text += '\n';
    }
    return text;
  }
  std::string trace() const {
    if (rows_.empty()) return {};
    std::string text = format_.trace_header(rows_.front());
    for (const auto& row : rows_) text += format_.trace(row);
    return text;
  }
  std::string final_agents() const {
    const bool has_trials = asked_ > 1;
    std::string text = experiment::configuration_header(has_trials);
    for (const auto& row : rows_) {
      text += experiment::configuration_lines(row.trial, has_trials, row.result.final_agents);
    }
    return text;
  }
  // One trial's configuration at its end: runs of equal agents.
  std::vector<std::pair<std::string, std::uint64_t>> final_of(std::size_t trial) const {
    std::vector<std::pair<std::string, std::uint64_t>> result;
    for (const NamedCount& each : rows_.at(trial).result.final_agents) {
      result.emplace_back(each.name, each.count);
    }
    return result;
  }
  std::string summary_table(std::size_t width) const { return summary_.table(width); }
  std::string summary_json() const { return summary_.json(); }

  void write_history(const std::string& path, const std::string& by,
                     const std::string& format) const {
    experiment::HistoryWriter writer(path, experiment::history_format(format, path), by,
                                     declared());
    for (const auto& row : rows_) writer.add(row.trial, row.result.history);
    writer.finish();
  }

  // Columns of all that occurred, and arrays: trial, time, counts.
  py::tuple history(const std::string& by) const {
    std::map<std::string, std::size_t> places;
    std::vector<std::string> columns;
    std::size_t points = 0;
    for (const auto& row : rows_) {
      if (!by.empty()) experiment::check_field(by, row.result.history.names, declared());
    }
    const auto place_of = [&](const std::string& name) {
      const std::string key = by.empty() ? name : experiment::field_value(name, by);
      const auto [place, is_new] = places.try_emplace(key, columns.size());
      if (is_new) columns.push_back(key);
      return place->second;
    };
    for (const auto& row : rows_) {
      for (const std::string& name : row.result.history.names) place_of(name);
      points += row.result.history.points.size();
    }
    std::vector<std::uint64_t> trials;
    std::vector<double> times;
    std::vector<std::uint64_t> counts(points * columns.size());
    std::size_t line = 0;
    for (const auto& row : rows_) {
      std::vector<std::size_t> place;
      for (const std::string& name : row.result.history.names) place.push_back(place_of(name));
      for (const History::Point& point : row.result.history.points) {
        trials.push_back(row.trial);
        times.push_back(point.time);
        for (const auto& [name, count] : point.counts) {
          counts[line * columns.size() + place[name]] += count;
        }
        ++line;
      }
    }
    return py::make_tuple(columns, array_of(std::move(trials)), array_of(std::move(times)),
                          table_of(std::move(counts), points, columns.size()));
  }

 private:
  std::span<const Variable> declared() const { return prepared_.entry->info.variables; }

  Prepared prepared_;
  experiment::RowFormat format_;
  experiment::RunSummary summary_;
  std::uint64_t asked_;
  std::vector<experiment::Row> rows_;
  bool was_interrupted_ = false;
};

// `look(trials done, interactions so far)` is called now and then.
std::unique_ptr<Trials> run(const Prepared& prepared, const py::dict& options,
                            const py::object& look) {
  const experiment::ExecutionText execution = execution_of(options);
  const std::uint64_t trials = count_of(execution, &experiment::ExecutionText::trials);
  const unsigned threads =
      experiment::worker_count(*prepared.run, trials, asked_threads(execution));
  auto result = std::make_unique<Trials>(prepared, trials);
  experiment::Progress progress;
  std::atomic<bool> stop = false;
  try {
    attend(
        [&] {
          experiment::run_trials(
              *prepared.run,
              {.trials = trials,
               .threads = threads,
               .threads_per_trial =
                   experiment::threads_per_trial(threads, asked_threads(execution))},
              [&](const experiment::Row& row) { result->take(row); }, progress, stop);
        },
        stop,
        [&] {
          if (!look.is_none()) look(progress.trials_done.load(), progress.interactions.load());
        });
  } catch (const py::error_already_set& raised) {
    if (!raised.matches(PyExc_KeyboardInterrupt)) throw;
    result->interrupt();
  }
  result->finish();
  return result;
}

template <class Number>
void bind_array(py::module_& module, const char* name) {
  py::class_<Array<Number>>(module, name, py::buffer_protocol())
      .def_buffer([](const Array<Number>& array) { return buffer_of(array); })
      .def("__len__", [](const Array<Number>& array) { return array.rows; });
}

}  // namespace

py::dict parameters_of(std::span<const catalog::ParameterValue> parameters) {
  py::dict result;
  for (const catalog::ParameterValue& each : parameters) {
    result[py::str(each.name)] =
        std::visit([](const auto& value) { return py::object(py::cast(value)); }, each.value);
  }
  return result;
}

void bind_runs(py::module_& module) {
  bind_array<double>(module, "Doubles");
  bind_array<std::uint64_t>(module, "Counts");
  py::class_<Protocol>(module, "Protocol")
      .def_property_readonly("name", &Protocol::name)
      .def_property_readonly("is_network",
                             [](const Protocol& p) { return p.entry().network.has_value(); })
      .def("describe", &described);
  module.def("find", &find);
  module.def("message_colour", &plot::message_colour);
  module.def("text", &text);
  module.def("names", &names);
  py::class_<Prepared>(module, "Prepared")
      .def_property_readonly("n", [](const Prepared& p) { return p.run->n(); })
      .def_property_readonly("engine", [](const Prepared& p) { return p.run->engine(); })
      .def_property_readonly("start", [](const Prepared& p) { return p.run->start(); })
      .def_property_readonly("seed", [](const Prepared& p) { return p.run->seed(); })
      .def_property_readonly("params",
                             [](const Prepared& p) { return parameters_of(p.run->parameters()); })
      .def_property_readonly("has_clock", [](const Prepared& p) { return p.run->has_clock(); })
      .def_property_readonly("warnings", [](const Prepared& p) {
        return std::vector<std::string>(p.run->warnings().begin(), p.run->warnings().end());
      });
  module.def("prepare", &prepare);
  module.def("check_not_empty", &experiment::check_not_empty);
  module.def("raise_file_limits", [](const std::string& size) {
    raise_file_limits(experiment::size_option("--max-file-size", size));
  });
  py::class_<Trials>(module, "Trials")
      .def("__len__", &Trials::size)
      .def_property_readonly("not_converged", &Trials::not_converged)
      .def_property_readonly("was_interrupted", &Trials::was_interrupted)
      .def("csv", &Trials::csv)
      .def("jsonl", &Trials::jsonl)
      .def("trace", &Trials::trace)
      .def("final", &Trials::final_agents)
      .def("final_of", &Trials::final_of)
      .def("summary_table", &Trials::summary_table)
      .def("summary_json", &Trials::summary_json)
      .def("history", &Trials::history)
      .def("write_history", &Trials::write_history);
  module.def("run", &run);
  module.def("read_configuration", [](const std::string& path) {
    const auto start = experiment::read_configuration(path);
    std::vector<std::pair<std::string, std::uint64_t>> agents;
    for (const NamedCount& each : start->agents) agents.emplace_back(each.name, each.count);
    return py::make_tuple(start->label, agents);
  });
}

}  // namespace conclave::python
