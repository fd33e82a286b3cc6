// Agents by the short names of their states. A meeting costs one look at a table, unless its pair
// of states is new or the tally must be notified of it; the trajectory is that of the protocol,
// interaction by interaction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/detail/meeting_table.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

template <PopulationProtocol P>
class NamedAgents {
 public:
  using Table = MeetingTable<P>;
  using State = typename P::State;
  using Tally = typename Table::Tally;
  using Name = typename Table::Name;

  // The names are kept in `memory`. All agents start in the same state. `keep_going`, if it is not
  // null, is called now and then; throws Interrupted if it returns false.
  NamedAgents(Table& table, std::span<Name> memory, const State& state, const KeepGoing* keep_going)
      : table_(&table), names_(memory) {
    if (table_->size() == Table::most_names) table_->keep({});
    const Name name = table_->name_of(state);
    constexpr std::size_t piece = std::size_t{1} << 20;
    for (std::size_t done = 0; done < names_.size(); done += piece) {
      ask_to_go_on(keep_going, done);
      std::ranges::fill(names_.subspan(done, std::min(piece, names_.size() - done)), name);
    }
  }

  // The same agents by the names of another table, which is a copy of the first, in other memory.
  NamedAgents(const NamedAgents& other, Table& table, std::span<Name> memory)
      : table_(&table), names_(memory), is_full_(other.is_full_) {
    std::uninitialized_copy(other.names_.begin(), other.names_.end(), names_.begin());
  }

  const State& state(AgentCount agent) const { return table_->state(names_[agent]); }
  std::size_t bytes() const { return names_.size_bytes(); }

  // False if the states need more names than there are; nothing has been changed then.
  [[nodiscard]] bool put(AgentCount first, AgentCount count, const State& state) {
    if (!has_room_for(1)) return false;
    std::ranges::fill(names_.subspan(first, count), table_->name_of(state));
    return true;
  }

  // Carries out the meetings, or those up to the one after which `is_over` holds, or those before
  // one that needs more names than there are; returns how many. `ahead`: 0, or how many meetings
  // before their turn agents are fetched.
  template <std::size_t ahead, class IsOver>
  std::size_t meet(std::span<const std::uint64_t> meetings, Tally& tally, Stream& choice,
                   IsOver is_over) {
    std::size_t done = 0;
    while (done < meetings.size()) {
      done +=
          meet_by_table<ahead>(table_->results(), table_->stride(), names_, meetings.subspan(done));
      if (done == meetings.size()) break;
      if (!meet_and_notify(Meeting{meetings[done]}, tally, choice)) break;
      ++done;
      if (is_over()) break;
    }
    return done;
  }

  bool is_full() const { return is_full_; }

 private:
  using Result = typename Table::Result;

  // Up to the first meeting that is unknown or that the tally must be notified of; returns how
  // many. A function of its own, so that its loop runs in registers.
  template <std::size_t ahead>
  [[gnu::noinline]] static std::size_t meet_by_table(const Result* results, std::size_t stride,
                                                     std::span<Name> agents,
                                                     std::span<const std::uint64_t> meetings) {
    Name* const names = agents.data();
    [[maybe_unused]] const bool are_far = agents.size_bytes() > far_above_bytes;
    for (std::size_t k = 0; k < meetings.size(); ++k) {
      if constexpr (ahead > 0) fetch_agents<ahead>(names, meetings.data() + k, are_far);
      const Meeting meeting{meetings[k]};
      Name& u = names[meeting.initiator()];
      Name& v = names[meeting.responder()];
      const Result result = results[u * stride + v];
      if ((result & Table::must_notify) != 0) [[unlikely]]
        return k;
      u = static_cast<Name>(result);
      v = static_cast<Name>(result >> 16);
    }
    return meetings.size();
  }

  // One meeting that is unknown or that the tally must be notified of; false if there is no room
  // for the names of its result.
  [[gnu::noinline]] bool meet_and_notify(Meeting meeting, Tally& tally, Stream& choice) {
    if (!has_room_for(2)) return false;
    Name& u = names_[meeting.initiator()];
    Name& v = names_[meeting.responder()];
    Result result = table_->results()[u * table_->stride() + v];
    if (result == Table::unknown) result = table_->evaluate(u, v, tally, choice);
    const auto new_u = static_cast<Name>(result & ~Table::must_notify);
    const auto new_v = static_cast<Name>(result >> 16);
    tally.replace(table_->state(u), table_->state(v), table_->state(new_u), table_->state(new_v));
    u = new_u;
    v = new_v;
    return true;
  }

  // Whether this many new names can be given, if need be after those of no agent are taken back.
  bool has_room_for(std::size_t names) {
    if (table_->size() + names <= Table::most_names) return true;
    forget_unused();
    // A few free names would soon be gone again, and looking for unused ones takes O(n).
    is_full_ = table_->size() > Table::most_names / 4 * 3;
    return !is_full_;
  }

  void forget_unused() {
    std::vector<bool> is_used(table_->size());
    for (const Name name : names_) is_used[name] = true;
    std::vector<std::uint32_t> kept;
    std::vector<Name> renamed(table_->size());
    for (std::uint32_t name = 0; name < is_used.size(); ++name) {
      if (!is_used[name]) continue;
      renamed[name] = static_cast<Name>(kept.size());
      kept.push_back(name);
    }
    for (Name& name : names_) name = renamed[name];
    table_->keep(kept);
  }

  Table* table_;
  std::span<Name> names_;
  bool is_full_ = false;
};

}  // namespace conclave::population::detail
