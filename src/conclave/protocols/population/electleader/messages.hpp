// The questions of DetectCollision_r about the messages that agents hold and the observations they
// have made. Two representations offer it: DenseMessages, literal arrays, the reference; and
// LazyMessages, which gives the same answers and computes only what may matter.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"

namespace conclave::protocols::electleader {

// A message that an agent holds. Its governor is known from the context.
struct Message {
  std::uint32_t id;
  std::uint64_t content;
  friend bool operator==(const Message&, const Message&) = default;
};

// The messages of an agent when DetectCollision_r begins for it: a few words from which all its
// messages and observations follow, so that they are not written out before they are looked at.
struct Beginning {
  enum class Kind : std::uint8_t {
    clean,      // the messages of one block, all contents and observations 1
    scrambled,  // the messages of one block, contents and observations random
    random,     // random messages of each rank, contents and observations random
  };
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  Kind kind = Kind::clean;
  std::uint32_t block = 0;
  std::uint32_t wrong = none;   // of this governor, the first message of the block has content 2
  std::uint64_t key = 0;        // names the stream of what is random
  std::uint64_t signature = 1;  // of the agent

  // The state q_0,DC of an agent at this position in its group.
  static Beginning clean_at(std::uint32_t position) { return {.block = position}; }
  bool is_clean() const { return kind == Kind::clean && wrong == none; }

  // The random numbers of a governor's messages; those of the observations are named by space.m.
  Stream stream(std::uint32_t which) const {
    return Stream({.seed = key, .trial = which, .purpose = Purpose::messages});
  }

  // The observations of the agent, by ID.
  std::vector<std::uint64_t> observations(const MessageSpace& space) const {
    std::vector<std::uint64_t> contents(space.ids(), 1);
    if (kind == Kind::clean) return contents;
    Stream choice = stream(space.m);
    for (std::uint64_t& content : contents) content = 1 + choice.below64(space.contents);
    return contents;
  }

  // The messages with this governor that the agent at position `own` holds, in the order of their
  // IDs. Those it governs itself are as it has observed them, as the paper demands.
  std::vector<Message> messages(const MessageSpace& space, std::uint32_t governor,
                                std::uint32_t own) const {
    std::vector<Message> held(space.block);
    for (std::uint32_t k = 0; k < held.size(); ++k) held[k] = {block * space.block + k, 1};
    if (governor == wrong) held.front().content = 2;
    if (kind == Kind::clean) return held;
    Stream choice = stream(governor);
    if (kind == Kind::random) draw_ids(space, held, choice);
    const auto seen = governor == own ? observations(space) : std::vector<std::uint64_t>();
    for (Message& message : held) {
      message.content = governor == own ? seen[message.id] : 1 + choice.below64(space.contents);
    }
    return held;
  }

 private:
  // Distinct IDs, all sets equally likely.
  static void draw_ids(const MessageSpace& space, std::vector<Message>& held, Stream& choice) {
    std::vector<bool> taken(space.ids());
    for (Message& message : held) {
      do message.id = choice.below(space.ids());
      while (taken[message.id]);
      taken[message.id] = true;
    }
    std::ranges::sort(held, {}, &Message::id);
  }
};

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

// O(m^2 block) in groups of size m.
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
