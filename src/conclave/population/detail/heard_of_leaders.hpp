// How agents hear of leaders, for what brief words (model/brief_words.hpp) have no place for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// One number per agent that says how recently it has heard of a leader: after a meeting both agents
// have the larger number less one, except that leaders stay at the top.
//
// It may begin with upper bounds in place of the numbers. An agent whose number then comes from a
// leader has the true one: no other chain of meetings reaches more, even with the bounds. So a
// number is kept doubled, plus one if it comes from a leader or was set, and among equal numbers
// the true one prevails.
class HeardOfLeaders {
 public:
  explicit HeardOfLeaders(std::uint32_t most) : top_(most * 2 + 3) {}

  // All agents at the bound; the leaders, or true numbers, follow one by one.
  void begin(std::size_t n) { numbers_.assign(n, top_ - 3); }
  void lead(std::uint32_t agent) { numbers_[agent] = top_; }
  void resign(std::uint32_t agent) { numbers_[agent] = top_ - 2; }
  void set(std::uint32_t agent, std::uint32_t number) { numbers_[agent] = number * 2 + 1; }

  void meet(std::span<const std::uint64_t> meetings) {
    std::uint32_t* const numbers = numbers_.data();
    for (const std::uint64_t word : meetings) {
      std::uint32_t& u = numbers[Meeting{word}.initiator()];
      std::uint32_t& v = numbers[Meeting{word}.responder()];
      const std::uint32_t next = std::max(u, v) - 2;
      u = u == top_ ? u : next;
      v = v == top_ ? v : next;
    }
  }

  // Whether every number is the true one.
  bool is_true() const {
    return std::ranges::all_of(numbers_, [](std::uint32_t number) { return number % 2 == 1; });
  }
  // Leaders have heard as much as those whom they meet.
  std::uint32_t number(std::uint32_t agent) const {
    return std::min(numbers_[agent], top_ - 2) / 2;
  }

 private:
  std::uint32_t top_;
  std::vector<std::uint32_t> numbers_;
};

}  // namespace conclave::population::detail
