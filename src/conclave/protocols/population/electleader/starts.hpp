// The named initial configurations of ElectLeader_r, and any state of its restricted state space.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "conclave/base/choice.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/messages.hpp"
#include "conclave/protocols/population/electleader/propagate_reset.hpp"

namespace conclave::protocols::electleader {

// An agent as it starts, with its messages if it verifies.
struct StartingAgent {
  Agent agent{};
  Beginning beginning{};
};

class Starts {
 public:
  // The places of `table`.
  enum Index : std::size_t {
    clean,
    triggered,
    dormant,
    dormant0,
    correct,
    correct_one_corrupt,
    correct_corrupt,
    dup,
    dupq0,
    same,
    random,
    mixed_generations,
    three_generations,
  };
  static constexpr std::array table{
      Start{"clean", "all rankers in q_0,AR with full countdown", true},
      Start{"triggered",
            "a correct ranking, verifiers in q_0,SV; one agent has just executed TriggerReset"},
      Start{"dormant", "all resetting, resetCount 0, delayTimer D_max", true},
      Start{"dormant0", "the same with delayTimer 0", true},
      Start{"correct", "verifiers, agent i has rank i, all in q_0,SV: safe"},
      Start{"correct-one-corrupt",
            "a correct ranking, probation 0, one circulating message wrong: safe, since the ranks "
            "survive the soft reset that follows"},
      Start{"correct-corrupt",
            "a correct ranking, probation 0, all contents and observations random: safe as well"},
      Start{"dup",
            "probation 0, rank 1 twice and the last rank of its group missing, messages otherwise "
            "consistent: all IDs different, contents, observations and signatures 1"},
      Start{"dupq0", "the same ranks, everybody in q_0,DC of its rank, probation 0"},
      Start{"same", "all verifiers with rank 1, in q_0,SV", true},
      Start{"random",
            "every field uniform within the restricted state space: each duty, type and variable; "
            "one verifier in twenty is in error"},
      Start{"mixed-generations",
            "a correct ranking, messages of q_0,DC, generation and probation of everybody uniform"},
      Start{"three-generations",
            "the same with generations 0, 1 and 2 only, all off probation: Claim 2 of Lemma F.4"},
  };

  // The groups must outlive it.
  Starts(const Constants& constants, const Groups& groups)
      : constants_(constants), groups_(&groups), reset_(constants) {}

  // Agent `agent` of a start; called in the order of the agents.
  StartingAgent make(std::size_t start, std::uint32_t agent, Stream& choice) const {
    const bool is_last_of_first_group = agent + 1 == std::max(2u, groups_->size_of(0));
    switch (start) {
      case clean:
        return ranker();
      case triggered:
        if (agent == 0) return {.agent = resetter(constants_.reset_count, constants_.delay, {})};
        return verifier(agent + 1);
      case dormant:
        return {.agent = resetter(0, constants_.delay, {})};
      case dormant0:
        return {.agent = resetter(0, 0, {})};
      case correct:
        return verifier(agent + 1);
      case correct_one_corrupt:
        return one_corrupt(agent);
      case correct_corrupt:
        return scrambled(agent, choice);
      case dup: {
        StartingAgent result = off_probation(is_last_of_first_group ? 1 : agent + 1);
        if (is_last_of_first_group) result.beginning.block = groups_->size_of(0) - 1;
        return result;
      }
      case dupq0:
        return off_probation(is_last_of_first_group ? 1 : agent + 1);
      case same:
        return verifier(1);
      case mixed_generations:
        return of_any_generation(agent + 1, generations, constants_.probation, choice);
      case three_generations:
        return of_any_generation(agent + 1, 3, 0, choice);
      default:
        return arbitrary(choice);
    }
  }

  // A verifier with this rank and clean messages, otherwise as it was if it was one.
  StartingAgent with_rank(const Agent& old, std::uint32_t rank) const {
    StartingAgent result = verifier(rank);
    if (!old.is(Duty::verifying)) return result;
    result.agent.verifier.generation = old.verifier.generation;
    result.agent.verifier.probation = old.verifier.probation;
    return result;
  }

  // Any state of the restricted state space.
  StartingAgent arbitrary(Stream& choice) const {
    StartingAgent result;
    switch (choice.below(3)) {
      case 0: {
        const std::uint32_t count = choice.below(constants_.reset_count + 1);
        const std::uint32_t delay =
            count > 0 ? constants_.delay : choice.below(constants_.delay + 1);
        result.agent = resetter(count, delay, {});
        break;
      }
      case 1:
        result.agent.duty = Duty::ranking;
        result.agent.ranker = arbitrary_ranker(choice);
        break;
      default:
        result = arbitrary_verifier(choice);
    }
    if (constants_.derandomize) result.agent.coins = {choice.word(), choice.chance(1, 2)};
    return result;
  }

