// One connection: a socket, the tunnel over it, the frames in the tunnel and the introduction that
// comes first. A link never blocks and holds little: it reads only what its budget allows and is
// handed frames to send only while it has room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <asio/ip/tcp.hpp>

#include "election/detail/introduction.hpp"
#include "election/detail/tunnel.hpp"
#include "election/transport.hpp"

namespace conclave::election::detail {

// How a link has ended, other than by its owner.
struct Ending {
  enum class Kind { lost, refused, refused_by_peer, superseded, left };
  Kind kind = Kind::lost;
  std::string why;
};

class Link;

class LinkOwner {
 public:
  virtual ~LinkOwner() = default;

  // The peer has said who it is: where do we stand with it? The link fills in the echo.
  virtual Ready position(const Hello& hello) = 0;
  // A verdict refuses the peer.
  virtual std::optional<Verdict> on_ready(Link& link, const Ready& ready) = 0;
  virtual std::optional<Verdict> on_message(Link& link, const Message& message) = 0;
  virtual std::optional<Verdict> on_acknowledgement(Link& link, std::uint32_t received) = 0;
  virtual void on_writable(Link& link) = 0;  // all that was given has gone to the socket
  virtual void on_closed(Link& link, const Ending& ending) = 0;
};

// Settings that all links of a transport share; must outlive every link that is not abandoned.
struct LinkSettings {
  Loop* loop = nullptr;
  Membership membership;
  std::unique_ptr<TlsSettings> tls;  // null: plain, and then only loopback is dialled
  TransportLimits limits;
  TransportCounters* counters = nullptr;
  LinkOwner* owner = nullptr;
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  // Shared, because the loop's callbacks may come after the owner has let go.
  static std::shared_ptr<Link> accept(const LinkSettings& settings, asio::ip::tcp::socket socket);
  static std::shared_ptr<Link> dial(const LinkSettings& settings, MemberIndex peer,
                                    const Endpoint& endpoint, bool insists);

  Link(const LinkSettings& settings, asio::ip::tcp::socket socket,
       std::optional<MemberIndex> expected, bool insists);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void send(const Frame& frame);
  bool has_room() const;
  // Ends it without a call to the owner; the farewell goes out if the socket takes it at once.
  void end(std::optional<Farewell> farewell);
  // As if the link had found out itself that the peer must be refused.
  void refuse(const Verdict& verdict);

  Side side() const { return expected_ ? Side::opened : Side::accepted; }
  std::optional<MemberIndex> expected() const { return expected_; }
  bool is_ready() const { return introduction_.is_ready(); }
  const std::optional<Hello>& peer() const { return introduction_.peer(); }
  bool insists() const;     // whoever has opened it
  bool is_revoked() const;  // the peer's certificate, by the settings of now
  // Both ends must decide alike when each has opened a link at the same time: the one opened by the
  // smaller member stays. Otherwise the newer one is there because the older one is broken.
  bool replaces(const Link& older) const;
  Loop::Clock::time_point ready_since() const { return ready_since_; }
  std::string name() const;  // of the other end, as far as it is known

 private:
  void begin();
  void connect(const Endpoint& endpoint);
  void connect_to(const std::vector<asio::ip::tcp::endpoint>& candidates);
  void on_connected(const asio::error_code& error);
  void wait_to_read();
  void wait_to_write();
  void read();
  void charge(std::size_t bytes);
  void process();
  void take(std::span<const std::byte> plain);
  std::optional<Verdict> on(const Hello& hello);
  std::optional<Verdict> on(const Ready& ready);
  std::optional<Verdict> on(const Message& message);
  std::optional<Verdict> on(const Acknowledgement& acknowledgement);
  std::optional<Verdict> on(const Farewell& farewell);
  void flush_soon();
  void flush();
  bool write_out();  // whether all of it could be written
  void fail_tunnel();
  void close(const Ending& ending);
  void close_socket();

  const LinkSettings* settings_;
  asio::ip::tcp::socket socket_;
  asio::ip::tcp::resolver resolver_;
  std::optional<MemberIndex> expected_;
  bool insists_;
  Tunnel tunnel_;
  FrameDecoder decoder_;
  Introduction introduction_;
  std::optional<std::uint32_t> next_number_;  // of messages on this link
  std::vector<std::byte> frames_;             // not yet in the tunnel
  std::size_t written_ = 0;                   // of the tunnel's output
  bool is_greeted_ = false;                   // our hello is on its way
  bool is_flush_due_ = false;
  bool waits_to_write_ = false;
  bool is_closed_ = false;
  std::string address_;
  Loop::TimerId deadline_ = 0;
  Loop::TimerId pause_ = 0;
  double allowance_;  // bytes that may be read at once
  Loop::Clock::time_point charged_;
  Loop::Clock::time_point ready_since_;
  std::size_t early_bytes_ = 0;  // read before the introduction was over
};

}  // namespace conclave::election::detail
