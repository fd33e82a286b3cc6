// The states met so far, each with a number, and what comes of a meeting of any two: evaluated once
// by the protocol's own transition function and remembered.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "conclave/base/every_choice.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/batch_tally.hpp"
#include "conclave/population/detail/reaction.hpp"
#include "conclave/population/detail/state_index.hpp"

namespace conclave::population::detail {

using SpeciesId = std::uint32_t;

// The outcome of a meeting. If chance decides, u and v name an OutcomeDistribution, or there are
// too many outcomes to list.
struct Outcome {
  enum class Kind : std::uint8_t { unknown, certain, random, too_many };
  SpeciesId u = 0;
  SpeciesId v = 0;
  Kind kind = Kind::unknown;
  bool changes = false;        // some agent's state may change
  bool is_counted = false;     // the tally's counts may change
  std::uint8_t milestone = 0;  // the tally's milestone it may reach
};

// All outcomes of a random meeting with their weights, which add up to `total`.
struct OutcomeDistribution {
  struct Branch {
    SpeciesId u;
    SpeciesId v;
    std::uint64_t weight;
  };
  std::vector<Branch> branches;
  std::uint64_t total = 0;
};

// The weight of a branch: a fraction that is reduced only where it would not fit otherwise; 0/0 if
// it still does not.
struct BranchWeight {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  BranchWeight times(std::uint64_t p, std::uint64_t q) const {
    BranchWeight product;
    const bool overflows = __builtin_mul_overflow(numerator, p, &product.numerator) ||
                           __builtin_mul_overflow(denominator, q, &product.denominator);
    return overflows ? reduced_times(p, q) : product;
  }

 private:
  BranchWeight reduced_times(std::uint64_t p, std::uint64_t q) const {
    if (denominator == 0) return *this;
    const BranchWeight own = reduced(numerator, denominator), other = reduced(p, q);
    const BranchWeight across = reduced(own.numerator, other.denominator);
    const BranchWeight down = reduced(other.numerator, own.denominator);
    BranchWeight product;
    const bool overflows =
        __builtin_mul_overflow(across.numerator, down.numerator, &product.numerator) ||
        __builtin_mul_overflow(down.denominator, across.denominator, &product.denominator);
    return overflows ? BranchWeight{0, 0} : product;
  }
  static BranchWeight reduced(std::uint64_t p, std::uint64_t q) {
    const std::uint64_t common = std::gcd(p, q);
    return common == 0 ? BranchWeight{p, q} : BranchWeight{p / common, q / common};
  }
};

template <PopulationProtocol P, class Tally>
class SpeciesTable {
 public:
  using State = typename P::State;

  SpeciesTable(const P& protocol, const Tally& tally) : protocol_(&protocol), tally_(&tally) {
    grow(64);
  }

  // Copies what another table has learned, for an engine of the same protocol with its own tally.
  SpeciesTable(const SpeciesTable& other, const Tally& tally) : SpeciesTable(other) {
    tally_ = &tally;
  }

  std::size_t size() const { return index_.size(); }
  const State& state(SpeciesId id) const { return index_.state(id); }
  const OutcomeDistribution& distribution(const Outcome& outcome) const {
    return distributions_[outcome.u + outcome.v * 65536];
  }

  // The number of a state; one met for the first time gets the next.
  SpeciesId id_of(const State& state) {
    const SpeciesId id = index_.id_of(state);
    if (index_.size() > capacity_) grow(2 * capacity_);
    return id;
  }

  [[gnu::always_inline]] Outcome outcome(SpeciesId u, SpeciesId v) {
    if (std::max(u, v) >= side_) [[unlikely]]
      return evaluate(u, v);
    const Remembered& known = remembered_[u * side_ + v];
    if (known.kind == Outcome::Kind::unknown) [[unlikely]]
      return learn(u, v);
    return {known.u, known.v, known.kind, known.changes, known.is_counted, known.milestone};
  }

  // `outcome` of these will be asked for soon.
  [[gnu::always_inline]] void fetch(SpeciesId u, SpeciesId v) const {
    if (std::max(u, v) < side_) __builtin_prefetch(&remembered_[u * side_ + v]);
  }

  // Bytes of the table of outcomes.
  std::size_t table_bytes() const { return remembered_.size() * sizeof(Remembered); }

  // Forgets all species but these, which are renumbered in this order.
  void keep(const std::vector<SpeciesId>& kept) {
    index_.keep(kept);
    distributions_.clear();
    remembered_.clear();
    side_ = 0;
    grow(std::max<std::size_t>(64, std::bit_ceil(2 * index_.size())));
  }

 private:
  SpeciesTable(const SpeciesTable&) = default;

  // One of these for every pair of species: eight bytes.
  struct Remembered {
    std::uint16_t u = 0;
    std::uint16_t v = 0;
    Outcome::Kind kind = Outcome::Kind::unknown;
    bool changes = false;
    bool is_counted = false;
    std::uint8_t milestone = 0;
  };
  static_assert(sizeof(Remembered) == 8);

