// The election of Raft: Ongaro, Ousterhout: In Search of an Understandable Consensus Algorithm.
// USENIX ATC 2014, extended version: Figure 2 and Sections 5.1, 5.2 and 5.4.1.
// The file is long because it lists readings, steps and observables beside the algorithm, for
// `describe`.
//
// A server that hears of no leader until its timer runs out stands for election: it begins a new
// term, votes for itself and asks all others. A server gives one vote per term, to the first who
// asks. Whoever has the votes of a majority leads, and tells all. If no candidate gets that many,
// which is a split vote, timers run out again; they are random, so that soon one candidate is
// alone.
//
//   REQUESTVOTE (t, i)    server i stands in term t
//   VOTE (t)              yes, in term t
//   REFUSAL (t)           no; t is the term of who refuses
//   HEARTBEAT (t, i)      server i leads in term t
//
// A timer runs for `low` units and a random part of `spread` units, a unit being the longest delay
// of a message. With delays of exactly one unit, M servers alive of which m votes win, and spread
// W, the first term has no winner exactly if M - m + 2 servers stand in it, which has probability
// P(Bin(M, 1/W) > M - m): the first to stand gets the votes of all who do not stand.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave::protocols {

// `uniform`: every length is equally likely. `ticks`: whole units, uniform on low, low + 1, ...,
// low + spread - 1. `every_tick`: at low + 1, low + 2, ... units the server tosses anew, and its
// timer runs out with probability 1/spread, 2/spread, ...
enum class RaftTimeout : std::uint8_t { uniform, ticks, every_tick };

// Whether the random part is drawn whenever the timer is set, or once in a server's life.
enum class RaftRedraw : std::uint8_t { every_time, once };

// Whether all servers have the same log, or no two: then whoever has the larger identifier has the
// longer log and refuses its vote to the other.
enum class RaftLogs : std::uint8_t { equal, different };

class RaftElection {
 public:
  enum class Kind : std::uint8_t { request, vote, refusal, heartbeat };
  static constexpr std::array<std::string_view, 4> kinds{"REQUESTVOTE", "VOTE", "REFUSAL",
                                                         "HEARTBEAT"};

  struct Message {
    Kind kind = Kind::request;
    std::uint32_t term = 0;
    Identifier id = 0;  // of the candidate or leader

    friend bool operator==(const Message&, const Message&) = default;
    static constexpr std::tuple fields{Field{"kind", &Message::kind}, Field{"term", &Message::term},
                                       Field{"id", &Message::id}};
  };

  // The timer of a server that is awake runs, unless it knows the leader or has given up.
  struct Node {
    Ticks timeout = 0;  // with redraw=once: of all its timers; 0: not drawn
    Identifier id = 0;
    Identifier voted_for = 0;  // in this term; 0: no vote yet
    Identifier leader = 0;     // of this term; 0: not known
    std::uint32_t term = 0;
    std::uint32_t votes = 0;               // of a candidate
    Standing standing = Standing::asleep;  // a follower has retired
    bool has_given_up = false;             // its timer ran out in the last term

    friend bool operator==(const Node&, const Node&) = default;
    static constexpr std::tuple fields{Field{"standing", &Node::standing},
                                       Field{"term", &Node::term},
                                       Field{"id", &Node::id},
                                       Field{"voted_for", &Node::voted_for},
                                       Field{"leader", &Node::leader},
                                       Field{"votes", &Node::votes},
                                       Field{"has_given_up", &Node::has_given_up},
                                       Field{"timeout", &Node::timeout}};
  };

  struct Parameters {
    std::optional<double> low{};
    std::optional<double> spread{};
    RaftTimeout timeout = RaftTimeout::uniform;
    RaftRedraw redraw = RaftRedraw::every_time;
    RaftLogs logs = RaftLogs::equal;
    std::optional<std::uint64_t> down{};
    std::optional<std::uint64_t> terms{};

    static constexpr std::tuple fields{
        Parameter{"low", &Parameters::low, "the shortest timeout, in units", "10", 0, 1'000'000},
        Parameter{"spread", &Parameters::spread, "the random part of timeouts, in units", "10", 0,
                  1'000'000},
        Parameter{"timeout", &Parameters::timeout, "the law of the random part; see the errata",
                  "uniform"},
        Parameter{"redraw", &Parameters::redraw, "when the random part is drawn", "every-time"},
        Parameter{"logs", &Parameters::logs,
                  "different: of two servers one has the longer log and refuses the other its vote",
                  "equal"},
        Parameter{"down", &Parameters::down,
                  "servers that are down, besides the n: they count for the majority", "0", 0,
                  1'000'000},
        Parameter{"terms", &Parameters::terms, "nobody stands in a later term", "1000", 1,
                  1'000'000}};
  };

