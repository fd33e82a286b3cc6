// The definitions of Sect. 4.1 of the paper behind prl, to the letter and as slow as they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/protocols/population/prl.hpp"

namespace conclave::tests {

using protocols::Prl;

inline Prl prl_with(std::uint64_t n, std::uint64_t bound) {
  return Prl(Prl::Parameters{.upper_bound = bound}, n);
}

// Agents u_0 ... u_{n-1} of a ring; indices are taken modulo n.
struct Ring {
  std::vector<Prl::State> agents;
  std::uint64_t bound = 0;  // N

  static constexpr std::uint64_t infinite = std::numeric_limits<std::uint64_t>::max();

  std::uint64_t n() const { return agents.size(); }
  const Prl::State& u(std::uint64_t i) const { return agents[i % n()]; }
  const Prl::State& left_of(std::uint64_t i, std::uint64_t steps) const {
    return u(i + n() - steps);
  }

  std::uint64_t d_left(std::uint64_t i) const {
    for (std::uint64_t j = 0; j < n(); ++j) {
      if (left_of(i, j).leader) return j;
    }
    return infinite;
  }
  std::uint64_t d_right(std::uint64_t i) const {
    for (std::uint64_t j = 0; j < n(); ++j) {
      if (u(i + j).leader) return j;
    }
    return infinite;
  }

  std::uint64_t leaders() const {
    std::uint64_t count = 0;
    for (const Prl::State& s : agents) count += s.leader ? 1 : 0;
    return count;
  }

  bool is_peaceful(std::uint64_t i) const {
    const std::uint64_t d = d_left(i);
    if (d == infinite || !left_of(i, d).shield) return false;
    for (std::uint64_t j = 0; j <= d; ++j) {
      if (left_of(i, j).signal) return false;
    }
    return true;
  }

  bool is_secure(std::uint64_t i) const {
    if (u(i).leader) return u(i).distance == 0;
    const std::uint64_t d = d_right(i);
    return d != infinite && u(i).distance <= bound - d;
  }

  bool is_modest(std::uint64_t i) const {
    if (!is_peaceful(i)) return false;
    const std::uint64_t d = d_left(i);
    for (std::uint64_t j = 0; j <= d; ++j) {
      if (left_of(i, j).distance > d_left(i + n() - j)) return false;
    }
    return true;
  }

  template <class Predicate>
  bool every_agent(Predicate holds) const {
    for (std::uint64_t i = 0; i < n(); ++i) {
      if (!holds(i)) return false;
    }
    return true;
  }

  bool is_live(std::uint64_t i) const { return u(i).bullet == Prl::Bullet::live; }
  bool in_c_pb() const {
    return leaders() >= 1 &&
           every_agent([&](std::uint64_t i) { return !is_live(i) || is_peaceful(i); });
  }
  bool in_c_ni() const {
    return in_c_pb() && every_agent([&](std::uint64_t i) {
             return is_secure(i) && (!is_live(i) || is_modest(i));
           });
  }
  bool in_s_rl() const { return leaders() == 1 && in_c_ni(); }

  // e_i: u_i initiates, u_{i+1} responds.
  void interact(const Prl& protocol, std::uint64_t i) {
    AnyChoice unused;  // prl makes no random choices
    protocol.interact(agents[i % n()], agents[(i + 1) % n()], unused);
  }
};

// "L-s.0 FBS*3": leader or follower; no, dummy or live bullet; shield; signal; distL.
inline Ring ring_of(const std::string& text, std::uint64_t bound) {
  Ring ring{.agents = {}, .bound = bound};
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    Prl::State s;
    s.leader = word[0] == 'L';
    s.bullet = word[1] == 'B'   ? Prl::Bullet::live
               : word[1] == 'd' ? Prl::Bullet::dummy
                                : Prl::Bullet::none;
    s.shield = word[2] == 'S';
    s.signal = word[3] == '*';
    s.distance = std::stoull(word.substr(4));
    ring.agents.push_back(s);
  }
  return ring;
}

inline std::string to_text(const Ring& ring) {
  std::string text;
  for (const Prl::State& s : ring.agents) {
    if (!text.empty()) text += ' ';
    text += s.leader ? 'L' : 'F';
    text += "-dB"[static_cast<std::size_t>(s.bullet)];
    text += s.shield ? 'S' : 's';
    text += s.signal ? '*' : '.';
    text += std::to_string(s.distance);
  }
  return text;
}

// What an engine shows to the tally.
struct RingView {
  const Ring* ring;
  Interactions time{};
  Prl::State operator()(AgentCount agent) const { return ring->agents[agent]; }
  Interactions now() const { return time; }
};

inline Prl::Tally tally_of(const Prl& protocol, const Ring& ring) {
  Prl::Tally tally(protocol, ring.n());
  for (const Prl::State& s : ring.agents) tally.add(s);
  return tally;
}

}  // namespace conclave::tests
