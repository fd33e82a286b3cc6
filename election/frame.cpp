#include "election/frame.hpp"

#include <algorithm>
#include <concepts>

#include "conclave/base/check.hpp"

namespace conclave::election {
namespace {

// The type of a frame is its place in the variant, counted from 1: a zeroed header is malformed.
constexpr std::size_t types = std::variant_size_v<Frame>;

struct Lengths {
  std::size_t least;
  std::size_t most;
};
constexpr std::array<Lengths, types> body_lengths{
    {{54, 53 + max_cluster_name}, {24, 24}, {8, 8 + max_message_bytes}, {4, 4}, {2, 2}}};

template <std::unsigned_integral T>
void put(T value, std::vector<std::byte>& out) {
  for (std::size_t i = sizeof(T); i-- > 0;) out.push_back(static_cast<std::byte>(value >> (8 * i)));
}

template <std::unsigned_integral T>
T take(std::span<const std::byte>& body) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>((std::uint64_t{value} << 8) | static_cast<std::uint8_t>(body[i]));
  body = body.subspan(sizeof(T));
  return value;
}

void put_body(const Hello& hello, std::vector<std::byte>& out) {
  put(hello.sender, out);
  put(hello.receiver, out);
  put(hello.incarnation, out);
  put(hello.nonce, out);
  put(static_cast<std::uint8_t>(hello.insists), out);
  put(hello.agreement.members, out);
  put(hello.agreement.list, out);
  put(hello.agreement.lease_ms, out);
  put(hello.agreement.drift_ppm, out);
  put(hello.agreement.timing, out);
  for (const char c : hello.cluster) out.push_back(static_cast<std::byte>(c));
}
void put_body(const Ready& ready, std::vector<std::byte>& out) {
  put(ready.echo, out);
  put(ready.received, out);
  put(ready.first, out);
}
void put_body(const Message& message, std::vector<std::byte>& out) {
  put(message.number, out);
  put(message.received, out);
  out.insert(out.end(), message.bytes.begin(), message.bytes.end());
}
void put_body(const Acknowledgement& acknowledgement, std::vector<std::byte>& out) {
  put(acknowledgement.received, out);
}
void put_body(const Farewell& farewell, std::vector<std::byte>& out) {
  put(static_cast<std::uint8_t>(farewell.kind), out);
  put(static_cast<std::uint8_t>(farewell.reason), out);
}

std::variant<Frame, Refusal> hello_in(std::span<const std::byte> body) {
  Hello hello;
  hello.sender = take<std::uint32_t>(body);
  hello.receiver = take<std::uint32_t>(body);
  hello.incarnation = take<std::uint64_t>(body);
  hello.nonce = take<std::uint64_t>(body);
  const auto insists = take<std::uint8_t>(body);
  if (insists > 1) return Refusal::malformed;
  hello.insists = insists == 1;
  hello.agreement.members = take<std::uint32_t>(body);
  hello.agreement.list = take<std::uint64_t>(body);
  hello.agreement.lease_ms = take<std::uint32_t>(body);
  hello.agreement.drift_ppm = take<std::uint32_t>(body);
  hello.agreement.timing = take<std::uint64_t>(body);
  std::ranges::transform(body, std::back_inserter(hello.cluster),
                         [](std::byte b) { return static_cast<char>(b); });
  return Frame{hello};
}
Frame ready_in(std::span<const std::byte> body) {
  Ready ready;
  ready.echo = take<std::uint64_t>(body);
  ready.received = take<std::uint64_t>(body);
  ready.first = take<std::uint64_t>(body);
  return ready;
}
Frame message_in(std::span<const std::byte> body) {
  Message message;
  message.number = take<std::uint32_t>(body);
  message.received = take<std::uint32_t>(body);
  message.bytes = body;
  return message;
}

// There is one way to write each frame, so that decoding and encoding are inverse.
std::variant<Frame, Refusal> farewell_in(std::span<const std::byte> body) {
  const auto kind = take<std::uint8_t>(body);
  const auto reason = take<std::uint8_t>(body);
  const bool is_refused = kind == static_cast<std::uint8_t>(Farewell::Kind::refused);
  if (kind > static_cast<std::uint8_t>(Farewell::Kind::refused) || reason >= refusal_kinds ||
      (!is_refused && reason != 0))
    return Refusal::malformed;
  return Frame{Farewell{static_cast<Farewell::Kind>(kind), static_cast<Refusal>(reason)}};
}

// The header has been checked: type and length fit each other.
std::variant<Frame, Refusal> frame_in(std::size_t type, std::span<const std::byte> body) {
  switch (type) {
    case 1:
      return hello_in(body);
    case 2:
      return ready_in(body);
    case 3:
      return message_in(body);
    case 4:
      return Frame{Acknowledgement{take<std::uint32_t>(body)}};
    default:
      return farewell_in(body);
  }
}

}  // namespace

