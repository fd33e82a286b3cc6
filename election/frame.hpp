// The wire format of elections between processes, version 4. A connection carries frames: a header
// of four bytes (length of the body, version, type) and a body whose length the type bounds.
// Numbers are unsigned, most significant byte first. No input or output happens here; what is
// read may come from an enemy. docs/reference/transport.md has the table of fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace conclave::election {

using MemberIndex = std::uint32_t;  // position in the cluster's list of members

inline constexpr std::uint8_t wire_version = 4;
inline constexpr std::size_t header_bytes = 4;
inline constexpr std::size_t max_cluster_name = 64;
inline constexpr std::size_t max_message_bytes = 1024;  // of the application, in one frame

// Why a connection is turned away, or why it ended.
enum class Refusal : std::uint8_t {
  malformed,             // a frame of unknown type, of a length its type does not have, ...
  oversized,             // a frame longer than any may be
  wrong_version,         // of the wire format
  out_of_order,          // a frame that is not due yet, or a gap between messages
  foreign_cluster,       // another cluster's name, or a certificate of another authority
  wrong_identity,        // not the member that its certificate or its address promises
  replayed,              // does not know the number that was drawn for this connection
  no_certificate,        // TLS without a certificate of the client
  bad_certificate,       // broken, or not meant for this use
  certificate_time,      // expired or not valid yet: look at both clocks
  handshake_failed,      // not TLS 1.3
  too_slow,              // did not introduce itself in time
  too_many_connections,  // pushed out by newer ones
  revoked,               // a certificate whose serial number the configuration names
  other_configuration,   // another list of members or other times than ours
};
inline constexpr std::size_t refusal_kinds = 15;
std::string_view name_of(Refusal refusal);  // "out-of-order"

// The settings members must agree on; agreement.hpp makes and compares it.
struct Agreement {
  std::uint32_t members = 0;
  std::uint64_t list = 0;  // fingerprint of the addresses, in order
  std::uint32_t lease_ms = 0;
  std::uint32_t drift_ppm = 0;
  std::uint64_t timing = 0;    // fingerprint of all times
  std::uint64_t identity = 0;  // of the cluster: another one after a restore

  friend bool operator==(const Agreement&, const Agreement&) = default;
};

// The first frame that each end sends.
struct Hello {
  MemberIndex sender = 0;
  MemberIndex receiver = 0;
  std::uint64_t incarnation = 0;  // drawn when the sender's process started
  std::uint64_t nonce = 0;        // drawn for this connection
  bool insists = false;  // the sender has no other connection, whatever the receiver thinks
  Agreement agreement{};
  std::string cluster;  // 1 to max_cluster_name bytes

  friend bool operator==(const Hello&, const Hello&) = default;
};

// The answer to a hello. Messages are numbered from 0 on for each pair of incarnations and each
// direction.
struct Ready {
  std::uint64_t echo = 0;      // the nonce of the hello
  std::uint64_t received = 0;  // messages that the sender has received from the receiver
  std::uint64_t first = 0;     // the sender will not send any message before this one

  friend bool operator==(const Ready&, const Ready&) = default;
};

// A message of the application. Numbers are the last 32 bits of what they count.
struct Message {
  std::uint32_t number = 0;
  std::uint32_t received = 0;  // acknowledges all messages before this number
  std::span<const std::byte> bytes{};
};

// An acknowledgement with no message to travel on.
struct Acknowledgement {
  std::uint32_t received = 0;

  friend bool operator==(const Acknowledgement&, const Acknowledgement&) = default;
};

// The last frame of a connection. `superseded`: another connection of the two takes its place.
struct Farewell {
  enum class Kind : std::uint8_t { leaving, superseded, refused };
  Kind kind = Kind::leaving;
  Refusal reason = Refusal::malformed;  // only with `refused`, otherwise 0

  friend bool operator==(const Farewell&, const Farewell&) = default;
};

using Frame = std::variant<Hello, Ready, Message, Acknowledgement, Farewell>;

inline constexpr std::size_t max_body_bytes = 8 + max_message_bytes;

// Appends the frame to `out`. The hello's cluster name and the message's bytes must keep their
// limits.
void encode(const Frame& frame, std::vector<std::byte>& out);

// Takes a stream of bytes in pieces of any size. Holds one frame and allocates nothing; a header
// that cannot be right is refused before its body is read.
class FrameDecoder {
 public:
  // Takes bytes from the front of `input`, which afterwards is what it has not taken. Empty: more
  // bytes are needed. A message's bytes live until the next call. After a refusal every further
  // call refuses too.
  std::optional<std::variant<Frame, Refusal>> next(std::span<const std::byte>& input);

 private:
  std::optional<Refusal> objection_to_header() const;
  std::size_t body_length() const;
  std::variant<Frame, Refusal> refuse(Refusal refusal);
  void fill(std::size_t wanted, std::span<const std::byte>& input);

  std::array<std::byte, header_bytes + max_body_bytes> buffer_{};
  std::size_t held_ = 0;
  std::optional<Refusal> refused_;
};

}  // namespace conclave::election
