// `conclave cluster repair`: says what a member's promise file holds and what is wrong with it, and
// writes another where the operator names the term. docs/elections.md says when that is safe.
#include "conclave/cli/cluster_repair.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "election/config.hpp"
#include "election/promise_file.hpp"

namespace conclave::cli {
namespace {

using election::Promise;

std::string sentence(const Promise& promise) {
  if (promise.to == election::nobody)
    return fmt::format("no promise in terms up to {}, none within {} ms of a start", promise.term,
                       promise.lease.count());
  return fmt::format("in term {} it has promised to support member {}, for {} ms", promise.term,
                     promise.to, promise.lease.count());
}

// The longer of the two, if the old one can be believed: a promise of it may still last.
election::milliseconds lease_to_keep(const Promise& old, const election::Timing& timing) {
  const bool is_plausible = old.lease <= std::chrono::hours(24);
  return is_plausible ? std::max(old.lease, timing.lease) : timing.lease;
}

std::string list_text(const election::Configuration& list) {
  std::string seats;
  for (const election::Seat& seat : list.seats)
    seats +=
        fmt::format("{}{} at {}", seats.empty() ? "" : ", ", seat.member, to_string(seat.endpoint));
  return fmt::format("version {} of the list, of term {}: {}", list.stamp.version, list.stamp.term,
                     seats);
}

void diagnose(const election::PromiseRecord& record, const std::string& path) {
  if (!record.is_there) {
    fmt::print("'{}' is missing: the next start waits a lease, and has forgotten its term\n", path);
  } else if (record.trouble.empty()) {
    fmt::print("'{}' is sound: {}\n", path, sentence(record.promise));
  } else {
    fmt::print("{}\n", record.trouble);
  }
  if (record.is_intact && !record.configuration.seats.empty())
    fmt::print("it holds {}\n", list_text(record.configuration));
}

// One member's file: what its configuration says of it, and what it holds.
class Patient {
 public:
  explicit Patient(const ClusterRepair& words)
      : words_(words), config_(election::read_config(words.config)) {
    if (path().empty()) throw Error(fmt::format("'{}' names no state file", words.config));
    if (!is_elastic() && (words.forgets || !words.list.empty()))
      throw Error("--forget and --list are for clusters whose list may change: use --term alone");
    if (words.forgets && !(words.term.empty() && words.list.empty()))
      throw Error("--forget goes without --term and --list: the leader tells the member both");
    record_ = election::read_promise(path(), owner());
  }

  const election::PromiseRecord& record() const { return record_; }
  const std::string& path() const { return config_.service.state_file; }

  void forget() const {
    election::PromiseFile::remove(path(), owner());
    fmt::print(
        "'{0}' is kept as '{0}.damaged': the next start waits a lease, and asks the leader for "
        "list and term\n",
        path());
  }

  void write_anew() const {
    const election::Configuration list = is_elastic() ? list_to_write() : election::Configuration{};
    const Promise fresh{.term = count_option_64("--term", words_.term, 1, election::most_term),
                        .to = election::nobody,
                        .lease = lease_to_keep(record_.promise, config_.service.timing)};
    if (fresh.term < list.stamp.term)
      throw Error(fmt::format("the list is of term {}, and --term {} is below that",
                              list.stamp.term, fresh.term));
    election::PromiseFile::replace(path(), owner(), fresh, list);
    fmt::print("'{}' is written anew: {}\n", path(), sentence(fresh));
    if (is_elastic()) fmt::print("it holds {}\n", list_text(list));
  }

  // Which of the ways to mend it there are.
  std::string advice() const {
    if (is_elastic())
      return "nothing is changed. Where a majority of the members has kept its files, --forget "
             "lets this one come back as if its file were lost; where not, stop all members and "
             "give all of them one list and one term (--list FILE --term T)";
    return "nothing is changed. When this member has been down for a lease, ask the status of the "
           "others, of a majority at least: the largest \"promised\" among them is T for --term T";
  }

 private:
  bool is_elastic() const { return config_.service.is_elastic; }
  election::PromiseOwner owner() const { return election::promise_owner(config_.service); }

  // Its own, where the file is as a member has written it, or that of another member's file.
  election::Configuration list_to_write() const {
    const bool is_own = words_.list.empty();
    const election::PromiseRecord source =
        is_own ? record_ : election::read_promise(words_.list, owner());
    const std::string& name = is_own ? path() : words_.list;
    if (!source.is_intact || source.configuration.seats.empty())
      throw Error(fmt::format("'{}' holds no list that can be relied on; {}", name, advice()));
    const election::MemberIndex self = config_.service.transport.self;
    if (!source.configuration.has(self))
      throw Error(fmt::format("member {} has no seat in the list of '{}'", self, name));
    return source.configuration;
  }

  const ClusterRepair& words_;
  election::NodeConfig config_;
  election::PromiseRecord record_;
};

}  // namespace

void add_repair(Command& cluster, ClusterRepair& repair) {
  Command command = cluster.subcommand(
      "repair", "Say what is wrong with a member's promise file, and rewrite it");
  command.required_option("--config", "FILE", repair.config, "The member's configuration");
  command.option("--term", "T", repair.term,
                 "Write a file that allows no promise in terms up to this one");
  command.flag("--forget", repair.forgets,
               "Elastic clusters: let it come back as if its file were lost");
  command.option("--list", "FILE", repair.list,
                 "Elastic clusters, with --term: take the list from another member's state file");
  command.footer(R"(
The member must be down, for a lease at least. --term is safe with the largest `promised` of the
others' status; --forget where a majority has kept its files; --list after all members have ended.

Examples:
  conclave cluster repair --config demo/member-1.toml
  conclave cluster repair --config demo/member-1.toml --term 17
  conclave cluster repair --config lab/member-1.toml --forget
  conclave cluster repair --config lab/member-1.toml --list member-0.state --term 17)");
}

Exit repair_member(const ClusterRepair& words) {
  const Patient patient(words);
  diagnose(patient.record(), patient.path());
  if (patient.record().is_foreign)
    throw Error("nothing is changed: give the file back to its owner");
  if (words.forgets) {
    patient.forget();
  } else if (!words.term.empty()) {
    patient.write_anew();
  } else if (!words.list.empty()) {
    throw Error("--list needs --term T, which no member's term must be beyond");
  } else if (!patient.record().trouble.empty()) {
    throw Error(patient.advice());
  }
  return Exit::done;
}

}  // namespace conclave::cli
