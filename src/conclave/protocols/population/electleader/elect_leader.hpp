// Austin, Berenbrink, Friedetzky, Goette, Hintze: A Space-Time Trade-off for Fast Self-Stabilizing
// Leader Election in Population Protocols. PODC 2025. ElectLeader_r: from any configuration, all
// agents get different ranks 1 ... n, and rank 1 leads. What two agents do is in transition.hpp;
// what the paper leaves open or gets wrong is in docs/explanation/errata-electleader.md, by number.
//
// Agents hold up to 2 r^2 messages each, so that the protocol owns its whole configuration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/whole_numbers.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/protocols/population/electleader/about.hpp"
#include "conclave/protocols/population/electleader/agent.hpp"
#include "conclave/protocols/population/electleader/census.hpp"
#include "conclave/protocols/population/electleader/dense_messages.hpp"
#include "conclave/protocols/population/electleader/engine/lazy_messages.hpp"
#include "conclave/protocols/population/electleader/engine/waiting.hpp"
#include "conclave/protocols/population/electleader/groups.hpp"
#include "conclave/protocols/population/electleader/starts.hpp"
#include "conclave/protocols/population/electleader/transition.hpp"

namespace conclave::protocols::electleader {

// How many bits name any state of an agent of ElectLeader_r, variable by variable: Figures 1, 2 and
// 4 with the constants in effect. There are 2^O(r^2 log n) states, far more than any integer holds,
// so that all is computed in logarithms, rounded. Of several kinds of states, each with its own
// variables, the largest counts, and a tag that tells them apart.
inline double bits_of_one(std::initializer_list<double> kinds) {
  return binary_logarithm(kinds.size()) + std::max(kinds);
}

// The binary logarithm of the binomial coefficient. O(some).
inline double bits_of_choices(std::uint32_t all, std::uint32_t some) {
  double bits = 0;
  for (std::uint32_t i = 0; i < some; ++i) {
    bits += binary_logarithm(all - i) - binary_logarithm(i + 1);
  }
  return bits;
}

// resetCount above 0 with delayTimer full, or resetCount 0 with any delayTimer.
inline double resetter_bits(const Constants& constants) {
  return binary_logarithm(std::uint64_t{constants.reset_count} + constants.delay + 1);
}

// By the types of Protocol 7: electing, sheriff, deputy, recipient, sleeper, ranked.
inline double ranker_bits(const Constants& constants) {
  const std::uint64_t r = constants.r;
  const std::uint64_t labels = constants.labels;
  const double channel = static_cast<double>(r) * binary_logarithm(labels + 1);
  const double label = binary_logarithm(r * labels + 1);
  const double electing =
      2 * 3 * binary_logarithm(constants.n) + binary_logarithm(constants.le_count + 2u);
  const double sheriff = channel + (r > 1 ? binary_logarithm(r * (r - 1) / 2) : 0);
  return binary_logarithm(constants.countdown + 1u) +
         bits_of_one({electing, sheriff, binary_logarithm(r * labels) + channel, label + channel,
                      label + channel + binary_logarithm(constants.sleep),
                      binary_logarithm(constants.n)});
}

// A verifier of a group of m ranks holds, of every rank, one of the sets of `block` IDs, with any
// contents except those of its own rank, which are as it has observed them; or it is in error.
inline double verifier_bits(const Constants& constants, const MessageSpace& space) {
  const double free = 1.0 + space.ids() + double(space.block) * (space.m - 1);
  const double detection = binary_logarithm(constants.signature_period(space.m)) +
                           free * binary_logarithm(space.contents) +
                           space.m * bits_of_choices(space.ids(), space.block);
  return binary_logarithm(constants.n) + binary_logarithm(generations) +
         binary_logarithm(constants.probation + 1u) + bits_of_one({0, detection});
}

// The groups differ by one rank at most; the largest is taken for all.
inline double state_bits(const Constants& constants) {
  const Groups groups(constants.n, constants.r, constants.messages);
  return bits_of_one({resetter_bits(constants), ranker_bits(constants),
                      verifier_bits(constants, groups.space_of(0))});
}

template <MessageSystem M>
class ElectLeader {
 public:
  using Parameters = electleader::Parameters;
  static constexpr const ProtocolInfo& info = about;
  static constexpr const auto& starts = Starts::table;
  static std::string objection(const Parameters& parameters, AgentCount n) {
    const std::string objection = objection_to_reading(parameters, M::is_literal);
    return objection.empty() ? objection_to(parameters, n) : objection;
  }

  ElectLeader(const Parameters& parameters, AgentCount n, std::size_t start, Stream& choice,
              const KeepGoing* keep_going = nullptr)
      : constants_(parameters, n),
        groups_(constants_.n, constants_.r, constants_.messages),
        starts_(constants_, groups_),
        transition_(constants_, groups_),
        agents_(n),
        waiting_(constants_),
        census_(constants_.n) {
    for (AgentIndex u = 0; u < n; ++u) {
      ask_to_go_on(keep_going, u);
      put(u, starts_.make(start, u, choice));
    }
    history_.begin(census_, constants_.n);
    is_safe_ = is_safe_now();
  }

  ElectLeader(const ElectLeader&) = delete;  // the parts look at the groups beside them
  ElectLeader& operator=(const ElectLeader&) = delete;

