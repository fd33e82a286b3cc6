// One end of the edge between two members, whatever connections come and go below it: messages to
// the peer wait here, numbered, until it has acknowledged them, and messages from it are let
// through once each and in order. Nothing is sent or read here. What is promised: per pair of
// incarnations and direction, messages arrive in the order of sending, none twice, and none is
// missing but those that `forget` or a restart of the peer has counted as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "election/frame.hpp"

namespace conclave::election::detail {

class Edge {
 public:
  struct Limits {
    std::size_t messages;
    std::size_t bytes;
  };
  struct Position {
    std::uint64_t received;
    std::uint64_t first;
  };
  struct Resumption {
    bool is_other_process;  // than that of the connection before
    std::size_t lost;       // messages sent to the old process, which may have received them or not
  };
  enum class Arrival { fresh, duplicate, gap };

  explicit Edge(const Limits& limits) : limits_(limits) {}

  // Outgoing. False: the queue is full, and the message is not in it.
  bool push(std::span<const std::byte> bytes);
  // The next message that the current connection has not carried yet.
  std::optional<Message> next();
  // False: the peer acknowledges what it was never sent.
  bool acknowledge(std::uint32_t received);
  // Drops all messages and says how many that were.
  std::size_t forget();

  // Incoming.
  Arrival arrive(std::uint32_t number);
  std::uint32_t acknowledgement();  // to be sent; from now on none is due
  std::size_t owed() const { return owed_; }

  // The position that a Ready to a peer of that incarnation reports.
  Position position_for(std::uint64_t incarnation) const;
  // A connection to that incarnation carries the edge from now on. Empty: what the Ready says
  // cannot be.
  std::optional<Resumption> resume(std::uint64_t incarnation, const Ready& ready);

  std::size_t pending() const { return queue_.size(); }

 private:
  void pop();
  std::size_t restart();

  Limits limits_;
  std::deque<std::vector<std::byte>> queue_;  // not acknowledged; the first has the number first_
  std::size_t queued_bytes_ = 0;
  std::size_t sent_ = 0;       // how many of them the current connection has carried
  std::size_t ever_sent_ = 0;  // ... or one before it, to the same incarnation
  std::uint64_t first_ = 0;
  std::uint64_t received_ = 0;
  std::size_t owed_ = 0;  // messages received since the last acknowledgement
  std::optional<std::uint64_t> incarnation_;
};

}  // namespace conclave::election::detail
