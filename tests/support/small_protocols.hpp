// Protocols made for tests of engines on the complete graph: an epidemic, approximate majority, a
// randomized duel, one that counts meetings, random tables of transitions, and any of these with a
// stop in the middle of things.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/starting_census.hpp"

namespace conclave::tests {

struct Letter {
  std::uint8_t value = 0;
  friend bool operator==(const Letter&, const Letter&) = default;
  static constexpr std::tuple fields{Field{"value", &Letter::value}};
};

// All protocols below are made from this one; it has no leaders.
struct SmallProtocol {
  using State = Letter;
  static constexpr std::array starts{Start{"clean", "as the protocol says", false}};
  Role role(Letter) const { return Role::follower; }
  Interactions state_count() const { return 256u; }
};

// Converges when all agents are in one of the first `letters` states.
template <class P>
class ConsensusTally {
 public:
  explicit ConsensusTally(const P&) {}

  void add(Letter s, AgentCount count = 1) { change(s, count); }
  void remove(Letter s, AgentCount count) { change(s, 0 - count); }
  void replace(Letter u, Letter v, Letter new_u, Letter new_v) {
    remove(u, 1);
    remove(v, 1);
    add(new_u);
    add(new_v);
  }
  bool is_counted(Letter u, Letter v, Letter new_u, Letter new_v) const {
    return u != new_u || v != new_v;
  }
  AgentCount changes_to_stop() const { return n_ - *std::ranges::max_element(counts_); }
  AgentCount leaders() const { return counts_[0]; }
  bool converged() const { return changes_to_stop() == 0; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return {}; }

 private:
  void change(Letter s, AgentCount count) {
    n_ += count;
    if (s.value < counts_.size()) counts_[s.value] += count;
  }

  std::array<AgentCount, 2> counts_{};
  AgentCount n_ = 0;
};

// One way: an initiator that meets an infected responder is infected. 1 is infected.
struct Epidemic : SmallProtocol {
  using Tally = ConsensusTally<Epidemic>;
  AgentCount n;
  AgentCount infected = 1;

  Epidemic(AgentCount agents, AgentCount at_start) : n(agents), infected(at_start) {}
  std::optional<Census<Letter>> census(std::size_t) const {
    return Census<Letter>{{{0}, n - infected}, {{1}, infected}};
  }
  Letter initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint8_t>(agent < infected ? 1 : 0)};
  }
  void interact(Letter& u, Letter& v, Choice auto&) const {
    if (v.value == 1) u.value = 1;
  }
};

// Angluin, Aspnes and Eisenstat: 0 and 1 are the opinions, 2 is none. A responder loses its opinion
// to another one, or takes the initiator's.
struct Majority : SmallProtocol {
  using Tally = ConsensusTally<Majority>;
  AgentCount n;
  AgentCount ones;

  Majority(AgentCount agents, AgentCount at_start) : n(agents), ones(at_start) {}
  std::optional<Census<Letter>> census(std::size_t) const {
    return Census<Letter>{{{0}, n - ones}, {{1}, ones}};
  }
  Letter initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint8_t>(agent < ones ? 1 : 0)};
  }
  void interact(Letter& u, Letter& v, Choice auto&) const {
    if (u.value == 2 || u.value == v.value) return;
    v.value = v.value == 2 ? u.value : 2;
  }
};

// All lead. Of two leaders chance decides who resigns, with odds 2 : 1 for the initiator, and the
// winner may rest (2) until another leader comes.
struct Duel : SmallProtocol {
  AgentCount n;

  explicit Duel(AgentCount agents) : n(agents) {}
  std::optional<Census<Letter>> census(std::size_t) const { return Census<Letter>{{{1}, n}}; }
  Letter initial(std::size_t, AgentCount, Choice auto&) const { return {1}; }
  Role role(Letter s) const { return s.value == 0 ? Role::follower : Role::leader; }
  void interact(Letter& u, Letter& v, Choice auto& choice) const {
    if (u.value != 0 && v.value == 2) {
      v.value = 1;
      return;
    }
    if (u.value != 1 || v.value != 1) return;
    const bool initiator_wins = choice.chance(2, 3);
    const auto winner = static_cast<std::uint8_t>(1 + choice.below(2));
    u.value = initiator_wins ? winner : 0;
    v.value = initiator_wins ? 0 : winner;
  }
};

// Every agent counts the meetings it took part in, up to 200.
struct MeetingCounter : SmallProtocol {
  AgentCount n;

  explicit MeetingCounter(AgentCount agents) : n(agents) {}
  std::optional<Census<Letter>> census(std::size_t) const { return Census<Letter>{{{0}, n}}; }
  Letter initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  void interact(Letter& u, Letter& v, Choice auto&) const {
    for (Letter* s : {&u, &v}) s->value = std::min<std::uint8_t>(200, s->value + 1);
  }
};

