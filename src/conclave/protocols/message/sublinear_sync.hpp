// Kutten, Pandurangan, Peleg, Robinson, Trehan: Sublinear bounds for randomized leader election.
// Theoretical Computer Science 561, 2015. Implicit election in O(sqrt(n) log^(3/2) n) messages: one
// node ends elected, every other knows that it is not, and need not know who is. The abstract was
// read; the steps are reconstructed, with the readings listed below.
//
// All nodes start in the same round. With probability 2 log n / n a node is a candidate, draws a
// rank and asks 2 ceil(sqrt(n log n)) random referees. A referee answers the highest rank alone.
// Two candidates have a referee in common with high probability, so that only the highest is
// answered by all of its own.
//
//   round 1   candidates: REQUEST (rank) to the referees
//   round 2   referees: WINNER to the highest
//   round 3   who has got WINNER from all of its referees is elected
//
// It can fail: with probability (1 - 2 log n / n)^n, about n^-2, there is no candidate, and now and
// then two candidates have no referee in common.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "conclave/base/whole_numbers.hpp"
#include "conclave/model/message.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/message/detail/kmpp_common.hpp"

namespace conclave::protocols {

// `own_rank_counts`: a referee that is a candidate answers only ranks above its own.
enum class SublinearReading : std::uint8_t { plain, own_rank_counts };
// Values of the parameter `log`.
enum class LogarithmBase : std::uint8_t { natural, binary };

class SublinearSync {
 public:
  using Reading = SublinearReading;
  enum class Kind : std::uint8_t { request, winner };
  static constexpr std::array<std::string_view, 2> kinds{"REQUEST", "WINNER"};

