// The tally of silent rankings: counts the agents of each rank, and has converged when every rank
// is taken. A protocol says how many ranks there are (`ranks`, as many as agents) and which one a
// state has (`place_of`, from 0; `ranks()` or more: none). O(1) per interaction, 4 bytes per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/borrowed.hpp"
#include "conclave/model/population.hpp"

namespace conclave::protocols::detail {

// Counts is what holds the numbers of agents: a vector, or memory that is owned elsewhere
// (Borrowed).
template <class P, class Counts = std::vector<std::uint32_t>>
class RankTally {
 public:
  using State = typename P::State;

  explicit RankTally(const P& protocol) : protocol_(&protocol), agents_(protocol.ranks(), 0) {}

  // For devices (gpu/device_tally.hpp): the same in borrowed words, which are zero.
  using OnDevice = RankTally<P, Borrowed<std::uint64_t>>;
  static constexpr std::size_t words(const P& protocol, AgentCount) { return protocol.ranks(); }
  // NOLINTNEXTLINE(readability-non-const-parameter): it writes into these words
  constexpr RankTally(const P& protocol, AgentCount, std::uint64_t* words)
      : protocol_(&protocol), agents_(words, protocol.ranks()) {}

  constexpr void add(const State& s, AgentCount count = 1) {
    leaders_ += protocol_->role(s) == Role::leader ? count : 0;
    const std::uint32_t place = protocol_->place_of(s);
    if (place >= agents_.size() || count == 0) return;
    taken_ += agents_[place] == 0 ? 1 : 0;
    agents_[place] += static_cast<std::uint32_t>(count);
  }

  constexpr void remove(const State& s, AgentCount count) {
    leaders_ -= protocol_->role(s) == Role::leader ? count : 0;
    const std::uint32_t place = protocol_->place_of(s);
    if (place >= agents_.size() || count == 0) return;
    agents_[place] -= static_cast<std::uint32_t>(count);
    taken_ -= agents_[place] == 0 ? 1 : 0;
  }

  constexpr void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
    move(u, new_u);
    move(v, new_v);
  }

  constexpr bool is_counted(const State& u, const State& v, const State& new_u,
                            const State& new_v) const {
    return is_noted(u, new_u) || is_noted(v, new_v);
  }
  // Each agent that changes takes one missing rank at most.
  AgentCount changes_to_stop() const { return agents_.size() - taken_; }

  constexpr AgentCount leaders() const { return leaders_; }
  constexpr bool converged() const { return taken_ == agents_.size(); }
  constexpr bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return {}; }

 private:
  constexpr bool is_noted(const State& s, const State& now) const {
    return protocol_->place_of(s) != protocol_->place_of(now) ||
           protocol_->role(s) != protocol_->role(now);
  }
  constexpr void move(const State& s, const State& now) {
    if (!is_noted(s, now)) return;
    remove(s, 1);
    add(now, 1);
  }

  const P* protocol_;
  Counts agents_;         // by rank
  AgentCount taken_ = 0;  // ranks with an agent
  AgentCount leaders_ = 0;
};

}  // namespace conclave::protocols::detail
