// The claims about its parts that ElectLeader_r relies on, as far as they hold with certainty.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/electleader/plain_parts.hpp"

namespace conclave::protocols::electleader {

namespace detail {

inline std::uint32_t largest_count(ConfigurationView<PlainPropagateReset::State> agents) {
  std::uint32_t largest = 0;
  for (const auto& agent : agents) largest = std::max(largest, agent.resetting ? agent.count : 0);
  return largest;
}

// Claims about single interactions.
class ResetSteps {
 public:
  using State = PlainPropagateReset::State;

  static bool wave_falls(const Step<State>& step) {
    return largest_count(step.after) <= largest_count(step.before);
  }
  static bool has_wave(const Step<State>& step) { return largest_count(step.before) > 0; }

  static bool stay_awake(const Step<State>& step) {
    for (std::size_t i = 0; i < step.before.size(); ++i) {
      if (!step.before[i].resetting && step.after[i].resetting) return false;
    }
    return true;
  }
  static bool has_awake(const Step<State>& step) {
    return !std::ranges::all_of(step.before, &State::resetting);
  }
};

}  // namespace detail

inline Claims<PlainPropagateReset::State> claims_of(const PlainPropagateReset&) {
  using State = PlainPropagateReset::State;
  const auto nobody_spreads = [](ConfigurationView<State> agents) {
    return detail::largest_count(agents) == 0;
  };
  const auto all_dormant = [](ConfigurationView<State> agents) {
    return std::ranges::all_of(agents, &State::is_dormant);
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.elects = false;
  claims.sets = {{"calm", "no resetCount is positive", nobody_spreads},
                 {"dormant", "everybody is resetting with resetCount 0", all_dormant}};
  claims.claims = {
      {"wave", "the largest resetCount never grows", ClaimKind::steps, std::string(whole_set),
       detail::ResetSteps::wave_falls, detail::ResetSteps::has_wave},
      {"calm", "once no resetCount is positive, none becomes positive", ClaimKind::closed, "calm"},
      {"awake", "and then nobody who computes is reset again", ClaimKind::steps, "calm",
       detail::ResetSteps::stay_awake, detail::ResetSteps::has_awake},
      {"end", "when everybody computes, nothing happens any more", ClaimKind::closed,
       std::string(converged_set)},
      {"awakening", "from every configuration everybody computes in the end", ClaimKind::reached,
       std::string(converged_set)}};
  claims.notation = [](const State& s) {
    if (!s.resetting) return std::string("C");
    return 'R' + std::to_string(s.count) + '.' + std::to_string(s.delay);
  };
  return claims;
}

inline std::string notation(const PlainAssignRanks::State& s) {
  std::string text(1, "ESDRZ#"[static_cast<std::size_t>(s.type)]);
  if (s.type == Type::ranked) return text + std::to_string(s.rank);
  if (s.type == Type::electing) {
    return text + std::to_string(s.identifier) + '/' + std::to_string(s.min_identifier) +
           (s.done ? "!" : "." + std::to_string(s.le_count));
  }
  if (s.type == Type::sheriff) text += std::to_string(s.low) + '-' + std::to_string(s.high);
  if (s.has_label()) text += std::to_string(s.deputy) + ':' + std::to_string(s.number);
  if (s.type == Type::sleeper) text += 'z' + std::to_string(s.sleep);
  return text + '(' + std::to_string(s.first) + ',' + std::to_string(s.second) + ')';
}

namespace detail {

// Observation D.1 about single interactions: how badges and channels are handed on. Deputies and
// labels are numbered from 1.
class BadgeSteps {
 public:
  using State = PlainAssignRanks::State;

  // (a) An agent that leaves the election has an empty channel, or that of its partner. A sheriff
  // of a single badge is a deputy at once, whose own label is in its channel.
  static bool begin_as_stated(const Step<State>& step) {
    return all_agents(step, [&](const State& before, const State& after, const State& partner) {
      if (before.type != Type::electing || after.type == Type::electing) return true;
      State fresh = after;
      if (after.type == Type::deputy) set_channel(fresh, after.deputy, 0);
      return channels_of(fresh) == Channels{} || channels_of(after) == channels_of(partner);
    });
  }
  static bool has_beginner(const Step<State>& step) {
    return !all_agents(step, [](const State& before, const State& after, const State&) {
      return before.type != Type::electing || after.type == Type::electing;
    });
  }

  // (b) The first entry of a channel is made by a new deputy, and is 1.
  static bool open_channels_by_deputies(const Step<State>& step) {
    return all_ids([&](std::uint32_t id) {
      if (largest(step.before, id) > 0 || largest(step.after, id) == 0) return true;
      return largest(step.after, id) == 1 && deputies(step.after, id) > deputies(step.before, id);
    });
  }
  static bool has_opening(const Step<State>& step) {
    return !all_ids([&](std::uint32_t id) {
      return largest(step.before, id) > 0 || largest(step.after, id) == 0;
    });
  }

  // (c) The largest entry of a channel grows only with the label of that deputy and that number.
  static bool grow_by_labels(const Step<State>& step) {
    return all_ids([&](std::uint32_t id) {
      const std::uint32_t number = largest(step.after, id);
      if (number <= largest(step.before, id)) return true;
      return labels(step.after, id, number) > labels(step.before, id, number);
    });
  }
  static bool has_growth(const Step<State>& step) {
    return !all_ids(
        [&](std::uint32_t id) { return largest(step.after, id) <= largest(step.before, id); });
  }

  // (d) No badge gets more holders.
  static bool keep_badges_single(const Step<State>& step) {
    return all_ids(
        [&](std::uint32_t id) { return holders(step.after, id) <= holders(step.before, id); });
  }
  static bool has_badges(const Step<State>& step) {
    return !all_ids([&](std::uint32_t id) { return holders(step.before, id) == 0; });
  }

  // (e) A badge is lost only by the deputy of this badge that falls asleep, or is ranked at once.
  static bool lose_badges_asleep(const Step<State>& step) {
    return all_ids([&](std::uint32_t id) {
      if (holders(step.before, id) == 0 || holders(step.after, id) > 0) return true;
      return !all_agents(step, [&](const State& before, const State& after, const State&) {
        return before.type != Type::deputy || before.deputy != id ||
               (after.type != Type::sleeper && after.type != Type::ranked);
      });
    });
  }

 private:
  using Channels = std::array<std::uint32_t, PlainAssignRanks::most_deputies>;

  static Channels channels_of(const State& s) { return {s.first, s.second}; }
  static void set_channel(State& s, std::uint32_t id, std::uint32_t value) {
    (id == 1 ? s.first : s.second) = value;
  }

  template <class Predicate>
  static bool all_ids(Predicate holds_for) {
    for (std::uint32_t id = 1; id <= PlainAssignRanks::most_deputies; ++id) {
      if (!holds_for(id)) return false;
    }
    return true;
  }
  // Asks about each of the two that meet: its state before and after, and its partner's before.
  template <class Predicate>
  static bool all_agents(const Step<State>& step, Predicate holds_for) {
    const auto holds_at = [&](std::size_t own, std::size_t partner) {
      return holds_for(step.before[own], step.after[own], step.before[partner]);
    };
    return holds_at(step.initiator, step.responder) && holds_at(step.responder, step.initiator);
  }

  static std::uint32_t largest(ConfigurationView<State> agents, std::uint32_t id) {
    std::uint32_t entry = 0;
    for (const State& s : agents) entry = std::max(entry, channels_of(s)[id - 1]);
    return entry;
  }
  static std::ptrdiff_t deputies(ConfigurationView<State> agents, std::uint32_t id) {
    return std::ranges::count_if(
        agents, [=](const State& s) { return s.type == Type::deputy && s.deputy == id; });
  }
  static std::ptrdiff_t labels(ConfigurationView<State> agents, std::uint32_t id,
                               std::uint32_t number) {
    return std::ranges::count_if(
        agents, [=](const State& s) { return s.deputy == id && s.number == number; });
  }
  static std::ptrdiff_t holders(ConfigurationView<State> agents, std::uint32_t id) {
    return deputies(agents, id) + std::ranges::count_if(agents, [=](const State& s) {
             return s.type == Type::sheriff && s.low <= id && id <= s.high;
           });
  }
};

}  // namespace detail

inline Claims<PlainAssignRanks::State> claims_of(const PlainAssignRanks&) {
  using State = PlainAssignRanks::State;
  const auto is_active = [](const State& s) {
    return s.type == Type::electing ? !s.done : s.type != Type::recipient;
  };
  const auto has_active = [=](ConfigurationView<State> agents) {
    return std::ranges::any_of(agents, is_active);
  };
  const auto keep_ranks = [](const Step<State>& step) {
    for (std::size_t i = 0; i < step.before.size(); ++i) {
      const bool is_ranked = step.before[i].type == Type::ranked;
      if (is_ranked && step.after[i] != step.before[i]) return false;
    }
    return true;
  };
  const auto has_ranked = [](const Step<State>& step) {
    return std::ranges::any_of(step.before, [](const State& s) { return s.type == Type::ranked; });
  };
  const auto is_decided = [](ConfigurationView<State> agents) {
    return std::ranges::none_of(agents,
                                [](const State& s) { return s.type == Type::electing && !s.done; });
  };
  Claims<State> claims;
  claims.sets = {
      {"active", "somebody still elects, leads, labels, sleeps or is ranked", has_active},
      {"decided", "nobody can win the election any more", is_decided}};
  claims.claims = {
      {"election", "the election never ends without a sheriff", ClaimKind::everywhere, "active"},
      {"ranks", "who is ranked keeps its rank", ClaimKind::steps, std::string(whole_set),
       keep_ranks, has_ranked},
      {"Observation D.1(a)", "who leaves the election has an empty channel or a copy",
       ClaimKind::steps, std::string(whole_set), detail::BadgeSteps::begin_as_stated,
       detail::BadgeSteps::has_beginner},
      {"Observation D.1(b)", "a channel is opened by its new deputy, with 1", ClaimKind::steps,
       std::string(whole_set), detail::BadgeSteps::open_channels_by_deputies,
       detail::BadgeSteps::has_opening},
      {"Observation D.1(c)", "a channel grows only with a label of its deputy", ClaimKind::steps,
       std::string(whole_set), detail::BadgeSteps::grow_by_labels, detail::BadgeSteps::has_growth},
      {"Observation D.1(d)", "once the election is decided, no badge gets more holders",
       ClaimKind::steps, "decided", detail::BadgeSteps::keep_badges_single,
       detail::BadgeSteps::has_badges},
      {"Observation D.1(e)", "a badge is lost only by a deputy that falls asleep", ClaimKind::steps,
       std::string(whole_set), detail::BadgeSteps::lose_badges_asleep,
       detail::BadgeSteps::has_badges},
      {"ranking", "a complete ranking has one agent of rank 1 and is final", ClaimKind::safe,
       std::string(converged_set)}};
  claims.notation = [](const State& s) { return notation(s); };
  return claims;
}

}  // namespace conclave::protocols::electleader
