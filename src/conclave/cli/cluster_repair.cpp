// `conclave cluster repair`: says what a member's promise file holds and what is wrong with it, and
// writes another where the operator names the term. docs/elections.md says when that is safe.
#include "conclave/cli/cluster_repair.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/cli/cli.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/election/config.hpp"
#include "conclave/election/promise_file.hpp"

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

void diagnose(const election::PromiseRecord& record, const std::string& path) {
  if (!record.is_there) {
    fmt::print("'{}' is missing: the next start waits a lease, and has forgotten its term\n", path);
  } else if (record.trouble.empty()) {
    fmt::print("'{}' is sound: {}\n", path, sentence(record.promise));
  } else {
    fmt::print("{}\n", record.trouble);
  }
}

}  // namespace

Exit repair_member(const std::string& config_file, const std::string& term) {
  const election::NodeConfig config = election::read_config(config_file);
  const std::string& path = config.service.state_file;
  if (path.empty()) throw Error(fmt::format("'{}' names no state file", config_file));
  const election::PromiseOwner owner = election::promise_owner(config.service);
  const election::PromiseRecord record = election::read_promise(path, owner);
  diagnose(record, path);
  if (record.is_foreign) throw Error("nothing is changed: give the file back to its owner");
  if (term.empty()) {
    if (record.trouble.empty()) return Exit::done;
    throw Error(
        "nothing is changed. When this member has been down for a lease, ask the status of the "
        "others, of a majority at least: the largest \"promised\" among them is T for --term T");
  }
  const Promise fresh{.term = count_option_64("--term", term, 1, election::most_term),
                      .to = election::nobody,
                      .lease = lease_to_keep(record.promise, config.service.timing)};
  election::PromiseFile::replace(path, owner, fresh);
  fmt::print("'{}' is written anew: {}\n", path, sentence(fresh));
  return Exit::done;
}

}  // namespace conclave::cli
