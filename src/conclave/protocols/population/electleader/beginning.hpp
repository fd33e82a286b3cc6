// The messages of an agent when DetectCollision_r begins for it: a few words from which all its
// messages and observations follow, so that they are not written out before they are looked at.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/protocols/population/electleader/message_space.hpp"

namespace conclave::protocols::electleader {

struct Message {
  std::uint32_t id;
  std::uint64_t content;
  friend bool operator==(const Message&, const Message&) = default;
};

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

}  // namespace conclave::protocols::electleader
