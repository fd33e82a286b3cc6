// The result of every meeting of two states, by short names for the states. The protocol's own
// transition function fills the table in as pairs of states meet for the first time, so that trials
// of one protocol may share it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/model/population.hpp"
#include "conclave/model/tally.hpp"
#include "conclave/population/detail/batch_tally.hpp"
#include "conclave/population/detail/reaction.hpp"
#include "conclave/population/detail/state_index.hpp"

namespace conclave::population::detail {

template <PopulationProtocol P>
class MeetingTable {
 public:
  using State = typename P::State;
  using Tally = typename TallyFor<P>::type;
  using Name = std::uint16_t;
  static constexpr std::size_t most_names = 1024;  // the table then has 4 MB

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
  // Rows of equal size modulo 4096 bytes would share few places of the caches.
  static constexpr std::size_t stride_beyond_side = 16;

  void widen(std::size_t side) {
    const std::size_t stride = side + stride_beyond_side;
    std::vector<Result> results(side * stride, unknown);
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
  std::vector<Result> results_ = std::vector<Result>(side_ * stride_, unknown);
};

}  // namespace conclave::population::detail
