// The status of a member over HTTP on a local socket: `/` answers with JSON, `/metrics` with the
// text format of Prometheus, everything else with 404 (curl --unix-socket node.sock
// http://member/). Access is controlled by the file system: only the owner can open the socket.
//
// An answer is made when the request has been read, is sent in one piece, and contains the moment
// at which it was true. A connection has two seconds. Beyond sixteen at a time the one that has
// been silent longest is closed, so idle connections cannot keep others out.
#pragma once

#include <memory>
#include <string>

#include "election/loop.hpp"

namespace conclave::election {

class Service;

// `at_ms` is the moment by the clock that leases count on (Service::now), `time` the same
// moment for people; `leads` and `lease_left_ms` belong to it. Both from the loop's thread only.
std::string status_json(const Service& service);
std::string status_metrics(const Service& service);

class StatusEndpoint {
 public:
  // Takes the place of a socket that no process listens on. Throws Error. The service must outlive
  // the endpoint. Does not touch the process's umask. It also accepts changes from whoever can open
  // the socket: POST /add?member=N&at=HOST:PORT and POST /remove?member=N change the list of an
  // elastic cluster, where this member leads.
  StatusEndpoint(Loop& loop, const std::string& path, Service& service);
  ~StatusEndpoint();  // removes the socket
  StatusEndpoint(const StatusEndpoint&) = delete;
  StatusEndpoint& operator=(const StatusEndpoint&) = delete;

 private:
  struct Listener;
  std::shared_ptr<Listener> listener_;
};

}  // namespace conclave::election
