// A protocol's description of itself: the text behind `conclave list` and `conclave describe`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

namespace conclave {

// A protocol's Parameters struct lists its members as `fields`; the command line, the rows and
// `describe` read that list.

// A whole-number parameter is a std::optional<std::uint64_t>: empty means "derived from n or from
// the other parameters", and a row shows it only if it holds a value; a decimal one is a
// std::optional<double>. An enumeration parameter has its names in `names_of<E>`; a row shows it
// only if it is not the default.
template <class Owner, class T>
struct Parameter {
  std::string_view name;
  T Owner::*member;
  std::string_view meaning;
  std::string_view fallback;  // the default, in words
  std::uint64_t low = 0;      // allowed range of a number
  std::uint64_t high = 0;
};
template <class Owner, class T>
Parameter(const char*, T Owner::*, const char*, const char*) -> Parameter<Owner, T>;
template <class Owner, class T>
Parameter(const char*, T Owner::*, const char*, const char*, std::uint64_t, std::uint64_t)
    -> Parameter<Owner, T>;

template <class E>
inline constexpr std::array<std::string_view, 0> names_of{};

// For protocols that have only n.
struct NoParameters {
  static constexpr std::tuple<> fields{};
};

// Who can meet whom. A protocol that is not for the complete graph names its own as `topology`.
enum class Topology : std::uint8_t {
  complete,         // all ordered pairs of distinct agents
  directed_ring,    // agent i initiates, agent i + 1 mod n responds
  undirected_ring,  // neighbours on a ring, both ways
  any,              // the arcs of any strongly connected graph; complete by default
};

// A named initial configuration.
struct Start {
  std::string_view name;
  std::string_view meaning;
  bool uniform = false;  // every agent has the same state
};

// A variable of the paper, for `describe`; the domain in words, such as 0 ... c_max.
struct Variable {
  std::string_view name;
  std::string_view domain;
  std::string_view meaning;
};

// A named quantity reported with every trial.
struct Observable {
  std::string_view name;
  std::string_view meaning;
};

// Observables of trials that go on after convergence, for protocols that do not elect for ever.
inline constexpr std::array holding_observables{
    Observable{"holding_interactions",
               "hold=1 only: interactions from convergence to the first after which some agent's "
               "output differs from its output at convergence"},
    Observable{"holding_censored",
               "hold=1 only: the limit came first, so that holding_interactions is a lower bound"},
};

// Observables of every message passing protocol, besides messages and time.
inline constexpr std::array network_observables{
    Observable{"candidates",
               "nodes that the environment has woken before any message reached them"},
    Observable{"last_phase", "the highest phase that a node has begun"},
    Observable{"message_bits", "size of the largest message"},
    Observable{"message_bits_per_log_n", "the same in units of log2 n: CONGEST allows O(1)"},
};

// Where the paper's text and the reading implemented here differ, or where it is easily misread.
struct Erratum {
  std::string_view id;
  std::string_view place;
  std::string_view remark;
};

// A step of the pseudocode in our own words, under the numbers of its lines in the paper; of
// message passing, what a node does when it handles something.
struct PseudocodeStep {
  std::string_view line;  // "39-41"; of message passing a kind of message, "wake-up" or "round"
  std::string_view text;
  std::string_view sets{};  // the fields of the state that it may change: "leader, color"
};

// How the algorithm came to us. Only what was read is the paper's word for word.
enum class Source : std::uint8_t {
  read,           // from the paper itself
  second_hand,    // as another text describes it
  reconstructed,  // from abstracts and general knowledge, checked for safety but not against a text
};

inline constexpr std::array<std::string_view, 3> source_names{"read", "second-hand",
                                                              "reconstructed"};

// As `describe` prints it.
constexpr std::string_view name_of(Source source) {
  return source_names[static_cast<std::size_t>(source)];
}

// The problem that a protocol solves.
enum class Problem : std::uint8_t {
  election,             // one leader, from a given start; in networks, all know it in the end
  implicit_election,    // the others know only that they are not the leader
  loosely_stabilizing,  // one leader soon from any configuration, for long but not for ever
  self_stabilizing,     // one leader for ever, from any configuration
  ranking,              // self-stabilizing, and all agents have different ranks
};

inline constexpr std::array<std::string_view, 5> problem_names{
    "election", "implicit election", "loosely stabilizing election", "self-stabilizing election",
    "self-stabilizing ranking"};

constexpr std::string_view name_of(Problem problem) {
  return problem_names[static_cast<std::size_t>(problem)];
}

struct ProtocolInfo {
  std::string_view name;
  std::string_view title;  // one line: what it does
  std::string_view paper;  // authors, title, venue
  Source source = Source::read;
  std::string_view version{};  // the text followed, where that is not the paper as named
  Problem problem = Problem::election;
  std::string_view network;        // who can meet whom
  std::string_view only_there{};   // why it runs on no other network
  std::string_view part_of{};      // whose part it is; empty: elects a leader by itself
  std::string_view convergence;    // the event whose time is reported
  std::string_view bound;          // the paper's bound on that time; empty if it gives none
  std::string_view failure{};      // how it can fail, and how likely; empty: it never does
  std::string_view closed_form{};  // the expected time, where it is known exactly
  std::string_view states;         // states per agent, as a formula
  std::string_view memory{};       // what agents take beyond a fixed number of bytes
  std::uint64_t demo_n;            // a size that elects within some seconds
  std::uint64_t smallest_n = 2;    // smaller populations are refused
  std::span<const Variable> variables;
  std::span<const Observable> observables;
  std::span<const Erratum> errata;
  std::span<const PseudocodeStep> steps{};  // model/steps.hpp
};

}  // namespace conclave
