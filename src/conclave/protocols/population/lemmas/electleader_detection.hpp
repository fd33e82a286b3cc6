// Lemma E.1 of ElectLeader_r, on DetectCollision_r, and the observations that its proof begins
// with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/electleader/plain_detect_collision.hpp"

namespace conclave::protocols::electleader {

namespace detail {

// Predicates of configurations and interactions of DetectCollision_r, which must outlive them. The
// names of the claims below are those of the paper's Appendix E.
class DetectionLemmas {
 public:
  using State = PlainDetectCollision::State;
  using Agents = ConfigurationView<State>;

  explicit DetectionLemmas(const PlainDetectCollision& protocol) : protocol_(&protocol) {}

  bool is_ranking_correct(Agents agents) const {
    std::vector<bool> taken(agents.size());
    for (const State& agent : agents) {
      if (taken[agent.rank - 1]) return false;
      taken[agent.rank - 1] = true;
    }
    return true;
  }

  static bool has_error(Agents agents) { return std::ranges::any_of(agents, &State::is_in_error); }
  static bool has_cause(Agents agents, Cause cause) {
    return std::ranges::any_of(agents, [=](const State& agent) { return agent.cause == cause; });
  }

  // Every agent is in q_0,DC of its rank, and the ranking is correct.
  bool is_beginning(Agents agents) const {
    return is_ranking_correct(agents) &&
           std::ranges::all_of(agents, [&](const State& agent) { return is_fresh(agent); });
  }

  bool are_unique(Agents agents) const {
    for (std::size_t u = 0; u < agents.size(); ++u) {
      for (std::size_t v = u + 1; v < agents.size(); ++v) {
        if (share_one(agents[u], agents[v])) return false;
      }
    }
    return true;
  }

  // A correct ranking without error, every message is held exactly once and is as its governor has
  // observed it.
  bool is_consistent(Agents agents) const {
    if (has_error(agents) || !is_ranking_correct(agents) || !are_unique(agents)) return false;
    return std::ranges::all_of(agents, [&](const State& governor) {
      std::uint32_t found = 0;
      for (const State& holder : agents) {
        if (group(holder) != group(governor)) continue;
        for (std::uint32_t id = 0; id < ids(governor); ++id) {
          const std::uint64_t content = own_content(governor, holder, id);
          if (content == 0) continue;
          if (content != protocol_->observation(governor, id)) return false;
          ++found;
        }
      }
      return found == ids(governor);
    });
  }

  // Every agent that is not in error holds its number of messages of each rank of its group.
  bool are_full(Agents agents) const {
    return std::ranges::all_of(agents, [&](const State& s) {
      for (std::uint32_t i = 0; !s.is_in_error() && i < protocol_->space(s).m; ++i) {
        std::uint32_t held = 0;
        for (std::uint32_t id = 0; id < ids(s); ++id) held += protocol_->content(s, i, id) != 0;
        if (held != protocol_->space(s).block) return false;
      }
      return true;
    });
  }

  static bool has_agent_without_error(Agents agents) {
    return !std::ranges::all_of(agents, &State::is_in_error);
  }

  bool has_own_message(Agents agents) const {
    return std::ranges::any_of(agents, [&](const State& s) {
      for (std::uint32_t id = 0; !s.is_in_error() && id < ids(s); ++id) {
        if (own_content(s, s, id) != 0) return true;
      }
      return false;
    });
  }

  // The restriction of the state space in Section 5.1.
  bool know_their_own(Agents agents) const {
    return std::ranges::all_of(agents, [&](const State& s) {
      for (std::uint32_t id = 0; !s.is_in_error() && id < ids(s); ++id) {
        const std::uint64_t content = own_content(s, s, id);
        if (content != 0 && content != protocol_->observation(s, id)) return false;
      }
      return true;
    });
  }

  static bool keeps_ranks(const Step<State>& step) {
    return std::ranges::equal(step.before, step.after, {}, &State::rank, &State::rank);
  }

  // Two agents of the same group interact and raise no error: the premise of the three below.
  bool exchanges_messages(const Step<State>& step) const {
    return !every_message(step, [](std::uint32_t, std::uint32_t) { return false; });
  }

  // The two agents hold each message as often as before, unless they raise an error.
  bool keeps_messages(const Step<State>& step) const {
    return every_message(step, [&](std::uint32_t i, std::uint32_t id) {
      const auto held = [&](Agents agents) {
        return (protocol_->content(agents[step.initiator], i, id) != 0) +
               (protocol_->content(agents[step.responder], i, id) != 0);
      };
      return held(step.before) == held(step.after);
    });
  }

  bool changes_own_contents_only(const Step<State>& step) const {
    return every_message(step, [&](std::uint32_t i, std::uint32_t id) {
      const bool governs =
          position(step.before[step.initiator]) == i || position(step.before[step.responder]) == i;
      return governs || !changes_content(step, i, id);
    });
  }

