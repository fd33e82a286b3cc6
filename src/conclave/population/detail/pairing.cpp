#include "conclave/population/detail/pairing.hpp"

#include <algorithm>
#include <numeric>

#include "conclave/base/variates.hpp"

namespace conclave::population::detail {

void Pool::make_table() {
  __extension__ using Wide = unsigned __int128;
  const std::size_t ranks = counts_.size();
  // Half of the spare agents are spread evenly, for a rank that is empty now may grow.
  most_.resize(ranks);
  most_in_all_ = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    most_[rank] = counts_[rank] + counts_[rank] / 16 + total_ / 16 / ranks;
    most_in_all_ += most_[rank];
  }
  threshold_.assign(ranks, most_in_all_);
  alias_.resize(ranks);
  std::vector<Wide> left(ranks);  // units of each rank that are in no bucket yet
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    left[rank] = static_cast<Wide>(most_[rank]) * ranks;
    alias_[rank] = static_cast<std::uint32_t>(rank);
    (left[rank] < most_in_all_ ? small : large).push_back(static_cast<std::uint32_t>(rank));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t poor = small.back();
    const std::uint32_t rich = large.back();
    small.pop_back();
    threshold_[poor] = static_cast<AgentCount>(left[poor]);
    alias_[poor] = rich;
    left[rich] -= most_in_all_ - left[poor];
    if (left[rich] >= most_in_all_) continue;
    large.pop_back();
    small.push_back(rich);
  }
}

void Pairing::choose_side(const std::vector<Outcome>& outcomes) {
  const std::size_t ranks = species_.size();
  std::size_t initiators = 0;
  std::size_t responders = 0;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    initiators += outcomes[i].u != species_[i / ranks] ? 1 : 0;
    responders += outcomes[i].v != species_[i % ranks] ? 1 : 0;
  }
  initiators_drawn_ = initiators >= responders;
}

void Pairing::find_runs(const std::vector<Outcome>& outcomes) {
  const std::size_t ranks = species_.size();
  cells_.resize(outcomes.size());
  runs_.resize(outcomes.size());
  for (std::size_t partner = ranks; partner-- > 0;) {
    for (std::size_t own = 0; own < ranks; ++own) {
      const Outcome& outcome =
          outcomes[initiators_drawn_ ? own * ranks + partner : partner * ranks + own];
      const bool is_certain = outcome.kind == Outcome::Kind::certain;
      const Cell here = initiators_drawn_ ? Cell{outcome.u, outcome.v, is_certain}
                                          : Cell{outcome.v, outcome.u, is_certain};
      cells_[at(own, partner)] = here;
      const auto next = static_cast<Rank>(partner + 1);
      Run run{next, is_certain && here.partner == species_[partner] ? next : next - 1};
      if (next < ranks && is_certain) {
        const Cell& there = cells_[at(own, next)];
        const Run& following = runs_[at(own, next)];
        if (there.is_certain && there.own == here.own) {
          run.same_fate_end = following.same_fate_end;
          if (run.settled_end == next) run.settled_end = following.settled_end;
        }
      }
      runs_[at(own, partner)] = run;
    }
  }
}

AgentCount Pairing::draw(AgentCount total, AgentCount marked, AgentCount draws, Stream& stream) {
  if (marked == 0 || draws == 0) return 0;
  if (marked == total) return draws;
  if (draws == total) return marked;
  ++samples_;
  return hypergeometric(total, marked, draws, stream);
}

// Insertion: from one batch to the next the order hardly changes.
void Pairing::sort_by_count(const std::vector<AgentCount>& pool) {
  if (by_count_.size() != pool.size()) {
    by_count_.resize(pool.size());
    std::iota(by_count_.begin(), by_count_.end(), Rank{0});
    std::ranges::stable_sort(by_count_, std::ranges::greater{},
                             [&](Rank rank) { return pool[rank]; });
    return;
  }
  for (std::size_t i = 1; i < by_count_.size(); ++i) {
    const Rank rank = by_count_[i];
    std::size_t place = i;
    for (; place > 0 && pool[by_count_[place - 1]] < pool[rank]; --place) {
      by_count_[place] = by_count_[place - 1];
    }
    by_count_[place] = rank;
  }
}

void Pairing::meet(const std::vector<AgentCount>& pool, AgentCount total, AgentCount pairs,
                   Stream& stream, PairGroups* groups) {
  groups_ = groups;
  moves_.clear();
  random_meetings_.clear();
  samples_ = 0;
  if (pairs == 0) return;
  sort_by_count(pool);
  draw_one_side(pool, total, pairs, stream);
  up_to_.resize(pool.size() + 1);
  up_to_[0] = 0;
  for (std::size_t rank = 0; rank < pool.size(); ++rank) {
    up_to_[rank + 1] = up_to_[rank] + partners_[rank];
  }
  match({.begin = 0,
         .end = stack_.size(),
         .number = pairs,
         .low = 0,
         .high = static_cast<Rank>(pool.size()),
         .population = total - pairs},
        stream);
}

void Pairing::draw_one_side(const std::vector<AgentCount>& pool, AgentCount total, AgentCount pairs,
                            Stream& stream) {
  partners_ = pool;
  stack_.clear();
  for (const Rank rank : by_count_) {
    if (pairs == 0) return;
    const AgentCount count = draw(total, pool[rank], pairs, stream);
    total -= pool[rank];
    pairs -= count;
    partners_[rank] -= count;
    if (count != 0) stack_.push_back({rank, count});
  }
}

