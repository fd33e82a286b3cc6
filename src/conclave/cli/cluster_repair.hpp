// `conclave cluster repair`, which is apart from the other cluster commands: it needs no election.
#pragma once

#include <string>

#include "conclave/cli/command.hpp"

namespace conclave::cli {

// The words of the command; empty: not given.
struct ClusterRepair {
  std::string config;
  std::string term;
  std::string list;      // a state file of another member, whose list is taken
  bool forgets = false;  // the member is to come back as one that has lost its file
};

// Adds the command to `cluster`; it fills in the words, and `cluster` runs repair_member.
void add_repair(Command& cluster, ClusterRepair& repair);

// Tells what the promise file of the member with this configuration holds, and mends it as the
// words say. Throws Error if it is damaged and they do not, or if the member runs.
Exit repair_member(const ClusterRepair& words);

}  // namespace conclave::cli