  // Where a content or an observation has changed, the message is as observed.
  bool observes_changes(const Step<State>& step) const {
    return every_message(step, [&](std::uint32_t i, std::uint32_t id) {
      for (const std::size_t who : {step.initiator, step.responder}) {
        if (position(step.before[who]) != i) continue;
        const std::uint64_t seen = protocol_->observation(step.after[who], id);
        const bool has_changed =
            seen != protocol_->observation(step.before[who], id) || changes_content(step, i, id);
        if (has_changed && seen != content_at_both(step, step.after, i, id)) return false;
      }
      return true;
    });
  }

  // A signature that is replaced before it is used, or a counter beyond its end, makes no
  // difference.
  State normal_form(State s) const {
    if (s.is_in_error()) return s;
    s.counter = std::min(s.counter, protocol_->last_count(s));
    if (s.counter == protocol_->last_count(s)) s.signature = 1;
    return s;
  }

  // "1:s2.1(1.|.2)12": rank, signature and its age, contents by rank and ID, observations by ID;
  // "1:T=", "1:T2", "1:T!" in error for the same rank, a message twice, a wrong content.
  std::string notation(const State& s) const {
    std::string text = std::to_string(s.rank) + ':';
    if (s.is_in_error()) return text + 'T' + "-=2!"[static_cast<std::size_t>(s.cause)];
    text += 's' + digit(s.signature) + '.' + std::to_string(s.counter);
    for (std::uint32_t i = 0; i < protocol_->space(s).m; ++i) {
      text += i == 0 ? '(' : '|';
      for (std::uint32_t id = 0; id < ids(s); ++id) text += digit(protocol_->content(s, i, id));
    }
    text += ')';
    for (std::uint32_t id = 0; id < ids(s); ++id) text += digit(protocol_->observation(s, id));
    return text;
  }

 private:
  std::uint32_t group(const State& s) const { return protocol_->standing(s).group; }
  std::uint32_t position(const State& s) const { return protocol_->standing(s).position; }
  std::uint32_t ids(const State& s) const { return protocol_->space(s).ids(); }

  // The content of a message that `governor` governs and `holder`, of the same group, holds.
  std::uint64_t own_content(const State& governor, const State& holder, std::uint32_t id) const {
    return protocol_->content(holder, position(governor), id);
  }

  std::uint64_t content_at_both(const Step<State>& step, Agents agents, std::uint32_t i,
                                std::uint32_t id) const {
    return std::max(protocol_->content(agents[step.initiator], i, id),
                    protocol_->content(agents[step.responder], i, id));
  }

  // Whether the content of a message that is still there has changed.
  bool changes_content(const Step<State>& step, std::uint32_t i, std::uint32_t id) const {
    const std::uint64_t before = content_at_both(step, step.before, i, id);
    const std::uint64_t after = content_at_both(step, step.after, i, id);
    return before != 0 && after != 0 && before != after;
  }

  bool is_fresh(const State& s) const {
    if (s.is_in_error() || s.signature != 1 || s.counter != 1) return false;
    const MessageSpace& space = protocol_->space(s);
    for (std::uint32_t id = 0; id < ids(s); ++id) {
      const std::uint64_t content = id / space.block == position(s) ? 1 : 0;
      if (protocol_->observation(s, id) != 1) return false;
      for (std::uint32_t i = 0; i < space.m; ++i) {
        if (protocol_->content(s, i, id) != content) return false;
      }
    }
    return true;
  }

  bool share_one(const State& u, const State& v) const {
    if (u.is_in_error() || v.is_in_error() || group(u) != group(v)) return false;
    for (std::uint32_t i = 0; i < protocol_->space(u).m; ++i) {
      for (std::uint32_t id = 0; id < ids(u); ++id) {
        if (protocol_->content(u, i, id) != 0 && protocol_->content(v, i, id) != 0) return true;
      }
    }
    return false;
  }

  // Whether something holds for all messages of the group of two agents that meet; trivially where
  // they are of different groups, in error, or raise one.
  template <class Holds>
  bool every_message(const Step<State>& step, Holds holds) const {
    const State& u = step.before[step.initiator];
    const bool is_silent = step.after[step.initiator].is_in_error() ||
                           step.after[step.responder].is_in_error() ||
                           group(u) != group(step.before[step.responder]);
    for (std::uint32_t i = 0; !is_silent && i < protocol_->space(u).m; ++i) {
      for (std::uint32_t id = 0; id < ids(u); ++id) {
        if (!holds(i, id)) return false;
      }
    }
    return true;
  }

  static std::string digit(std::uint64_t content) {
    constexpr std::string_view digits =
        ".123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (content < digits.size()) return std::string(1, digits[content]);
    return '<' + std::to_string(content) + '>';
  }

