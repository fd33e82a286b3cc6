// Rings of prl agents, with the definitions of Sect. 4.1 of its paper (lemmas/prl.hpp), in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "conclave/base/choice.hpp"
#include "conclave/protocols/population/lemmas/prl.hpp"

namespace conclave::tests {

using protocols::Prl;

inline Prl prl_with(std::uint64_t n, std::uint64_t bound) {
  return Prl(Prl::Parameters{.upper_bound = bound}, n);
}

// Agents u_0 ... u_{n-1} of a ring; indices are taken modulo n.
struct Ring {
  std::vector<Prl::State> agents;
  std::uint64_t bound = 0;  // N

  protocols::detail::PrlRing definitions() const { return {agents, bound}; }

  std::uint64_t n() const { return agents.size(); }
  const Prl::State& u(std::uint64_t i) const { return agents[i % n()]; }
  std::uint64_t leaders() const { return definitions().leaders(); }
  bool is_live(std::uint64_t i) const { return definitions().is_live(i); }
  bool is_secure(std::uint64_t i) const { return definitions().is_secure(i); }
  bool is_modest(std::uint64_t i) const { return definitions().is_modest(i); }
  bool in_c_pb() const { return definitions().in_c_pb(); }
  bool in_c_ni() const { return definitions().in_c_ni(); }
  bool in_s_rl() const { return definitions().in_s_rl(); }

  template <class Predicate>
  bool every_agent(Predicate holds) const {
    return definitions().every_agent(holds);
  }

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
    text += (text.empty() ? "" : " ") + protocols::detail::prl_notation(s);
  }
  return text;
}

// A ring as an engine shows it to the tally.
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
