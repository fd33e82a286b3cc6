// Timers: the queue against a plain list, and in the engine with a protocol that only rings.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/random.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/population.hpp"
#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/network/watcher.hpp"

namespace conclave::network {
namespace {

TEST(Timers, RunOutInOrderOfTimeThenOfSetting) {
  detail::Timers timers(4);
  timers.set(3, 20);
  timers.set(1, 10);
  timers.set(0, 20);
  std::vector<NodeIndex> order;
  while (const auto* due = timers.next()) {
    order.push_back(due->node);
    timers.cancel(due->node);
  }
  EXPECT_EQ(order, (std::vector<NodeIndex>{1, 3, 0}));
}

TEST(Timers, SetAnewOrCancelledDoNotRunOut) {
  detail::Timers timers(3);
  timers.set(0, 10);
  timers.set(1, 20);
  timers.set(0, 30);  // later
  timers.set(2, 5);
  timers.cancel(2);
  timers.cancel(2);
  ASSERT_NE(timers.next(), nullptr);
  EXPECT_EQ(timers.next()->node, 1u);
  timers.set(0, 7);  // earlier
  EXPECT_EQ(timers.next()->at, 7u);
  timers.cancel(0);
  timers.cancel(1);
  EXPECT_EQ(timers.next(), nullptr);
}

// Against a map from nodes to times and numbers. Few times, so that many are equal.
TEST(Timers, AgreeWithAPlainList) {
  constexpr NodeIndex n = 7;
  Stream stream({.seed = 4});
  detail::Timers timers(n);
  std::map<NodeIndex, std::pair<Ticks, int>> plain;
  for (int step = 0; step < 20'000; ++step) {
    const NodeIndex node = stream.below(n);
    if (stream.chance(1, 8)) {
      timers.cancel(node);
      plain.erase(node);
    } else if (stream.chance(6, 7)) {
      const Ticks at = stream.below(50);
      timers.set(node, at);
      plain[node] = {at, step};
    } else if (const auto* due = timers.next()) {
      const auto first =
          std::ranges::min_element(plain, {}, [](const auto& entry) { return entry.second; });
      ASSERT_NE(first, plain.end());
      ASSERT_EQ(due->node, first->first);
      ASSERT_EQ(due->at, first->second.first);
      timers.cancel(first->first);
      plain.erase(first);
    } else {
      ASSERT_TRUE(plain.empty());
    }
  }
  EXPECT_LT(timers.bytes(), 10'000u);  // stale timers do not pile up
}

// A node that hears another one ring does this with its own timer.
enum class Hearing : std::uint8_t { ignore, cancel, set_again };

// A node that is woken sets its timer, and rings when it runs out. Its record lists what happens as
// "w1@0 t1@2.5": node 1 is woken at 0 and rings at 2.5.
struct Bells {
  enum class Kind : std::uint8_t { ring };
  static constexpr std::array<std::string_view, 1> kinds{"RING"};
  static constexpr ProtocolInfo info{};
  static constexpr bool is_port_blind = true;

  struct Message {
    Kind kind = Kind::ring;
    Identifier id = 0;
    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id}};
  };
  struct Node {
    Identifier id = 0;
    std::uint32_t rings = 0;
    bool is_awake = false;
    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"id", &Node::id}, Field{"rings", &Node::rings},
                                       Field{"is_awake", &Node::is_awake}};
  };
  struct Parameters {
    std::array<double, 4> delays{};  // in units, by identifier from 1 on
    Hearing hearing = Hearing::ignore;
  };

  struct Record {
    std::string events;
    void saw(Ticks now, const Node& before, const Node& after) {
      if (!before.is_awake) add('w', now, after);
      if (after.rings > before.rings) add('t', now, after);
    }
    void add(char what, Ticks now, const Node& node) {
      std::string time = std::to_string(in_units(now));
      time.erase(time.find_last_not_of('0') + 1);
      if (time.back() == '.') time.pop_back();
      if (!events.empty()) events += ' ';
      events += what + std::to_string(node.id) + '@' + time;
    }
    std::vector<Observation> observations() const { return {{"events", events}}; }
  };

  static std::string objection(const Parameters&, NodeCount) { return {}; }
  Bells(const Parameters& given, NodeCount) : parameters(given) {}

  Node asleep(Identifier id) const { return {.id = id}; }
  NodeView view(const Node& node) const {
    return {.standing = node.is_awake ? Standing::retired : Standing::asleep};
  }
  std::uint32_t bits(const Message&) const { return 1; }

  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    node.is_awake = true;
    set(node, effects, choice);
  }
  void on(Node& node, Timeout, auto& effects, Choice auto&) const {
    if (node.rings++ == 0) effects.broadcast(Message{Kind::ring, node.id});
  }
  void on(Node& node, const Received<Message>&, auto& effects, Choice auto& choice) const {
    node.is_awake = true;
    if (parameters.hearing == Hearing::cancel) effects.cancel_timer();
    if (parameters.hearing == Hearing::set_again) set(node, effects, choice);
  }
  void set(const Node& node, auto& effects, Choice auto& choice) const {
    effects.set_timer(
        [&](auto&) { return static_cast<Ticks>(parameters.delays[node.id - 1] * unit); }, choice);
  }

  Parameters parameters;
};
static_assert(HasTimer<Bells>);
static_assert(KeepsRecord<Bells>);
static_assert(!HasTerms<Bells>);

