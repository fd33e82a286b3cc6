// The workloads of the `counts` benchmark: protocols as published simulators of populations are
// measured with. Each says beside its name what exactly is simulated.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/starting_census.hpp"

namespace conclave::bench {

struct Digit {
  std::uint16_t value = 0;
  friend bool operator==(const Digit&, const Digit&) = default;
  static constexpr std::tuple fields{Field{"value", &Digit::value}};
};

struct Workload {
  using State = Digit;
  static constexpr std::array starts{Start{"clean", "as the workload says", false}};
  Role role(Digit) const { return Role::follower; }
  Interactions state_count() const { return 65536u; }
};

// One way: an initiator that meets an infected responder is infected. The susceptible count as
// leaders, so that a run ends when one of them is left.
struct Epidemic : Workload {
  AgentCount n;

  explicit Epidemic(AgentCount agents) : n(agents) {}
  std::optional<Census<Digit>> census(std::size_t) const {
    return Census<Digit>{{{0}, n - 1}, {{1}, 1}};
  }
  Digit initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint16_t>(agent == 0 ? 1 : 0)};
  }
  Role role(Digit s) const { return s.value == 0 ? Role::leader : Role::follower; }
  void interact(Digit& u, Digit& v, Choice auto&) const {
    u.value = static_cast<std::uint16_t>(u.value | v.value);
  }
};

// Converges when all agents have opinion 0, or all have 1.
template <class P>
class OpinionTally {
 public:
  explicit OpinionTally(const P& protocol) : n_(protocol.n) {}

  void add(Digit s, AgentCount count = 1) { counts_[s.value] += count; }
  void remove(Digit s, AgentCount count) { counts_[s.value] -= count; }
  void replace(Digit u, Digit v, Digit new_u, Digit new_v) {
    --counts_[u.value];
    --counts_[v.value];
    ++counts_[new_u.value];
    ++counts_[new_v.value];
  }
  bool is_counted(Digit u, Digit v, Digit new_u, Digit new_v) const {
    return u != new_u || v != new_v;
  }
  AgentCount changes_to_stop() const { return n_ - std::max(counts_[0], counts_[1]); }

  // For arrays: a word has the agents of opinion 0 in its lower half and those of 1 in the upper.
  struct Words {
    std::array<std::uint64_t, 3> of{1, std::uint64_t{1} << 32, 0};
    std::uint64_t operator()(Digit s) const { return of[s.value]; }
  };
  Words words() const { return {}; }
  bool is_patient() const { return n_ < std::uint64_t{1} << 32; }
  // One agent at most changes at an interaction.
  std::uint64_t patience() const { return std::max<AgentCount>(1, changes_to_stop()) - 1; }
  void defer(std::uint64_t, std::uint64_t change) { take(change); }
  void take(std::uint64_t change) {
    const std::uint64_t sum = counts_[0] + (counts_[1] << 32) + change;
    counts_ = {sum & 0xffffffff, sum >> 32, n_ - (sum & 0xffffffff) - (sum >> 32)};
  }

  AgentCount leaders() const { return 0; }
  bool converged() const { return counts_[0] == n_ || counts_[1] == n_; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return {}; }

 private:
  AgentCount n_;
  std::array<AgentCount, 3> counts_{};
};

// Approximate majority: 0 and 1 are the opinions, 2 is none. A responder loses its opinion to
// another one, or takes the initiator's. n/2 + n/1000 start with 0.
struct Majority : Workload {
  using Tally = OpinionTally<Majority>;
  AgentCount n;

  explicit Majority(AgentCount agents) : n(agents) {}
  AgentCount zeros() const { return n / 2 + n / 1000; }
  std::optional<Census<Digit>> census(std::size_t) const {
    return Census<Digit>{{{0}, zeros()}, {{1}, n - zeros()}};
  }
  Digit initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint16_t>(agent < zeros() ? 0 : 1)};
  }
  // From a table, as a protocol read from a text is run: branches could not be predicted.
  void interact(Digit& u, Digit& v, Choice auto&) const {
    static constexpr std::array<std::uint16_t, 9> responder{0, 2, 0, 2, 1, 1, 0, 1, 2};
    v.value = responder[std::size_t{3} * u.value + v.value];
  }
};

// A phase clock with q digits, one way: the initiator advances its digit by one modulo q if the
// responder is ahead by less than half a cycle, or if the digits are equal and the responder is
// marked. sqrt(n) + 1 agents are marked; all start at digit 0. The mark is the lowest bit.
struct PhaseClock : Workload {
  AgentCount n;
  std::uint32_t q;

  PhaseClock(AgentCount agents, std::uint32_t digits) : n(agents), q(digits) {}
  AgentCount marked() const {
    return static_cast<AgentCount>(std::sqrt(static_cast<double>(n))) + 1;
  }
  std::optional<Census<Digit>> census(std::size_t) const {
    return Census<Digit>{{{0}, n - marked()}, {{1}, marked()}};
  }
  Digit initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint16_t>(agent < marked() ? 1 : 0)};
  }
  // Without branches, which could not be predicted.
  void interact(Digit& u, Digit& v, Choice auto&) const {
    const std::uint32_t own = u.value >> 1;
    const std::uint32_t other = v.value >> 1;
    const std::uint32_t ahead = other - own + static_cast<std::uint32_t>(other < own) * q;
    const std::uint32_t is_ahead = ahead - 1 < (q - 1) / 2;
    const std::uint32_t follows = is_ahead | (static_cast<std::uint32_t>(ahead == 0) & v.value & 1);
    const std::uint32_t step = 2 - static_cast<std::uint32_t>(own + 1 == q) * 2 * q;
    u.value = static_cast<std::uint16_t>(u.value + follows * step);
  }
};

// A table of transitions whose outputs are all uniform; it is fixed. Uniform start.
struct RandomTable : Workload {
  AgentCount n;
  std::uint32_t q;
  std::shared_ptr<const std::vector<std::array<Digit, 2>>> table;  // shared: engines copy protocols

  RandomTable(AgentCount agents, std::uint32_t states) : n(agents), q(states) {
    std::vector<std::array<Digit, 2>> cells(std::size_t{q} * q);
    Stream stream({.seed = 1, .trial = q});
    for (auto& cell : cells) {
      for (Digit& result : cell) result.value = static_cast<std::uint16_t>(stream.below(q));
    }
    table = std::make_shared<const std::vector<std::array<Digit, 2>>>(std::move(cells));
  }
  std::optional<Census<Digit>> census(std::size_t) const {
    Census<Digit> census;
    for (std::uint32_t state = 0; state < q; ++state) {
      census.push_back({{static_cast<std::uint16_t>(state)}, n / q + (state < n % q ? 1 : 0)});
    }
    return census;
  }
  Digit initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint16_t>(agent % q)};
  }
  void interact(Digit& u, Digit& v, Choice auto&) const {
    const auto& cell = (*table)[std::size_t{u.value} * q + v.value];
    u = cell[0];
    v = cell[1];
  }
  void fetch(Digit u, Digit v) const {
    if (q < 256) return;  // such a table is near
    __builtin_prefetch(&(*table)[std::size_t{u.value} * q + v.value]);
  }
};

}  // namespace conclave::bench
