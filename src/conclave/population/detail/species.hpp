// The states met so far, each with a number, and what comes of a meeting of any two: evaluated once
// by the protocol's own transition function and remembered.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/base/every_choice.hpp"
#include "conclave/base/fields.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/batch_tally.hpp"

namespace conclave::population::detail {

using SpeciesId = std::uint32_t;

// What comes of a meeting. If chance decides, `u` is the number of a Lottery.
struct Outcome {
  enum class Kind : std::uint8_t { unknown, certain, lottery, too_many };
  SpeciesId u = 0;
  SpeciesId v = 0;
  Kind kind = Kind::unknown;
  bool changes = false;        // some agent's state may change
  bool is_counted = false;     // the tally's counts may change
  std::uint8_t milestone = 0;  // the tally's milestone it may reach
};

// All outcomes of a random meeting with their weights, which add up to `total`.
struct Lottery {
  struct Ticket {
    SpeciesId u;
    SpeciesId v;
    std::uint64_t weight;
  };
  std::vector<Ticket> tickets;
  std::uint64_t total = 0;
};

template <PopulationProtocol P, class Tally>
class SpeciesTable {
 public:
  using State = typename P::State;

  SpeciesTable(const P& protocol, const Tally& tally) : protocol_(&protocol), tally_(&tally) {
    grow(64);
  }

  std::size_t size() const { return states_.size(); }
  const State& state(SpeciesId id) const { return states_[id]; }
  const Lottery& lottery(const Outcome& outcome) const { return lotteries_[outcome.u]; }

  // The number of a state; one met for the first time gets the next.
  SpeciesId id_of(const State& state) {
    std::size_t slot = hash_of(state) & mask_;
    for (; slots_[slot] != nobody; slot = (slot + 1) & mask_) {
      if (states_[slots_[slot]] == state) return slots_[slot];
    }
    const auto id = static_cast<SpeciesId>(states_.size());
    states_.push_back(state);
    if (states_.size() > capacity_) {
      grow(2 * capacity_);
    } else {
      slots_[slot] = id;
    }
    return id;
  }

  const Outcome& outcome(SpeciesId u, SpeciesId v) {
    const Outcome& known = outcomes_[u * capacity_ + v];
    return known.kind != Outcome::Kind::unknown ? known : evaluate(u, v);
  }

  // Forgets all species but these, which are renumbered in this order.
  void keep(const std::vector<SpeciesId>& kept) {
    std::vector<State> states;
    for (const SpeciesId id : kept) states.push_back(states_[id]);
    states_ = std::move(states);
    lotteries_.clear();
    outcomes_.clear();
    grow(std::max<std::size_t>(64, std::bit_ceil(2 * states_.size())));
  }

 private:
  // Room for so many species, a power of two; what is known of their meetings is kept.
  void grow(std::size_t capacity) {
    std::vector<Outcome> outcomes(capacity * capacity);
    const std::size_t known = outcomes_.empty() ? 0 : capacity_;
    for (std::size_t u = 0; u < known; ++u) {
      std::copy_n(&outcomes_[u * capacity_], capacity_, &outcomes[u * capacity]);
    }
    outcomes_ = std::move(outcomes);
    capacity_ = capacity;
    mask_ = 4 * capacity - 1;
    slots_.assign(mask_ + 1, nobody);
    for (SpeciesId id = 0; id < states_.size(); ++id) {
      std::size_t slot = hash_of(states_[id]) & mask_;
      while (slots_[slot] != nobody) slot = (slot + 1) & mask_;
      slots_[slot] = id;
    }
  }

  const Outcome& evaluate(SpeciesId u, SpeciesId v) {
    const State before_u = states_[u];
    const State before_v = states_[v];
    EveryChoice choice;
    Outcome result{.kind = Outcome::Kind::certain};
    std::vector<Drawn> drawn;
    do {
      State new_u = before_u;
      State new_v = before_v;
      protocol_->interact(new_u, new_v, choice);
      result.u = id_of(new_u);
      result.v = id_of(new_v);
      drawn.push_back({result.u, result.v, choice.weight()});
      result.changes |= result.u != u || result.v != v;
      result.is_counted |= is_counted(*tally_, before_u, before_v, new_u, new_v);
      result.milestone = std::max(result.milestone, milestone_of(*tally_, new_u, new_v));
      if (drawn.size() > most_tickets) break;
    } while (choice.next());
    if (choice.was_asked() || drawn.size() > 1) draw_up(result, drawn);
    return outcomes_[u * capacity_ + v] = result;
  }

  struct Drawn {
    SpeciesId u;
    SpeciesId v;
    EveryChoice::Weight weight;
  };

  // Turns weighted outcomes into a lottery with whole-number weights, if there are not too many.
  void draw_up(Outcome& result, const std::vector<Drawn>& drawn) {
    result.kind = Outcome::Kind::too_many;
    if (drawn.size() > most_tickets) return;
    Lottery lottery{.tickets = {}, .total = 1};
    for (const Drawn& each : drawn) {
      if (each.weight.denominator == 0) return;
      const std::uint64_t factor =
          each.weight.denominator / std::gcd(lottery.total, each.weight.denominator);
      if (lottery.total > most_weight / factor) return;
      lottery.total *= factor;
    }
    for (const auto& [u, v, weight] : drawn) {
      lottery.tickets.push_back({u, v, lottery.total / weight.denominator * weight.numerator});
    }
    result.kind = Outcome::Kind::lottery;
    result.u = static_cast<SpeciesId>(lotteries_.size());
    lotteries_.push_back(std::move(lottery));
  }

  static constexpr SpeciesId nobody = ~SpeciesId{0};
  static constexpr std::size_t most_tickets = 64;
  static constexpr std::uint64_t most_weight = std::uint64_t{1} << 62;

  const P* protocol_;
  const Tally* tally_;
  std::vector<State> states_;
  std::vector<Lottery> lotteries_;
  std::vector<Outcome> outcomes_;  // of u and v at u * capacity_ + v
  std::vector<SpeciesId> slots_;   // open addressing, at most a quarter full
  std::size_t capacity_ = 0;
  std::size_t mask_ = 0;
};

}  // namespace conclave::population::detail
