// Plain sockets of the loopback interface, for tests: addresses, listeners, and ports that are
// held.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "conclave/base/error.hpp"

namespace conclave::election::testing {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A socket bound to a port, or to any free one for 0. The caller closes it.
inline int bound_socket(std::uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  const sockaddr_in address = loopback(port);
  if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(descriptor);
    throw Error("cannot bind a socket");
  }
  return descriptor;
}

// A socket that listens at a free port. The caller, or the transport that gets it, closes it.
struct Listener {
  int descriptor = -1;
  std::uint16_t port = 0;
};

inline Listener listener() {
  const int descriptor = bound_socket(0);
  sockaddr_in address{};
  socklen_t length = sizeof(address);
  const bool listens =
      ::listen(descriptor, 128) == 0 &&
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0;
  if (!listens) throw Error("cannot listen");
  return {descriptor, ntohs(address.sin_port)};
}

// Keeps a port for a member that is down for a while: other processes get free ports from the
// system, and may otherwise be given this one. Connections to it are refused, and the member may
// listen there again, since both reuse addresses.
class HeldPort {
 public:
  explicit HeldPort(std::uint16_t port) : descriptor_(bound_socket(port)) {}
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  ~HeldPort() { ::close(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace conclave::election::testing