std::string_view name_of(Refusal refusal) {
  constexpr std::array<std::string_view, refusal_kinds> names{"malformed",
                                                              "oversized",
                                                              "wrong-version",
                                                              "out-of-order",
                                                              "foreign-cluster",
                                                              "wrong-identity",
                                                              "replayed",
                                                              "no-certificate",
                                                              "bad-certificate",
                                                              "certificate-time",
                                                              "handshake-failed",
                                                              "too-slow",
                                                              "too-many-connections",
                                                              "revoked",
                                                              "other-configuration"};
  return names[static_cast<std::size_t>(refusal)];
}

void encode(const Frame& frame, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  out.resize(start + header_bytes);
  std::visit([&](const auto& body) { put_body(body, out); }, frame);
  const std::size_t length = out.size() - start - header_bytes;
  const Lengths allowed = body_lengths[frame.index()];
  CONCLAVE_CHECK(length >= allowed.least);
  CONCLAVE_CHECK(length <= allowed.most);
  out[start] = static_cast<std::byte>(length >> 8);
  out[start + 1] = static_cast<std::byte>(length);
  out[start + 2] = static_cast<std::byte>(wire_version);
  out[start + 3] = static_cast<std::byte>(frame.index() + 1);
}

std::optional<std::variant<Frame, Refusal>> FrameDecoder::next(std::span<const std::byte>& input) {
  if (refused_) return *refused_;
  fill(header_bytes, input);
  if (held_ < header_bytes) return {};
  if (const auto objection = objection_to_header()) return refuse(*objection);
  const std::size_t length = header_bytes + body_length();
  fill(length, input);
  if (held_ < length) return {};
  held_ = 0;
  const auto frame = frame_in(static_cast<std::size_t>(buffer_[3]),
                              std::span{buffer_}.subspan(header_bytes, length - header_bytes));
  if (const auto* refusal = std::get_if<Refusal>(&frame)) return refuse(*refusal);
  return frame;
}

std::optional<Refusal> FrameDecoder::objection_to_header() const {
  // The version first: a later one may have other types and lengths.
  if (buffer_[2] != static_cast<std::byte>(wire_version)) return Refusal::wrong_version;
  if (body_length() > max_body_bytes) return Refusal::oversized;
  const auto type = static_cast<std::size_t>(buffer_[3]);
  if (type == 0 || type > types) return Refusal::malformed;
  const Lengths allowed = body_lengths[type - 1];
  if (body_length() < allowed.least || body_length() > allowed.most) return Refusal::malformed;
  return {};
}

std::size_t FrameDecoder::body_length() const {
  return (static_cast<std::size_t>(buffer_[0]) << 8) | static_cast<std::size_t>(buffer_[1]);
}

std::variant<Frame, Refusal> FrameDecoder::refuse(Refusal refusal) {
  refused_ = refusal;
  return refusal;
}

void FrameDecoder::fill(std::size_t wanted, std::span<const std::byte>& input) {
  if (held_ >= wanted) return;
  const std::size_t taken = std::min(wanted - held_, input.size());
  std::ranges::copy(input.first(taken), buffer_.begin() + static_cast<std::ptrdiff_t>(held_));
  held_ += taken;
  input = input.subspan(taken);
}

}  // namespace conclave::election