  static constexpr std::array variables{
      Variable{"currentTerm", "0 ... terms", "here: term"},
      Variable{"votedFor", "identifier", "whom it has voted for in this term"},
      Variable{"state", "follower, candidate, leader", "here: standing; a follower has retired"},
      Variable{"leader", "identifier", "the leader of this term, once it is known"},
      Variable{"votes", "1 ... n", "of a candidate: those it has got in this term"},
  };
  static constexpr std::array observables{
      Observable{"terms", "the highest term in which a server has stood"},
      Observable{"split_votes", "terms in which servers stood and nobody won"},
      Observable{"conflicts", "terms in which two or more servers stood"},
      Observable{"first_split", "whether nobody won the first term"},
      Observable{"first_conflict", "whether two or more servers stood in the first term"},
      Observable{"election_time",
                 "units until a candidate first had a majority of votes; missing: none ever had"},
  };
  static constexpr std::array errata{
      Erratum{
          "R1", "heartbeats",
          "a leader sends one round of them; who gets one stops its timer, as if all later ones "
          "came in time, so that a trial ends. They are not answered: a leader of an old term "
          "learns of a later one from whoever stands in it"},
      Erratum{
          "R2", "logs",
          "all servers have the same log, so that no vote is refused for it. With logs=different "
          "no two are equally long, as in the paper's measurements, and a server votes only for "
          "those with a longer log (Section 5.4.1). Logs do not grow"},
      Erratum{
          "R3", "servers that are down",
          "down=1 is the election after a leader has crashed, seen from the moment at which all "
          "timers were set together; messages to servers that are down are not counted"},
      Erratum{
          "R4", "timeouts, etcd #4887",
          "timeout=every-tick is the rule of etcd before it was repaired: more servers stand in "
          "the same tick. With spread=10 and five servers, two or more stand with probability "
          "0.3516 instead of 0.2334 (timeout=ticks)"},
      Erratum{"R5", "timeouts, openraft #1838",
              "redraw=once keeps the first timeout for ever: servers with equal timeouts "
              "(timeout=ticks) "
              "split the vote in every term, and the trial does not converge; where they differ a "
              "little, "
              "many votes split until they have drifted apart"},
  };
  static constexpr std::array steps{
      PseudocodeStep{"wake-up", "the server sets its timer"},
      PseudocodeStep{"timeout",
                     "it begins a term, stands, votes for itself, sets its timer and asks all"},
      PseudocodeStep{"REQUESTVOTE",
                     "who has not voted in this term, and has no longer log, votes for the sender "
                     "and sets its timer; all others refuse"},
      PseudocodeStep{"VOTE", "a candidate with the votes of a majority leads and informs all"},
      PseudocodeStep{"REFUSAL", "it may carry a later term, and has no other effect"},
      PseudocodeStep{"HEARTBEAT", "the server follows the sender, and its timer stops"},
      PseudocodeStep{"any message", "of a later term: the server follows in that term"},
  };
  static constexpr ProtocolInfo info{
      .name = "raft-election",
      .title = "randomized timeouts, terms and majority votes: the election of Raft",
      .paper = "D. Ongaro, J. Ousterhout: In Search of an Understandable Consensus Algorithm. "
               "USENIX ATC, 2014",
      .source = Source::read,
      .version = "extended version, a transcription: Figure 2, Sections 5.1, 5.2 and 5.4.1; "
                 "elections only, logs do not grow",
      .network = "complete, asynchronous",
      .convergence = "quiescence with exactly one node elected and all n informed",
      .bound = ">= 3n - 3 msgs, timeout + O(1) time",
      .states = "32 bytes",
      .demo_n = 1'000,
      .smallest_n = 1,
      .variables = variables,
      .observables = observables,
      .errata = errata,
      .steps = steps,
  };
  static constexpr bool is_port_blind = true;
  static constexpr bool needs_identifiers = true;
  static constexpr bool has_terms = true;

  // Counts the candidates of each term, and notes whether it had a winner.
  class Record {
   public:
    void saw(Ticks now, const Node& before, const Node& after) {
      const bool has_stood = after.term > before.term && after.voted_for == after.id;
      if (has_stood) ++election_of(after.term).candidates;
      if (after.standing != Standing::elected || before.standing == Standing::elected) return;
      election_of(after.term).has_winner = true;
      if (!first_election_) first_election_ = now;
    }

