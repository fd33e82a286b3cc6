// A trial that Python steps through, with the history of what it has seen.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/catalog/session.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/population/run.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

using catalog::Session;
using catalog::SessionEnd;
using Agents = std::vector<std::pair<std::string, std::uint64_t>>;

Agents pairs_of(const std::vector<NamedCount>& counts) {
  Agents result;
  for (const NamedCount& each : counts) result.emplace_back(each.name, each.count);
  return result;
}

Fault fault_of(const std::string& text) {
  return experiment::parse_fault(text.find('@') == std::string::npos ? text + "@0" : text);
}

// Censuses at times, by columns that appear when a state does: a table that Python sees without
// copying it. What has been shown is never written again. Lines are added behind it, and where
// there is no room for that, or the last line is to change, the table goes on elsewhere.
class Looks {
 public:
  Looks() = default;
  Looks(const Looks& other)
      : table_(std::make_shared<Table>(*other.table_)),
        columns_(other.columns_),
        places_(other.places_) {}
  Looks& operator=(Looks&&) = default;
  Looks(Looks&&) = default;
  ~Looks() = default;

  void add(double time, const std::vector<NamedCount>& census) {
    std::vector<std::pair<std::size_t, std::uint64_t>> cells;
    for (const NamedCount& each : census) cells.emplace_back(place_of(each.name), each.count);
    make_room();
    const std::size_t line = table_->counts.size();
    table_->times.push_back(time);
    table_->counts.resize(line + table_->width);
    for (const auto& [column, count] : cells) table_->counts[line + column] = count;
  }

  bool is_at(double time) const { return !table_->times.empty() && table_->times.back() == time; }
  void forget_last() {
    const std::size_t lines = table_->times.size() - 1;
    if (shown_ > lines) return go_on_elsewhere(lines, table_->width);
    table_->times.pop_back();
    table_->counts.resize(lines * table_->width);
  }

  // Columns, times and counts.
  py::tuple table() {
    const std::size_t lines = table_->times.size();
    shown_ = lines;
    Array<double> times{{table_, &table_->times}, lines};
    Array<std::uint64_t> counts{{table_, &table_->counts}, lines, columns_.size(), table_->width};
    times.is_shared = counts.is_shared = true;
    return py::make_tuple(columns_, std::move(times), std::move(counts));
  }

 private:
  // `width` numbers per line, of which the last may belong to no column yet.
  struct Table {
    std::size_t width = 8;
    std::vector<double> times;
    std::vector<std::uint64_t> counts;
  };

  std::size_t place_of(const std::string& name) {
    const auto [place, is_new] = places_.try_emplace(name, columns_.size());
    if (is_new) columns_.push_back(name);
    return place->second;
  }

  // For one more line.
  void make_room() {
    const std::size_t lines = table_->times.size();
    const bool is_wide_enough = columns_.size() <= table_->width;
    const bool is_long_enough = lines < table_->times.capacity() &&
                                (lines + 1) * table_->width <= table_->counts.capacity();
    if (is_wide_enough && is_long_enough) return;
    go_on_elsewhere(lines, is_wide_enough ? table_->width : 2 * columns_.size());
  }

  // With so many of the lines, and room for as many again.
  void go_on_elsewhere(std::size_t lines, std::size_t width) {
    const auto table = std::make_shared<Table>(Table{width, {}, {}});
    table->times.reserve(2 * lines + 16);
    table->counts.reserve((2 * lines + 16) * width);
    table->times.assign(table_->times.begin(),
                        table_->times.begin() + static_cast<std::ptrdiff_t>(lines));
    table->counts.resize(lines * width);
    for (std::size_t line = 0; line < lines; ++line) {
      std::copy_n(&table_->counts[line * table_->width], table_->width,
                  &table->counts[line * width]);
    }
    table_ = table;
    shown_ = 0;
  }

  std::shared_ptr<Table> table_ = std::make_shared<Table>();
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> places_;
  std::size_t shown_ = 0;  // lines of this table
};

