#include "election/repair.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::election {
namespace {

std::string sentence(const Promise& promise) {
  if (promise.to == nobody)
    return fmt::format("no promise in terms up to {}, none within {} ms of a start", promise.term,
                       promise.lease.count());
  return fmt::format("in term {} it has promised to support member {}, for {} ms", promise.term,
                     promise.to, promise.lease.count());
}

// The longer of the two, if the old one can be believed: a promise of it may still last.
milliseconds lease_to_keep(const Promise& old, const Timing& timing) {
  const bool is_plausible = old.lease <= std::chrono::hours(24);
  return is_plausible ? std::max(old.lease, timing.lease) : timing.lease;
}

// A line of its own; none where the list is fixed.
std::string list_line(const Configuration& list) {
  if (list.seats.empty()) return {};
  std::string seats;
  for (const Seat& seat : list.seats)
    seats +=
        fmt::format("{}{} at {}", seats.empty() ? "" : ", ", seat.member, to_string(seat.endpoint));
  return fmt::format("\nit holds version {} of the list, of term {}: {}", list.stamp.version,
                     list.stamp.term, seats);
}

}  // namespace

PromiseRepair::PromiseRepair(const std::string& config_file) : config_(read_config(config_file)) {
  if (path().empty()) throw Error(fmt::format("'{}' names no state file", config_file));
  record_ = read_promise(path(), owner());
}

std::string PromiseRepair::diagnosis() const {
  if (!record_.is_there)
    return fmt::format("'{}' is missing: the next start waits a lease, and has forgotten its term",
                       path());
  const std::string state =
      record_.trouble.empty() ? fmt::format("'{}' is sound: {}", path(), sentence(record_.promise))
                              : record_.trouble;
  return record_.is_intact ? state + list_line(record_.configuration) : state;
}

std::string PromiseRepair::advice() const {
  if (is_elastic())
    return "nothing is changed. Where a majority of the members has kept its files, --forget "
           "lets this one come back as if its file were lost; where not, stop all members and "
           "give all of them one list and one term (--list FILE --term T)";
  return "nothing is changed. When this member has been down for a lease, ask the status of the "
         "others, of a majority at least: the largest \"promised\" among them is T for --term T";
}

std::string PromiseRepair::forget() const {
  PromiseFile::remove(path(), owner());
  return fmt::format(
      "'{0}' is kept as '{0}.damaged': the next start waits a lease, and asks the leader for "
      "list and term",
      path());
}

std::string PromiseRepair::write_anew(Term term, const std::string& list_file) const {
  const Configuration list = is_elastic() ? list_to_write(list_file) : Configuration{};
  if (term < list.stamp.term)
    throw Error(
        fmt::format("the list is of term {}, and --term {} is below that", list.stamp.term, term));
  const Promise fresh{
      .term = term, .to = nobody, .lease = lease_to_keep(record_.promise, config_.service.timing)};
  PromiseFile::replace(path(), owner(), fresh, list);
  return fmt::format("'{}' is written anew: {}{}", path(), sentence(fresh), list_line(list));
}

Configuration PromiseRepair::list_to_write(const std::string& list_file) const {
  const bool is_own = list_file.empty();
  const PromiseRecord source = is_own ? record_ : read_promise(list_file, owner());
  const std::string& name = is_own ? path() : list_file;
  if (!source.is_intact || source.configuration.seats.empty())
    throw Error(fmt::format("'{}' holds no list that can be relied on; {}", name, advice()));
  const MemberIndex self = config_.service.transport.self;
  if (!source.configuration.has(self))
    throw Error(fmt::format("member {} has no seat in the list of '{}'", self, name));
  return source.configuration;
}

}  // namespace conclave::election