// Node i is woken at time i times `step`.
class OneByOne final : public WakeupAdversary {
 public:
  OneByOne(NodeCount n, Ticks step) : n_(n), step_(step) {}
  std::optional<Waking> next() override {
    if (woken_ == n_) return std::nullopt;
    const NodeIndex node = woken_++;
    return Waking{node * step_, node};
  }

 private:
  NodeCount n_;
  Ticks step_;
  NodeIndex woken_ = 0;
};

constexpr auto always = [](Interactions) { return true; };

std::string events_of(const TrialResult& result) {
  return std::get<std::string>(result.observations.back().value);
}

// The identifiers of the nodes, in the order in which they are woken.
std::vector<Identifier> identifiers(NodeCount n) {
  OneByOne wakeup(n, 0);
  Asynchronous<Bells, ConstantTransit> network(Bells({}, n), n, {}, nullptr, wakeup);
  network.run(always);
  std::vector<Identifier> ids;
  for (NodeIndex node = 0; node < n; ++node) ids.push_back(network.state().state(node).id);
  return ids;
}

// Delays by the order of waking, events with nodes named by it, on both kinds of transit.
std::string events_of(std::array<double, 4> delays, Hearing hearing, NodeCount n, Ticks step) {
  const std::vector<Identifier> ids = identifiers(n);
  Bells::Parameters parameters{.hearing = hearing};
  for (std::size_t i = 0; i < n; ++i) parameters.delays[ids[i] - 1] = delays[i];
  OneByOne wakeup(n, step);
  Asynchronous<Bells, ConstantTransit> constant(Bells(parameters, n), n, {}, nullptr, wakeup);
  std::string events = events_of(constant.run(always));
  OneByOne again(n, step);
  Unit delay(n, {});
  Asynchronous<Bells, AdversarialTransit> other(Bells(parameters, n), n, {}, &delay, again);
  EXPECT_EQ(events, events_of(other.run(always)));
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i] != 'w' && events[i] != 't') continue;
    const auto id = static_cast<Identifier>(events[i + 1] - '0');
    const auto place = std::ranges::find(ids, id) - ids.begin();
    events[i + 1] = static_cast<char>('0' + place);
  }
  return events;
}

TEST(TimersInANetwork, RunOutInOrderOfTime) {
  EXPECT_EQ(events_of({3, 1, 2.5}, Hearing::ignore, 3, 0), "w0@0 w1@0 w2@0 t1@1 t2@2.5 t0@3");
}

