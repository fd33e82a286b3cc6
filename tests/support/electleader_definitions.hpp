// The definitions of ElectLeader_r, evaluated on whole configurations: what the incremental code
// must agree with, and what must hold after every interaction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conclave/population/stepping.hpp"
#include "conclave/protocols/population/electleader/elect_leader.hpp"

namespace conclave::tests {

namespace el = protocols::electleader;

struct ElectLeaderCase {
  std::uint32_t n;
  std::uint32_t r;
};

inline el::Parameters electleader_parameters(const ElectLeaderCase& size) {
  el::Parameters parameters;
  parameters.r = size.r;
  return parameters;
}

// Short probation and signatures that change often, so that little happens rarely.
inline el::Parameters lively_parameters(const ElectLeaderCase& size) {
  el::Parameters parameters = electleader_parameters(size);
  parameters.preset = el::Preset::small;
  parameters.p_max = 1.5;
  parameters.c_max = 8;
  parameters.c_s = 0.5;
  return parameters;
}

inline std::string case_name(const ElectLeaderCase& size, std::size_t start) {
  return "n=" + std::to_string(size.n) + " r=" + std::to_string(size.r) + " start " +
         std::string(el::Starts::table[start].name);
}

inline bool is_inside(const el::Agent& agent) {
  return agent.is(el::Duty::verifying) && !agent.verifier.error;
}

// Condition (3): the messages of one group with everybody outside generation `kept` in q_0,DC.
template <class Configuration>
bool group_is_consistent(Configuration& configuration, std::uint32_t group, std::uint8_t kept) {
  const el::MessageSpace& space = configuration.groups().space_of(group);
  const std::uint32_t m = space.m;
  std::vector<std::vector<std::uint64_t>> content(
      m, std::vector<std::uint64_t>(std::size_t{2} * m * m, 0));
  std::vector<std::vector<std::uint64_t>> observed(
      m, std::vector<std::uint64_t>(std::size_t{2} * m * m, 1));
  for (std::uint32_t u = 0; u < configuration.size(); ++u) {
    const el::Verifier& verifier = configuration.agent(u).verifier;
    const auto [in_group, position] = verifier.standing;
    if (in_group != group) continue;
    const bool is_kept = verifier.generation == kept;
    if (is_kept && verifier.error) return false;
    if (is_kept) observed[position] = configuration.messages().observations(u);
    for (std::uint32_t governor = 0; governor < m; ++governor) {
      const auto held = is_kept
                            ? configuration.messages().held(u, governor)
                            : el::Beginning::clean_at(position).messages(space, governor, position);
      if (held.size() != 2 * m) return false;
      for (const auto& [id, value] : held) {
        if (content[governor][id] != 0) return false;
        content[governor][id] = value;
      }
    }
  }
  return content == observed;
}

// The safe set, written out.
template <class Configuration>
bool is_safe_by_definition(Configuration& configuration) {
  const auto n = static_cast<std::uint32_t>(configuration.size());
  std::vector<bool> taken(n);
  for (std::uint32_t u = 0; u < n; ++u) {
    const el::Agent& agent = configuration.agent(u);
    if (!agent.is(el::Duty::verifying) || taken[agent.verifier.rank - 1]) return false;
    taken[agent.verifier.rank - 1] = true;
  }
  for (std::uint8_t i = 0; i < el::generations; ++i) {
    const auto next = static_cast<std::uint8_t>((i + 1u) % el::generations);
    bool holds = true;
    for (std::uint32_t u = 0; u < n; ++u) {
      const el::Verifier& verifier = configuration.agent(u).verifier;
      holds &= verifier.generation == next || (verifier.generation == i && verifier.probation == 0);
    }
    for (std::uint32_t g = 0; holds && g < configuration.groups().count(); ++g) {
      holds = group_is_consistent(configuration, g, next);
    }
    if (holds) return true;
  }
  return false;
}

// The restricted state space: who is inside holds 2m different messages of every rank, and those it
// governs itself are as it has observed them. Returns what is wrong.
template <class Configuration>
std::optional<std::string> broken_message_rule(Configuration& configuration) {
  for (std::uint32_t u = 0; u < configuration.size(); ++u) {
    if (!is_inside(configuration.agent(u))) continue;
    const auto [group, position] = configuration.agent(u).verifier.standing;
    const std::uint32_t m = configuration.groups().size_of(group);
    const auto observed = configuration.messages().observations(u);
    for (std::uint32_t governor = 0; governor < m; ++governor) {
      const auto held = configuration.messages().held(u, governor);
      if (held.size() != 2 * m) return "agent " + std::to_string(u) + " holds too few or too many";
      for (std::size_t k = 0; k < held.size(); ++k) {
        if (k > 0 && held[k].id <= held[k - 1].id) return "a message twice";
        if (held[k].id >= 2 * m * m) return "no such ID";
        if (governor == position && held[k].content != observed[held[k].id]) {
          return "own message not as observed";
        }
      }
    }
  }
  return std::nullopt;
}

// Where two configurations differ, complete with messages and observations.
template <class A, class B>
std::optional<std::string> difference(A& a, B& b) {
  for (std::uint32_t u = 0; u < a.size(); ++u) {
    if (!(a.agent(u) == b.agent(u))) return "state of agent " + std::to_string(u);
    if (!is_inside(a.agent(u))) continue;
    const std::uint32_t m = a.groups().size_of(a.agent(u).verifier.standing.group);
    for (std::uint32_t governor = 0; governor < m; ++governor) {
      if (a.messages().held(u, governor) != b.messages().held(u, governor)) {
        return "messages of agent " + std::to_string(u);
      }
    }
    if (a.messages().observations(u) != b.messages().observations(u)) {
      return "observations of agent " + std::to_string(u);
    }
  }
  if (a.converged() != b.converged()) return "safety";
  const auto is_same = [](const Observation& x, const Observation& y) {
    return x.name == y.name && x.value == y.value;
  };
  if (!std::ranges::equal(a.observations(), b.observations(), is_same)) return "history";
  return std::nullopt;
}

}  // namespace conclave::tests