  struct Message {
    Kind kind = Kind::request;
    std::uint64_t rank = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind},
                                       Field{"rank", &Message::rank}};
  };

  struct Node {
    std::uint64_t rank = 0;
    Standing standing = Standing::asleep;
    std::uint8_t age = 0;  // of a candidate: rounds since it was woken

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"rank", &Node::rank}, Field{"age", &Node::age}};
  };

  struct Parameters {
    Reading reading = Reading::plain;
    LogarithmBase log = LogarithmBase::natural;
    std::optional<std::uint64_t> referees{};
    std::optional<std::uint64_t> ranks{};

    static constexpr std::tuple fields{
        Parameter{"reading", &Parameters::reading, "whether a candidate defends its own rank",
                  "plain"},
        Parameter{"log", &Parameters::log, "the base of the logarithms", "natural"},
        Parameter{"referees", &Parameters::referees, "most referees asked, to see it fail",
                  "2 ceil(sqrt(n log n))", 1, 1u << 31},
        Parameter{"ranks", &Parameters::ranks, "number of different ranks", "n^4", 1, UINT64_MAX}};
  };

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"rank", "1 ... min(n^4, 2^64 - 1)", "of a candidate"},
      Variable{"age", "0 ... 2", "of a candidate: rounds since wake-up"},
  };
  static constexpr std::array errata{
      Erratum{"R1", "logarithm",
              "the bounds hold for any base; the natural one sends fewer messages (log=binary)"},
      Erratum{"R2", "equal ranks",
              "a referee that gets the highest rank twice answers nobody, so that a tie never "
              "makes two leaders"},
      Erratum{"R3", "candidates as referees",
              "a referee that is a candidate does not count its own rank; two nodes that ask each "
              "other are then both elected, unless reading=own-rank-counts"},
      Erratum{"R4", "referees", "nobody asks itself; at most n - 1 are asked"},
      Erratum{"R5", "chance", "2 log n / n is rounded up to a multiple of 2^-31"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "wake-up",
          "the node is a candidate with a small probability; then it draws a rank and asks "
          "random referees"},
      PseudocodeStep{"REQUEST", "a referee answers the highest rank of the round alone"},
      PseudocodeStep{
          "WINNER",
          "a candidate that gets it from all of its referees is elected; otherwise it knows "
          "that it is not"},
  };
  static constexpr ProtocolInfo info{
      .name = "sublinear-sync",
      .title = "implicit election: a few candidates, referees that answer the highest rank alone",
      .paper = "S. Kutten, G. Pandurangan, D. Peleg, P. Robinson, A. Trehan: Sublinear bounds for "
               "randomized leader election. Theoretical Computer Science 561, 2015",
      .source = Source::reconstructed,
      .version = "abstract of the version of TCS 2015; the steps follow from it and its analysis",
      .problem = Problem::implicit_election,
      .network = "complete, synchronous",
      .convergence =
          "quiescence with exactly one node elected, the others not, all of them decided",
      .bound = "O(sqrt(n) log^1.5 n) msgs, 2 rounds",
      .failure = "with probability (1 - 2 log n / n)^n, about n^-2, nobody is a candidate; two "
                 "are elected if no referee has seen both",
      .states = "16 bytes",
      .demo_n = 1'000'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool is_port_blind = true;
  static constexpr bool is_anonymous = true;
  static constexpr bool starts_together = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  SublinearSync(const Parameters& parameters, NodeCount n) : reading_(parameters.reading), n_(n) {
    const double log =
        parameters.log == LogarithmBase::natural ? natural_logarithm(n) : binary_logarithm(n);
    const auto size = static_cast<double>(n);
    const double wanted = 2 * std::ceil(std::sqrt(size * log));
    const NodeCount most = std::min(parameters.referees.value_or(n), n - 1);
    referees_ = static_cast<std::uint32_t>(std::min(static_cast<NodeCount>(wanted), most));
    const double chance = n == 1 ? 1.0 : std::min(1.0, 2 * log / size);
    heads_ = static_cast<std::uint32_t>(std::ceil(chance * coin));
    most_ranks_ = parameters.ranks.value_or(detail::kmpp_ranks(n));
  }

  std::uint32_t referees() const { return referees_; }
  std::uint32_t most_rounds() const { return 2; }

  // The chance of being a candidate, in units of 1/coin.
  static constexpr std::uint32_t coin = std::uint32_t{1} << 31;
  std::uint32_t heads() const { return heads_; }

  Node asleep(Identifier) const { return {}; }

  void on(Node& node, WakeUp, auto&, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::retired;
    if (!choice.chance(heads_, coin)) return;
    node.standing = n_ == 1 ? Standing::elected : Standing::candidate;
    node.rank = 1 + below64(choice, most_ranks_);
  }

  void on(Node& node, const Round<Message>& round, auto& effects, Choice auto& choice) const {
    answer(node, round, effects);
    if (node.standing != Standing::candidate) return;
    if (node.age == 0) ask(node, effects, choice);
    if (node.age == 2) decide(node, round);
    ++node.age;
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.standing == Standing::elected,
            .phase = node.age == 0 ? 0u : 1u,
            .rank = node.rank,
            .id = 0,
            .awaited = 0};
  }

  std::uint32_t bits(const Message& message) const {
    return 1 + (message.kind == Kind::request
                    ? static_cast<std::uint32_t>(std::bit_width(most_ranks_))
                    : 0);
  }

 private:
  void ask(const Node& node, auto& effects, Choice auto& choice) const {
    const Message request{Kind::request, node.rank};
    if (referees_ < n_ - 1)
      effects.send_to_some(referees_, request, choice);
    else
      effects.broadcast(request);
  }

  // As a referee: answers the highest rank, unless two candidates have it.
  void answer(const Node& node, const Round<Message>& round, auto& effects) const {
    std::uint64_t highest = 0;
    Port port = no_port;
    for (const auto& [from, message] : round.inbox) {
      if (message.kind != Kind::request || message.rank < highest) continue;
      port = message.rank == highest ? no_port : from;
      highest = message.rank;
    }
    const bool defends = reading_ == Reading::own_rank_counts && node.rank >= highest;
    if (port != no_port && !defends) effects.send(port, Message{Kind::winner, 0});
  }

  void decide(Node& node, const Round<Message>& round) const {
    std::uint32_t winners = 0;
    for (const auto& received : round.inbox) {
      winners += received.message.kind == Kind::winner ? 1 : 0;
    }
    node.standing = winners == referees_ ? Standing::elected : Standing::retired;
  }

  Reading reading_;
  NodeCount n_;
  std::uint32_t referees_;
  std::uint32_t heads_;
  std::uint64_t most_ranks_;
};
static_assert(SynchronousProtocol<SublinearSync>);
static_assert(PortBlind<SublinearSync>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::SublinearReading>{"plain", "own-rank-counts"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::LogarithmBase>{"natural", "binary"};
