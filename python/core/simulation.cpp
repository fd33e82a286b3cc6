// A trial that Python steps through, with the history of what it has seen.
//
// A simulation remembers its seed and the interventions in it. That is enough to resume it
// elsewhere, including the state of all generators, by repeating the interventions; pickles do so.
// A copy is made directly from its state, where the engine can be copied.
#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/experiment/option_values.hpp"
#include "conclave/population/trial.hpp"

#include "python/core/core.hpp"
#include "python/core/looks.hpp"

namespace conclave::python {
namespace {

using Pause = population::Trial::Pause;
using Agents = std::vector<std::pair<std::string, std::uint64_t>>;

Agents pairs_of(const std::vector<NamedCount>& counts) {
  Agents result;
  for (const NamedCount& each : counts) result.emplace_back(each.name, each.count);
  return result;
}

Fault fault_of(const std::string& text) {
  return experiment::parse_fault(text.find('@') == std::string::npos ? text + "@0" : text);
}

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

// Parts of a trial are numbered by engines that go over into each other; those of a simulation are
// far from theirs.
constexpr std::uint64_t parts_per_run = std::uint64_t{1} << 32;

// All that it takes, beside the run, to make a simulation that goes on exactly as this one does.
struct Record {
  struct Intervention {
    Interactions at;               // since the start
    std::optional<Fault> fault{};  // none: it was made to stop at its condition again
  };
  std::uint64_t trial = 0;
  std::uint64_t part = 0;                     // how often it has gone on as another run
  Interactions before{};                      // interactions before the present run
  std::vector<Intervention> interventions{};  // to the present run
  Interactions now{};
  double time = 0;
  std::optional<Interactions> first_convergence{};
};

// Stepping never changes a trial: configuration by configuration, it is that of the same number of
// `conclave run --until T`, whatever the engine. Throws Error for message passing and for engine
// gpu, whose trials cannot be stepped through.
class Simulation {
 public:
  // That trial at its start.
  static std::unique_ptr<Simulation> begun(const Prepared& prepared, std::uint64_t trial) {
    return made([&](const KeepGoing& goes_on) {
      return std::unique_ptr<Simulation>(new Simulation(prepared, {.trial = trial}, goes_on));
    });
  }

  const Prepared& prepared() const { return prepared_; }
  const population::TrialEngine& engine() const {
    refuse_if_busy();
    return trial_->engine();
  }
  // Since the start, also of runs before the present one.
  Interactions now() const { return before_ + engine().now(); }
  // In parallel time, or the time of a network of reactions.
  double time() const {
    refuse_if_busy();
    return time_;
  }
  // When the stop condition first held, as far as the trial has come.
  std::optional<Interactions> first_convergence() const {
    refuse_if_busy();
    return first_in_all();
  }

  std::string advance_to(const py::int_& interactions, bool stops) {
    const Interactions end = count_of(interactions);
    return guarded([&](const KeepGoing& goes_on) { return advance(end, stops, goes_on); });
  }

  std::string advance_to_time(const py::int_& numerator, std::uint64_t denominator, bool stops) {
    const Fraction time{count_of(numerator), denominator};
    return guarded([&](const KeepGoing& goes_on) { return advance_until(time, stops, goes_on); });
  }

