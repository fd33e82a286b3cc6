// The wire format, and what the decoder does with bytes of an enemy.
#include "election/frame.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace conclave::election {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

Bytes encoded(const Frame& frame) {
  Bytes out;
  encode(frame, out);
  return out;
}

// The only frame in these bytes, or why they are refused.
std::variant<Frame, Refusal> decoded(FrameDecoder& decoder, const Bytes& input) {
  std::span<const std::byte> rest = input;
  const auto result = decoder.next(rest);
  EXPECT_TRUE(result.has_value()) << "not a whole frame";
  return result.value_or(Refusal::too_slow);
}

Refusal refusal_of(const Bytes& input) {
  FrameDecoder decoder;
  const auto result = decoded(decoder, input);
  EXPECT_TRUE(std::holds_alternative<Refusal>(result));
  return std::holds_alternative<Refusal>(result) ? std::get<Refusal>(result) : Refusal::too_slow;
}

const Hello hello{.sender = 1,
                  .receiver = 2,
                  .incarnation = 3,
                  .nonce = 4,
                  .insists = true,
                  .agreement = {5, 6, 7, 8, 9, 10},
                  .cluster = "ab"};

TEST(Frame, HasTheBytesOfTheDocumentation) {
  EXPECT_EQ(encoded(hello),
            bytes({0, 63, 4, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,  3,   0,  0, 0,
                   0, 0,  0, 0, 4, 1, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6, 0,  0,   0,  7, 0,
                   0, 0,  8, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 10, 'a', 'b'}));
  EXPECT_EQ(
      encoded(Ready{.echo = 0x0102030405060708, .received = 5, .first = 6}),
      bytes({0, 24, 4, 2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 6}));
  const Bytes body = bytes({0xff});
  EXPECT_EQ(encoded(Message{.number = 0x01020304, .received = 5, .bytes = body}),
            bytes({0, 9, 4, 3, 1, 2, 3, 4, 0, 0, 0, 5, 0xff}));
  EXPECT_EQ(encoded(Acknowledgement{7}), bytes({0, 4, 4, 4, 0, 0, 0, 7}));
  EXPECT_EQ(encoded(Farewell{Farewell::Kind::refused, Refusal::out_of_order}),
            bytes({0, 2, 4, 5, 2, 3}));
}

TEST(Frame, ComesBackFromItsBytes) {
  FrameDecoder decoder;
  EXPECT_EQ(std::get<Hello>(std::get<Frame>(decoded(decoder, encoded(hello)))), hello);
  const Ready ready{.echo = ~0ull, .received = 1ull << 40, .first = 9};
  EXPECT_EQ(std::get<Ready>(std::get<Frame>(decoded(decoder, encoded(ready)))), ready);
  const Bytes body(max_message_bytes, std::byte{42});
  const auto message =
      std::get<Message>(std::get<Frame>(decoded(decoder, encoded(Message{1, 2, body}))));
  EXPECT_EQ(message.number, 1u);
  EXPECT_EQ(message.received, 2u);
  EXPECT_EQ(Bytes(message.bytes.begin(), message.bytes.end()), body);
  const Farewell farewell{Farewell::Kind::superseded, {}};
  EXPECT_EQ(std::get<Farewell>(std::get<Frame>(decoded(decoder, encoded(farewell)))), farewell);
}

TEST(FrameDecoder, RefusesAHeaderBeforeItsBodyIsThere) {
  EXPECT_EQ(refusal_of(bytes({0, 4, 1, 4})), Refusal::wrong_version);
  EXPECT_EQ(refusal_of(bytes({0, 4, 0, 4})), Refusal::wrong_version);
  EXPECT_EQ(refusal_of(bytes({0xff, 0xff, 4, 3})), Refusal::oversized);
  EXPECT_EQ(refusal_of(bytes({4, 9, 4, 3})), Refusal::oversized);  // 1033 bytes, one too many
  EXPECT_EQ(refusal_of(bytes({0, 4, 4, 0})), Refusal::malformed);
  EXPECT_EQ(refusal_of(bytes({0, 4, 4, 6})), Refusal::malformed);
  EXPECT_EQ(refusal_of(bytes({0, 7, 4, 3})), Refusal::malformed);    // a message without numbers
  EXPECT_EQ(refusal_of(bytes({0, 61, 4, 1})), Refusal::malformed);   // a hello without cluster
  EXPECT_EQ(refusal_of(bytes({0, 126, 4, 1})), Refusal::malformed);  // with too long a name
  EXPECT_EQ(refusal_of(bytes({0, 5, 4, 4})), Refusal::malformed);
}

TEST(FrameDecoder, RefusesValuesThatNoFrameHas) {
  EXPECT_EQ(refusal_of(bytes({0, 2, 4, 5, 3, 0})), Refusal::malformed);
  EXPECT_EQ(refusal_of(bytes({0, 2, 4, 5, 2, refusal_kinds})), Refusal::malformed);
  EXPECT_EQ(refusal_of(bytes({0, 2, 4, 5, 0, 1})), Refusal::malformed);
  Bytes doubtful = encoded(hello);
  doubtful[28] = std::byte{2};
  EXPECT_EQ(refusal_of(doubtful), Refusal::malformed);
}

TEST(FrameDecoder, RefusesEverythingAfterARefusal) {
  FrameDecoder decoder;
  (void)decoded(decoder, bytes({0, 4, 9, 4}));
  EXPECT_EQ(std::get<Refusal>(decoded(decoder, encoded(hello))), Refusal::wrong_version);
}

// The frames of a stream do not depend on how it is cut.
TEST(FrameDecoder, ResumesAtEveryByte) {
  Bytes stream = encoded(hello);
  encode(Ready{1, 2, 3}, stream);
  const Bytes body(300, std::byte{7});
  encode(Message{0, 0, body}, stream);
  encode(Acknowledgement{1}, stream);
  encode(Farewell{}, stream);
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameDecoder decoder;
    std::vector<std::size_t> kinds;
    Bytes again;
    for (std::size_t start = 0; start < stream.size(); start += piece) {
      auto input = std::span<const std::byte>{stream}.subspan(start);
      input = input.first(std::min(piece, input.size()));
      while (const auto next = decoder.next(input)) {
        ASSERT_TRUE(std::holds_alternative<Frame>(*next)) << piece;
        kinds.push_back(std::get<Frame>(*next).index());
        encode(std::get<Frame>(*next), again);
      }
      EXPECT_TRUE(input.empty());
    }
    EXPECT_EQ(kinds, (std::vector<std::size_t>{0, 1, 2, 3, 4})) << piece;
    EXPECT_EQ(again, stream) << piece;
  }
}

TEST(Frame, NamesEveryRefusalDifferently) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < refusal_kinds; ++i) names.push_back(name_of(static_cast<Refusal>(i)));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(name_of(Refusal::too_many_connections), "too-many-connections");
}

}  // namespace
}  // namespace conclave::election