  // Every variable uniform in its domain, others at their defaults.
  Ranker arbitrary_ranker(Choice auto& choice) const {
    Ranker u{.type = static_cast<Type>(choice.below(6))};
    if (u.type == Type::sheriff && constants_.r == 1) u.type = Type::deputy;
    u.countdown = choice.below(constants_.countdown + 1);
    u.rank = 1 + choice.below(constants_.n);
    if (u.type == Type::electing) draw_election(u, choice);
    if (u.type == Type::sheriff) {
      const std::uint32_t x = choice.below(constants_.r);
      const std::uint32_t y = (x + 1 + choice.below(constants_.r - 1)) % constants_.r;
      u.low = 1 + std::min(x, y);
      u.high = 1 + std::max(x, y);
    }
    if (u.type == Type::deputy) {
      u.label = {1 + choice.below(constants_.r), 1};
      u.counter = 1 + choice.below(constants_.labels);
    }
    if (u.type == Type::recipient || u.type == Type::sleeper) u.label = arbitrary_label(choice);
    if (u.type == Type::sleeper) u.sleep = 1 + choice.below(constants_.sleep);
    if (u.has_channel()) {
      for (std::uint32_t i = 0; i < constants_.r; ++i) {
        u.channel.push_back(choice.below(constants_.labels + 1));
        u.sum += u.channel.back();
      }
    }
    return u;
  }

  // With a correct rank, clean messages, one of the first `ages` generations and a probation of at
  // most `probation`.
  StartingAgent of_any_generation(std::uint32_t rank, std::uint32_t ages, std::uint32_t probation,
                                  Choice auto& choice) const {
    StartingAgent result = verifier(rank);
    result.agent.verifier.generation = static_cast<std::uint8_t>(choice.below(ages));
    result.agent.verifier.probation = choice.below(probation + 1);
    return result;
  }

 private:
  StartingAgent ranker() const {
    StartingAgent result;
    reset_.reset(result.agent);
    return result;
  }

  // In q_0,SV.
  StartingAgent verifier(std::uint32_t rank) const {
    StartingAgent result;
    const Standing standing = groups_->of_rank(rank);
    result.agent.duty = Duty::verifying;
    result.agent.verifier = {.rank = rank, .standing = standing};
    result.agent.verifier.probation = constants_.probation;
    result.beginning = Beginning::clean_at(standing.position);
    return result;
  }

  StartingAgent off_probation(std::uint32_t rank) const {
    StartingAgent result = verifier(rank);
    result.agent.verifier.probation = 0;
    return result;
  }

  // The first agent holds a message of rank 2 with a content that rank 2 has never given it; groups
  // of one rank exchange no messages, so that none can be wrong.
  StartingAgent one_corrupt(std::uint32_t agent) const {
    StartingAgent result = off_probation(agent + 1);
    if (agent == 0 && groups_->size_of(0) > 1) result.beginning.wrong = 1;
    return result;
  }

  StartingAgent scrambled(std::uint32_t agent, Stream& choice) const {
    StartingAgent result = off_probation(agent + 1);
    result.beginning.kind = Beginning::Kind::scrambled;
    result.beginning.key = choice.word();
    return result;
  }

  StartingAgent arbitrary_verifier(Stream& choice) const {
    StartingAgent result = verifier(1 + choice.below(constants_.n));
    Verifier& state = result.agent.verifier;
    state.generation = static_cast<std::uint8_t>(choice.below(generations));
    state.probation = choice.below(constants_.probation + 1);
    state.error = choice.chance(1, 20);
    if (state.error) return result;
    const MessageSpace& space = groups_->space_of(state.standing.group);
    state.signature = space.signature(choice);
    state.counter = 1 + choice.below(constants_.signature_period(space.m));
    result.beginning = {.kind = Beginning::Kind::random, .block = state.standing.position};
    result.beginning.key = choice.word();
    result.beginning.signature = state.signature;
    return result;
  }

  void draw_election(Ranker& u, Choice auto& choice) const {
    u.identifier = constants_.identifier(choice);
    u.min_identifier = constants_.identifier(choice);
    u.done = choice.chance(1, 2);
    u.le_count = u.done ? 0 : choice.below(constants_.le_count + 1);
  }

  // Every label, and none, with the same probability.
  Label arbitrary_label(Choice auto& choice) const {
    const std::uint64_t all = std::uint64_t{constants_.r} * constants_.labels;
    const std::uint64_t drawn = below64(choice, all + 1);
    if (drawn == all) return {};
    return {1 + static_cast<std::uint32_t>(drawn % constants_.r),
            1 + static_cast<std::uint32_t>(drawn / constants_.r)};
  }

  Constants constants_;
  const Groups* groups_;
  PropagateReset reset_;
};

}  // namespace conclave::protocols::electleader
