// Changes the list of a running elastic cluster by one member, as an operator orders it. The order
// goes to the leader through its status socket, which only its owner can open: so it is given on
// the leader's machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "election/config_file.hpp"

namespace conclave::election {

struct Addition {
  Endpoint address;  // where the new member will listen
  // Signs its certificate; empty: ca.key beside the leader's configuration.
  std::string authority_key_file{};
  std::chrono::days validity{90};  // of its certificate
};

struct NewMember {
  MemberIndex member = 0;
  std::filesystem::path config_file;  // to start it with
};

// Blocks; not thread-safe. remove() returns when a majority has the new list, add() when the leader
// awaits the new member, which gets its seat when it has been started and has answered. They throw
// Error if the member does not lead, does not answer or refuses, and std::runtime_error if the
// outcome is open: the leader has changed meanwhile, or a minute is over.
class LeaderClient {
 public:
  // The configuration of the member that leads. Throws Error if it cannot be read, names no status
  // socket or has a fixed list.
  explicit LeaderClient(const std::string& config_file);

  // Writes the files of the new member beside the configuration first; they stay if the change has
  // begun or may have, and are used where they are there.
  NewMember add(const Addition& addition) const;
  void remove(MemberIndex member) const;

 private:
  struct Status;
  Status status() const;
  Status leading_status() const;
  std::string order(const std::string& request) const;
  bool is_requested_again(const NewMember& added, const Endpoint& address) const;
  void await_removal(MemberIndex member) const;

  std::filesystem::path folder_;
  NodeConfig config_;
};

}  // namespace conclave::election
