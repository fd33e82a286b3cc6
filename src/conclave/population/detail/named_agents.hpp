// Agents by the short names of their states. A meeting costs one look at a table, unless its pair
// of states is new or the tally must be notified of it; the trajectory is that of the protocol,
// interaction by interaction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/large_pages.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/detail/reaction.hpp"
#include "conclave/population/detail/state_index.hpp"
#include "conclave/population/detail/tally_host.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// The result of every meeting of two states, by short names for the states. The protocol's own
// transition function fills the table in as pairs of states meet for the first time, so that trials
// of one protocol may share it.

template <PopulationProtocol P>
class MeetingTable {
 public:
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;
  using Name = std::uint16_t;
  static constexpr std::size_t most_names = 2048;  // the table then has 16 MB

  // The new names of both, the responder's in the high half. An unknown result, and one that the
  // tally must be notified of, has the bit `must_notify`, which no name has.
  using Result = std::uint32_t;
  static constexpr Result must_notify = 0x8000;
  static constexpr Result unknown = must_notify;
  static_assert(most_names <= must_notify);

  explicit MeetingTable(const P& protocol) : protocol_(protocol) {}

  std::size_t size() const { return states_.size(); }
  const State& state(Name name) const { return states_.state(name); }

  // The result of u and v is at u * stride() + v. Both results are valid until the next name is
  // given.
  const Result* results() const { return results_.data(); }
  std::size_t stride() const { return stride_; }

  // The name of a state; one without gets the next. There must be room: size() < most_names.
  Name name_of(const State& state) {
    const auto name = static_cast<Name>(states_.id_of(state));
    if (name >= side_) widen(2 * side_);
    return name;
  }

  // The result of a meeting that is not in the table yet. It is from now on, unless chance decides.
  Result evaluate(Name u, Name v, const Tally& tally, Choice auto& choice) {
    const State before_u = state(u);
    const State before_v = state(v);
    auto [new_u, new_v, is_certain] = result_of_meeting(protocol_, before_u, before_v);
    if (!is_certain) {
      new_u = before_u;
      new_v = before_v;
      protocol_.interact(new_u, new_v, choice);
    }
    const Name name_u = name_of(new_u);
    const Result names = name_u | static_cast<Result>(name_of(new_v)) << 16;
    if (!is_certain) return names;
    // The tally already knows of a milestone that one of the two had reached before.
    const bool is_noteworthy =
        is_counted(tally, before_u, before_v, new_u, new_v) ||
        milestone_of(tally, new_u, new_v) > milestone_of(tally, before_u, before_v);
    return results_[u * stride_ + v] = names | (is_noteworthy ? must_notify : 0);
  }

  // Forgets all states but these, which are renamed 0, 1, 2, ...
  void keep(const std::vector<std::uint32_t>& kept) {
    states_.keep(kept);
    std::ranges::fill(results_, unknown);
  }

 private:
  using Results = std::vector<Result, LargePages<Result>>;

  // Rows of equal size modulo 4096 bytes would share few places of the caches.
  static constexpr std::size_t stride_beyond_side = 16;

  void widen(std::size_t side) {
    const std::size_t stride = side + stride_beyond_side;
    Results results(side * stride, unknown);
    for (std::size_t u = 0; u < side_; ++u) {
      std::copy_n(&results_[u * stride_], side_, &results[u * stride]);
    }
    results_ = std::move(results);
    side_ = side;
    stride_ = stride;
  }

  P protocol_;
  StateIndex<State> states_;
  std::size_t side_ = 16;
  std::size_t stride_ = side_ + stride_beyond_side;
  Results results_ = Results(side_ * stride_, unknown);
};

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
    const bool is_like_last = first > 0 && this->state(first - 1) == state;
    const Name name = is_like_last ? names_[first - 1] : table_->name_of(state);
    std::ranges::fill(names_.subspan(first, count), name);
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