  // The interaction with this number: u initiates, v responds.
  void meet(AgentCount u, AgentCount v, Interactions number, Choice auto& choice) {
    waiting_.settle(agents_);
    const Member first{agents_[u], static_cast<AgentIndex>(u)};
    const Member second{agents_[v], static_cast<AgentIndex>(v)};
    census_.remove(first.agent);
    census_.remove(second.agent);
    const auto outcome = transition_.interact(first, second, choice);
    if (outcome.has_winner) history_.note_sheriff(number);
    history_.note(outcome.verified, number);
    census_.add(first.agent);
    census_.add(second.agent);
    history_.note_phases(census_, constants_.n, number);
    is_safe_ = is_safe_now();
  }

  // Carries out the first of these meetings (initiator + responder * 2^32) as long as agents only
  // wait (engine/waiting.hpp), and returns how many. Not beside literal messages: those are the
  // reference.
  std::size_t pass(std::span<const std::uint64_t> meetings) requires(!M::is_literal) {
    return waiting_.pass(census_, meetings, agents_);
  }

  // Fetches the agents of a meeting soon to come, and the channels of one that comes sooner, where
  // there are more than the caches hold.
  [[gnu::always_inline]] void fetch(std::uint64_t meeting, std::uint64_t sooner) const {
    if (agents_.size() < fetch_from_agents) return;
    for (const std::uint64_t u : {meeting & 0xffffffffu, meeting >> 32}) {
      fetch_bytes(&agents_[u], sizeof(Agent));
    }
    for (const std::uint64_t u : {sooner & 0xffffffffu, sooner >> 32}) {
      const std::vector<std::uint32_t>& channel = agents_[u].ranker.channel;
      fetch_bytes(channel.data(), channel.size() * sizeof(std::uint32_t));
    }
  }

  AgentCount size() const { return agents_.size(); }
  AgentCount leaders() const { return census_.leaders(); }
  bool converged() const { return is_safe_; }
  bool hopeless() const { return false; }
  std::vector<Observation> observations() const { return history_.observations(census_); }

  bool is_leader(AgentCount u) const {
    return agents_[u].is(Duty::verifying) && agents_[u].verifier.rank == 1;
  }

  // Faults: what becomes of an agent. A killed leader takes rank 2, a made one rank 1, both with
  // clean messages; a verifier keeps its generation and probation.
  void strike(AgentCount agent, FaultKind kind, Stream& choice) {
    const auto u = static_cast<AgentIndex>(agent);
    waiting_.settle(agents_);
    Agent& old = agents_[u];
    StartingAgent fresh;
    switch (kind) {
      case FaultKind::corrupt:
        fresh = starts_.arbitrary(choice);
        break;
      case FaultKind::zero:
        fresh.agent = resetter(0, 0, {});
        break;
      default:
        fresh = starts_.with_rank(old, kind == FaultKind::make_leaders ? 1 : 2);
    }
    census_.remove(old);
    if (old.is(Duty::verifying)) transition_.verify().dismiss(u, old.verifier);
    put(u, fresh);
    is_safe_ = is_safe_now();
  }

  // Up to O(r) per meeting since the last call, while agents wait.
  const Agent& agent(AgentCount u) const {
    waiting_.settle(agents_);
    return agents_[u];
  }

  // For tests.
  const Constants& constants() const { return constants_; }
  const Groups& groups() const { return groups_; }
  const Census& census() const { return census_; }
  const History& history() const { return history_; }
  M& messages() { return transition_.verify().messages(); }

  // Bits that name any state of an agent, by the domains of its variables.
  static double state_bits(const Parameters& parameters, AgentCount n) {
    return electleader::state_bits(Constants(parameters, n));
  }

  // Memory of a trial, and a little more; few duplicate ranks, as some starts and faults bring
  // them about, need the messages of one group.
  static std::uint64_t bytes_per_trial(const Parameters& parameters, AgentCount n,
                                       std::size_t start, bool has_faults) {
    const std::uint64_t r = *parameters.r;
    const bool uses_messages = has_faults || start == Starts::dup || start == Starts::dupq0;
    return n * (sizeof(Agent) + 4 * r) + Hearsay::bytes(n) + M::bytes(n, r, uses_messages);
  }

 private:
  static constexpr AgentCount fetch_from_agents = 20'000;
  [[gnu::always_inline]] static void fetch_bytes(const void* begin, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 64) {
      __builtin_prefetch(static_cast<const std::byte*>(begin) + at, 1, 2);
    }
  }

  // Replaces an agent that the census does not count and that is in no room.
  void put(AgentIndex u, const StartingAgent& start) {
    agents_[u] = start.agent;
    if (start.agent.is(Duty::verifying)) {
      transition_.verify().place({agents_[u], u}, start.agent.verifier, start.beginning);
    }
    census_.add(agents_[u]);
  }

  bool is_safe_now() {
    return census_.is_safe(
        [this](std::uint8_t generation) { return messages().are_consistent(generation); });
  }

  Constants constants_;
  Groups groups_;
  Starts starts_;
  Transition<M> transition_;
  mutable std::vector<Agent> agents_;  // together they are the agents: see `agent`
  mutable Waiting waiting_;
  Census census_;
  History history_;
  bool is_safe_ = false;
};

}  // namespace conclave::protocols::electleader
