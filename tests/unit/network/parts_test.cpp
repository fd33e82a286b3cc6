// The parts of the network engine one by one, each against something simpler.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/distinct_draws.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/random.hpp"
#include "conclave/network/adversarial_transit.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/chosen_order.hpp"
#include "conclave/network/detail/calendar.hpp"
#include "conclave/network/detail/envelopes.hpp"
#include "conclave/network/detail/last_arrivals.hpp"
#include "conclave/network/detail/wire.hpp"
#include "conclave/network/edge_counts.hpp"
#include "conclave/network/network_state.hpp"
#include "conclave/network/ports.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/network/watcher.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"

namespace conclave::network {
namespace {

TEST(Permutation, IsABijectionAndInvertsItself) {
  for (const std::uint64_t size : {1u, 2u, 3u, 7u, 64u, 100u, 1000u}) {
    for (const std::uint64_t key : {0u, 1u, 77u}) {
      const Permutation permutation(size, key);
      std::set<std::uint64_t> images;
      for (std::uint64_t value = 0; value < size; ++value) {
        const std::uint64_t image = permutation(value);
        EXPECT_LT(image, size);
        EXPECT_EQ(permutation.inverse(image), value) << "size=" << size << " key=" << key;
        images.insert(image);
      }
      EXPECT_EQ(images.size(), size);
    }
  }
}

template <class Ports>
void expect_one_port_per_neighbour(NodeCount n) {
  const Ports ports(n, {.seed = 3});
  for (NodeIndex node = 0; node < n; ++node) {
    std::set<NodeIndex> neighbours;
    for (Port port = 0; port < n - 1; ++port) {
      const NodeIndex other = ports.neighbour(node, port);
      EXPECT_EQ(ports.port(node, other), port) << "n=" << n << " node=" << node;
      neighbours.insert(other);
    }
    EXPECT_EQ(neighbours.size(), n - 1);
    EXPECT_FALSE(neighbours.contains(node));
  }
}

TEST(Ports, LeadToEveryOtherNodeOnceAndBack) {
  for (const NodeCount n : {2u, 3u, 4u, 9u, 33u, 100u}) {
    expect_one_port_per_neighbour<RotatedPorts>(n);
    expect_one_port_per_neighbour<ScatteredPorts>(n);
  }
}

TEST(Ports, ScatteredOnesDifferFromNodeToNode) {
  const ScatteredPorts ports(1000, {.seed = 1});
  unsigned equal = 0;
  for (Port port = 0; port < 999; ++port) {
    equal += ports.neighbour(0, port) == ports.neighbour(500, port) ? 1 : 0;
  }
  EXPECT_LT(equal, 12u);
}

TEST(Wire, BringsBackEveryMessageInFewBytes) {
  using Message = protocols::KmppAsync::Message;
  using Kind = protocols::KmppAsync::Kind;
  Stream stream({.seed = 1});
  const std::vector<std::pair<Message, std::size_t>> cases{
      {{Kind::approved, 0, 0, 0}, 1},         {{Kind::declined, 3, 0, 0}, 2},
      {{Kind::request, 1, 0, 5}, 14},         {{Kind::leader, 0, 7, 0}, 3},
      {{Kind::loses, 255, 0xffffffff, 0}, 6}, {{Kind::decide, 255, 0xffffffff, stream.word()}, 14}};
  for (const auto& [message, bytes] : cases) {
    std::array<std::uint8_t, detail::Wire<Message>::most_bytes + 9> buffer;
    buffer.fill(0xaa);
    std::uint8_t* const end = detail::Wire<Message>::write(message, buffer.data());
    EXPECT_EQ(end - buffer.data(), static_cast<std::ptrdiff_t>(bytes)) << to_text(message);
    std::fill(end, buffer.data() + buffer.size(), 0xaa);
    Message other{Kind::wins, 9, 9, 9};
    EXPECT_EQ(detail::Wire<Message>::read(buffer.data(), other), end);
    EXPECT_EQ(other, message);
    const auto word = detail::Wire<Message>::as_word(message);
    ASSERT_EQ(word.fits, message.rank == 0) << to_text(message);
    if (word.fits) {
      EXPECT_EQ(detail::Wire<Message>::of_word(static_cast<std::uint64_t>(message.kind), word.bits),
                message);
    }
  }
}

// Adds and takes in turns, at all distances, with many equal times.
TEST(Calendar, GivesEntriesInOrderOfTimeAndOfArrival) {
  for (const std::uint64_t crowd : {1u, 100'000u}) {
    detail::Calendar<std::uint64_t> calendar(crowd);
    Stream stream({.seed = 5});
    std::map<std::pair<Ticks, std::uint64_t>, int> reference;
    Ticks now = 0;
    std::uint64_t number = 0;
    const auto nothing = [](std::uint64_t) {};
    for (int step = 0; step < 30'000; ++step) {
      const bool adds = reference.empty() || stream.chance(step < 20'000 ? 11 : 5, 20);
      if (reference.empty()) now += stream.below64(5 * unit);
      if (adds) {
        const std::array<Ticks, 4> delays{unit, 1 + stream.below64(unit), 1 + stream.below64(100),
                                          (1 + stream.below64(8)) * (unit / 8)};
        const Ticks at = now + delays[stream.below(4)];
        calendar.add(now, at, number);
        reference[{at, number++}] = 0;
        continue;
      }
      now = calendar.next(nothing);
      ASSERT_FALSE(calendar.take(now, nothing)) << step;
      const auto first = calendar.take(now + 1, nothing);
      ASSERT_TRUE(first) << step;
      ASSERT_EQ(std::pair(first->at, first->item), reference.begin()->first) << step;
      reference.erase(reference.begin());
    }
  }
}

// A bucket whose times are a few ticks apart, latest first, is sorted in time, and stays in order.
TEST(Calendar, SortsCrowdsOfNearlyEqualTimes) {
  detail::Calendar<std::uint64_t> calendar(1);
  constexpr std::uint64_t crowd = 200'000;
  for (std::uint64_t i = 0; i < crowd; ++i) calendar.add(0, unit - i / 2, i);
  const auto nothing = [](std::uint64_t) {};
  std::pair<Ticks, std::uint64_t> last{0, 0};
  for (std::uint64_t i = 0; i < crowd; ++i) {
    const auto first = calendar.take(never, nothing);
    ASSERT_TRUE(first);
    const std::pair<Ticks, std::uint64_t> next{first->at, first->item};
    ASSERT_LT(last, next);
    last = next;
  }
  EXPECT_EQ(calendar.next(nothing), never);
}

// Into the open bucket and its parts to come, more items fall while others leave.
TEST(Calendar, SplitsALargeBucketAndTakesLateItemsInBetween) {
  detail::Calendar<std::uint64_t> calendar(1);
  Stream stream({.seed = 7});
  std::set<std::pair<Ticks, std::uint64_t>> reference;
  std::uint64_t number = 0;
  const auto add = [&](Ticks now, Ticks at) {
    calendar.add(now, at, number);
    reference.emplace(at, number++);
  };
  while (number < 20'000) add(0, unit / 2 + stream.below64(unit / 64));
  const auto nothing = [](std::uint64_t) {};
  while (!reference.empty()) {
    const Ticks now = calendar.next(nothing);
    const auto is_it = [&](std::uint64_t item) { return item == reference.rbegin()->second; };
    const Ticks last = reference.rbegin()->first;
    if (number % 100 == 0 && calendar.bucket_of(last) == calendar.bucket_of(now)) {
      ASSERT_EQ(calendar.last_in(calendar.bucket_of(last), 0, is_it), last);
    }
    const auto first = calendar.take(never, nothing);
    ASSERT_TRUE(first);
    ASSERT_EQ(std::pair(first->at, first->item), *reference.begin());
    reference.erase(reference.begin());
    if (stream.chance(1, 3)) add(now, now + 1 + stream.below64(unit / 64));
  }
  EXPECT_EQ(calendar.next(nothing), never);
}

// Items are asked for by bucket and mark: in buckets to come, in the one whose time it is, and
// among those that have come into it since.
TEST(Calendar, FindsItemsUntilTheyHaveLeft) {
  detail::Calendar<std::uint64_t> calendar(100'000);
  Stream stream({.seed = 6});
  struct Added {
    Ticks at;
    std::uint64_t number;
    std::uint16_t mark;
  };
  std::map<std::pair<Ticks, std::uint64_t>, Added> on_their_way;
  Ticks now = 0;
  for (std::uint64_t number = 0; number < 60'000; ++number) {
    // Half of them in a crowd, so that buckets have many blocks.
    const Ticks delay = 1 + stream.below64(stream.chance(1, 2) ? unit : unit / 500);
    const std::uint16_t mark = calendar.add(now, now + delay, number);
    on_their_way[{now + delay, number}] = {now + delay, number, mark};
    for (const Added& each : {on_their_way.begin()->second, on_their_way[{now + delay, number}]}) {
      const auto is_it = [&](std::uint64_t item) { return item == each.number; };
      ASSERT_EQ(calendar.last_in(calendar.bucket_of(each.at), each.mark, is_it), each.at);
    }
    if (number < 20'000 || stream.chance(1, 3)) continue;
    const auto nothing = [](std::uint64_t) {};
    const auto first = calendar.take(never, nothing);
    ASSERT_TRUE(first);
    now = first->at;
    ASSERT_EQ(on_their_way.erase({now, first->item}), 1u);
    const auto is_gone = [&](std::uint64_t item) { return item == first->item; };
    for (const std::uint16_t any : {std::uint16_t{0}, std::uint16_t{1}}) {
      ASSERT_EQ(calendar.last_in(calendar.bucket_of(now), any, is_gone), 0u);
    }
  }
}

// A view for adversaries that look at nothing.
struct NothingToSee final : NetworkView {
  NodeCount n() const override { return 0; }
  Ticks now() const override { return 0; }
  NodeView node(NodeIndex) const override { return {}; }
  NodeCount asleep() const override { return 0; }
  std::optional<NodeIndex> front_runner() const override { return std::nullopt; }
};

// Adversaries that look at nothing foretell what they would say message by message.
TEST(DelayAdversaries, ForetellWhatTheyWouldSay) {
  std::size_t foretelling = 0;
  for (const auto& entry : delays()) {
    const auto beforehand = entry.make(100, {.seed = 5});
    std::array<Ticks, 64> foretold{};
    if (!beforehand->foretell(foretold)) continue;
    ++foretelling;
    const auto one_by_one = entry.make(100, {.seed = 5});
    const NothingToSee view;
    for (const Ticks each : foretold) ASSERT_EQ(each, one_by_one->delay({}, view));
    ASSERT_EQ(beforehand->delay({}, view), one_by_one->delay({}, view)) << entry.info.name;
  }
  EXPECT_EQ(foretelling, 2u);
}

// Messages of all lengths, each opened now and then for a unit; slots are used again after that.
TEST(Envelopes, BringBackWhatWasSealedWithinAUnit) {
  using Message = protocols::KmppAsync::Message;
  using Kind = protocols::KmppAsync::Kind;
  for (const NodeCount n :
       {NodeCount{2}, NodeCount{1000}, NodeCount{1} << 27, NodeCount{1} << 31}) {
    detail::Envelopes<Message> envelopes(n);
    Stream stream({.seed = 3});
    const auto any_node = [&] { return static_cast<NodeIndex>(n - 1 - stream.below64(2)); };
    struct Sent {
      Ticks at;
      Message message;
      NodeIndex from;
      std::uint64_t sealed;
    };
    std::deque<Sent> on_their_way;
    const auto is_brought_back = [&](const Sent& sent) {
      const NodeIndex to = any_node();
      const auto envelope = envelopes.addressed(sent.sealed, to);
      NodeIndex sender = 0;
      Message contents;
      envelopes.open(envelope, sender, contents);
      return envelopes.to(envelope) == to && envelopes.from(envelope) == sent.from &&
             sender == sent.from && contents == sent.message &&
             envelopes.kind(envelope) == static_cast<unsigned>(sent.message.kind);
    };
    Ticks now = 0;
    for (int step = 0; step < 150'000; ++step) {
      const Message message{.kind = static_cast<Kind>(stream.below(7)),
                            .phase = static_cast<std::uint8_t>(stream.below(256)),
                            .id = stream.below(3) * 70'000,
                            .rank = stream.below64(3) << 40};
      const NodeIndex from = any_node();
      on_their_way.push_back({now, message, from, envelopes.seal(now, from, message)});
      const auto any = stream.below(static_cast<std::uint32_t>(on_their_way.size()));
      ASSERT_TRUE(is_brought_back(on_their_way[any])) << step;
      now += stream.below64(unit / 10'000);
      for (; on_their_way.front().at + unit < now; on_their_way.pop_front()) {
        ASSERT_TRUE(is_brought_back(on_their_way.front())) << step;
      }
    }
    EXPECT_LT(envelopes.bytes(), 1u << 20) << n;  // 20000 per unit, and not all that were sealed
  }
}

// A copy may arrive a whole unit after it was sealed; one tick later its slot is free.
TEST(Envelopes, KeepContentsForAUnitAndNoLonger) {
  using Message = protocols::KmppAsync::Message;
  constexpr NodeCount n = 1u << 30;
  constexpr std::uint64_t many = 20'000;
  detail::Envelopes<Message> envelopes(n);
  const auto seal_many = [&](Ticks now, std::uint64_t count) {
    std::vector<std::uint64_t> sealed;
    for (std::uint64_t rank = 1; rank <= count; ++rank) {
      sealed.push_back(envelopes.seal(now, 5, {.rank = now + rank}));
    }
    return sealed;
  };
  const std::vector<std::uint64_t> first = seal_many(0, many);
  seal_many(unit, many);
  for (std::uint64_t i = 0; i < many; ++i) {
    NodeIndex sender = 0;
    Message contents;
    envelopes.open(first[i], sender, contents);
    ASSERT_EQ(contents, (Message{.rank = i + 1}));
  }
  const std::size_t bytes = envelopes.bytes();
  seal_many(unit + 1, many / 2);
  EXPECT_EQ(envelopes.bytes(), bytes);
}

TEST(EdgeTable, RemembersWhatIsNotOver) {
  detail::EdgeTable table;
  std::map<std::pair<NodeIndex, NodeIndex>, std::uint64_t> reference;
  Stream stream({.seed = 9});
  for (std::uint64_t now = 1; now < 20'000; ++now) {
    const NodeIndex from = stream.below(100);
    const NodeIndex to = stream.below(100);
    std::uint64_t& value = table.at(from, to, [now](std::uint64_t old) { return old + 500 < now; });
    const bool is_remembered = value == reference[{from, to}];
    ASSERT_TRUE(is_remembered || value + 500 < now) << now;
    value = reference[{from, to}] = now;
  }
}

TEST(EdgeTable, KnowsNoEdgeOnceItIsCleared) {
  detail::EdgeTable table;
  for (const NodeIndex edges : {1000u, 5000u, 4000u, 10u, 3000u}) {
    for (NodeIndex to = 1; to <= edges; ++to)
      ASSERT_EQ(table.at(0, to)++, 0u) << edges << ' ' << to;
    table.clear();
    for (NodeIndex to = 1; to <= edges; ++to)
      ASSERT_EQ(table.find(0, to), 0u) << edges << ' ' << to;
  }
}

TEST(EdgeTable, KeepsMemoryThatWasUsedWhenItIsCleared) {
  detail::EdgeTable table;
  const auto use_and_clear = [&](NodeIndex edges) {
    for (NodeIndex to = 1; to <= edges; ++to) ++table.at(0, to);
    table.clear();
  };
  use_and_clear(5000);
  const std::size_t bytes = table.bytes();
  EXPECT_GE(bytes, 5000 * sizeof(std::uint64_t) * 2);
  use_and_clear(5000);
  EXPECT_EQ(table.bytes(), bytes);
  use_and_clear(10);
  EXPECT_EQ(table.bytes(), 0u);
}

// Asked at any time, and in the middle of what is counted at once.
TEST(EdgeCounts, CountBothDirectionsTogether) {
  EdgeCounts counts;
  std::map<std::pair<NodeIndex, NodeIndex>, std::uint64_t> reference;
  std::uint64_t most = 0;
  EXPECT_EQ(counts.most(), 0u);
  Stream stream({.seed = 10});
  for (int step = 0; step < 50'000; ++step) {
    const NodeIndex from = stream.below(300);
    const NodeIndex to = stream.below(300);
    counts.add(from, to);
    most = std::max(most, ++reference[std::minmax(from, to)]);
    if (stream.chance(1, 200)) {
      ASSERT_EQ(counts.most(), most) << step;
    }
  }
  EXPECT_EQ(counts.most(), most);
}

// Sends over FIFO edges and checks every time of arrival against a plain map.
class FifoEdges {
 public:
  FifoEdges(NodeCount senders, std::uint64_t seed) : arrivals_(senders), stream_({.seed = seed}) {}

  Stream& stream() { return stream_; }
  void wait(Ticks time) {
    const auto ignore = [](const Edge&) {};
    const Ticks end = now_ + time;
    while (calendar_.take(end + 1, ignore)) continue;
    now_ = end;
  }
  // Whether it arrives when it should.
  bool send(NodeIndex from, NodeIndex to) {
    const Ticks drawn = now_ + 1 + stream_.below64(stream_.chance(1, 4) ? unit / 1000 : unit);
    Ticks& last = reference_[{from, to}];
    last = std::max(last, drawn);
    const Ticks arrival =
        arrivals_.after_others(now_, from, to, drawn, calendar_, [&](const Edge& edge) {
          return edge == Edge{from, to};
        });
    const auto mark = calendar_.add(now_, arrival, {from, to});
    detail::LastArrivals::Sending(arrivals_, now_, from, 1)
        .note(to, arrival, calendar_.bucket_of(arrival), mark);
    return arrival == last;
  }
  bool broadcast(NodeIndex from, NodeIndex n) {
    arrivals_.begin_broadcast(now_, from);
    bool is_right = true;
    for (NodeIndex step = 1; step < n; ++step) is_right &= send(from, (from + step) % n);
    return is_right;
  }

 private:
  struct Edge {
    NodeIndex from = 0;
    NodeIndex to = 0;
    auto operator<=>(const Edge&) const = default;
  };

  detail::LastArrivals arrivals_;
  detail::Calendar<Edge> calendar_{3000};
  std::map<Edge, Ticks> reference_;
  Stream stream_;
  Ticks now_ = 0;
};

// Some senders have few messages on their way, some many, and one sends to thousands now and then.
// Many receivers look alike in a note.
TEST(LastArrivals, NeverLetAMessageOvertake) {
  constexpr std::uint32_t senders = 4;
  FifoEdges edges(senders, 11);
  Stream& stream = edges.stream();
  std::vector<NodeIndex> receivers;
  while (receivers.size() < 3000) {
    receivers.push_back(static_cast<NodeIndex>(stream.below64(1u << 31)) & ~0xff0u);
  }
  for (int step = 0; step < 100'000; ++step) {
    edges.wait(stream.below64(step % 30'000 < 1000 ? unit : unit / 25));
    const NodeIndex from = stream.below(senders);
    const NodeIndex to = receivers[stream.below(from == 0 ? 3 : from == 1 ? 20 : 3000)];
    ASSERT_TRUE(edges.send(from, to)) << step;
    if (step % 1000 != 0) continue;
    for (const NodeIndex each : receivers) ASSERT_TRUE(edges.send(from, each)) << step;
  }
}

// Broadcasts, also while one of the same sender or of another is on its way, some at the same
// moment, and single messages after them.
TEST(LastArrivals, NeverLetAMessageOvertakeABroadcast) {
  constexpr NodeIndex n = 150;
  FifoEdges edges(n, 12);
  Stream& stream = edges.stream();
  for (int step = 0; step < 20'000; ++step) {
    if (!stream.chance(1, 3)) edges.wait(stream.below64(stream.chance(1, 50) ? unit : unit / 20));
    const NodeIndex from = stream.below(3);
    if (stream.chance(1, 40)) {
      ASSERT_TRUE(edges.broadcast(from, n)) << step;
    } else {
      ASSERT_TRUE(edges.send(from, 3 + stream.below(n - 3))) << step;
    }
  }
}

// Sends at unit delays, and keeps what it sends in a plain queue, too.
class SentInOrder {
 public:
  using Message = protocols::KmppAsync::Message;
  static constexpr NodeIndex n = 40;

  void send(Stream& choice) {
    const auto kind = static_cast<protocols::KmppAsync::Kind>(choice.below(3));
    Message message{kind, static_cast<std::uint8_t>(choice.below(3)), 0, 0};
    if (choice.chance(1, 8)) message.rank = choice.word();
    const NodeIndex from = choice.below(n);
    const std::uint32_t way = choice.below(40);
    if (way == 0) {
      transit_.post_all(now_, from, message);
      for (NodeIndex step = 1; step < n; ++step) note(from, (from + step) % n, message);
    } else if (way < 4) {
      std::vector<NodeIndex> to(choice.chance(1, 50) ? 5000 : 1 + choice.below(60));
      for (NodeIndex& each : to) each = choice.below(n);
      transit_.post_some(now_, from, to, message);
      for (const NodeIndex each : to) note(from, each, message);
    } else {
      if (choice.chance(1, 6)) usual_receiver_ = choice.below(n);
      EXPECT_EQ(transit_.post(now_, from, usual_receiver_, message), now_ + unit);
      note(from, usual_receiver_, message);
    }
    if (choice.chance(1, 9)) now_ += choice.below(3);
  }

  // Whether the next delivery is the right one.
  bool receive() {
    const auto ignore = [](NodeIndex) {};
    const Ticks next = transit_.next(ignore);
    if (next == never || expected_.empty()) return next == never && expected_.empty();
    Delivery<Message> due;
    const auto take_one = [&](const Delivery<Message>& first) {
      due = first;
      return false;
    };
    transit_.deliver(next, ignore, take_one);
    if (due.at != 0) return false;  // too early
    transit_.deliver(next + 1, ignore, take_one);
    const Delivery<Message> right = expected_.front();
    expected_.pop_front();
    now_ = std::max(now_, due.at);
    return due.at == right.at && due.from == right.from && due.to == right.to &&
           due.event.message == right.event.message;
  }
  bool is_empty() const { return expected_.empty(); }

 private:
  void note(NodeIndex from, NodeIndex to, const Message& message) {
    expected_.push_back({now_ + unit, from, to, {.message = message}});
  }

  ConstantTransit<protocols::KmppAsync> transit_{n, nullptr, nullptr};
  std::deque<Delivery<Message>> expected_;
  Ticks now_ = 0;
  NodeIndex usual_receiver_ = 0;
};

TEST(ConstantTransit, DeliversEverythingInTheOrderOfSending) {
  Stream choice({.seed = 4});
  SentInOrder queue;
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t crowd = choice.below(4) == 0 ? 2000 : 8;
    for (std::uint32_t sent = 0; sent < crowd; ++sent) {
      queue.send(choice);
      if (!choice.chance(1, 3)) continue;
      ASSERT_TRUE(queue.receive()) << round;
    }
    while (!queue.is_empty()) ASSERT_TRUE(queue.receive()) << round;
    ASSERT_TRUE(queue.receive());
  }
}

TEST(DistinctDraws, NeverRepeatThemselves) {
  DistinctDraws draws;
  Stream stream({.seed = 2});
  for (const auto& [count, bound] : std::vector<std::pair<std::uint32_t, std::uint32_t>>{
           {1, 1}, {5, 5}, {20, 21}, {20, 1'000'000}, {5000, 9000}, {3, 4}}) {
    const auto drawn = draws(count, bound, stream);
    const std::set<std::uint32_t> different(drawn.begin(), drawn.end());
    EXPECT_EQ(different.size(), count);
    EXPECT_LT(*different.rbegin(), bound);
  }
}

TEST(FrontRunner, IsTheLiveCandidateFurthestAhead) {
  std::vector<NodeView> nodes(5);
  detail::FrontRunner front;
  const auto set = [&](NodeIndex node, Standing standing, std::uint32_t phase, std::uint64_t rank) {
    nodes[node] = {.standing = standing, .phase = phase, .rank = rank};
    front.saw(node, nodes[node]);
  };
  const auto found = [&] { return front.find([&](NodeIndex node) { return nodes[node]; }); };
  EXPECT_FALSE(found());
  set(0, Standing::candidate, 1, 10);
  set(1, Standing::candidate, 1, 20);
  EXPECT_EQ(found(), 1u);
  set(0, Standing::candidate, 2, 10);
  EXPECT_EQ(found(), 0u);
  set(0, Standing::retired, 2, 10);
  EXPECT_EQ(found(), 1u);
  set(1, Standing::elected, 3, 20);
  EXPECT_FALSE(found());
}

// All nodes, each wave of its exact size: the C library makes 16385 of (2^18)^(7/9).
TEST(ThreeWaves, HaveTheirExactSizes) {
  constexpr NodeCount n = NodeCount{1} << 18;
  ThreeWaves waves(n, {.seed = 1});
  std::map<Ticks, NodeCount> woken;
  while (const auto waking = waves.next()) ++woken[waking->at];
  const std::map<Ticks, NodeCount> expected{
      {0, 256}, {3 * unit, 16384 - 256}, {6 * unit, n - 16384}};
  EXPECT_EQ(woken, expected);
}

TEST(Below64, StaysBelowItsBoundAndReachesTheTop) {
  Stream stream({.seed = 4});
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{0xffffffff}, (std::uint64_t{1} << 32) + 1,
        (std::uint64_t{3} << 40), UINT64_MAX}) {
    std::uint64_t largest = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t value = below64(stream, bound);
      ASSERT_LT(value, bound);
      largest = std::max(largest, value);
    }
    EXPECT_GT(static_cast<double>(largest) + 1, 0.98 * static_cast<double>(bound));
  }
}

// The deliveries, in order, when the first messages arrive as chosen.
std::vector<NetworkEvent> deliveries(const std::string& order, NodeCount n) {
  const StreamName name{.seed = 5};
  ChosenOrder delay(order, n);
  All wakeup(n, name);
  Recorder recorder;
  const protocols::KmppAsync protocol({}, n);
  Asynchronous<protocols::KmppAsync, AdversarialTransit> network(protocol, n, name, &delay, wakeup,
                                                                 {.watcher = &recorder});
  network.run([](const auto&) { return true; });
  auto events = std::move(recorder).events();
  std::erase_if(events, [](const NetworkEvent& each) { return each.event != "deliver"; });
  return events;
}

std::string edge_text(const NetworkEvent& message) {
  return std::to_string(message.peer) + '-' + std::to_string(message.node);
}

// The oldest message of every edge among those under way at this time, by their edges.
std::vector<std::string> edges_under_way(const std::vector<NetworkEvent>& all, double time) {
  std::vector<std::string> edges;
  for (const NetworkEvent& each : all) {
    const bool is_under_way = each.sent <= time && each.time > time;
    if (is_under_way && std::ranges::find(edges, edge_text(each)) == edges.end()) {
      edges.push_back(edge_text(each));
    }
  }
  return edges;
}

TEST(ChosenOrder, EveryChoiceArrivesAtItsTurnAndTheRestLater) {
  constexpr NodeCount n = 6;
  std::string order;
  std::vector<std::string> chosen;
  for (std::uint64_t turn = 0; turn < 25; ++turn) {
    const auto all = deliveries(order, n);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_EQ(edge_text(all[i]), chosen[i]) << order;
      EXPECT_EQ(all[i].time, in_units((i + 1) * soon)) << order;
    }
    const auto edges = edges_under_way(all, in_units(turn * soon));
    if (edges.empty()) break;
    ASSERT_GE(all[chosen.size()].time, 1) << order;
    chosen.push_back(edges[(turn * 7 + 3) % edges.size()]);
    order += (order.empty() ? "" : "/") + chosen.back();
  }
  EXPECT_GE(chosen.size(), 10u);
}

TEST(ChosenOrder, RefusesWhatIsNoEdge) {
  for (const char* const words : {"0-4", "1-1", "1", "a-b", "-1-2", "0-1//1-0", "0-1-2"}) {
    EXPECT_THROW(ChosenOrder(words, 4), Error) << words;
  }
  std::string many = "0-1";
  for (std::size_t i = 1; i < ChosenOrder::most_choices; ++i) many += "/0-1";
  EXPECT_NO_THROW(ChosenOrder(many, 2));
  EXPECT_THROW(ChosenOrder(many + "/0-1", 2), Error);
}

}  // namespace
}  // namespace conclave::network