  // Samples at the multiples first ... last of a time; ends at the stop condition if `stops`.
  std::string record(const py::int_& numerator, std::uint64_t denominator, std::uint64_t first,
                     std::uint64_t last, bool stops) {
    const Interactions step = count_of(numerator);
    return guarded([&](const KeepGoing& goes_on) {
      Pause pause = Pause::reached;
      for (std::uint64_t k = first; k <= last && pause == Pause::reached; ++k) {
        pause = advance_until({step * k, denominator}, stops, goes_on);
        if (pause == Pause::reached) add_look();
      }
      return pause;
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

  // Strikes now; throws Error if the protocol cannot be struck.
  AgentCount strike(const std::string& text) {
    refuse_if_busy();
    return strike_with(fault_of(text));
  }

  // Goes on as a trial of another run of as many agents, which starts from a given configuration:
  // with another stop condition, or with the agents in other states. Time goes on.
  void go_on_as(const Prepared& prepared) {
    refuse_if_busy();
    if (prepared.run->n() != prepared_.run->n()) throw Error("a simulation keeps its agents");
    CONCLAVE_CHECK(prepared.run->has_clock() == prepared_.run->has_clock());
    first_convergence_ = first_in_all();
    before_ = now();
    name_.part = (name_.part / parts_per_run + 1) * parts_per_run;
    interventions_.clear();
    trial_.reset();  // before the run that it refers to
    prepared_ = prepared;
    begin({});
  }

  // O(agents), or O(states met) where they are counted; protocols that own their whole
  // configuration repeat what they did.
  std::unique_ptr<Simulation> copy() const {
    const Busy busy(is_busy_);
    return made([&](const KeepGoing& goes_on) {
      auto trial = trial_->copy();
      auto other = trial ? std::unique_ptr<Simulation>(new Simulation(*this, std::move(trial)))
                         : resumed(prepared_, now_as_record(), goes_on);
      if (other) other->looks_ = Looks(looks_);
      return other;
    });
  }

  // Plain values, for pickles.
  py::tuple state() const {
    refuse_if_busy();
    const Record record = now_as_record();
    py::list interventions;
    for (const Record::Intervention& each : record.interventions) {
      interventions.append(py::make_tuple(
          int_of(each.at), each.fault ? py::object(py::str(each.fault->text)) : py::none()));
    }
    const auto first = record.first_convergence;
    return py::make_tuple(record.trial, record.part, int_of(record.before), interventions,
                          int_of(record.now), record.time,
                          first ? py::object(int_of(*first)) : py::none());
  }

  static std::unique_ptr<Simulation> from_state(const Prepared& prepared, const py::tuple& state) {
    Record record{.trial = state[0].cast<std::uint64_t>(),
                  .part = state[1].cast<std::uint64_t>(),
                  .before = count_of(state[2]),
                  .now = count_of(state[4]),
                  .time = state[5].cast<double>()};
    for (const py::handle each : state[3]) {
      const auto intervention = py::reinterpret_borrow<py::tuple>(each);
      record.interventions.push_back({count_of(intervention[0])});
      if (intervention[1].is_none()) continue;
      record.interventions.back().fault = fault_of(intervention[1].cast<std::string>());
    }
    if (!state[6].is_none()) record.first_convergence = count_of(state[6]);
    return made([&](const KeepGoing& goes_on) { return resumed(prepared, record, goes_on); });
  }

 private:
  // The name's seed is that of the run.
  Simulation(Prepared prepared, const StreamName& name, const KeepGoing& goes_on)
      : prepared_(std::move(prepared)), name_(name) {
    name_.seed = prepared_.run->seed();
    begin(goes_on);
  }
  // A copy without its history, around the copy of the trial.
  Simulation(const Simulation& other, std::unique_ptr<population::Trial> trial)
      : prepared_(other.prepared_),
        name_(other.name_),
        before_(other.before_),
        trial_(std::move(trial)),
        time_(other.time_),
        first_convergence_(other.first_convergence_),
        interventions_(other.interventions_) {}

  void begin(const KeepGoing& goes_on) {
    const catalog::PreparedRun& run = *prepared_.run;
    workspace_ = run.workspace();
    trial_ = run.begin(name_, *workspace_, goes_on);
    if (trial_) return;
    throw Error(fmt::format("engine {} runs trials of {} to their end: they cannot be stepped "
                            "through",
                            run.engine(), run.protocol()));
  }

  Pause advance(Interactions end, bool stops, const KeepGoing& goes_on) {
    if (stops && !trial_->is_seeking()) interventions_.push_back({before_ + trial_->now()});
    const Pause pause =
        trial_->advance_to(end < before_ ? Interactions() : end - before_, goes_on, stops);
    time_ = std::max(time_, trial_->clock().time_after(before_ + trial_->now()));
    return pause;
  }

  // A clock of its own is a function of seed and trial, and so the same for every run.
  Pause advance_until(const Fraction& time, bool stops, const KeepGoing& goes_on) {
    const Pause pause = advance(trial_->clock().interactions_at(time), stops, goes_on);
    if (pause == Pause::reached) time_ = std::max(time_, time.as_double());
    return pause;
  }

  AgentCount strike_with(const Fault& fault) {
    prepared_.run->check_fault(fault);
    interventions_.push_back({before_ + trial_->now(), fault});
    return trial_->strike(fault);
  }

  std::optional<Interactions> first_in_all() const {
    if (first_convergence_ || !trial_->first_convergence()) return first_convergence_;
    return before_ + *trial_->first_convergence();
  }

  Record now_as_record() const {
    return {.trial = name_.trial,
            .part = name_.part / parts_per_run,
            .before = before_,
            .interventions = interventions_,
            .now = before_ + trial_->now(),
            .time = time_,
            .first_convergence = first_in_all()};
  }

  // Repeats what the record says; takes as long as that took since the start or the last
  // `go_on_as`. Null if interrupted after its start, Interrupted before.
  static std::unique_ptr<Simulation> resumed(const Prepared& prepared, const Record& record,
                                             const KeepGoing& goes_on) {
    const StreamName name{.trial = record.trial, .part = record.part * parts_per_run};
    std::unique_ptr<Simulation> made(new Simulation(prepared, name, goes_on));
    made->before_ = record.before;
    for (const Record::Intervention& each : record.interventions) {
      if (made->advance(each.at, false, goes_on) != Pause::reached) return nullptr;
      if (each.fault) {
        made->strike_with(*each.fault);
      } else {
        made->trial_->seek_again();
      }
    }
    if (made->advance(record.now, false, goes_on) != Pause::reached) return nullptr;
    made->interventions_ = record.interventions;
    made->time_ = record.time;
    made->first_convergence_ = record.first_convergence;
    return made;
  }

  // Calls `make` without the GIL.
  template <class Make>
  static std::unique_ptr<Simulation> made(Make make) {
    SignalWatch signals;
    std::unique_ptr<Simulation> simulation;
    {
      const py::gil_scoped_release released;
      try {
        simulation = make([&](const Moment&) { return signals.goes_on(); });
      } catch (const Interrupted&) {  // before its first interaction
      }
    }
    if (!simulation) throw py::error_already_set();
    return simulation;
  }

  void add_look() {
    if (looks_.is_at(time_)) looks_.forget_last();
    looks_.add(time_, trial_->engine().census());
  }

  void refuse_if_busy() const { const Busy is_free(is_busy_); }

  // Without the GIL; one thread at a time.
  template <class Work>
  std::string guarded(Work work) {
    const Busy busy(is_busy_);
    SignalWatch signals;
    Pause pause = Pause::interrupted;
    {
      const py::gil_scoped_release released;
      pause = work([&](const Moment&) { return signals.goes_on(); });
    }
    if (signals.has_raised()) throw py::error_already_set();
    return pause == Pause::stopped ? "stopped" : "reached";
  }

  Prepared prepared_;
  StreamName name_;
  Interactions before_;                            // interactions before the present run
  std::unique_ptr<catalog::Workspace> workspace_;  // a copy has none
  std::unique_ptr<population::Trial> trial_;
  double time_ = 0;
  std::optional<Interactions> first_convergence_;  // if in a run before, or resumed
  std::vector<Record::Intervention> interventions_;
  Looks looks_;
  mutable std::atomic_flag is_busy_;
};

py::dict observations_of(const Simulation& simulation) {
  py::dict result;
  for (const Observation& each : simulation.engine().observations()) {
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
      .def_property_readonly("now", [](const Simulation& s) { return int_of(s.now()); })
      .def_property_readonly("time", [](const Simulation& s) { return s.time(); })
      .def_property_readonly("leaders", [](const Simulation& s) { return s.engine().leaders(); })
      .def_property_readonly("converged",
                             [](const Simulation& s) { return s.engine().converged(); })
      .def_property_readonly("hopeless", [](const Simulation& s) { return s.engine().hopeless(); })
      .def_property_readonly("first_convergence",
                             [](const Simulation& s) -> py::object {
                               const auto first = s.first_convergence();
                               return first ? py::object(int_of(*first)) : py::none();
                             })
      .def_property_readonly("prepared", &Simulation::prepared)
      .def("observations", &observations_of)
      .def("census", [](const Simulation& s) { return pairs_of(s.engine().census()); })
      .def("agents", [](const Simulation& s) { return pairs_of(s.engine().agents()); })
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
