// The configuration file of a member, in TOML: who it is, and with whom it elects.
// docs/how-to/elections.md lists the keys.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "election/service.hpp"

namespace conclave::election {

struct NodeConfig {
  ServiceOptions service;
  bool wakes = true;   // starts an election; otherwise waits for another member to do so
  bool stays = false;  // goes on after the leader is known
  std::string status_socket{};
  std::string authority_file{};  // as the file names it; empty where there are no certificates
  CredentialFiles credential_files{};
  std::chrono::seconds give_up{60};  // without a leader, unless it stays
};

// The identity of a cluster: 16 hexadecimal digits; nothing where the text is none.
std::optional<std::uint64_t> parse_identity(std::string_view text);

// Paths in the file are relative to the file. Throws Error with file, line and key.
NodeConfig read_config(const std::string& path);

}  // namespace conclave::election
