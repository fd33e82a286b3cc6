// A member's promise file in the hands of an operator: what it holds, what is wrong with it, and
// another in its place. docs/how-to/elections.md says when which of these is safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "election/config_file.hpp"
#include "election/promise_file.hpp"

namespace conclave::election {

// The member must be down. The sentences are for people, on one line or more. Not thread-safe.
class PromiseRepair {
 public:
  // Reads the configuration and the state file that it names; a state file that is damaged or
  // missing is no error. Throws Error where one of them cannot be read.
  explicit PromiseRepair(const std::string& config_file);

  const std::string& state_file() const { return path(); }
  bool is_elastic() const { return config_.service.is_elastic; }
  const PromiseRecord& record() const { return record_; }
  // One or two sentences: which promise the file holds, or what is wrong with it.
  std::string diagnosis() const;
  std::string advice() const;  // what an operator can do about a damaged file

  // Each keeps the old file as FILE.damaged and returns what it has done. Throws Error if a process
  // uses the file, std::system_error if it cannot be written.
  //
  // Leaves no file: the next start recovers from other members. Always safe.
  std::string forget() const;
  // Writes a file that allows no promise in terms up to this one; the next start recovers all the
  // same. An elastic cluster needs a list of members: that of the old file, or that of another
  // member's state file where `list_file` is not empty. Throws Error where there is none that can
  // be relied on, or `term` is before the list's.
  std::string write_anew(Term term, const std::string& list_file) const;
  // The next start takes the file for the newest of this member, on the operator's word.
  std::string vouch() const;
  // Copies the state file, which may be in use, to a new file.
  std::string back_up(const std::string& copy) const;
  // Begins a cluster of another identity, with the list of `source`, a backup or state file of any
  // member; no member with the old identity is spoken to any more. Its terms begin beyond all that
  // the old cluster can have reached. No identity: draws one, which the other members are given.
  std::string restore(const std::string& source, std::optional<std::uint64_t> identity) const;

 private:
  const std::string& path() const { return config_.service.state_file; }
  PromiseOwner owner() const { return promise_owner(config_.service); }
  Configuration list_to_write(const std::string& list_file) const;

  std::string config_file_;
  NodeConfig config_;
  PromiseRecord record_;
};

}  // namespace conclave::election
