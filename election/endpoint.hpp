// Where a member listens: a host name or an address, and a port.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace conclave::election {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// "10.0.0.7:7000", "node3.example:7000", "[::1]:7000"; throws Error.
Endpoint parse_endpoint(std::string_view text);
std::string to_string(const Endpoint& endpoint);
// Whether a host has only characters that names and addresses have: 1 to 255 letters, digits and
// . - _ : % [ ].
bool is_plain_host(std::string_view host);

}  // namespace conclave::election
