#include "election/repair.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/output.hpp"
#include "conclave/base/read_text.hpp"
#include "election/system.hpp"

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

constexpr std::size_t most_config_bytes = std::size_t{1} << 24;

// The configuration file with this identity in the place of the old one, or as its first key.
std::string with_identity(const std::string& config, std::uint64_t identity) {
  const std::string line = fmt::format("identity = \"{:016x}\"", identity);
  std::size_t start = 0;
  while (start < config.size()) {
    const std::size_t end = std::min(config.find('\n', start), config.size());
    const std::string_view key(config.data() + start, end - start);
    if (key.starts_with("identity") && key.find_first_of(" =") == 8)
      return config.substr(0, start) + line + config.substr(end);
    start = end + 1;
  }
  return line + "\n" + config;
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

PromiseRepair::PromiseRepair(const std::string& config_file)
    : config_file_(config_file), config_(read_config(config_file)) {
  if (path().empty()) throw Error(fmt::format("'{}' names no state file", config_file));
  record_ = read_promise(path(), owner());
}

std::string PromiseRepair::diagnosis() const {
  if (!record_.is_there)
    return fmt::format("'{}' is missing: the next start recovers from other members", path());
  const MemberState& held = record_.state;
  const std::string state =
      record_.trouble.empty()
          ? fmt::format("'{}' is sound: {}; incarnation {}", path(), sentence(held.promise),
                        to_string(held.table.of(config_.service.transport.self)))
          : record_.trouble;
  return record_.is_intact ? state + list_line(held.configuration) : state;
}

std::string PromiseRepair::advice() const {
  return "nothing is changed. Where most of the other members run, --forget lets this one recover "
         "from them; where not, docs/how-to/elections.md says when --vouch, --term and cluster "
         "restore "
         "are safe";
}

std::string PromiseRepair::forget() const {
  PromiseFile::remove(path(), owner());
  return fmt::format("'{0}' is kept as '{0}.damaged': the next start recovers from other members",
                     path());
}

std::string PromiseRepair::write_anew(Term term, const std::string& list_file) const {
  const Configuration list = is_elastic() ? list_to_write(list_file) : Configuration{};
  if (term < list.stamp.term)
    throw Error(
        fmt::format("the list is of term {}, and --term {} is below that", list.stamp.term, term));
  MemberState fresh{
      .promise = {.term = term,
                  .to = nobody,
                  .lease = lease_to_keep(record_.state.promise, config_.service.timing)},
      .configuration = list};
  if (record_.is_intact) fresh.table = record_.state.table;
  PromiseFile::replace(path(), owner(), fresh);
  return fmt::format("'{}' is written anew: {}{}", path(), sentence(fresh.promise),
                     list_line(list));
}

std::string PromiseRepair::vouch() const {
  if (!record_.is_there || !record_.trouble.empty())
    throw Error("only a sound file can be vouched for; " + advice());
  PromiseFile::replace(path(), owner(), record_.state, true);
  return fmt::format("'{}' is vouched for: the next start takes it for the newest of this member, "
                     "and expects that no other process of it runs",
                     path());
}

std::string PromiseRepair::back_up(const std::string& copy) const {
  if (!record_.is_there || !record_.trouble.empty())
    throw Error(record_.is_there ? record_.trouble : diagnosis());
  if (std::filesystem::exists(std::filesystem::symlink_status(copy)))
    throw Error(fmt::format("'{}' exists", copy));
  write_file(copy, promise_text(record_.state, owner()));
  return fmt::format("'{}' is written: conclave cluster restore makes a new cluster of it", copy);
}

std::string PromiseRepair::restore(const std::string& source,
                                   std::optional<std::uint64_t> identity) const {
  const PromiseRecord old = read_promise(source, owner());
  if (!old.is_there) throw Error(fmt::format("'{}' is missing", source));
  if (!old.is_intact) throw Error(old.trouble);
  MemberState fresh{.promise = {.term = old.state.promise.term + term_leap,
                                .to = nobody,
                                .lease = lease_to_keep(old.state.promise, config_.service.timing)},
                    .configuration = {}};
  if (is_elastic()) fresh.configuration = list_to_write(source);
  NodeConfig renamed = config_;
  renamed.service.identity = identity.value_or(unforeseeable_number());
  PromiseFile::replace(path(), promise_owner(renamed.service), fresh, true);
  write_file(config_file_, with_identity(read_text(config_file_, most_config_bytes, Limit::fixed),
                                         renamed.service.identity));
  return fmt::format("member {} is restored: {}{}\nidentity {:016x}",
                     renamed.service.transport.self, sentence(fresh.promise),
                     list_line(fresh.configuration), renamed.service.identity);
}

Configuration PromiseRepair::list_to_write(const std::string& list_file) const {
  const bool is_own = list_file.empty();
  const PromiseRecord source = is_own ? record_ : read_promise(list_file, owner());
  const std::string& name = is_own ? path() : list_file;
  const Configuration& list = source.state.configuration;
  if (!source.is_intact || list.seats.empty())
    throw Error(fmt::format("'{}' holds no list that can be relied on; {}", name, advice()));
  const MemberIndex self = config_.service.transport.self;
  if (!list.has(self))
    throw Error(fmt::format("member {} has no seat in the list of '{}'", self, name));
  return list;
}

}  // namespace conclave::election
