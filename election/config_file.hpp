// The configuration file of a member, in TOML: who it is, and with whom it elects.
// docs/how-to/elections.md lists the keys.
#pragma once

#include <chrono>
#include <string>

#include "election/service.hpp"

namespace conclave::election {

struct NodeConfig {
  ServiceOptions service;
  bool wakes = true;   // starts an election; otherwise waits for another member to do so
  bool stays = false;  // goes on after the leader is known
  std::string status_socket{};
  std::string authority_file{};      // as the file names it; empty where there are no certificates
  std::chrono::seconds give_up{60};  // without a leader, unless it stays
};

// Paths in the file are relative to the file. Throws Error with file, line and key.
NodeConfig read_config(const std::string& path);

}  // namespace conclave::election