  // Apart, so that looking up what is known is short enough to inline.
  [[gnu::noinline]] Outcome learn(SpeciesId u, SpeciesId v) {
    const Outcome outcome = evaluate(u, v);
    constexpr SpeciesId most = std::numeric_limits<std::uint16_t>::max();
    if (std::max(outcome.u, outcome.v) > most || std::max(u, v) >= side_) return outcome;
    remembered_[u * side_ + v] = {static_cast<std::uint16_t>(outcome.u),
                                  static_cast<std::uint16_t>(outcome.v),
                                  outcome.kind,
                                  outcome.changes,
                                  outcome.is_counted,
                                  outcome.milestone};
    return outcome;
  }

  // Room for so many species, a power of two; what is known of their meetings is kept. The table of
  // meetings stops growing before it fills the memory.
  void grow(std::size_t capacity) {
    capacity_ = capacity;
    const std::size_t side = std::min<std::size_t>(capacity, 4096);
    std::vector<Remembered> table(side * side);
    for (std::size_t u = 0; u < side_ && !remembered_.empty(); ++u) {
      std::copy_n(&remembered_[u * side_], side_, &table[u * side]);
    }
    remembered_ = std::move(table);
    side_ = side;
  }

  [[gnu::noinline]] Outcome evaluate(SpeciesId u, SpeciesId v) {
    const State before_u = state(u);
    const State before_v = state(v);
    State new_u = before_u;
    State new_v = before_v;
    AskedChoice choice;
    protocol_->interact(new_u, new_v, choice);
    if (choice.asked) return evaluate_every_choice(before_u, before_v, std::max(u, v) < side_);
    Outcome result{.kind = Outcome::Kind::certain};
    result.u = id_of(new_u);
    result.v = id_of(new_v);
    note(result, before_u, before_v, new_u, new_v);
    return result;
  }

  // A distribution is drawn up only for what will be remembered.
  Outcome evaluate_every_choice(const State& u, const State& v, bool is_remembered) {
    EveryChoice<BranchWeight> choice;
    Outcome result{.kind = Outcome::Kind::too_many};
    std::vector<Drawn> drawn;
    do {
      State new_u = u;
      State new_v = v;
      protocol_->interact(new_u, new_v, choice);
      const SpeciesId id = id_of(new_u);
      drawn.push_back({id, id_of(new_v), choice.weight()});
      note(result, u, v, new_u, new_v);
    } while (choice.next() && drawn.size() <= most_branches);
    if (drawn.size() <= most_branches) {
      if (is_remembered) list_branches(result, drawn);
    } else {
      expect_anything(result);
    }
    return result;
  }

  // Where not all outcomes were looked at, anything may happen.
  static void expect_anything(Outcome& outcome) {
    outcome.changes = outcome.is_counted = true;
    if constexpr (has_milestones<Tally>) {
      outcome.milestone = std::numeric_limits<std::uint8_t>::max();
    }
  }

  void note(Outcome& outcome, const State& u, const State& v, const State& new_u,
            const State& new_v) const {
    outcome.changes |= !(u == new_u) || !(v == new_v);
    outcome.is_counted |= is_counted(*tally_, u, v, new_u, new_v);
    outcome.milestone = std::max(outcome.milestone, milestone_of(*tally_, new_u, new_v));
  }

  struct Drawn {
    SpeciesId u;
    SpeciesId v;
    BranchWeight weight;
  };

  // Turns weighted outcomes into a distribution with whole-number weights, if these are small
  // enough.
  void list_branches(Outcome& result, const std::vector<Drawn>& drawn) {
    OutcomeDistribution distribution{.branches = {}, .total = 1};
    for (const Drawn& each : drawn) {
      if (each.weight.denominator == 0) return;
      const std::uint64_t factor =
          each.weight.denominator / std::gcd(distribution.total, each.weight.denominator);
      if (distribution.total > most_weight / factor) return;
      distribution.total *= factor;
    }
    for (const auto& [u, v, weight] : drawn) {
      distribution.branches.push_back(
          {u, v, distribution.total / weight.denominator * weight.numerator});
    }
    result.kind = Outcome::Kind::random;
    result.u = static_cast<SpeciesId>(distributions_.size() % 65536);
    result.v = static_cast<SpeciesId>(distributions_.size() / 65536);
    distributions_.push_back(std::move(distribution));
  }

  static constexpr std::size_t most_branches = 64;
  static constexpr std::uint64_t most_weight = std::uint64_t{1} << 62;

  const P* protocol_;
  const Tally* tally_;
  StateIndex<State> index_;
  std::vector<OutcomeDistribution> distributions_;
  std::vector<Remembered> remembered_;  // of u and v at u * side_ + v
  std::size_t side_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace conclave::population::detail