    std::vector<Observation> observations() const {
      std::uint64_t split_votes = 0;
      std::uint64_t conflicts = 0;
      for (const Election& each : elections_) {
        split_votes += each.candidates > 0 && !each.has_winner ? 1 : 0;
        conflicts += each.candidates > 1 ? 1 : 0;
      }
      const Election first = elections_.empty() ? Election{} : elections_.front();
      std::vector<Observation> all{{"terms", std::uint64_t{elections_.size()}},
                                   {"split_votes", split_votes},
                                   {"conflicts", conflicts},
                                   {"first_split", !first.has_winner},
                                   {"first_conflict", first.candidates > 1}};
      if (!first_election_) return all;
      const double units = static_cast<double>(*first_election_) / ticks_per_unit;
      all.push_back({"election_time", units});
      return all;
    }

   private:
    struct Election {
      std::uint64_t candidates = 0;
      bool has_winner = false;
    };

    Election& election_of(std::uint32_t term) {
      if (elections_.size() < term) elections_.resize(term);
      return elections_[term - 1];
    }

    std::vector<Election> elections_;  // by term, from 1 on
    std::optional<Ticks> first_election_;
  };

  static std::string objection(const Parameters& parameters, NodeCount n) {
    if (n > most_nodes) {
      return "n = " + std::to_string(n) +
             ": every candidate of raft-election asks everybody, and " + "it is run with at most " +
             std::to_string(most_nodes) + " nodes";
    }
    if (n < majority(n, parameters)) {
      return "down = " + std::to_string(parameters.down.value_or(0)) +
             ": the n = " + std::to_string(n) + " servers that are left are no majority";
    }
    const double spread = parameters.spread.value_or(default_spread);
    const bool is_whole = spread >= 1 && spread == static_cast<double>(whole(spread));
    if (parameters.timeout == RaftTimeout::uniform || is_whole) return {};
    return "timeouts in ticks need a spread of a whole number of units, at least 1";
  }

  RaftElection(const Parameters& parameters, NodeCount n)
      : timeout_(parameters.timeout),
        redraw_(parameters.redraw),
        logs_(parameters.logs),
        n_(n),
        majority_(majority(n, parameters)),
        last_term_(static_cast<std::uint32_t>(parameters.terms.value_or(1000))),
        low_(ticks(parameters.low.value_or(default_low))),
        spread_(ticks(parameters.spread.value_or(default_spread))) {}

