// The questions of DetectCollision_r about the messages that agents hold and the observations they
// have made. Two representations offer it: DenseMessages, literal arrays, the reference; and
// LazyMessages, which gives the same answers and computes only what may matter.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "conclave/protocols/population/electleader/beginning.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"

namespace conclave::protocols::electleader {

using AgentIndex = std::uint32_t;

// Agents that verify and are not in error are inside, each in the room of its group and generation.
// Only agents of one room exchange messages.
template <class M>
concept MessageSystem = requires(M& messages, AgentIndex u, AgentIndex v, const Groups& groups,
                                 Standing standing, std::uint8_t generation,
                                 const Beginning& beginning, std::uint64_t signature) {
  M(groups, u);
  { M::is_literal } -> std::convertible_to<bool>;  // plays erratum 33 as printed too
  { messages.enter(u, standing, generation, beginning) } -> std::same_as<void>;
  { messages.leave(u) } -> std::same_as<void>;
  { messages.share_one(u, v) } -> std::same_as<bool>;          // Protocol 3, line 3
  { messages.contradict(u, v) } -> std::same_as<bool>;         // Protocol 12
  { messages.refresh(u, signature) } -> std::same_as<void>;    // Protocol 13, lines 5-8
  { messages.update(u, v, signature) } -> std::same_as<void>;  // Protocol 13, lines 9-12
  { messages.balance(u, v) } -> std::same_as<void>;            // Protocol 14
  // Condition (3) of the safe set for all rooms of a generation, where no two ranks are the same.
  { messages.are_consistent(generation) } -> std::same_as<bool>;
  // For tests: messages of one governor in the order of IDs, and observations by ID.
  { messages.held(u, v) } -> std::same_as<std::vector<Message>>;
  { messages.observations(u) } -> std::same_as<std::vector<std::uint64_t>>;
};

// The safe set's condition (3) for one room: with every absent agent of the group in its state
// q_0,DC, every message is held exactly once and is as its governor has observed it. `occupant[p]`
// is the agent at position p, or `nobody`.
inline constexpr AgentIndex nobody = Beginning::none;

template <class M>
bool messages_are_consistent(M& messages, const MessageSpace& space,
                             const std::vector<AgentIndex>& occupant) {
  const std::uint32_t m = space.m;
  for (std::uint32_t governor = 0; governor < m; ++governor) {
    std::vector<std::uint64_t> content(space.ids(), 0);  // 0: no holder found so far
    for (std::uint32_t position = 0; position < m; ++position) {
      const AgentIndex holder = occupant[position];
      for (const Message& message :
           holder == nobody ? Beginning::clean_at(position).messages(space, governor, position)
                            : messages.held(holder, governor)) {
        if (content[message.id] != 0) return false;
        content[message.id] = message.content;
      }
    }
    const AgentIndex observer = occupant[governor];
    const auto observed = observer == nobody ? std::vector<std::uint64_t>(space.ids(), 1)
                                             : messages.observations(observer);
    if (content != observed) return false;
  }
  return true;
}

}  // namespace conclave::protocols::electleader
