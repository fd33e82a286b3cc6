// An enemy's bytes reach one end of a connection without TLS: decoder, introduction and edge are
// held to what they promise. tools/fuzz runs it under libFuzzer, replay_test.cpp without.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "conclave/base/check.hpp"
#include "election/detail/edge.hpp"
#include "election/detail/introduction.hpp"
#include "election/frame.hpp"

namespace conclave::election {
namespace {

using Input = std::span<const std::byte>;

struct Decoding {
  std::vector<std::byte> again;  // all frames, encoded again
  std::optional<Refusal> refusal;
};

Decoding decode(Input input, std::size_t piece) {
  FrameDecoder decoder;
  Decoding result;
  while (!input.empty() && !result.refusal) {
    Input part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    while (const auto next = decoder.next(part)) {
      if (std::holds_alternative<Refusal>(*next)) {
        result.refusal = std::get<Refusal>(*next);
        break;
      }
      encode(std::get<Frame>(*next), result.again);
    }
  }
  return result;
}

// Frames are what was read, byte by byte, however it was cut.
void check_decoder(Input input, std::size_t piece) {
  const Decoding whole = decode(input, input.size());
  const Decoding parts = decode(input, piece);
  CONCLAVE_CHECK(whole.again == parts.again);
  CONCLAVE_CHECK(whole.refusal == parts.refusal);
  CONCLAVE_CHECK(whole.again.size() <= input.size());
  CONCLAVE_CHECK(std::ranges::equal(whole.again, input.first(whole.again.size())));
  if (!whole.refusal)
    CONCLAVE_CHECK(input.size() - whole.again.size() < header_bytes + max_body_bytes);
}

class OneEnd {
 public:
  OneEnd() {
    for (int i = 0; i < 5; ++i) edge_.push({});
  }
  // False: the peer is refused, and the connection ends.
  bool take(const Frame& frame) {
    return std::visit([this](const auto& body) { return on(body); }, frame);
  }

 private:
  bool on(const Hello& hello) { return !introduction_.on_hello(hello, {}); }
  bool on(Ready ready) {
    if (ready.echo == 0) ready.echo = introduction_.hello(0).nonce;  // who cannot guess it may ask
    if (introduction_.on_ready(ready)) return false;
    const auto resumption = edge_.resume(introduction_.peer()->incarnation, ready);
    received_ = std::max(received_, ready.first);
    while (edge_.next()) continue;
    return resumption.has_value();
  }
  bool on(const Message& message) {
    if (introduction_.on_message() || !edge_.acknowledge(message.received)) return false;
    const auto arrival = edge_.arrive(message.number);
    if (arrival != detail::Edge::Arrival::fresh) return arrival == detail::Edge::Arrival::duplicate;
    CONCLAVE_CHECK(message.number == static_cast<std::uint32_t>(received_));
    ++received_;
    CONCLAVE_CHECK(edge_.acknowledgement() == static_cast<std::uint32_t>(received_));
    return true;
  }
  bool on(const Acknowledgement& acknowledgement) {
    return !introduction_.on_message() && edge_.acknowledge(acknowledgement.received) &&
           edge_.pending() <= 5;
  }
  bool on(const Farewell&) { return false; }

  detail::Membership membership_{{"test", 0}, 3, 1, {}};
  detail::Introduction introduction_{membership_, std::nullopt, false};
  detail::Edge edge_{{8, 1024}};
  std::uint64_t received_ = 0;
};

void check_connection(Input input) {
  FrameDecoder decoder;
  OneEnd end;
  while (const auto next = decoder.next(input)) {
    if (std::holds_alternative<Refusal>(*next) || !end.take(std::get<Frame>(*next))) return;
  }
}

}  // namespace
}  // namespace conclave::election

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave::election;
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0] % 64;
  const Input input{reinterpret_cast<const std::byte*>(data + 1), size - 1};
  check_decoder(input, piece);
  check_connection(input);
  return 0;
}
