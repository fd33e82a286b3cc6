// A transport's knowledge about another member.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "election/detail/edge.hpp"
#include "election/detail/link.hpp"

namespace conclave::election::detail {

struct Peer {
  Peer(MemberIndex its_index, Endpoint where, const TransportLimits& limits)
      : index(its_index),
        endpoint(std::move(where)),
        edge({limits.queued_messages, limits.queued_bytes}),
        retry_delay(limits.first_retry) {}

  MemberIndex index;
  Endpoint endpoint;
  Edge edge;
  std::shared_ptr<Link> live;     // carries messages; at most one
  std::shared_ptr<Link> dialled;  // being opened by us; at most one
  Loop::Clock::duration retry_delay;
  Loop::TimerId retry = 0;
  Loop::TimerId watch = 0;                     // runs while messages wait for acknowledgement
  Loop::TimerId acknowledgement = 0;           // runs while one is owed
  Loop::Clock::time_point progress;            // when the peer has last acknowledged something new
  std::string trouble = "it does not answer";  // why there is no connection
  bool insists = false;        // it has told us that there is another connection, but there is none
  bool is_connected = false;   // as last reported to the application
  bool is_waited_for = false;  // by a sender that found the queue full
};

}  // namespace conclave::election::detail
