// The module itself, its exceptions, and what the other files share.
#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <regex>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/cli/version.hpp"
#include "conclave/experiment/option_values.hpp"

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

// A sentence of the command line with keywords for options, and with calls for the commands that it
// advises: "--max-interactions 5" becomes "max_interactions 5".
std::string in_keywords(const std::string& sentence) {
  static const std::regex call(R"(conclave (\w+) (\S+) --n (\S+)$)");
  static const std::regex param(R"(--param (\w+)=(\w+))");
  static const std::regex output(R"(with -o\b)");
  static const std::regex option(R"((cmake |[\w-])?--[a-z]+(-[a-z]+)*)");
  std::string text = std::regex_replace(sentence, call, "conclave.$1('$2', n=$3)");
  text = std::regex_replace(text, param, "param={'$1': $2}");
  text = std::regex_replace(text, output, "as output");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator found(text.begin(), text.end(), option), end; found != end; ++found) {
    std::string word = found->str();
    if (!(*found)[1].matched) {  // an option of conclave
      word.erase(0, 2);
      std::ranges::replace(word, '-', '_');
    }
    result.append(rest, (*found)[0].first);
    result += word;
    rest = (*found)[0].second;
  }
  return result.append(rest, text.cend());
}

// C++ exceptions as Python's: what the command line calls misused is conclave.Error.
void translate(std::exception_ptr raised, PyObject* error_type) {
  try {
    std::rethrow_exception(std::move(raised));
  } catch (const Error& error) {
    PyErr_SetString(error_type, in_keywords(error.what()).c_str());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const std::system_error& error) {
    const py::object reason = py::reinterpret_steal<py::object>(
        Py_BuildValue("(is)", error.code().value(), error.what()));
    PyErr_SetObject(PyExc_OSError, reason.ptr());
  }
}

class Attendant {
 public:
  Attendant(const std::function<void()>& work, std::atomic<bool>& stop, const Look& look)
      : work_(work), stop_(stop), look_(look) {}

  void run() {
    {
      const py::gil_scoped_release released;
      std::thread worker([this] { carry_out(); });
      wait();
      worker.join();
    }
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void carry_out() {
    try {
      work_();
    } catch (...) {
      failure_ = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    is_done_ = true;
    done_.notify_one();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    while (!done_.wait_for(lock, std::chrono::milliseconds(100), [this] { return is_done_; })) {
      lock.unlock();
      if (!raised_) look();
      lock.lock();
    }
  }

  void look() {
    const py::gil_scoped_acquire acquired;
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (look_) look_();
    } catch (...) {
      raised_ = std::current_exception();
      stop_ = true;
    }
  }

  const std::function<void()>& work_;
  std::atomic<bool>& stop_;
  const Look& look_;
  std::mutex mutex_;
  std::condition_variable done_;
  bool is_done_ = false;
  std::exception_ptr failure_;
  std::exception_ptr raised_;  // of Python
};

// Puts those options of the table that the keywords have into the words.
template <class Words>
void take_options(std::span<const experiment::Option<Words>> table, const py::dict& options,
                  Words& words) {
  for (const experiment::Option<Words>& option : table) {
    const py::str name(option.name);
    if (!options.contains(name)) continue;
    std::visit(
        [&](auto member) {
          words.*member =
              options[name].template cast<std::remove_reference_t<decltype(words.*member)>>();
        },
        option.value);
  }
}

// How the values of an option are written: what the package needs to know of the table.
template <class Words>
void add_kinds(std::span<const experiment::Option<Words>> table, py::dict& kinds) {
  constexpr std::array names{"word", "count", "limit", "horizon", "path"};
  for (const experiment::Option<Words>& option : table) {
    const bool is_list = std::holds_alternative<std::vector<std::string> Words::*>(option.value);
    const bool is_flag = std::holds_alternative<bool Words::*>(option.value);
    kinds[py::str(option.name)] = is_list   ? "list"
                                  : is_flag ? "flag"
                                            : names[static_cast<std::size_t>(option.kind)];
  }
}

std::shared_ptr<const Digraph> digraph_of(const py::tuple& graph) {
  const auto agents = graph[1].cast<std::uint64_t>();
  const auto pairs = graph[2].cast<std::vector<std::pair<std::int64_t, std::int64_t>>>();
  if (agents >= 0xffffffffu || pairs.size() >= 0xffffffffu) throw Error("the graph is too large");
  std::vector<Digraph::Pair> arcs;
  for (const auto& [from, to] : pairs) {
    const auto last = static_cast<std::int64_t>(agents) - 1;
    if (from < 0 || to < 0 || from > last || to > last || from == to) {
      throw Error(fmt::format("the graph has an edge {} {}: edges join two different agents of 0 "
                              "to {}",
                              from, to, last));
    }
    arcs.emplace_back(from, to);
  }
  auto digraph = std::make_shared<const Digraph>(agents, std::move(arcs));
  if (!digraph->is_strongly_connected()) {
    throw Error("the graph is not strongly connected: some agents never hear of others");
  }
  return digraph;
}

}  // namespace