// While one thread works on a simulation, others are refused.
class Busy {
 public:
  explicit Busy(std::atomic_flag& flag) : flag_(flag) {
    if (flag_.test_and_set()) throw Error("this simulation is running in another thread");
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { flag_.clear(); }

 private:
  std::atomic_flag& flag_;
};

class Simulation {
 public:
  Simulation(const Prepared& prepared, std::uint64_t trial, Session session, Looks looks)
      : prepared_(prepared),
        trial_(trial),
        session_(std::move(session)),
        looks_(std::move(looks)) {}

  // That trial at its start.
  static std::unique_ptr<Simulation> begun(const Prepared& prepared, std::uint64_t trial) {
    return made(prepared, trial, Looks(),
                [&](const KeepGoing& goes_on) { return Session(prepared.run, trial, goes_on); });
  }

  const Session& session() const {
    refuse_if_busy();
    return session_;
  }
  const Prepared& prepared() const { return prepared_; }

  std::string advance_to(const py::int_& interactions, bool stops) {
    const Interactions end = count_of(interactions);
    return guarded(
        [&](const KeepGoing& goes_on) { return session_.advance_to(end, stops, goes_on); });
  }

  std::string advance_to_time(const py::int_& numerator, std::uint64_t denominator, bool stops) {
    const Fraction time{count_of(numerator), denominator};
    return guarded(
        [&](const KeepGoing& goes_on) { return session_.advance_to_time(time, stops, goes_on); });
  }

  // Looks at the multiples first ... last of a time; ends at the stop condition if `stops`.
  std::string record(const py::int_& numerator, std::uint64_t denominator, std::uint64_t first,
                     std::uint64_t last, bool stops) {
    const Interactions step = count_of(numerator);
    return guarded([&](const KeepGoing& goes_on) {
      SessionEnd end = SessionEnd::reached;
      for (std::uint64_t k = first; k <= last && end == SessionEnd::reached; ++k) {
        end = session_.advance_to_time({step * k, denominator}, stops, goes_on);
        if (end == SessionEnd::reached) add_look();
      }
      return end;
    });
  }

  void look() {
    refuse_if_busy();
    add_look();
  }
  py::tuple history() {
    refuse_if_busy();
    return looks_.table();
  }
  void forget_history() {
    refuse_if_busy();
    looks_ = Looks();
  }

  AgentCount strike(const std::string& text) {
    refuse_if_busy();
    return session_.strike(fault_of(text));
  }
  void go_on_as(const Prepared& prepared) {
    refuse_if_busy();
    if (prepared.run->n() != prepared_.run->n()) throw Error("a simulation keeps its agents");
    session_.go_on_as(prepared.run);
    prepared_ = prepared;
  }

  std::unique_ptr<Simulation> copy() const {
    const Busy busy(is_busy_);
    return made(prepared_, trial_, looks_,
                [&](const KeepGoing& goes_on) { return session_.copy(goes_on); });
  }

  // Plain values, for pickles.
  py::tuple state() const {
    const Session::Record record = session().record();
    py::list interventions;
    for (const Session::Intervention& each : record.interventions) {
      interventions.append(py::make_tuple(
          int_of(each.at), each.fault ? py::object(py::str(each.fault->text)) : py::none()));
    }
    const auto first = record.first_convergence;
    return py::make_tuple(trial_, record.part, int_of(record.before), interventions,
                          int_of(record.now), record.time,
                          first ? py::object(int_of(*first)) : py::none());
  }

  static std::unique_ptr<Simulation> from_state(const Prepared& prepared, const py::tuple& state) {
    Session::Record record{.part = state[1].cast<std::uint64_t>(),
                           .before = count_of(state[2]),
                           .interventions = {},
                           .now = count_of(state[4]),
                           .time = state[5].cast<double>()};
    for (const py::handle each : state[3]) {
      const auto intervention = py::reinterpret_borrow<py::tuple>(each);
      Session::Intervention& made =
          record.interventions.emplace_back(Session::Intervention{count_of(intervention[0])});
      if (!intervention[1].is_none()) made.fault = fault_of(intervention[1].cast<std::string>());
    }
    if (!state[6].is_none()) record.first_convergence = count_of(state[6]);
    const auto trial = state[0].cast<std::uint64_t>();
    return made(prepared, trial, Looks(), [&](const KeepGoing& goes_on) {
      return Session::resumed(prepared.run, trial, record, goes_on);
    });
  }