TEST(TimersInANetwork, OfTheSameTimeRunOutInTheOrderOfTheirSetting) {
  EXPECT_EQ(events_of({2, 2, 1, 2}, Hearing::ignore, 4, 0),
            "w0@0 w1@0 w2@0 w3@0 t2@1 t0@2 t1@2 t3@2");
  EXPECT_EQ(events_of({3, 2, 1}, Hearing::ignore, 3, unit), "w0@0 w1@1 w2@2 t0@3 t1@3 t2@3");
}

// A trace lists every timer that runs out, and none that was cancelled, in its place among the
// deliveries.
TEST(TimersInANetwork, StandInTheTrace) {
  const auto traced = [](Hearing hearing) {
    Recorder recorder;
    OneByOne wakeup(2, 0);
    const Bells bells({.delays = {1, 1.5}, .hearing = hearing}, 2);
    Asynchronous<Bells, ConstantTransit> network(bells, 2, {}, nullptr, wakeup,
                                                 {.watcher = &recorder});
    network.run(always);
    std::string text;
    for (const NetworkEvent& each : std::move(recorder).events()) {
      if (each.event == "join") continue;
      text += std::string(each.event) + '@' + std::to_string(each.time).substr(0, 3) + ' ';
    }
    return text;
  };
  EXPECT_EQ(traced(Hearing::ignore), "timeout@1.0 timeout@1.5 deliver@2.0 deliver@2.5 ");
  EXPECT_EQ(traced(Hearing::set_again),
            "timeout@1.0 timeout@1.5 deliver@2.0 deliver@2.5 timeout@3.5 timeout@3.5 ");
}

// The ring of node 0 arrives at 2, when the timer of node 1 would run out.
TEST(TimersInANetwork, RunOutAfterMessagesAndWakeUpsOfTheSameTime) {
  EXPECT_EQ(events_of({1, 2}, Hearing::cancel, 2, 0), "w0@0 w1@0 t0@1");
  EXPECT_EQ(events_of({1, 1}, Hearing::ignore, 2, unit), "w0@0 w1@1 t0@1 t1@2");
}

TEST(TimersInANetwork, CanBeCancelledAndSetAnew) {
  EXPECT_EQ(events_of({1, 2.25}, Hearing::cancel, 2, 0), "w0@0 w1@0 t0@1");
  EXPECT_EQ(events_of({1, 2.25}, Hearing::ignore, 2, 0), "w0@0 w1@0 t0@1 t1@2.25");
  // Set anew at 2, and by the ring that comes back at 5.25.
  EXPECT_EQ(events_of({1, 2.25}, Hearing::set_again, 2, 0), "w0@0 w1@0 t0@1 t1@4.25 t0@6.25");
}

// A second timer runs while messages with random delays are on their way: every timer runs out
// exactly when it was set to, and time never goes back.
TEST(TimersInANetwork, RunOutAtTheirTimesBetweenMessagesWithRandomDelays) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const StreamName name{.seed = 2, .trial = trial};
    Stream stream(name);
    Bells::Parameters parameters;
    std::vector<double> times;
    for (double& delay : parameters.delays) {
      delay = static_cast<double>(stream.below(1000)) / 256;
      times.push_back(delay);
    }
    std::ranges::sort(times);
    Uniform delay(4, name);
    All wakeup(4, name);
    Asynchronous<Bells, AdversarialTransit> network(Bells(parameters, 4), 4, name, &delay, wakeup);
    const std::string events = events_of(network.run(always));
    std::vector<double> fired;
    for (std::size_t at = events.find('t'); at != std::string::npos;
         at = events.find('t', at + 1)) {
      fired.push_back(std::stod(events.substr(events.find('@', at) + 1)));
    }
    ASSERT_EQ(fired.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(fired[i], times[i], 1e-6) << events;
  }
}

}  // namespace
}  // namespace conclave::network