py::int_ int_of(Interactions count) {
  if (const auto small = count.as_uint64()) return py::int_(*small);
  return py::reinterpret_steal<py::int_>(PyLong_FromString(to_string(count).c_str(), nullptr, 10));
}

Interactions count_of(const py::int_& number) {
  return experiment::count_option("a count", py::str(py::handle(number)).cast<std::string>());
}

std::string word(const py::dict& options, const char* name) {
  return options.contains(name) ? options[name].cast<std::string>() : std::string();
}

bool flag(const py::dict& options, const char* name) {
  return options.contains(name) && options[name].cast<bool>();
}

experiment::RunText words_of(const py::dict& options, const std::string& protocol) {
  experiment::RunText words{.engine = "auto"};
  take_options(experiment::run_options(), options, words);
  words.protocol = protocol;
  return words;
}

experiment::ExecutionText execution_of(const py::dict& options) {
  experiment::ExecutionText execution;
  take_options(experiment::execution_options(), options, execution);
  execution.keeps_trace = flag(options, "keeps_trace");
  execution.keeps_history = flag(options, "keeps_history");
  execution.keeps_final = flag(options, "keeps_final");
  return execution;
}

Extras extras_of(const py::dict& options) {
  Extras extras;
  if (options.contains("given")) {
    catalog::GivenStart start{.label = options["given_label"].cast<std::string>()};
    for (const py::handle each : options["given"]) {
      const auto [name, count] = each.cast<std::pair<std::string, std::uint64_t>>();
      start.agents.push_back({name, count});
    }
    extras.given = std::make_shared<const catalog::GivenStart>(std::move(start));
  }
  if (options.contains("arcs")) {
    const auto graph = options["arcs"].cast<py::tuple>();
    extras.graph = graph[0].cast<std::string>();
    extras.digraph = digraph_of(graph);
  }
  return extras;
}

catalog::RunRequest request_of(const catalog::Entry& entry, experiment::RunText words,
                               const Extras& extras, const experiment::UsageExample& usage) {
  if (extras.given && !words.init.empty()) {
    throw Error("--init and --init-from contradict each other: give one");
  }
  if (words.n.empty() && extras.given) {
    Interactions agents;
    for (const NamedCount& each : extras.given->agents) agents += each.count;
    words.n = to_string(agents);
  }
  if (words.n.empty() && extras.digraph) words.n = std::to_string(extras.digraph->agents());
  catalog::RunRequest request = experiment::request_of(entry, words, usage);
  request.given = extras.given;
  if (extras.digraph) {
    if (extras.digraph->agents() != request.n) {
      throw Error(fmt::format("the graph has {} agents, but n = {}", extras.digraph->agents(),
                              to_string(request.n)));
    }
    request.graph = extras.graph;
    request.digraph = extras.digraph;
  }
  return request;
}

void attend(const std::function<void()>& work, std::atomic<bool>& stop, const Look& look) {
  Attendant(work, stop, look).run();
}

bool SignalWatch::goes_on() {
  if (has_raised_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(50)) return true;
  last_ = now;
  const py::gil_scoped_acquire acquired;
  has_raised_ = PyErr_CheckSignals() != 0;
  return !has_raised_;
}

}  // namespace conclave::python

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  module.doc() = "The compiled part of conclave; use the package.";
  module.attr("version") = conclave::cli::version();
  module.attr("code_version") = conclave::cli::code_version();
  static PyObject* const error_type =
      PyErr_NewExceptionWithDoc("conclave.Error",
                                "A mistake in what was asked for, in one sentence: the same that "
                                "the command line prints.",
                                PyExc_ValueError, nullptr);
  module.attr("Error") = py::reinterpret_borrow<py::object>(error_type);
  py::register_exception_translator([](std::exception_ptr raised) {
    if (raised) conclave::python::translate(std::move(raised), error_type);
  });
  module.def("in_keywords", &conclave::python::in_keywords);
  module.def("options", [] {
    py::dict kinds;
    conclave::python::add_kinds(conclave::experiment::run_options(), kinds);
    conclave::python::add_kinds(conclave::experiment::execution_options(), kinds);
    return kinds;
  });
  conclave::python::bind_runs(module);
  conclave::python::bind_rule(module);
  conclave::python::bind_simulation(module);
  conclave::python::bind_exact(module);
  conclave::python::bind_store(module);
  conclave::python::bind_election(module);
}
