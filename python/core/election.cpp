// A member of a real election, in a thread of its own that calls back into Python.
#include "election/election.hpp"

#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "python/core/core.hpp"

namespace conclave::python {
namespace {

class Election {
 public:
  Election(const py::dict& options, py::object won, py::object lost, py::object follows,
           py::object log)
      : won_(std::move(won)),
        lost_(std::move(lost)),
        follows_(std::move(follows)),
        log_(std::move(log)) {
    election_ = std::make_unique<election::Election>(options_of(options), callbacks());
  }

  ~Election() {
    const py::gil_scoped_release released;
    leave(true);
  }

  void start() {
    if (thread_.joinable()) return;
    thread_ = std::thread([this] {
      try {
        election_->run();
      } catch (...) {
        failure_ = std::current_exception();
      }
    });
  }

  // Ends the thread; what went wrong in it or in a callback is thrown here, once.
  void stop(bool hands_over) {
    {
      const py::gil_scoped_release released;
      leave(!hands_over);
    }
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

  void resign() { election_->resign(); }
  bool may_act() const { return election_->may_act(); }
  std::optional<std::uint64_t> token() const { return election_->token(); }
  std::uint64_t term() const { return election_->term(); }
  double lease_left() const { return static_cast<double>(election_->lease_left().count()) / 1000; }

 private:
  static election::ElectionOptions options_of(const py::dict& options) {
    election::ElectionOptions result;
    result.cluster = options["cluster"].cast<std::string>();
    result.self = options["self"].cast<std::uint32_t>();
    result.members = options["members"].cast<std::vector<std::string>>();
    result.listen = options["listen"].cast<std::string>();
    result.authority_file = options["authority_file"].cast<std::string>();
    result.certificate_file = options["certificate_file"].cast<std::string>();
    result.key_file = options["key_file"].cast<std::string>();
    result.state_file = options["state_file"].cast<std::string>();
    result.founds = options["founds"].cast<bool>();
    result.wakes = options["wakes"].cast<bool>();
    result.lease = std::chrono::milliseconds(options["lease_ms"].cast<std::int64_t>());
    return result;
  }

  election::ElectionCallbacks callbacks() {
    election::ElectionCallbacks result;
    if (!won_.is_none()) result.won = [this](std::uint64_t token) { call(won_, token); };
    if (!lost_.is_none()) result.lost = [this](std::uint64_t token) { call(lost_, token); };
    if (!follows_.is_none()) {
      result.follows = [this](std::uint32_t leader, std::uint64_t term) {
        call(follows_, leader, term);
      };
    }
    if (!log_.is_none()) {
      result.log = [this](std::string_view line) { call(log_, std::string(line)); };
    }
    return result;
  }

  // An exception of a callback ends this member's part, and is raised by stop().
  template <class... Arguments>
  void call(const py::object& callback, Arguments... arguments) {
    const py::gil_scoped_acquire acquired;
    try {
      callback(arguments...);
    } catch (...) {
      if (!raised_) raised_ = std::current_exception();
      election_->stop();
    }
  }

  void leave(bool at_once) {
    if (!thread_.joinable()) return;
    if (at_once) {
      election_->stop();
    } else {
      election_->retire();
    }
    thread_.join();
  }

  py::object won_, lost_, follows_, log_;
  std::unique_ptr<election::Election> election_;
  std::thread thread_;
  std::exception_ptr failure_;
  std::exception_ptr raised_;
};

}  // namespace

void bind_election(py::module_& module) {
  py::class_<Election>(module, "Election")
      .def(py::init<const py::dict&, py::object, py::object, py::object, py::object>())
      .def("start", &Election::start)
      .def("stop", &Election::stop)
      .def("resign", &Election::resign)
      .def_property_readonly("may_act", &Election::may_act)
      .def_property_readonly("token", &Election::token)
      .def_property_readonly("term", &Election::term)
      .def_property_readonly("lease_left", &Election::lease_left);
}

}  // namespace conclave::python