// The lower half of the interval is left to a call of its own, the upper half follows in the loop.
void Pairing::match(Block block, Stream& stream) {
  for (;;) {
    settle(block);
    if (block.number == 0) return;
    if (block.high - block.low == 1) return meet_one(block);
    if (is_decided(block)) return finish(block, stream);
    const Rank middle = split_point(block);
    const AgentCount population = up_to_[middle] - up_to_[block.low];
    const AgentCount number = draw(block.population, population, block.number, stream);
    const Block lower{stack_.size(), 0, number, block.low, middle, population};
    AgentCount open = number;
    AgentCount left = block.number;
    for (std::size_t i = block.begin; i < block.end && open != 0; ++i) {
      const AgentCount count = draw(left, stack_[i].count, open, stream);
      left -= stack_[i].count;
      open -= count;
      stack_[i].count -= count;
      if (count != 0) stack_.push_back({stack_[i].rank, count});
    }
    block.number -= number;
    block.population -= population;
    block.low = middle;
    if (number == 0) continue;
    match({lower.begin, stack_.size(), number, lower.low, lower.high, population}, stream);
    stack_.resize(lower.begin);
  }
}

// Takes out those who have no partner left to find, or for whom it does not matter which.
void Pairing::settle(Block& block) {
  std::size_t kept = block.begin;
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Entry entry = stack_[i];
    if (entry.count == 0) continue;
    if (run(entry.rank, block.low).settled_end >= block.high) {
      const SpeciesId fate = cell(entry.rank, block.low).own;
      move(species_[entry.rank], fate, entry.count);
      if (groups_ != nullptr) groups_->add(entry.count, {species_[entry.rank], fate}, {});
      block.number -= entry.count;
    } else {
      stack_[kept++] = entry;
    }
  }
  block.end = kept;
}

bool Pairing::is_decided(const Block& block) const {
  for (std::size_t i = block.begin; i < block.end; ++i) {
    if (run(stack_[i].rank, block.low).same_fate_end < block.high) return false;
  }
  return true;
}

// A border between two fates of the most frequent rank if there is one near the middle, so that
// the halves are decided sooner; otherwise the middle, so that there are few of them.
Pairing::Rank Pairing::split_point(const Block& block) const {
  const Rank middle = (block.low + block.high) / 2;
  const Rank quarter = (block.high - block.low) / 4;
  const Rank most = stack_[block.begin].rank;
  const Rank before = run(most, block.low).same_fate_end;
  const Rank behind = run(most, middle).same_fate_end;
  const bool is_behind_near = behind < block.high && behind - middle <= quarter;
  if (before <= middle && middle - before <= quarter) {
    return is_behind_near && behind - middle < middle - before ? behind : before;
  }
  return is_behind_near ? behind : middle;
}

void Pairing::meet_one(const Block& block) {
  const SpeciesId partner = species_[block.low];
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Entry& entry = stack_[i];
    const Cell& fate = cell(entry.rank, block.low);
    const SpeciesId own = species_[entry.rank];
    if (fate.is_certain) {
      move(own, fate.own, entry.count);
      move(partner, fate.partner, entry.count);
      if (groups_ != nullptr) groups_->add(entry.count, {own, fate.own}, {partner, fate.partner});
    } else {
      random_meetings_.push_back(initiators_drawn_ ? RandomMeetings{own, partner, entry.count}
                                                   : RandomMeetings{partner, own, entry.count});
    }
  }
}

// The drawn side's fate is decided, but not its partners': these are drawn now.
void Pairing::finish(const Block& block, Stream& stream) {
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Entry& entry = stack_[i];
    move(species_[entry.rank], cell(entry.rank, block.low).own, entry.count);
  }
  open_partners_.clear();
  AgentCount open = block.number;
  AgentCount population = block.population;
  for (Rank partner = block.low; partner < block.high && open != 0; ++partner) {
    const AgentCount count = draw(population, partners_[partner], open, stream);
    population -= partners_[partner];
    open -= count;
    if (count != 0) spread(block, partner, count, stream);
  }
  if (groups_ != nullptr) note_matched(block);
}

// Those of the block who met anybody of the partners left open, all ways equally likely.
void Pairing::note_matched(const Block& block) {
  AgentCount pairs = 0;
  for (std::size_t i = block.begin; i < block.end; ++i) pairs += stack_[i].count;
  groups_->begin(pairs);
  for (std::size_t i = block.begin; i < block.end; ++i) {
    const Entry& entry = stack_[i];
    groups_->add_to_one_side({species_[entry.rank], cell(entry.rank, block.low).own, entry.count});
  }
  for (const Move& each : open_partners_) groups_->add_to_other_side(each);
}

// This many partners of one rank meet agents of the block. Who meets whom is drawn only where it
// makes a difference to them; those left out stay exchangeable with the rest.
void Pairing::spread(const Block& block, Rank partner, AgentCount count, Stream& stream) {
  AgentCount left = 0;
  bool makes_a_difference = false;
  const SpeciesId fate = cell(stack_[block.begin].rank, partner).partner;
  for (std::size_t i = block.begin; i < block.end; ++i) {
    left += stack_[i].count;
    makes_a_difference |= cell(stack_[i].rank, partner).partner != fate;
  }
  if (!makes_a_difference) {
    open_partners_.push_back({species_[partner], fate, count});
    return move(species_[partner], fate, count);
  }
  for (std::size_t i = block.begin; i < block.end && count != 0; ++i) {
    Entry& entry = stack_[i];
    const AgentCount met = draw(left, entry.count, count, stream);
    left -= entry.count;
    count -= met;
    entry.count -= met;
    const Cell& cell_of_both = cell(entry.rank, partner);
    move(species_[partner], cell_of_both.partner, met);
    if (groups_ == nullptr) continue;
    groups_->add(met, {species_[entry.rank], cell_of_both.own},
                 {species_[partner], cell_of_both.partner});
  }
}

}  // namespace conclave::population::detail
