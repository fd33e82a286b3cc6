#include "conclave/exact/lumped_states.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::exact {
namespace {

// The place of the only agent whose law no other agent has.
std::optional<std::size_t> lone_agent(const std::vector<StateLaw>& agents) {
  const auto key = [](const StateLaw& law) {
    std::vector<std::uint64_t> key;
    for (const auto& [state, weight] : law) {
      key.insert(key.end(), {state, weight.numerator, weight.denominator});
    }
    return key;
  };
  std::map<std::vector<std::uint64_t>, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < agents.size(); ++i) places[key(agents[i])].push_back(i);
  std::optional<std::size_t> lone;
  for (const auto& [law, where] : places) {
    if (where.size() > 1) continue;
    if (lone) return std::nullopt;
    lone = where.front();
  }
  return lone;
}

// Numbers keys in the order in which they come.
template <class Key>
StateNumber numbered(std::map<Key, StateNumber>& numbers, Key key) {
  return numbers.try_emplace(std::move(key), static_cast<StateNumber>(numbers.size()))
      .first->second;
}

}  // namespace

MeetingStates::MeetingStates(NumberedStates& table, const FailureQuestion& question,
                             std::vector<StateLaw> agents, std::size_t most)
    : table_(table), question_(question), agents_(std::move(agents)) {
  if (table.asks_oracle()) throw Error("protocols with an oracle have no exact holding times");
  const std::optional<std::size_t> lone = lone_agent(agents_);
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    for (auto& [state, weight] : agents_[i]) state = number({i == lone, state});
  }
  for (StateNumber u = 0; u < size(); ++u) {
    if (size() > most) {
      throw Error(fmt::format("too large for an exact computation: before a failure an agent has "
                              "more than {} states; take smaller parameters",
                              most));
    }
    for (StateNumber v = 0; v <= u; ++v) {
      if (!can_meet(u, v)) continue;
      outcomes(u, v);
      outcomes(v, u);
    }
  }
}

StateNumber MeetingStates::number(const Member& member) {
  const auto [place, is_new] = numbers_.try_emplace(member, static_cast<StateNumber>(size()));
  if (is_new) members_.push_back(member);
  return place->second;
}

std::vector<PairOutcome> MeetingStates::compute(StateNumber u, StateNumber v, OracleAnswer) {
  const Member before_u = members_[u], before_v = members_[v];
  std::vector<PairOutcome> results;
  for (const PairOutcome& each : table_.outcomes(before_u.state, before_v.state)) {
    const auto way = question_.way(before_u.state, before_v.state, each.u, each.v);
    if (way) {
      results.push_back({u, v, each.weight, true, static_cast<std::uint8_t>(*way)});
    } else {
      const StateNumber new_u = number({before_u.is_lone, each.u});
      results.push_back({new_u, number({before_v.is_lone, each.v}), each.weight, false});
    }
  }
  return results;
}

// Outcomes that are the same up to the partition are merged, and their weights, which are
// fractions, added.
void MeetingStates::add_law(Signature& signature, StateNumber u, StateNumber v,
                            const Partition& blocks) {
  std::map<std::uint64_t, Weight> law;
  for (const PairOutcome& each : outcomes(u, v)) {
    const std::uint64_t code = each.changes_output
                                   ? ~std::uint64_t{each.way}
                                   : std::uint64_t{blocks[each.u]} << 32 | blocks[each.v];
    const auto [place, is_new] = law.try_emplace(code, each.weight);
    if (!is_new) place->second = place->second.plus(each.weight);
  }
  signature.push_back(law.size());
  for (const auto& [code, weight] : law) {
    signature.insert(signature.end(), {code, weight.numerator, weight.denominator});
  }
}

MeetingStates::Signature MeetingStates::with_partner(StateNumber member, StateNumber partner,
                                                     const Partition& blocks) {
  Signature signature;
  if (!can_meet(member, partner)) return signature;
  add_law(signature, member, partner, blocks);
  add_law(signature, partner, member, blocks);
  return signature;
}

Partition MeetingStates::coarsest() {
  Partition blocks(size());
  std::map<std::pair<bool, std::uint64_t>, StateNumber> labels;
  for (StateNumber i = 0; i < size(); ++i) {
    blocks[i] = numbered(labels, std::pair{members_[i].is_lone, question_.label(state(i))});
  }
  for (std::size_t before = labels.size();;) {
    std::map<Signature, StateNumber> signatures;
    Partition finer(size());
    for (StateNumber i = 0; i < size(); ++i) {
      Signature all{blocks[i]};
      for (StateNumber partner = 0; partner < size(); ++partner) {
        const Signature one = with_partner(i, partner, blocks);
        all.insert(all.end(), one.begin(), one.end());
      }
      finer[i] = numbered(signatures, std::move(all));
    }
    blocks = std::move(finer);
    if (signatures.size() == before) return blocks;
    before = signatures.size();
  }
}

std::optional<std::string> MeetingStates::violation(const Partition& blocks) {
  std::map<StateNumber, StateNumber> representatives;
  for (StateNumber i = 0; i < size(); ++i) {
    const StateNumber same = representatives.try_emplace(blocks[i], i).first->second;
    if (members_[i].is_lone != members_[same].is_lone ||
        question_.label(state(i)) != question_.label(state(same))) {
      return fmt::format("{} and {} differ for the question", text(same), text(i));
    }
    for (StateNumber partner = 0; partner < size(); ++partner) {
      if (with_partner(i, partner, blocks) == with_partner(same, partner, blocks)) continue;
      return fmt::format("{} and {} differ when they interact with {}", text(same), text(i),
                         text(partner));
    }
  }
  return std::nullopt;
}

LumpedStates::LumpedStates(MeetingStates& members, Partition blocks)
    : members_(members), blocks_(std::move(blocks)) {
  if (const auto violation = members.violation(blocks_)) {
    throw Error("states cannot be merged: " + *violation);
  }
  for (StateNumber i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i] == representatives_.size()) representatives_.push_back(i);
  }
}

std::vector<StateLaw> LumpedStates::agents() const {
  std::vector<StateLaw> agents;
  for (const StateLaw& law : members_.agents()) {
    std::map<StateNumber, Weight> merged;
    for (const auto& [member, weight] : law) {
      const auto [place, is_new] = merged.try_emplace(blocks_[member], weight);
      if (!is_new) place->second = place->second.plus(weight);
    }
    agents.emplace_back(merged.begin(), merged.end());
  }
  return agents;
}

std::vector<PairOutcome> LumpedStates::compute(StateNumber u, StateNumber v, OracleAnswer) {
  std::vector<PairOutcome> results;
  for (const PairOutcome& each : members_.outcomes(representatives_[u], representatives_[v])) {
    results.push_back(each);
    results.back().u = blocks_[each.u];
    results.back().v = blocks_[each.v];
  }
  return results;
}

}  // namespace conclave::exact
