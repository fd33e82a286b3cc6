// Keeps a port of the loopback interface for a member that is down for a while: other processes get
// free ports from the system, and may otherwise be given this one. Connections to it are refused,
// and the member may listen there again, since both reuse addresses.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "conclave/base/error.hpp"

namespace conclave::election::testing {

class HeldPort {
 public:
  explicit HeldPort(std::uint16_t port)
      : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::setsockopt(descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
      ::close(descriptor_);
      throw Error("cannot hold a port");
    }
  }
  HeldPort(const HeldPort&) = delete;
  HeldPort& operator=(const HeldPort&) = delete;
  ~HeldPort() { ::close(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace conclave::election::testing
