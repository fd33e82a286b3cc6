// The properties that every election must have in every configuration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conclave/model/message.hpp"
#include "conclave/schedules/detail/configuration.hpp"

namespace conclave::schedules::detail {

// The properties that the protocol's problem demands.
template <MessageProtocol P>
inline constexpr std::array<std::string_view, 4> election_properties{
    HasTerms<P> ? "at most one node is elected in a term" : "at most one node is elected",
    HasTerms<P> ? "in the end one node is elected and every node knows it, unless terms ran out"
    : P::info.problem == Problem::implicit_election
        ? "in the end one node is elected and the others know that they are not"
        : "in the end one node is elected and every node knows it",
    "nobody takes another node for the leader",
    "no message comes that must not come",
};

enum : std::uint32_t { two_elected = 1, not_elected = 2, wrong_leader = 4, rule_broken = 8 };

// A protocol may say whether a node that knows the leader takes that node for it.
template <class P>
concept NamesLeader = requires(const P& protocol, const typename P::Node& node) {
  { protocol.follows(node, node) } -> std::same_as<bool>;
};

// A protocol may say which messages never come to a node.
template <class P>
concept HasExpectations = requires(const P& protocol, const typename P::Node& node,
                                   const typename P::Message& message) {
  { protocol.expects(node, message) } -> std::same_as<bool>;
};

// A protocol may say which messages a node ignores, now and for ever. Without that, a node that
// knows the leader ignores all messages, unless it may hear of a later term.
template <class P>
concept SaysWhatIsIgnored = requires(const P& protocol, const typename P::Node& node,
                                     const typename P::Message& message) {
  { protocol.ignores(node, message) } -> std::same_as<bool>;
};

// Whether a message has no effect on the node, now and for ever, so that it need not be delivered.
template <MessageProtocol P>
bool ignores(const P& protocol, const typename P::Node& node, const typename P::Message& message) {
  if constexpr (SaysWhatIsIgnored<P>) return protocol.ignores(node, message);
  return !HasTerms<P> && protocol.view(node).is_informed;
}

// Whether the message may come to the node at all.
template <MessageProtocol P>
bool expects(const P& protocol, const typename P::Node& node, const typename P::Message& message) {
  if constexpr (HasExpectations<P>) return protocol.expects(node, message);
  return true;
}

// Whether a node that knows the leader takes this one for it.
template <MessageProtocol P>
bool follows(const P& protocol, const typename P::Node& node, const typename P::Node& leader) {
  if constexpr (NamesLeader<P>) return protocol.follows(node, leader);
  return true;
}

// The same where every term has an election of its own.
template <HasTerms P>
std::uint32_t term_violations(const P& protocol, const Configuration<P>& c, bool is_over) {
  std::uint32_t result = c.broke_rule ? +rule_broken : 0;
  std::size_t elected = 0;
  std::size_t settled = 0;
  bool has_given_up = false;
  for (std::size_t i = 0; i < c.size; ++i) {
    const NodeView view = protocol.view(c.nodes[i]);
    settled += is_settled<P>(view) ? 1 : 0;
    has_given_up = has_given_up || protocol.has_given_up(c.nodes[i]);
    if (view.standing != Standing::elected) continue;
    ++elected;
    for (std::size_t j = 0; j < c.size; ++j) {
      const NodeView other = protocol.view(c.nodes[j]);
      if (j == i || other.phase != view.phase) continue;
      if (other.standing == Standing::elected) result |= two_elected;
      const bool is_right = follows(protocol, c.nodes[j], c.nodes[i]);
      if (other.is_informed && !is_right) result |= wrong_leader;
    }
  }
  const bool is_elected = elected == 1 && settled == c.size;
  if (is_over && !is_elected && !has_given_up) result |= not_elected;
  return result;
}

// `is_over`: nothing more happens unless another node is woken.
template <MessageProtocol P>
std::uint32_t violations(const P& protocol, const Configuration<P>& c, bool is_over) {
  if constexpr (HasTerms<P>) return term_violations(protocol, c, is_over);
  std::size_t elected = 0;
  std::size_t settled = 0;
  std::size_t leader = 0;
  for (std::size_t i = 0; i < c.size; ++i) {
    const NodeView view = protocol.view(c.nodes[i]);
    if (view.standing == Standing::elected) leader = i;
    elected += view.standing == Standing::elected ? 1 : 0;
    settled += is_settled<P>(view) ? 1 : 0;
  }
  std::uint32_t result = c.broke_rule ? +rule_broken : 0;
  if (elected > 1) result |= two_elected;
  if (is_over && (elected != 1 || settled != c.size)) result |= not_elected;
  for (std::size_t i = 0; i < c.size && elected == 1; ++i) {
    const bool is_right = follows(protocol, c.nodes[i], c.nodes[leader]);
    if (protocol.view(c.nodes[i]).is_informed && !is_right) result |= wrong_leader;
  }
  return result;
}

}  // namespace conclave::schedules::detail
