// `conclave cluster add` and `conclave cluster remove`: change the list of a running cluster by one
// member. Both talk to the leader through its local status socket, which only its owner can open,
// so they run on the leader's machine.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

struct ClusterChange {
  std::string config;         // of the member that leads
  std::string address;        // add: where the new member will listen
  std::string member;         // remove: its number
  std::string authority_key;  // add: signs its certificate; empty: ca.key beside the configuration
  std::string days = "365";   // add: how long its certificate is valid
};

// Return when the change is settled. Throw Error if the member does not lead or the change makes no
// sense, and std::runtime_error if it is not settled within a minute.
Exit add_member(const ClusterChange& change);
Exit remove_member(const ClusterChange& change);

}  // namespace conclave::cli
