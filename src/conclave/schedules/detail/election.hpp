// The properties that every election must have in every configuration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conclave/model/message.hpp"
#include "conclave/schedules/detail/configuration.hpp"

namespace conclave::schedules::detail {

// The properties that the protocol's problem asks for.
template <MessageProtocol P>
inline constexpr std::array<std::string_view, 4> election_properties{
    "at most one node is elected",
    P::info.problem == Problem::implicit_election
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

template <MessageProtocol P>
bool expects(const P& protocol, const typename P::Node& node, const typename P::Message& message) {
  if constexpr (HasExpectations<P>) return protocol.expects(node, message);
  return true;
}

template <MessageProtocol P>
bool follows(const P& protocol, const typename P::Node& node, const typename P::Node& leader) {
  if constexpr (NamesLeader<P>) return protocol.follows(node, leader);
  return true;
}

// `is_over`: nothing more happens unless somebody else is woken.
template <MessageProtocol P>
std::uint32_t violations(const P& protocol, const Configuration<P>& c, bool is_over) {
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
