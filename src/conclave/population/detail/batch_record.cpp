#include "conclave/population/detail/batch_record.hpp"

#include <utility>

#include "conclave/base/check.hpp"
#include "conclave/base/variates.hpp"

namespace conclave::population::detail {

void PairGroups::add(AgentCount pairs, Move one, Move other) {
  begin(pairs);
  one.count = other.count = pairs;
  add_to_one_side(one);
  add_to_other_side(other);
}

void PairGroups::begin(AgentCount pairs) {
  if (!groups_.empty() && groups_.back().begin == moves_.size()) {  // nothing changed in that one
    pairs_ -= groups_.back().pairs;
    groups_.pop_back();
  }
  groups_.push_back({pairs, moves_.size(), moves_.size()});
  pairs_ += pairs;
}

void PairGroups::add_to_one_side(const Move& move) {
  if (move.from == move.to || move.count == 0) return;
  moves_.push_back(move);
  groups_.back().middle = moves_.size();
}

void PairGroups::add_to_other_side(const Move& move) {
  if (move.from != move.to && move.count != 0) moves_.push_back(move);
}

// Splits off those of the moves that belong to `pairs` of the `all` pairs of a side.
void PairGroups::take_side(std::size_t begin, std::size_t end, AgentCount pairs, AgentCount all,
                           std::vector<Move>& taken, Stream& stream) {
  for (std::size_t i = begin; i < end; ++i) {
    Move& move = moves_[i];
    if (move.count == 0) continue;
    const AgentCount count = hypergeometric(all, move.count, pairs, stream);
    all -= move.count;
    pairs -= count;
    move.count -= count;
    taken.push_back({move.from, move.to, count});
  }
}

// Splits off `pairs` of `all` pairs, all sets equally likely; the others stay.
PairGroups PairGroups::take(AgentCount pairs, AgentCount all, Stream& stream) {
  PairGroups taken;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    Group& group = groups_[i];
    if (group.pairs == 0) continue;
    const AgentCount count = hypergeometric(all, group.pairs, pairs, stream);
    all -= group.pairs;
    pairs -= count;
    if (count == 0) continue;
    taken.begin(count);
    std::vector<Move> moves;
    take_side(group.begin, group.middle, count, group.pairs, moves, stream);
    for (const Move& move : moves) taken.add_to_one_side(move);
    moves.clear();
    take_side(group.middle, end_of(i), count, group.pairs, moves, stream);
    for (const Move& move : moves) taken.add_to_other_side(move);
    group.pairs -= count;
    pairs_ -= count;
  }
  return taken;
}

std::vector<Move> PairGroups::first(AgentCount pairs, AgentCount all, std::uint64_t salt) const {
  CONCLAVE_CHECK(pairs <= all && pairs_ <= all);
  std::vector<Move> result;
  const auto keep = [&](const PairGroups& part) {
    result.insert(result.end(), part.moves_.begin(), part.moves_.end());
  };
  PairGroups part = *this;
  for (std::uint64_t place = 1; pairs != 0 && pairs != all;) {
    const AgentCount half = all / 2;
    Stream stream({.seed = salt, .trial = place, .purpose = Purpose::look});
    PairGroups lower = part.take(half, all, stream);
    const bool is_in_upper_half = pairs >= half;
    place = 2 * place + (is_in_upper_half ? 1 : 0);
    if (is_in_upper_half) {
      keep(lower);
      pairs -= half;
      all -= half;
    } else {
      part = std::move(lower);
      all = half;
    }
  }
  if (pairs != 0) keep(part);
  return result;
}

void BatchRecord::begin(const StreamName& name) {
  places_ = Stream(name.with(Purpose::look));
  salt_ = places_.word();
  steps_.clear();
  taken_.clear();
  fresh_.clear();
}

void BatchRecord::add_collision(const Step& step) {
  steps_.push_back(step);
  taken_.insert(step.number);
}

void BatchRecord::add_revealed(std::uint64_t before, Step step) {
  do {
    step.number = 1 + places_.below64(before - 1);
  } while (!taken_.insert(step.number).second);
  steps_.push_back(step);
}

std::vector<Move> BatchRecord::changes(std::uint64_t done, std::uint64_t length) const {
  std::vector<Move> result;
  std::uint64_t fresh = done;
  for (const Step& step : steps_) {
    if (step.number > done) continue;
    --fresh;
    if (step.u != step.new_u) result.push_back({step.u, step.new_u, 1});
    if (step.v != step.new_v) result.push_back({step.v, step.new_v, 1});
  }
  const std::vector<Move> rest = fresh_.first(fresh, length - steps_.size(), salt_);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace conclave::population::detail
