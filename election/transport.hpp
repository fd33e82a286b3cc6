// Messages between the members of a cluster over TCP. A connection is opened when the first message
// between two members is sent and then serves both directions, so an algorithm that uses O(n) edges
// needs O(n) connections. Between two processes messages arrive in the order of sending, none
// twice, none lost while both live and can reach each other now and then: each waits in a bounded
// queue until the peer has acknowledged it, and goes again over the next connection if one breaks.
// With credentials all connections are TLS 1.3 with certificates on both sides; without, they are
// plain, and only loopback addresses are allowed. docs/reference/transport.md says what is refused.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "election/certificates.hpp"
#include "election/configuration.hpp"
#include "election/frame.hpp"
#include "election/loop.hpp"

namespace conclave::election {

struct TransportLimits {
  using Duration = Loop::Clock::duration;

  // Per peer: messages and bytes that wait for its acknowledgement.
  std::size_t queued_messages = 4096;
  std::size_t queued_bytes = std::size_t{1} << 20;
  // Per peer: how many bytes are read from it, in the long run and at once. The rest has to wait.
  std::size_t bytes_per_second = std::size_t{1} << 20;
  std::size_t bytes_at_once = std::size_t{1} << 18;
  // Accepted connections that have not introduced themselves yet; a newer one pushes the oldest
  // out. Added to the number of members.
  std::size_t strangers = 64;
  Duration introduction = std::chrono::seconds{10};  // time for TLS and hello
  Duration first_retry = std::chrono::milliseconds{20};
  Duration longest_retry = std::chrono::seconds{1};  // doubling up to this
  Duration acknowledgement_delay = std::chrono::milliseconds{10};
  // A connection over which nothing is acknowledged for this long is closed and opened again, and a
  // peer that acknowledges nothing for this long counts as unreachable.
  Duration silence = std::chrono::seconds{5};
  Duration patience = std::chrono::seconds{20};
  Duration farewell = std::chrono::seconds{2};  // for close(), at most
};

struct TransportOptions {
  std::string cluster{};
  MemberIndex self = 0;
  std::vector<Endpoint> members{};        // of all; that of `self` is where to listen; port 0: any
  std::optional<Endpoint> listen{};       // ... unless it is this, for example 0.0.0.0:7000
  std::map<MemberIndex, Endpoint> via{};  // dials these here, not at the address in `members`
  std::optional<int> listener{};  // ... or this socket, which listens already and is taken over
  std::optional<Credentials> credentials{};  // none: plain, on loopback only
  Agreement agreement{};                     // peers with a different one are refused
  bool is_elastic = false;             // `members` may have gaps (no host), and others may come
  std::vector<std::string> revoked{};  // serial numbers of certificates that are refused
  TransportLimits limits{};
};

struct TransportCounters {
  std::uint64_t messages_sent = 0;  // by send(), each once
  std::uint64_t messages_received = 0;
  std::uint64_t messages_lost = 0;  // given up, or sent to a process that has restarted since
  std::uint64_t duplicates = 0;     // messages that came again over another connection
  std::uint64_t frames_sent = 0;    // all types, again when sent again
  std::uint64_t frames_received = 0;
  std::uint64_t bytes_sent = 0;  // over sockets, with TLS
  std::uint64_t bytes_received = 0;
  std::uint64_t connections_opened = 0;      // dialled and introduced
  std::uint64_t connections_accepted = 0;    // accepted and introduced
  std::uint64_t connections_resumed = 0;     // of these: with the TLS session of an earlier one
  std::uint64_t connections_superseded = 0;  // of these: one too many between the two
  std::uint64_t connections_now = 0;         // sockets, strangers included
  std::uint64_t dials = 0;                   // attempts to open one
  std::uint64_t pauses = 0;                  // of reading, because a peer sent too much at once
  std::array<std::uint64_t, refusal_kinds> refusals{};  // of peers by us, by Refusal
};

// Calls from the loop. They may call the transport, but not destroy it.
class TransportEvents {
 public:
  virtual ~TransportEvents() = default;

  // The bytes live during the call only.
  virtual void on_message(MemberIndex from, std::span<const std::byte> bytes) = 0;
  // The peer has acknowledged nothing for limits.patience or has said farewell: the messages for it
  // are dropped. The next send() starts anew.
  virtual void on_unreachable(MemberIndex peer, std::string_view why) = 0;
  // The peer runs as a new process. Messages sent to the old one and not acknowledged are lost.
  virtual void on_restarted(MemberIndex /*peer*/) {}
  // The connection has broken; messages wait for the next one.
  virtual void on_disconnected(MemberIndex /*peer*/, std::string_view /*why*/) {}
  // One line, for people: refusals, retries, whom we are connected with.
  virtual void on_log(std::string_view /*line*/) {}
};

// The connections of a member. See Transport for the contract.
class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual bool send(MemberIndex to, std::span<const std::byte> bytes) = 0;
  virtual void close(std::function<void()> closed) = 0;
  virtual void reload(const std::optional<Credentials>& credentials,
                      const std::vector<std::string>& revoked) = 0;
  virtual void move_member(MemberIndex member, Endpoint endpoint) = 0;
  virtual const TransportCounters& counters() const = 0;
  virtual std::uint16_t port() const = 0;
};

// Verifies the certificates of these members, at least one, and does one handshake in memory, so
// that processes which are forked afterwards need neither verify them again nor load what OpenSSL
// loads at its first use. Takes some milliseconds, is never needed. Throws Error.
void warm_up_tls(std::span<const Credentials> members);

class Transport final : public Messenger {
 public:
  // Listens at once. Throws Error: port in use, a plain address that is not loopback, credentials
  // that are bad or somebody else's.
  Transport(Loop& loop, const TransportOptions& options, TransportEvents& events);
  ~Transport() override;  // closes at once; what is queued is lost
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Puts the message, of at most max_message_bytes, into the queue for another member. False: the
  // queue is full and the message is not in it.
  bool send(MemberIndex to, std::span<const std::byte> bytes) override;

  // Takes no new connections, waits until every message is acknowledged or limits.farewell is over,
  // says farewell to all peers, then calls back, and that call may destroy it. send() returns false
  // from now on.
  void close(std::function<void()> closed) override;

  // Uses these for connections from now on. Those that there are stay, except with peers whose
  // certificate is revoked. Throws Error and changes nothing where the credentials are bad,
  // somebody else's or revoked themselves, or where TLS would begin or end.
  void reload(const std::optional<Credentials>& credentials,
              const std::vector<std::string>& revoked) override;

  // It listens there from now on. New members only where options.is_elastic.
  void move_member(MemberIndex member, Endpoint endpoint) override;
  const TransportCounters& counters() const override;
  std::size_t pending() const;          // messages not acknowledged, of all peers
  std::uint16_t port() const override;  // where it listens

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace conclave::election
