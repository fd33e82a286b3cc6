// The rare failure of timers: followers who have not heard of the leader for long make another one.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "conclave/model/rare.hpp"
#include "conclave/protocols/population/importance/follower_timers.hpp"
#include "conclave/protocols/population/timers.hpp"

namespace conclave::protocols {

// Any change of an output is a timeout.
struct TimersFailures {
  void load(std::span<const Timers::State>) {}
  static std::optional<std::size_t> way(const Timers::State& u, const Timers::State& v,
                                        const Timers::State& new_u, const Timers::State& new_v) {
    if (u.leader == new_u.leader && v.leader == new_v.leader) return std::nullopt;
    return 0;
  }
};

class TimersRarity {
 public:
  // The places of all_functions.
  enum Function : std::size_t { group, mean, second, largest };

  // O(n), for the bound on the time; computes nothing where `objection` says why.
  TimersRarity(const Timers& protocol, AgentCount n) : n_(n) {
    if (!objection().empty()) return;
    const double ln_floor = ln_timeout_bound(n, protocol.t_max());
    ways_[0].ln_floor = ln_floor;
    functions_[group].by_default = ln_floor < most_timeout_splitting;
    functions_[n >= 8 ? mean : second].by_default = ln_floor < most_timeout_splitting;
  }

  // Whatever n and the parameters are; the defaults depend on n.
  static constexpr std::array<RareWay, 1> all_ways{
      {{"timeout", "followers without a sign of the leader for long become leaders"}}};
  static constexpr std::array<RareFunction, 4> all_functions{
      {{"group", "the least cost of a group of followers without a sign of the leader"},
       {"mean", "the mean timer of the followers, small is near"},
       {"second", "the second smallest timer of the followers"},
       {"largest", "the largest timer of the followers: misses most routes"}}};

  static constexpr std::string_view start = "safe";
  std::string objection() const {
    return n_ < 3 ? "with two agents the leader takes part in every interaction" : "";
  }
  // Why the time from that start has no meaning; empty: it has.
  static std::string objection_to(std::size_t index) {
    const bool has_one_leader =
        index == Timers::safe || index == Timers::safe_half || index == Timers::leader_low;
    return has_one_leader ? "" : "it does not have exactly one leader to lose";
  }
  std::span<const RareWay> ways() const { return ways_; }
  std::span<const RareFunction> functions() const { return functions_; }
  TimersFailures failures() const { return {}; }

  // Calls `visit` with the importance function of that index.
  template <class Visit>
  auto with_function(std::size_t index, Visit&& visit) const {
    using Followers = FollowerTimers<Timers::State, &Timers::State::timer>;
    switch (index) {
      case group:
        return visit(GroupTimer<Followers>(std::make_shared<const GroupCosts>(n_)));
      case mean:
        return visit(MeanTimer<Followers>());
      case second:
        return visit(SecondTimer<Followers>());
      default:
        return visit(LargestTimer<Followers>());
    }
  }

 private:
  AgentCount n_;
  std::array<RareWay, 1> ways_ = all_ways;
  std::array<RareFunction, 4> functions_ = all_functions;
};

inline TimersRarity rarity_of(const Timers& protocol, AgentCount n) { return {protocol, n}; }

}  // namespace conclave::protocols
