// The rare failures of ppl. A lone leader is lost in two ways. Timeout: followers that have not
// heard of the leader for long count their timers down to 0 and become leaders. Suicide: a virus
// that the leader has emitted is still alive when its shield runs out, and kills it.
//
// The importance functions of timeouts are in follower_timers.hpp, those of suicides in
// ppl_lineages.hpp and ppl_spine.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conclave/model/rare.hpp"
#include "conclave/protocols/population/importance/follower_timers.hpp"
#include "conclave/protocols/population/importance/ppl_lineages.hpp"
#include "conclave/protocols/population/importance/ppl_spine.hpp"
#include "conclave/protocols/population/ppl.hpp"

namespace conclave::protocols {

// Any change of an output, by its kind.
struct PplFailures {
  // The places of all_ways.
  enum Way : std::size_t { timeout, suicide };
  void load(std::span<const Ppl::State>) {}
  static std::optional<std::size_t> way(const Ppl::State& u, const Ppl::State& v,
                                        const Ppl::State& new_u, const Ppl::State& new_v) {
    if (u.leader == new_u.leader && v.leader == new_v.leader) return std::nullopt;
    return (!u.leader && new_u.leader) || (!v.leader && new_v.leader) ? timeout : suicide;
  }
};

using PplTimers = FollowerTimers<Ppl::State, &Ppl::State::timer_l>;

class PplRarity {
 public:
  // The places of all_functions.
  enum Function : std::size_t { group, mean, second, largest, spine, first_moment, since_emission };

  // Where nothing can be estimated, `objection` says why and nothing else may be asked. Otherwise
  // fills the table of lineages, in O(t_virus t_emit) time and memory.
  PplRarity(const Ppl& protocol, AgentCount n)
      : n_(n), bytes_(PplLineages::bytes(protocol.t_virus(), protocol.t_emit())) {
    if (!objection().empty()) return;
    lineages_ = std::make_shared<const PplLineages>(n, protocol.t_virus(), protocol.t_emit());
    const bool is_short = lineages_->ln_emission_bound() > -most_splitting;
    const bool has_spine = lineages_->suits_spine();
    ways_[PplFailures::suicide].ln_bound = lineages_->ln_time_bound();
    ways_[PplFailures::suicide].ln_floor = lineages_->ln_time_bound();
    const double ln_floor = ln_timeout_bound(n, protocol.t_max());
    ways_[PplFailures::timeout].ln_floor = ln_floor;
    functions_[group].by_default = ln_floor < most_timeout_splitting;
    functions_[n >= 8 ? mean : second].by_default = ln_floor < most_timeout_splitting;
    functions_[spine].by_default = has_spine;
    functions_[first_moment].by_default = is_short || !has_spine;
    functions_[since_emission].by_default = is_short && !has_spine;
  }

  // Whatever n and the parameters are; bounds and defaults depend on them.
  static constexpr std::array<RareWay, 2> all_ways{
      {{"timeout", "followers without a sign of the leader for long become leaders"},
       {"suicide", "a virus of the leader's own outlives its shield and kills it"}}};
  static constexpr std::array<RareFunction, 7> all_functions{
      {{"group", "the least cost of a group of followers without a sign of the leader",
        PplFailures::timeout},
       {"mean", "the mean timer_L of the followers, small is near", PplFailures::timeout},
       {"second", "the second smallest timer_L of the followers", PplFailures::timeout},
       {"largest", "the largest timer_L of the followers: misses most routes, kept to show it",
        PplFailures::timeout},
       {"spine", "importance sampling along a surviving lineage of the virus, without levels",
        PplFailures::suicide},
       {"first-moment", "expected number of lineages of the virus that outlive the shield",
        PplFailures::suicide},
       {"since-emission", "interactions of the leader since its last virus, while that lives",
        PplFailures::suicide}}};

  static constexpr std::string_view start = "safe";

  // Why there is nothing to be estimated; empty: there is.
  std::string objection() const {
    if (n_ < 3) return "with two agents the leader takes part in every interaction";
    if (bytes_ <= PplLineages::most_bytes) return {};
    return "the table of lineages of these timers needs more than 4 GiB";
  }
  // Why the time from that start has no meaning; empty: it has.
  static std::string objection_to(std::size_t index) {
    const bool has_one_leader =
        index == Ppl::safe || index == Ppl::half_timers || index == Ppl::leader_timer0;
    return has_one_leader ? "" : "it does not have exactly one leader to lose";
  }
  std::span<const RareWay> ways() const { return ways_; }
  std::span<const RareFunction> functions() const { return functions_; }
  PplFailures failures() const { return {}; }

  // Calls `visit` with the importance function or sampler of that index.
  template <class Visit>
  auto with_function(std::size_t index, Visit&& visit) const {
    switch (index) {
      case group:
        return visit(GroupTimer<PplTimers>(std::make_shared<const GroupCosts>(n_)));
      case mean:
        return visit(MeanTimer<PplTimers>());
      case second:
        return visit(SecondTimer<PplTimers>());
      case largest:
        return visit(LargestTimer<PplTimers>());
      case spine:
        return visit(PplSpine(lineages_));
      case first_moment:
        return visit(PplFirstMoment(lineages_));
      default:
        return visit(PplSinceEmission(lineages_));
    }
  }

 private:
  // If a suicide takes more than this many nats, splitting is used only on request.
  static constexpr double most_splitting = 400;

  AgentCount n_;
  std::uint64_t bytes_;  // of the table of lineages
  std::shared_ptr<const PplLineages> lineages_;
  std::array<RareWay, 2> ways_ = all_ways;
  std::array<RareFunction, 7> functions_ = all_functions;
};

inline PplRarity rarity_of(const Ppl& protocol, AgentCount n) { return {protocol, n}; }

}  // namespace conclave::protocols
