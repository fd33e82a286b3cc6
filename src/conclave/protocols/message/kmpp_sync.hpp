// Kutten, Moses, Pandurangan, Peleg: Singularly Optimal Randomized Leader Election. DISC 2020.
// Section 3, the synchronous algorithm: at most nine rounds.
//
// A node that is woken draws a rank and is a silent candidate. In its first round, and three and
// six rounds later, it tosses a coin, with heads more and more likely, whether to become active. An
// active candidate asks random referees; a referee answers all requests of a round with the highest
// rank among them; a candidate that gets its own rank from all of them announces itself, and one
// round later all nodes know. A silent candidate that is asked as a referee does not toss any more.
//
//   round t     heads: REQUEST to the referees
//   round t+1   referees send REPLY
//   round t+2   the candidate sends WINNER, or retires
//   round t+3   everybody receives WINNER
//
// Messages are handled in the order of `on` (errata-kmpp.md); the other readings change one
// step each.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <compare>
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

// `replies_first`: replies are counted before WINNER of the same round is looked at.
// `toss_first`: the coin is tossed before the messages of the round are looked at.
// `answer_after_winner`: requests that arrive together with WINNER are answered.
// `active_retires`: an active candidate that is asked retires, like a silent one.
// `not_own_referee`: a candidate does not ask itself.
enum class KmppSyncReading : std::uint8_t {
  corrected,
  replies_first,
  toss_first,
  answer_after_winner,
  active_retires,
  not_own_referee,
};

class KmppSync {
 public:
  using Reading = KmppSyncReading;
  enum class Kind : std::uint8_t { request, reply, winner };
  static constexpr std::array<std::string_view, 3> kinds{"REQUEST", "REPLY", "WINNER"};

  struct Rank {
    std::uint64_t rank = 0;
    Identifier id = 0;  // breaks ties

    friend auto operator<=>(const Rank&, const Rank&) = default;
  };

