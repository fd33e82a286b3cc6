// What a member knows, as JSON, over a local socket: one HTTP answer per connection, whatever is
// asked (curl --unix-socket node.sock http://member/). Only those may ask whom the file system
// lets.
#pragma once

#include <memory>
#include <string>

#include "conclave/election/loop.hpp"

namespace conclave::election {

class Service;

std::string status_json(const Service& service);

class StatusEndpoint {
 public:
  // Takes the place of a socket that nobody listens on any more. Throws Error. The service must
  // outlive the endpoint.
  StatusEndpoint(Loop& loop, const std::string& path, const Service& service);
  ~StatusEndpoint();  // removes the socket
  StatusEndpoint(const StatusEndpoint&) = delete;
  StatusEndpoint& operator=(const StatusEndpoint&) = delete;

 private:
  struct Listener;
  std::shared_ptr<Listener> listener_;  // shared with the callbacks of the loop
};

}  // namespace conclave::election