  const PlainDetectCollision* protocol_;
};

inline std::vector<NamedSet<PlainDetectCollision::State>> detection_sets(
    const DetectionLemmas& lemmas) {
  using Agents = DetectionLemmas::Agents;
  const auto caused = [](Cause cause) {
    return [cause](Agents agents) { return DetectionLemmas::has_cause(agents, cause); };
  };
  return {
      {"correct", "every rank is there once",
       [=](Agents agents) { return lemmas.is_ranking_correct(agents); }},
      {"collision", "some rank is there twice",
       [=](Agents agents) { return !lemmas.is_ranking_correct(agents); }},
      {"consistent", "correct, no error, every message held once and as its governor observed it",
       [=](Agents agents) { return lemmas.is_consistent(agents); }},
      {"unique", "no message is held by two agents",
       [=](Agents agents) { return lemmas.are_unique(agents); }},
      {"full", "everybody not in error holds its number of messages of each rank of its group",
       [=](Agents agents) { return lemmas.are_full(agents); }},
      {"own", "everybody's own messages are as it has observed them",
       [=](Agents agents) { return lemmas.know_their_own(agents); }},
      {"same-rank", "an error was raised by two agents of the same rank", caused(Cause::same_rank)},
      {"message-twice", "an error was raised by a message held twice",
       caused(Cause::message_twice)},
      {"wrong-content", "an error was raised by a content not as observed",
       caused(Cause::wrong_content)},
      {"E.1(a)", "consistent, or not a correct ranking with everybody in q_0,DC",
       [=](Agents agents) { return !lemmas.is_beginning(agents) || lemmas.is_consistent(agents); }},
      {"E.1(b)", "correct, or an error has been raised",
       [=](Agents agents) {
         return lemmas.is_ranking_correct(agents) || DetectionLemmas::has_error(agents);
       }},
      {"settled", "consistent, or an error has been raised", [=](Agents agents) {
         return DetectionLemmas::has_error(agents) || lemmas.is_consistent(agents);
       }}};
}

}  // namespace detail

inline Claims<PlainDetectCollision::State> claims_of(const PlainDetectCollision& protocol) {
  using State = PlainDetectCollision::State;
  const detail::DetectionLemmas lemmas(protocol);
  const std::string everywhere(whole_set);
  const std::string error(converged_set);
  const StepPredicate<State> exchange = [=](const Step<State>& step) {
    return lemmas.exchanges_messages(step);
  };
  Claims<State> claims;
  claims.elects = false;
  claims.sets = detail::detection_sets(lemmas);
  claims.claims = {
      {"Observation 1", "the rank of an agent never changes", ClaimKind::steps, everywhere,
       detail::DetectionLemmas::keeps_ranks},
      {"Observation 2", "messages are never created or destroyed, except with an error",
       ClaimKind::steps, everywhere,
       [=](const Step<State>& step) { return lemmas.keeps_messages(step); }, exchange},
      {"Observation 3", "where no message is held twice, none ever is", ClaimKind::closed,
       "unique"},
      {"Observation 4", "the content of a message is changed by its governors only",
       ClaimKind::steps, everywhere,
       [=](const Step<State>& step) { return lemmas.changes_own_contents_only(step); }, exchange},
      {"Observation 5", "a governor observes every content that it changes, and nothing else",
       ClaimKind::steps, everywhere,
       [=](const Step<State>& step) { return lemmas.observes_changes(step); }, exchange},
      Claim<State>::everywhere("Section 3.1",
                               "everybody holds equally many messages of each rank of its group",
                               "full", detail::DetectionLemmas::has_agent_without_error),
      Claim<State>::everywhere(
          "Section 5.1", "messages that an agent governs and holds are as it has observed them",
          "own", [=](ConfigurationView<State> agents) { return lemmas.has_own_message(agents); }),
      Claim<State>::everywhere(
          "q_0,DC", "a correct ranking with everybody in q_0,DC is consistent", "E.1(a)",
          [=](ConfigurationView<State> agents) { return lemmas.is_beginning(agents); }),
      {"Lemma E.1(a)", "consistent configurations stay so, and never raise an error",
       ClaimKind::closed, "consistent"},
      {"Lemma E.1(b)", "where a rank is there twice, an error is raised with probability 1",
       ClaimKind::reached, "E.1(b)"},
      {"inconsistency", "all that is not consistent raises an error with probability 1",
       ClaimKind::reached, "settled"},
      {"error", "an error stays", ClaimKind::closed, error}};
  claims.normal_form = [=](const State& s) { return lemmas.normal_form(s); };
  claims.notation = [=](const State& s) { return lemmas.notation(s); };
  return claims;
}

}  // namespace conclave::protocols::electleader