  struct Message {
    Kind kind = Kind::request;
    Identifier id = 0;
    std::uint64_t rank = 0;

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"id", &Message::id},
                                       Field{"rank", &Message::rank}};
  };

  // `age` counts the rounds since the node was woken while it is silent, and the rounds since its
  // requests while it is active.
  struct Node {
    std::uint64_t rank = 0;
    std::uint64_t leader_rank = 0;
    Identifier id = 0;
    Identifier leader_id = 0;
    Standing standing = Standing::asleep;
    std::uint8_t age = 0;
    bool active = false;
    bool beaten = false;    // by another request to itself
    bool informed = false;  // it knows a leader

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"rank", &Node::rank},
                                       Field{"id", &Node::id},
                                       Field{"age", &Node::age},
                                       Field{"active", &Node::active},
                                       Field{"beaten", &Node::beaten},
                                       Field{"informed", &Node::informed},
                                       Field{"leader_rank", &Node::leader_rank},
                                       Field{"leader_id", &Node::leader_id}};
  };
  static_assert(sizeof(Node) == 32);

  struct Parameters {
    Reading reading = Reading::corrected;

    std::optional<std::uint64_t> referees{};
    std::optional<std::uint64_t> ranks{};

    static constexpr std::tuple fields{
        Parameter{"reading", &Parameters::reading, "how the paper is read; see the errata",
                  "corrected"},
        Parameter{"referees", &Parameters::referees, "most referees asked, for toy networks",
                  "as in the paper", 1, 1u << 31},
        Parameter{"ranks", &Parameters::ranks, "number of different ranks, for toy networks", "n^4",
                  1, UINT64_MAX}};
  };

  static constexpr std::array variables{
      Variable{"standing", "asleep, candidate, retired, elected", "the output"},
      Variable{"RANK", "1 ... min(n^4, 2^64 - 1)", "of a candidate, drawn when it is woken"},
      Variable{"active", "{0, 1}", "of a candidate: it has tossed heads"},
      Variable{"age", "0 ... 8", "rounds since it was woken, or since it became active"},
      Variable{"leader", "rank", "the highest WINNER received"},
  };
  static constexpr std::array errata{
      Erratum{
          "F1", "Lemma 10",
          "a reading, no error: a candidate active one round late receives WINNER together with "
          "its last replies; WINNER counts first, as the paper says of active candidates "
          "(reading=replies-first: two announcements, ten rounds)"},
      Erratum{"F2", "Section 3",
              "a request or WINNER in the round of a coin toss: the node retires and does not toss "
              "(reading=toss-first: ten rounds)"},
      Erratum{"F3", "Section 3",
              "a request that arrives together with WINNER is not answered "
              "(reading=answer-after-winner: ten rounds)"},
      Erratum{"F4", "Section 3",
              "an active candidate that is asked does not retire; it answers with the maximum of "
              "this round's requests, its own included (reading=active-retires)"},
      Erratum{"F5", "Section 3",
              "a candidate is its own referee, free of charge, and hears itself in the next round "
              "like the others (reading=not-own-referee: two nodes can both win)"},
      Erratum{
          "C1", "Section 3",
          "several WINNERs of one round: everybody takes the highest, a winner includes itself"},
      Erratum{
          "C2", "Section 3",
          "ceil(2 sqrt(n) log2 n) exceeds n - 1 for n <= 259: at most n - 1 referees are asked; "
          "a referee remembers nothing from one round to the next"},
      Erratum{"C3", "Lemma 11",
              "its large n begins at about 2^125; the measured constants are small anyway"},
      Erratum{"C4", "Section 3",
              "the irrational chances n^(-2/3) and n^(-1/3) are rounded up to multiples of 2^-31"},
  };
  static constexpr std::array steps{
      PseudocodeStep{
          "wake-up",
          "the node draws a rank and is a silent candidate; in its first round, and three and "
          "six rounds later, it tosses a coin whether to become active and ask referees"},
      PseudocodeStep{
          "REQUEST",
          "a referee answers all requests of a round with the highest rank among them; a silent "
          "candidate that is asked does not toss any more"},
      PseudocodeStep{
          "REPLY",
          "a candidate that gets its own rank from all referees announces itself; otherwise it "
          "retires"},
      PseudocodeStep{"WINNER", "the node knows the leader"},
  };
  static constexpr ProtocolInfo info{
      .name = "kmpp-sync",
      .title = "three attempts to become active, one round of referees: O(n) messages, 9 rounds",
      .paper = detail::kmpp_paper,
      .network = "complete, synchronous",
      .convergence = detail::kmpp_convergence,
      .bound = "O(n) messages, 9 rounds",
      .states = "32 bytes",
      .demo_n = 1'000'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = {},
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool is_port_blind = true;

  static std::string objection(const Parameters&, NodeCount) { return {}; }

  KmppSync(const Parameters& parameters, NodeCount n) : reading_(parameters.reading), n_(n) {
    const double wanted = std::ceil(2 * std::sqrt(static_cast<double>(n)) * binary_logarithm(n));
    referees_ = static_cast<std::uint32_t>(std::min(static_cast<NodeCount>(wanted), n - 1));
    most_ranks_ = detail::kmpp_ranks(n);
    const NodeCount most_referees = parameters.referees.value_or(referees_);
    referees_ = static_cast<std::uint32_t>(std::min<NodeCount>(referees_, most_referees));
    if (parameters.ranks) most_ranks_ = *parameters.ranks;
    rank_bits_ = static_cast<std::uint32_t>(std::bit_width(most_ranks_));
    heads_ = {share(2), share(1), coin};
  }

  std::uint32_t referees() const { return referees_; }
  std::uint32_t most_rounds() const { return 9; }

  // The chance of heads at each attempt, in units of 1/coin.
  static constexpr std::uint32_t coin = std::uint32_t{1} << 31;
  std::uint32_t heads(std::size_t attempt) const { return heads_[attempt]; }

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto&, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::candidate;
    node.rank = 1 + below64(choice, most_ranks_);
    if (n_ == 1) crown(node);
  }

  // The steps of a round, in the order without which nine rounds are not enough.
  void on(Node& node, const Round<Message>& round, auto& effects, Choice auto& choice) const {
    if (node.standing == Standing::asleep) node.standing = Standing::retired;
    const Found found = look_through(round);
    if (reading_ == Reading::toss_first) toss(node, effects, choice);
    if (reading_ == Reading::replies_first) count_replies(node, found, effects);
    if (found.winners > 0) hear_winner(node, found.winner);
    if (!node.informed || reading_ == Reading::answer_after_winner) {
      serve(node, round, found, effects);
    }
    if (reading_ != Reading::replies_first) count_replies(node, found, effects);
    if (reading_ != Reading::toss_first) toss(node, effects, choice);
    if (node.standing == Standing::candidate) ++node.age;
  }

  // Whether `leader` is the leader that this node knows of.
  bool follows(const Node& node, const Node& leader) const {
    return node.leader_rank == leader.rank && node.leader_id == leader.id;
  }

  NodeView view(const Node& node) const {
    return {.standing = node.standing,
            .is_informed = node.informed,
            .phase = node.active ? 1u : 0u,
            .rank = node.rank,
            .id = node.id,
            .awaited = 0};
  }

  std::uint32_t bits(const Message& message) const {
    const auto id_bits = static_cast<std::uint32_t>(message.id == 0 ? 0 : std::bit_width(n_));
    return 2 + rank_bits_ + id_bits;
  }

 private:
  // The contents of a round's inbox.
  struct Found {
    std::uint32_t requests = 0;
    std::uint32_t replies = 0;
    std::uint32_t winners = 0;
    Rank request{};  // the highest of each
    Rank reply{};
    Rank winner{};
  };

  static Rank rank_in(const Message& message) { return {message.rank, message.id}; }
  static Rank own(const Node& node) { return {node.rank, node.id}; }
  static Message about(Kind kind, const Rank& rank) { return {kind, rank.id, rank.rank}; }

  static Found look_through(const Round<Message>& round) {
    Found found;
    const auto add = [](std::uint32_t& count, Rank& highest, const Rank& rank) {
      ++count;
      highest = std::max(highest, rank);
    };
    for (const auto& [port, message] : round.inbox) {
      if (message.kind == Kind::request) add(found.requests, found.request, rank_in(message));
      if (message.kind == Kind::reply) add(found.replies, found.reply, rank_in(message));
      if (message.kind == Kind::winner) add(found.winners, found.winner, rank_in(message));
    }
    return found;
  }

  // The least multiple of 1/coin that is no less than n^(-thirds/3), found without a cube root: x
  // is below it if and only if (x / coin)^3 < n^-thirds.
  std::uint32_t share(unsigned thirds) const {
    __extension__ using Wide = unsigned __int128;
    std::uint32_t low = 0;
    std::uint32_t high = coin;
    while (low < high) {
      const std::uint32_t x = low + (high - low) / 2;
      Wide cube = static_cast<Wide>(x) * x * x;
      for (unsigned i = 0; i < thirds && cube >> 93 == 0; ++i) cube *= n_;
      if (cube >> 93 == 0)
        low = x + 1;
      else
        high = x;
    }
    return low;
  }

  static void crown(Node& node) {
    node.standing = Standing::elected;
    node.informed = true;
    node.leader_rank = node.rank;
    node.leader_id = node.id;
  }

  // The highest of all winners leads; one that has announced itself counts itself among them.
  static void hear_winner(Node& node, Rank winner) {
    if (node.standing == Standing::elected && own(node) >= winner) return;
    node.standing = Standing::retired;
    node.informed = true;
    node.leader_rank = winner.rank;
    node.leader_id = winner.id;
  }

  // As a referee: every request of this round is answered with the highest, own one included.
  void serve(Node& node, const Round<Message>& round, const Found& found, auto& effects) const {
    if (found.requests == 0) return;
    Rank highest = found.request;
    const bool has_asked_itself = node.active && node.age == 1;
    if (has_asked_itself && reading_ != Reading::not_own_referee) {
      node.beaten = highest > own(node);
      highest = std::max(highest, own(node));
    }
    for (const auto& [port, message] : round.inbox) {
      if (message.kind == Kind::request) effects.send(port, about(Kind::reply, highest));
    }
    const bool retires = !node.active || reading_ == Reading::active_retires;
    if (node.standing == Standing::candidate && retires) node.standing = Standing::retired;
  }

  void count_replies(Node& node, const Found& found, auto& effects) const {
    if (node.standing != Standing::candidate || !node.active || node.age != 2) return;
    if (node.beaten || found.replies < referees_ || found.reply > own(node)) {
      node.standing = Standing::retired;
      return;
    }
    crown(node);
    effects.broadcast(about(Kind::winner, own(node)));
  }

  void toss(Node& node, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::candidate || node.active || node.age % 3 != 0) return;
    if (!choice.chance(heads_[node.age / 3], coin)) return;
    node.active = true;
    node.age = 0;
    const Message request = about(Kind::request, own(node));
    if (referees_ < n_ - 1)
      effects.send_to_some(referees_, request, choice);
    else
      effects.broadcast(request);
  }

  Reading reading_;
  std::uint32_t referees_;
  std::uint32_t rank_bits_;
  NodeCount n_;
  std::uint64_t most_ranks_;
  std::array<std::uint32_t, 3> heads_;
};
static_assert(SynchronousProtocol<KmppSync>);
static_assert(PortBlind<KmppSync>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 6>
    conclave::names_of<conclave::protocols::KmppSyncReading>{
        "corrected",           "replies-first",  "toss-first",
        "answer-after-winner", "active-retires", "not-own-referee"};