// How a random table is made.
struct TableShape {
  std::uint8_t states = 4;
  bool initiators_change = true;
  bool responders_change = true;
  std::uint32_t outcomes = 1;       // per meeting, at most
  std::uint32_t null_percent = 40;  // of the meetings change nothing
  std::uint8_t classes = 0;         // equal columns: the initiator's fate depends on v % classes
};

// A random table of transitions; the agents start in states 0 and 1 in turn.
class RandomTable : public SmallProtocol {
 public:
  RandomTable(const TableShape& shape, AgentCount agents, std::uint64_t seed)
      : shape_(shape), n_(agents) {
    Stream stream({.seed = seed, .trial = 77});
    const std::uint8_t q = shape.states;
    for (std::uint8_t u = 0; u < q; ++u) {
      for (std::uint8_t v = 0; v < q; ++v) cells_.push_back(cell(u, v, stream));
    }
  }

  AgentCount agents() const { return n_; }
  std::uint8_t states() const { return shape_.states; }
  std::optional<Census<Letter>> census(std::size_t) const {
    return Census<Letter>{{{0}, n_ - n_ / 2}, {{1}, n_ / 2}};
  }
  Letter initial(std::size_t, AgentCount agent, Choice auto&) const {
    return {static_cast<std::uint8_t>(agent % 2)};
  }
  void interact(Letter& u, Letter& v, Choice auto& choice) const {
    const Cell& cell = cells_[u.value * shape_.states + v.value];
    const std::size_t size = cell.size();
    const std::size_t pick = size == 1 ? 0 : choice.below(static_cast<std::uint32_t>(size));
    u = cell[pick].u;
    v = cell[pick].v;
  }

 private:
  struct Result {
    Letter u;
    Letter v;
  };
  using Cell = std::vector<Result>;

  Cell cell(std::uint8_t u, std::uint8_t v, Stream& stream) const {
    const std::uint8_t q = shape_.states;
    if (shape_.classes != 0 && v >= shape_.classes) {  // as another column of the same class
      Cell copy = cells_[std::size_t{u} * q + std::size_t{v} % shape_.classes];
      for (Result& result : copy) result.v = {v};
      return copy;
    }
    Cell results(1 + stream.below(shape_.outcomes));
    const bool is_null = stream.chance(shape_.null_percent, 100);
    for (Result& result : results) {
      result = {{u}, {v}};
      if (is_null) continue;
      if (shape_.initiators_change) result.u.value = static_cast<std::uint8_t>(stream.below(q));
      if (shape_.responders_change) result.v.value = static_cast<std::uint8_t>(stream.below(q));
    }
    return results;
  }

  TableShape shape_;
  AgentCount n_;
  std::vector<Cell> cells_;
};

// Mistakes that a tally may make about the event it watches for.
enum class TallyFlaw : std::uint8_t {
  none,
  is_hasty,  // says that it is further away than it is
  is_blind,  // says that no meeting matters
};

// Another protocol that stops in the middle of things: when so many agents are in one state.
template <class P>
struct Crossing : P {
  class Tally;
  Letter letter;
  AgentCount goal;
  TallyFlaw flaw = TallyFlaw::none;

  Crossing(const P& protocol, Letter counted, AgentCount wanted, TallyFlaw wrong = TallyFlaw::none)
      : P(protocol), letter(counted), goal(wanted), flaw(wrong) {}
};

template <class P>
class Crossing<P>::Tally {
 public:
  explicit Tally(const Crossing& protocol) : protocol_(&protocol) {}

  void add(Letter s, AgentCount count = 1) { count_ += is_in(s) * count; }
  void remove(Letter s, AgentCount count) { count_ -= is_in(s) * count; }
  void replace(Letter u, Letter v, Letter new_u, Letter new_v) {
    count_ += is_in(new_u) + is_in(new_v) - is_in(u) - is_in(v);
  }
  bool is_counted(Letter u, Letter v, Letter new_u, Letter new_v) const {
    return protocol_->flaw != TallyFlaw::is_blind &&
           (is_in(u) != is_in(new_u) || is_in(v) != is_in(new_v));
  }
  AgentCount changes_to_stop() const {
    const AgentCount changes =
        std::max(count_, protocol_->goal) - std::min(count_, protocol_->goal);
    return protocol_->flaw == TallyFlaw::is_hasty ? 2 * changes + 3 : changes;
  }
  AgentCount leaders() const { return count_; }
  bool converged() const { return count_ == protocol_->goal; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return {}; }

 private:
  AgentCount is_in(Letter s) const { return s == protocol_->letter ? 1 : 0; }

  const Crossing* protocol_;
  AgentCount count_ = 0;
};

}  // namespace conclave::tests
