// The layer between the frames of a connection and its socket: TLS 1.3 with certificates on both
// sides, or nothing. Bytes go in and come out; no socket is touched here.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "election/certificates.hpp"
#include "election/frame.hpp"

namespace conclave::election::detail {

enum class Side { opened, accepted };  // by whom a connection was started: by us, by the peer

// Why a tunnel has failed. Without refusal: the peer has refused us.
struct TunnelFailure {
  std::optional<Refusal> refusal;
  std::string sentence;
};

// State that all tunnels of one process share: its credentials, the settings of TLS, and the
// sessions with peers it has dialled, one each. A connection with the same process resumes its
// session, which saves both ends their signatures and takes new keys all the same, for an hour at
// most and not across a change of credentials. The end that has accepted keeps it in memory, so
// there are no ticket keys that could leak. There is no early data, so nothing can be played again.
class TlsSettings {
 public:
  // `revoked`: serial numbers of certificates that are refused, see plain_serial. Throws Error.
  explicit TlsSettings(const Credentials& credentials,
                       const std::vector<std::string>& revoked = {});
  ~TlsSettings();
  TlsSettings(const TlsSettings&) = delete;
  TlsSettings& operator=(const TlsSettings&) = delete;

  bool has_revoked(const std::string& serial) const;

 private:
  friend class Tunnel;
  struct Native;
  std::unique_ptr<Native> native_;
  std::vector<std::string> revoked_;
};

class Tunnel {
 public:
  // Null: plain. The settings are needed during the call only. `expected`: the member that is
  // dialled, whose session may be resumed; who it really is says peer().
  Tunnel(const TlsSettings* settings, Side side, std::optional<MemberIndex> expected = {});
  ~Tunnel();
  Tunnel(const Tunnel&) = delete;
  Tunnel& operator=(const Tunnel&) = delete;

  // Bytes from the socket; a handshake goes on as far as they let it. All that they hold must be
  // read before the next call, which bounds what is stored to one call's bytes and a TLS record.
  void feed(std::span<const std::byte> bytes);
  std::size_t read(std::span<std::byte> buffer);        // 0: nothing more for now
  void write(std::span<const std::byte> bytes);         // only once it is open
  std::vector<std::byte>& output() { return output_; }  // for the socket, which takes it away
  std::size_t output_size() const { return output_.size(); }

  bool is_open() const { return is_open_; }          // the handshake is over
  bool is_finished() const { return is_finished_; }  // the peer will send nothing more
  const std::optional<TunnelFailure>& failure() const { return failure_; }
  const std::optional<Identity>& peer() const { return peer_; }  // as certified; empty if plain
  bool is_resumed() const { return is_resumed_; }                // once it is open
  const std::string& serial() const { return serial_; }  // of its certificate; empty if plain

 private:
  struct Native;
  void shake_hands();
  void collect_output();
  void fail();

  std::unique_ptr<Native> native_;
  std::vector<std::byte> plain_;  // bytes fed and not read, without TLS
  std::vector<std::byte> output_;
  bool is_open_ = false;
  bool is_finished_ = false;
  bool is_resumed_ = false;
  std::optional<TunnelFailure> failure_;
  std::optional<Identity> peer_;
  std::string serial_;
};

}  // namespace conclave::election::detail