 private:
  // Around the session that `make` makes, without the GIL.
  template <class Make>
  static std::unique_ptr<Simulation> made(const Prepared& prepared, std::uint64_t trial,
                                          const Looks& looks, Make make) {
    SignalWatch signals;
    std::optional<Session> session;
    {
      const py::gil_scoped_release released;
      try {
        session = make([&](const Moment&) { return signals.goes_on(); });
      } catch (const Interrupted&) {  // before its first interaction
      }
    }
    if (!session) throw py::error_already_set();
    return std::make_unique<Simulation>(prepared, trial, std::move(*session), looks);
  }

  void add_look() {
    if (looks_.is_at(session_.time())) looks_.forget_last();
    looks_.add(session_.time(), session_.engine().census());
  }

  void refuse_if_busy() const { const Busy is_free(is_busy_); }

  // Without the GIL; one thread at a time.
  template <class Work>
  std::string guarded(Work work) {
    const Busy busy(is_busy_);
    SignalWatch signals;
    SessionEnd end = SessionEnd::interrupted;
    {
      const py::gil_scoped_release released;
      end = work([&](const Moment&) { return signals.goes_on(); });
    }
    if (signals.has_raised()) throw py::error_already_set();
    return end == SessionEnd::stopped ? "stopped" : "reached";
  }

  Prepared prepared_;
  std::uint64_t trial_;
  Session session_;
  Looks looks_;
  mutable std::atomic_flag is_busy_;
};

py::dict observations_of(const Simulation& simulation) {
  py::dict result;
  for (const Observation& each : simulation.session().engine().observations()) {
    result[py::str(each.name)] = std::visit(
        [](const auto& value) -> py::object {
          if constexpr (std::is_same_v<std::decay_t<decltype(value)>, Interactions>) {
            return int_of(value);
          } else {
            return py::cast(value);
          }
        },
        each.value);
  }
  return result;
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<Simulation>(module, "Simulation")
      .def(py::init(&Simulation::begun))
      .def_property_readonly("now", [](const Simulation& s) { return int_of(s.session().now()); })
      .def_property_readonly("time", [](const Simulation& s) { return s.session().time(); })
      .def_property_readonly("leaders",
                             [](const Simulation& s) { return s.session().engine().leaders(); })
      .def_property_readonly("converged",
                             [](const Simulation& s) { return s.session().engine().converged(); })
      .def_property_readonly("hopeless",
                             [](const Simulation& s) { return s.session().engine().hopeless(); })
      .def_property_readonly("first_convergence",
                             [](const Simulation& s) -> py::object {
                               const auto first = s.session().first_convergence();
                               return first ? py::object(int_of(*first)) : py::none();
                             })
      .def_property_readonly("prepared", &Simulation::prepared)
      .def("observations", &observations_of)
      .def("census", [](const Simulation& s) { return pairs_of(s.session().engine().census()); })
      .def("agents", [](const Simulation& s) { return pairs_of(s.session().engine().agents()); })
      .def("advance_to", &Simulation::advance_to)
      .def("advance_to_time", &Simulation::advance_to_time)
      .def("record", &Simulation::record)
      .def("look", &Simulation::look)
      .def("history", &Simulation::history)
      .def("forget_history", &Simulation::forget_history)
      .def("strike", &Simulation::strike)
      .def("go_on_as", &Simulation::go_on_as)
      .def("copy", &Simulation::copy)
      .def("state", &Simulation::state)
      .def_static("from_state", &Simulation::from_state);
}

}  // namespace conclave::python
