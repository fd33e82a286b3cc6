// The common part of the module's files: 128-bit counts and fractions as Python has them, a
// protocol with what its views refer to, and work during which Python's signals are looked after.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "conclave/base/interactions.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/run_options.hpp"

namespace conclave::python {

namespace py = pybind11;

py::int_ int_of(Interactions count);
// A count from an int that is not negative and fits; Error otherwise.
Interactions count_of(const py::int_& number);

// A catalog entry that Python holds, under the name that rows and sentences give it.
class Protocol {
 public:
  Protocol(std::string name, catalog::Entry entry)
      : name_(std::move(name)), entry_(std::make_shared<const catalog::Entry>(std::move(entry))) {}

  const std::string& name() const { return name_; }
  const catalog::Entry& entry() const { return *entry_; }
  const std::shared_ptr<const catalog::Entry>& shared() const { return entry_; }

 private:
  std::string name_;
  std::shared_ptr<const catalog::Entry> entry_;
};

// An array that NumPy sees without copying; it lives as long as somebody looks at it.
template <class Number>
struct Array {
  std::shared_ptr<const std::vector<Number>> values;
  std::size_t rows = 0;
  std::size_t columns = 0;  // 0: one dimension
  std::size_t width = 0;    // numbers from one row to the next
  bool is_shared = false;   // with C++, so that Python may only read it
};

template <class Number>
Array<Number> array_of(std::vector<Number> values) {
  const std::size_t size = values.size();
  return {std::make_shared<const std::vector<Number>>(std::move(values)), size};
}
template <class Number>
Array<Number> table_of(std::vector<Number> values, std::size_t rows, std::size_t columns) {
  return {std::make_shared<const std::vector<Number>>(std::move(values)), rows, columns, columns};
}

// A run with the entry that it was prepared from. Runs and sessions share it.
struct Prepared {
  std::shared_ptr<const catalog::Entry> entry;
  std::shared_ptr<const catalog::PreparedRun> run;  // keeps the entry alive by itself, too
};

// An option that is a text or a truth value; empty or false where it is not given.
std::string word(const py::dict& options, const char* name);
bool flag(const py::dict& options, const char* name);

// The options of a run, and how it is carried out, from keywords: strings, lists of strings and
// truth values by the names in the table of options.
experiment::RunText words_of(const py::dict& options, const std::string& protocol);
experiment::ExecutionText execution_of(const py::dict& options);

// The values of a run's parameters, by name.
py::dict parameters_of(std::span<const catalog::ParameterValue> parameters);

// The parts of a request that are no words: a configuration, the arcs of a graph, what is kept.
struct Extras {
  std::shared_ptr<const catalog::GivenStart> given{};
  std::shared_ptr<const Digraph> digraph{};
  std::string graph{};
};
Extras extras_of(const py::dict& options);

// The request of these words, for a protocol that need not be a file.
catalog::RunRequest request_of(const catalog::Entry& entry, experiment::RunText words,
                               const Extras& extras, const experiment::UsageExample& usage);

// Called with the GIL while work goes on, about five times a second.
using Look = std::function<void()>;

// Runs `work` in a thread of its own without the GIL, and meanwhile lets Python handle its signals.
// Ctrl-C, or an exception of `look`, sets `stop`, which must end the work soon; then it is raised
// here. An exception of the work is rethrown.
void attend(const std::function<void()>& work, std::atomic<bool>& stop, const Look& look = {});

// To be asked by a thread that was called from Python and has released the GIL: false once a signal
// handler has raised, which the caller throws as py::error_already_set when it has the GIL again.
// Looks twenty times a second at most, whatever the number of calls.
class SignalWatch {
 public:
  bool goes_on();
  bool has_raised() const { return has_raised_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  bool has_raised_ = false;
};

void bind_runs(py::module_& module);
void bind_rule(py::module_& module);
void bind_simulation(py::module_& module);
void bind_exact(py::module_& module);
void bind_store(py::module_& module);
void bind_election(py::module_& module);

}  // namespace conclave::python
