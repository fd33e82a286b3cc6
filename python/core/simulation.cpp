// A trial that Python steps through, with the history of what it has seen.
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "conclave/base/error.hpp"
#include "conclave/catalog/session.hpp"
#include "conclave/experiment/fault_text.hpp"
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

// Censuses at times, by columns that appear when a state does.
class Looks {
 public:
  void add(double time, const std::vector<NamedCount>& census) {
    times_.push_back(time);
    auto& line = lines_.emplace_back();
    for (const NamedCount& each : census) {
      const auto [place, is_new] = places_.try_emplace(each.name, columns_.size());
      if (is_new) columns_.push_back(each.name);
      line.emplace_back(place->second, each.count);
    }
  }

  bool is_at(double time) const { return !times_.empty() && times_.back() == time; }
  void forget_last() {
    times_.pop_back();
    lines_.pop_back();
  }

  py::tuple table() const {
    Array<double> times{times_, times_.size()};
    Array<std::uint64_t> counts{std::vector<std::uint64_t>(times_.size() * columns_.size()),
                                times_.size(), columns_.size()};
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      for (const auto& [column, count] : lines_[line]) {
        counts.values[line * columns_.size() + column] = count;
      }
    }
    return py::make_tuple(columns_, std::move(times), std::move(counts));
  }

 private:
  std::vector<double> times_;
  std::vector<std::vector<std::pair<std::size_t, std::uint64_t>>> lines_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t> places_;
};

class Simulation {
 public:
  Simulation(const Prepared& prepared, std::uint64_t trial)
      : prepared_(prepared), trial_(trial), session_(prepared.run, trial) {}
  Simulation(const Prepared& prepared, std::uint64_t trial, Session session, Looks looks)
      : prepared_(prepared),
        trial_(trial),
        session_(std::move(session)),
        looks_(std::move(looks)) {}

  const Session& session() const { return session_; }
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
        if (end == SessionEnd::reached) look();
      }
      return end;
    });
  }

  void look() {
    if (looks_.is_at(session_.time())) looks_.forget_last();
    looks_.add(session_.time(), session_.engine().census());
  }
  py::tuple history() const { return looks_.table(); }
  void forget_history() { looks_ = {}; }

  AgentCount strike(const std::string& text) { return session_.strike(fault_of(text)); }
  void go_on_as(const Prepared& prepared) {
    if (prepared.run->n() != prepared_.run->n()) throw Error("a simulation keeps its agents");
    session_.go_on_as(prepared.run);
    prepared_ = prepared;
  }

  std::unique_ptr<Simulation> copy() const {
    return resumed(prepared_, trial_, session_.record(), looks_);
  }

  // Plain values, for pickles.
  py::tuple state() const {
    const Session::Record record = session_.record();
    py::list deeds;
    for (const Session::Deed& each : record.deeds) {
      deeds.append(py::make_tuple(int_of(each.at),
                                  each.fault ? py::object(py::str(each.fault->text)) : py::none()));
    }
    const auto first = record.first_convergence;
    return py::make_tuple(trial_, record.part, int_of(record.before), deeds, int_of(record.now),
                          record.time, first ? py::object(int_of(*first)) : py::none());
  }

  static std::unique_ptr<Simulation> from_state(const Prepared& prepared, const py::tuple& state) {
    Session::Record record{.part = state[1].cast<std::uint64_t>(),
                           .before = count_of(state[2]),
                           .deeds = {},
                           .now = count_of(state[4]),
                           .time = state[5].cast<double>()};
    for (const py::handle each : state[3]) {
      const auto deed = py::reinterpret_borrow<py::tuple>(each);
      Session::Deed& made = record.deeds.emplace_back(Session::Deed{count_of(deed[0])});
      if (!deed[1].is_none()) made.fault = fault_of(deed[1].cast<std::string>());
    }
    if (!state[6].is_none()) record.first_convergence = count_of(state[6]);
    return resumed(prepared, state[0].cast<std::uint64_t>(), record, {});
  }

 private:
  static std::unique_ptr<Simulation> resumed(const Prepared& prepared, std::uint64_t trial,
                                             const Session::Record& record, const Looks& looks) {
    SignalWatch signals;
    std::optional<Session> session;
    {
      const py::gil_scoped_release released;
      session = Session::resumed(prepared.run, trial, record,
                                 [&](const Moment&) { return signals.goes_on(); });
    }
    if (!session) throw py::error_already_set();
    return std::make_unique<Simulation>(prepared, trial, std::move(*session), looks);
  }

  // Without the GIL; one thread at a time.
  template <class Work>
  std::string guarded(Work work) {
    if (is_busy_.test_and_set()) throw Error("this simulation is running in another thread");
    SignalWatch signals;
    SessionEnd end = SessionEnd::interrupted;
    try {
      const py::gil_scoped_release released;
      end = work([&](const Moment&) { return signals.goes_on(); });
    } catch (...) {
      is_busy_.clear();
      throw;
    }
    is_busy_.clear();
    if (signals.has_raised()) throw py::error_already_set();
    return end == SessionEnd::stopped ? "stopped" : "reached";
  }

  Prepared prepared_;
  std::uint64_t trial_;
  Session session_;
  Looks looks_;
  std::atomic_flag is_busy_;
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
      .def(py::init<const Prepared&, std::uint64_t>())
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
