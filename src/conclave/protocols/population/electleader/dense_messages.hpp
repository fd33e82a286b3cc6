// The messages of DetectCollision_r as the paper writes them down: for every agent an array of
// contents indexed by (rank, ID), 0 for none, and an array of observations. The reference for
// LazyMessages; O(m^3) time per interaction and memory per agent in groups of size m.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "conclave/protocols/population/electleader/messages.hpp"

namespace conclave::protocols::electleader {

class DenseMessages {
 public:
  static constexpr bool is_literal = true;

  // Everything one agent holds. Contents by (rank, ID), the IDs of one rank side by side.
  struct Arrays {
    std::vector<std::uint64_t> contents{};
    std::vector<std::uint64_t> observations{};
  };

  // The groups must outlive it. No agent is in a room.
  DenseMessages(const Groups& groups, AgentIndex n) : groups_(&groups), agents_(n) {}

  // Memory of n agents in groups of size m.
  static std::uint64_t bytes(std::uint64_t n, std::uint64_t m, bool) {
    return n * 8 * (m + 1) * 2 * m * m;
  }

  void enter(AgentIndex u, Standing standing, std::uint8_t generation, const Beginning& beginning) {
    const MessageSpace& space = groups_->space_of(standing.group);
    Arrays arrays{std::vector<std::uint64_t>(std::size_t{space.m} * space.ids(), 0),
                  beginning.observations(space)};
    for (std::uint32_t i = 0; i < space.m; ++i) {
      for (const auto& [id, content] : beginning.messages(space, i, standing.position)) {
        arrays.contents[std::size_t{i} * space.ids() + id] = content;
      }
    }
    enter(u, standing, generation, std::move(arrays));
  }

  void enter(AgentIndex u, Standing standing, std::uint8_t generation, Arrays arrays) {
    agents_[u] = {true, standing, generation, groups_->space_of(standing.group), std::move(arrays)};
  }

  // Empty for an agent that is in no room.
  const Arrays& arrays(AgentIndex u) const { return agents_[u].arrays; }

  void leave(AgentIndex u) { agents_[u] = {}; }

  // Protocol 3, line 3: some message (i, j) is held by both.
  bool share_one(AgentIndex u, AgentIndex v) const {
    const Inside& a = agents_[u];
    const Inside& b = agents_[v];
    for (std::uint32_t i = 0; i < a.space.m; ++i) {
      for (std::uint32_t j = 0; j < a.space.looped; ++j) {
        if (a.content(i, j) != 0 && b.content(i, j) != 0) return true;
      }
    }
    return false;
  }

  // Protocol 12.
  bool contradict(AgentIndex u, AgentIndex v) const {
    const Inside& a = agents_[u];
    const Inside& b = agents_[v];
    for (std::uint32_t j = 0; j < a.space.looped; ++j) {
      const std::uint64_t content = b.content(a.standing.position, j);
      if (content != 0 && content != a.arrays.observations[j]) return true;
    }
    return false;
  }

  // Protocol 13, lines 5-8.
  void refresh(AgentIndex u, std::uint64_t signature) {
    rewrite(agents_[u], agents_[u], signature);
  }

  // Protocol 13, lines 9-12.
  void update(AgentIndex u, AgentIndex v, std::uint64_t signature) {
    rewrite(agents_[u], agents_[v], signature);
  }

  // Protocol 14.
  void balance(AgentIndex u, AgentIndex v) {
    Inside& a = agents_[u];
    Inside& b = agents_[v];
    Inside u_temps = a;  // line 1
    Inside v_temps = b;
    std::ranges::fill(u_temps.arrays.contents, 0);
    std::ranges::fill(v_temps.arrays.contents, 0);
    std::uint64_t u_cells = 0;
    std::uint64_t v_cells = 0;
    for (std::uint32_t i = 0; i < a.space.m; ++i) {                 // line 2
      for (const auto& [k, ids] : ids_by_content(a, b, i)) {        // lines 3-4, contents ascending
        const bool u_gets_floor = u_cells > v_cells;                // line 6
        const std::size_t floor = ids.size() / 2;                   // line 5: the smallest IDs
        for (std::size_t place = 0; place < ids.size(); ++place) {  // lines 7-11
          const bool to_u = (place < floor) == u_gets_floor;
          (to_u ? u_temps : v_temps).content(i, ids[place]) = k;
          ++(to_u ? u_cells : v_cells);
        }
      }
    }
    a = std::move(u_temps);  // lines 12-13
    b = std::move(v_temps);
  }

  bool are_consistent(std::uint8_t generation) const {
    for (std::uint32_t group = 0; group < groups_->count(); ++group) {
      std::vector<AgentIndex> occupant(groups_->size_of(group), nobody);
      for (AgentIndex u = 0; u < agents_.size(); ++u) {
        const Inside& agent = agents_[u];
        const bool is_here = agent.is_in && agent.generation == generation;
        if (is_here && agent.standing.group == group) occupant[agent.standing.position] = u;
      }
      if (!messages_are_consistent(*this, groups_->space_of(group), occupant)) return false;
    }
    return true;
  }

  std::vector<Message> held(AgentIndex u, std::uint32_t governor) const {
    const Inside& agent = agents_[u];
    std::vector<Message> all;
    for (std::uint32_t j = 0; j < agent.space.ids(); ++j) {
      if (agent.content(governor, j) != 0) all.push_back({j, agent.content(governor, j)});
    }
    return all;
  }

  std::vector<std::uint64_t> observations(AgentIndex u) const {
    return agents_[u].arrays.observations;
  }

 private:
  struct Inside {
    bool is_in = false;
    Standing standing{};
    std::uint8_t generation = 0;
    MessageSpace space{};
    Arrays arrays{};

    std::uint64_t& content(std::uint32_t i, std::uint32_t j) {
      return arrays.contents[std::size_t{i} * space.ids() + j];
    }
    std::uint64_t content(std::uint32_t i, std::uint32_t j) const {
      return arrays.contents[std::size_t{i} * space.ids() + j];
    }
  };

  // The messages of `governor` that `holder` has get the signature.
  static void rewrite(Inside& governor, Inside& holder, std::uint64_t signature) {
    for (std::uint32_t j = 0; j < governor.space.looped; ++j) {
      std::uint64_t& content = holder.content(governor.standing.position, j);
      if (content == 0) continue;
      content = signature;
      governor.arrays.observations[j] = signature;
    }
  }

  static std::map<std::uint64_t, std::vector<std::uint32_t>> ids_by_content(const Inside& a,
                                                                            const Inside& b,
                                                                            std::uint32_t i) {
    std::map<std::uint64_t, std::vector<std::uint32_t>> ids;
    for (std::uint32_t j = 0; j < a.space.looped; ++j) {
      const std::uint64_t content = std::max(a.content(i, j), b.content(i, j));  // one of them is 0
      if (content != 0) ids[content].push_back(j);
    }
    return ids;
  }

  const Groups* groups_;
  std::vector<Inside> agents_;
};

static_assert(MessageSystem<DenseMessages>);

}  // namespace conclave::protocols::electleader
