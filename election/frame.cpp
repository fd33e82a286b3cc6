#include "election/frame.hpp"

#include <algorithm>

#include "conclave/base/check.hpp"
#include "election/detail/wire.hpp"

namespace conclave::election {
namespace {

using detail::Like;

// The type of a frame is its place in the variant, counted from 1: a zeroed header is malformed.
constexpr std::size_t types = std::variant_size_v<Frame>;

struct Lengths {
  std::size_t least;
  std::size_t most;
};
constexpr std::array<Lengths, types> body_lengths{
    {{62, 61 + max_cluster_name}, {24, 24}, {8, 8 + max_message_bytes}, {4, 4}, {2, 2}}};

// The fields of each frame in their order on the wire; a Writer takes them, a Reader sets them.
void fields(auto& codec, Like<Hello> auto& hello) {
  codec.number(hello.sender);
  codec.number(hello.receiver);
  codec.number(hello.incarnation);
  codec.number(hello.nonce);
  codec.flag(hello.insists);
  codec.number(hello.agreement.members);
  codec.number(hello.agreement.list);
  codec.number(hello.agreement.lease_ms);
  codec.number(hello.agreement.drift_ppm);
  codec.number(hello.agreement.timing);
  codec.number(hello.agreement.identity);
  codec.rest(hello.cluster);
}
void fields(auto& codec, Like<Ready> auto& ready) {
  codec.number(ready.echo);
  codec.number(ready.received);
  codec.number(ready.first);
}
void fields(auto& codec, Like<Message> auto& message) {
  codec.number(message.number);
  codec.number(message.received);
  codec.rest(message.bytes);
}
void fields(auto& codec, Like<Acknowledgement> auto& acknowledgement) {
  codec.number(acknowledgement.received);
}
void fields(auto& codec, Like<Farewell> auto& farewell) {
  codec.choice(farewell.kind, Farewell::Kind::refused);
  codec.choice(farewell.reason, Refusal::other_configuration);
}

// The header has been checked: type and length fit each other. There is one way to write each
// frame, so that decoding and encoding are inverse.
std::variant<Frame, Refusal> frame_in(std::size_t type, std::span<const std::byte> body) {
  static const std::array<Frame, types> blank{Hello{}, Ready{}, Message{}, Acknowledgement{},
                                              Farewell{}};
  Frame frame = blank[type - 1];
  detail::Reader reader(body);
  std::visit([&](auto& each) { fields(reader, each); }, frame);
  const auto* farewell = std::get_if<Farewell>(&frame);
  const bool has_idle_reason = farewell != nullptr && farewell->kind != Farewell::Kind::refused &&
                               farewell->reason != Refusal{};
  if (!reader.is_done() || has_idle_reason) return Refusal::malformed;
  return frame;
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
  detail::Writer writer(out);
  std::visit([&](const auto& body) { fields(writer, body); }, frame);
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