  Node asleep(Identifier id) const { return {.id = id}; }

  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    node.standing = Standing::retired;
    set_timer(node, effects, choice);
  }

  // Stands for election in a new term.
  void on(Node& node, Timeout, auto& effects, Choice auto& choice) const {
    if (node.term == last_term_) {
      node.has_given_up = true;
      return;
    }
    enter(node, node.term + 1, Standing::candidate);
    node.voted_for = node.id;
    node.votes = 1;
    set_timer(node, effects, choice);
    if (n_ > 1) effects.broadcast(Message{Kind::request, node.term, node.id});
    if (node.votes == majority_) lead(node, effects);
  }

  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    const Message& message = event.message;
    const bool knew_leader = node.leader != 0;  // and had no timer
    if (message.term > node.term) enter(node, message.term, Standing::retired);
    const bool lost_leader = knew_leader && node.leader == 0;
    switch (message.kind) {
      case Kind::request:
        return answer(node, event, lost_leader, effects, choice);
      case Kind::vote:
        return count(node, message, effects);
      case Kind::refusal:
        if (lost_leader) set_timer(node, effects, choice);
        return;
      case Kind::heartbeat:
        return follow(node, message, effects);
    }
  }

  // A server gets no vote for a term that it has not begun, and a leader hears of no other leader
  // of its term.
  bool expects(const Node& node, const Message& message) const {
    if (message.kind == Kind::vote) return message.term <= node.term;
    const bool leads = node.standing == Standing::elected;
    return message.kind != Kind::heartbeat || !leads || message.term != node.term;
  }

  // Ignored for ever, since terms only grow and no server stands twice in one.
  bool ignores(const Node& node, const Message& message) const {
    const bool is_of_now = message.term == node.term;
    if (message.kind == Kind::request || message.term > node.term) return false;
    if (message.kind == Kind::vote) return !is_of_now || node.standing != Standing::candidate;
    if (message.kind == Kind::heartbeat) return !is_of_now || node.leader == message.id;
    return true;
  }

  bool follows(const Node& node, const Node& leader) const { return node.leader == leader.id; }
  bool has_given_up(const Node& node) const { return node.has_given_up && node.leader == 0; }

  NodeView view(const Node& node) const {
    const bool stands = node.standing == Standing::candidate;
    return {.standing = node.standing,
            .is_informed = node.leader != 0,
            .phase = node.term,
            .rank = 0,
            .id = node.id,
            .awaited = stands ? static_cast<std::uint32_t>(majority_ - node.votes) : 0};
  }

  std::uint32_t bits(const Message& message) const {
    const auto id_bits = static_cast<std::uint32_t>(message.id == 0 ? 0 : std::bit_width(n_));
    return 2 + static_cast<std::uint32_t>(std::bit_width(message.term)) + id_bits;
  }

 private:
  static constexpr NodeCount most_nodes = 20'000;
  static constexpr double default_low = 10;
  static constexpr double default_spread = 10;

  static std::uint64_t whole(double number) { return static_cast<std::uint64_t>(number); }
  static Ticks ticks(double units) { return whole(units * static_cast<double>(ticks_per_unit)); }
  static NodeCount majority(NodeCount n, const Parameters& parameters) {
    return (n + parameters.down.value_or(0)) / 2 + 1;
  }

  static void enter(Node& node, std::uint32_t term, Standing standing) {
    node.term = term;
    node.standing = standing;
    node.voted_for = node.leader = 0;
  }

  void set_timer(Node& node, auto& effects, Choice auto& choice) const {
    const auto delay = [&](Choice auto& coins) {
      const bool is_drawn = redraw_ == RaftRedraw::once && node.timeout > 0;
      return is_drawn ? node.timeout : draw(coins);
    };
    const Ticks drawn = effects.set_timer(delay, choice);
    if (redraw_ == RaftRedraw::once) node.timeout = drawn;
  }

  Ticks draw(Choice auto& choice) const {
    if (timeout_ == RaftTimeout::uniform) {
      return low_ + (spread_ == 0 ? 0 : below64(choice, spread_));
    }
    const auto units = static_cast<std::uint32_t>(spread_ / ticks_per_unit);
    if (timeout_ == RaftTimeout::ticks) return low_ + choice.below(units) * ticks_per_unit;
    std::uint32_t tick = 1;
    while (!choice.chance(tick, units)) ++tick;
    return low_ + tick * ticks_per_unit;
  }

  void answer(Node& node, const Received<Message>& event, bool lost_leader, auto& effects,
              Choice auto& choice) const {
    const Message& request = event.message;
    const bool is_free = node.voted_for == 0 || node.voted_for == request.id;
    const bool has_longer_log = logs_ == RaftLogs::different && node.id > request.id;
    if (request.term < node.term || !is_free || has_longer_log) {
      if (lost_leader) set_timer(node, effects, choice);
      return effects.send(event.port, Message{Kind::refusal, node.term, 0});
    }
    node.voted_for = request.id;
    set_timer(node, effects, choice);
    effects.send(event.port, Message{Kind::vote, node.term, 0});
  }

  void count(Node& node, const Message& vote, auto& effects) const {
    if (node.standing != Standing::candidate || vote.term != node.term) return;
    if (++node.votes == majority_) lead(node, effects);
  }

  void lead(Node& node, auto& effects) const {
    node.standing = Standing::elected;
    node.leader = node.id;
    effects.cancel_timer();
    if (n_ > 1) effects.broadcast(Message{Kind::heartbeat, node.term, node.id});
  }

  static void follow(Node& node, const Message& heartbeat, auto& effects) {
    if (heartbeat.term < node.term) return;
    node.standing = Standing::retired;
    node.leader = heartbeat.id;
    effects.cancel_timer();
  }

  RaftTimeout timeout_;
  RaftRedraw redraw_;
  RaftLogs logs_;
  NodeCount n_;
  NodeCount majority_;
  std::uint32_t last_term_;
  Ticks low_;
  Ticks spread_;
};
static_assert(HasTimer<RaftElection>);
static_assert(HasTerms<RaftElection>);
static_assert(KeepsRecord<RaftElection>);
static_assert(PortBlind<RaftElection>);

}  // namespace conclave::protocols

template <>
inline constexpr std::array<std::string_view, 3>
    conclave::names_of<conclave::protocols::RaftTimeout>{"uniform", "ticks", "every-tick"};
template <>
inline constexpr std::array<std::string_view, 2>
    conclave::names_of<conclave::protocols::RaftRedraw>{"every-time", "once"};
template <>
inline constexpr std::array<std::string_view, 2> conclave::names_of<conclave::protocols::RaftLogs>{
    "equal", "different"};
