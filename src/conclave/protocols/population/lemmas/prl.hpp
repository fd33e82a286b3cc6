// Lemmas 1 to 8 of the paper behind prl, from the definitions of its Sect. 4.1, to the letter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/prl.hpp"

namespace conclave::protocols {

namespace detail {

// Agents u_0 ... u_{n-1} of a ring; indices are taken modulo n. A view: the agents are owned by the
// caller.
class PrlRing {
 public:
  PrlRing(ConfigurationView<Prl::State> agents, std::uint64_t bound)
      : agents_(agents), bound_(bound) {}

  static constexpr std::size_t infinite = std::numeric_limits<std::size_t>::max();

  std::size_t n() const { return agents_.size(); }
  const Prl::State& u(std::size_t i) const { return agents_[i % n()]; }
  const Prl::State& left_of(std::size_t i, std::size_t steps) const { return u(i + n() - steps); }

  std::size_t d_left(std::size_t i) const {
    for (std::size_t j = 0; j < n(); ++j) {
      if (left_of(i, j).leader) return j;
    }
    return infinite;
  }
  std::size_t d_right(std::size_t i) const {
    for (std::size_t j = 0; j < n(); ++j) {
      if (u(i + j).leader) return j;
    }
    return infinite;
  }

  std::size_t leaders() const {
    std::size_t count = 0;
    for (const Prl::State& s : agents_) count += s.leader ? 1 : 0;
    return count;
  }

  // Where there is no leader, nothing is peaceful (erratum R4).
  bool is_peaceful(std::size_t i) const {
    const std::size_t d = d_left(i);
    if (d == infinite || !left_of(i, d).shield) return false;
    for (std::size_t j = 0; j <= d; ++j) {
      if (left_of(i, j).signal) return false;
    }
    return true;
  }

  bool is_secure(std::size_t i) const {
    if (u(i).leader) return u(i).distance == 0;
    const std::size_t d = d_right(i);
    return d != infinite && u(i).distance <= bound_ - d;
  }

  bool is_modest(std::size_t i) const {
    if (!is_peaceful(i)) return false;
    const std::size_t d = d_left(i);
    for (std::size_t j = 0; j <= d; ++j) {
      if (left_of(i, j).distance > d - j) return false;
    }
    return true;
  }

  template <class Predicate>
  bool every_agent(Predicate holds) const {
    for (std::size_t i = 0; i < n(); ++i) {
      if (!holds(i)) return false;
    }
    return true;
  }

  bool is_live(std::size_t i) const { return u(i).bullet == Prl::Bullet::live; }
  bool all_live_are_modest() const {
    return every_agent([&](std::size_t i) { return !is_live(i) || is_modest(i); });
  }

  bool in_c_pb() const {
    return leaders() >= 1 &&
           every_agent([&](std::size_t i) { return !is_live(i) || is_peaceful(i); });
  }
  bool in_c_ni() const {
    return in_c_pb() && all_live_are_modest() &&
           every_agent([&](std::size_t i) { return is_secure(i); });
  }
  bool in_s_rl() const { return leaders() == 1 && in_c_ni(); }

 private:
  ConfigurationView<Prl::State> agents_;
  std::uint64_t bound_;
};

// A view of one step: the bullets that are fired, move or hit in the interaction of l and r.
class PrlShot {
 public:
  explicit PrlShot(const Step<Prl::State>& step)
      : l_(step.before[step.initiator]),
        r_(step.before[step.responder]),
        new_l_(step.after[step.initiator]),
        new_r_(step.after[step.responder]) {}

  bool creates_leader() const { return !r_.leader && new_r_.leader; }  // lines 3-5
  bool left_fires() const { return l_.leader && l_.signal; }           // lines 6-7
  bool right_fires() const { return r_.leader && r_.signal; }          // lines 8-9

  // A bullet that leaves l, an old one or one just fired, arrives at r (line 14).
  bool arrives() const {
    return !r_.leader && !new_r_.leader && r_.bullet == Prl::Bullet::none &&
           new_r_.bullet != Prl::Bullet::none;
  }
  bool old_bullet_moves() const {
    return arrives() && l_.bullet != Prl::Bullet::none && !left_fires();
  }
  // The bullet of r stays where it is; others take its place in lines 5 and 9.
  bool right_bullet_stays() const {
    return r_.bullet != Prl::Bullet::none && !creates_leader() && !right_fires();
  }

 private:
  const Prl::State& l_;
  const Prl::State& r_;
  const Prl::State& new_l_;
  const Prl::State& new_r_;
};

class PrlLemmas {
 public:
  using State = Prl::State;

  explicit PrlLemmas(std::uint64_t bound) : bound_(bound) {}

  PrlRing ring(ConfigurationView<State> agents) const { return {agents, bound_}; }

  // Lemma 1, by induction: a bullet that moves for the k-th time arrives at an agent with
  // distL >= k; the carrier keeps its distL while it carries; and no follower that a bullet arrives
  // at has distL = N.
  bool bullets_move_less_than_n_times(const Step<State>& step) const {
    const PrlShot shot(step);
    const State& l = step.before[step.initiator];
    const State& r = step.before[step.responder];
    const State& new_r = step.after[step.responder];
    if (shot.arrives() && new_r.distance >= bound_) return false;
    if (shot.old_bullet_moves() && new_r.distance < height(l) + 1) return false;
    return !shot.right_bullet_stays() || height(new_r) >= height(r);
  }

  static bool bullet_arrives_or_stays(const Step<State>& step) {
    const PrlShot shot(step);
    return shot.arrives() || shot.right_bullet_stays();
  }

  // Lemma 3.
  bool has_modest_bullet(const Step<State>& step) const {
    const PrlRing before = ring(step.before);
    return !before.every_agent(
        [&](std::size_t i) { return !before.is_live(i) || !before.is_modest(i); });
  }
  bool modest_bullets_stay_modest(const Step<State>& step) const {
    const PrlRing before = ring(step.before);
    const PrlRing after = ring(step.after);
    const PrlShot shot(step);
    for (std::size_t i = 0; i < before.n(); ++i) {
      if (!before.is_live(i) || !before.is_modest(i)) continue;
      if (i == step.initiator) {
        if (shot.old_bullet_moves() && !after.is_modest(step.responder)) return false;
      } else if (i != step.responder || shot.right_bullet_stays()) {
        if (!after.is_modest(i)) return false;
      }
    }
    return true;
  }

  // Lemma 4: by a leader (lines 6-7), where it does not disappear at once, or by a new leader.
  bool fired_live_bullets_are_modest(const Step<State>& step) const {
    return !fires_live_bullet(step) || ring(step.after).is_modest(step.responder);
  }
  static bool fires_live_bullet(const Step<State>& step) {
    const PrlShot shot(step);
    return shot.creates_leader() || (shot.left_fires() && shot.arrives());
  }

  // Lemma 5.
  bool has_secure_agent(const Step<State>& step) const {
    const PrlRing before = ring(step.before);
    return !before.every_agent([&](std::size_t i) { return !before.is_secure(i); });
  }
  bool agents_stay_secure(const Step<State>& step) const {
    const PrlRing before = ring(step.before);
    const PrlRing after = ring(step.after);
    for (std::size_t i = 0; i < before.n(); ++i) {
      if (!before.is_secure(i) || after.is_secure(i)) continue;
      if (i != step.responder || before.is_secure(step.initiator)) return false;
    }
    return true;
  }

 private:
  static std::uint64_t height(const State& s) { return s.leader ? 0 : s.distance; }

  std::uint64_t bound_;
};

inline std::string prl_notation(const Prl::State& s) {
  std::string text(1, s.leader ? 'L' : 'F');
  text += "-dB"[static_cast<std::size_t>(s.bullet)];
  text += s.shield ? 'S' : 's';
  text += s.signal ? '*' : '.';
  return text + std::to_string(s.distance);
}

}  // namespace detail

inline Claims<Prl::State> claims_of(const Prl& protocol) {
  using State = Prl::State;
  const detail::PrlLemmas lemmas(protocol.bound());
  const auto in = [lemmas](bool (detail::PrlRing::*contains)() const) {
    return [=](ConfigurationView<State> agents) { return (lemmas.ring(agents).*contains)(); };
  };
  const auto at_each = [lemmas](bool (detail::PrlLemmas::*holds)(const Step<State>&) const) {
    return [=](const Step<State>& step) { return (lemmas.*holds)(step); };
  };
  Claims<State> claims;
  claims.from_everywhere = true;
  claims.notation = detail::prl_notation;
  claims.normal_form = [](const State& s) {  // a follower's shield has no meaning
    State normal = s;
    normal.shield = s.shield && s.leader;
    return normal;
  };
  claims.sets = {
      {"C_PB", "a leader exists and all live bullets are peaceful", in(&detail::PrlRing::in_c_pb)},
      {"M", "all live bullets are modest", in(&detail::PrlRing::all_live_are_modest)},
      {"C_M", "a leader exists and all live bullets are modest",
       [lemmas](ConfigurationView<State> agents) {
         const detail::PrlRing ring = lemmas.ring(agents);
         return ring.leaders() >= 1 && ring.all_live_are_modest();
       }},
      {"C_NI", "of C_PB, all agents secure and all live bullets modest",
       in(&detail::PrlRing::in_c_ni)},
      {"S_RL", "of C_NI, exactly one leader", in(&detail::PrlRing::in_s_rl)}};
  claims.claims = {
      {"Lemma 1", "every bullet disappears before it moves N times", ClaimKind::steps,
       std::string(whole_set), at_each(&detail::PrlLemmas::bullets_move_less_than_n_times),
       detail::PrlLemmas::bullet_arrives_or_stays},
      {"Lemma 2", "C_PB is closed", ClaimKind::closed, "C_PB"},
      {"Lemma 3", "a modest bullet never becomes non-modest", ClaimKind::steps,
       std::string(whole_set), at_each(&detail::PrlLemmas::modest_bullets_stay_modest),
       at_each(&detail::PrlLemmas::has_modest_bullet)},
      {"Lemma 4", "a newly-fired live bullet is modest", ClaimKind::steps, std::string(whole_set),
       at_each(&detail::PrlLemmas::fired_live_bullets_are_modest),
       detail::PrlLemmas::fires_live_bullet},
      {"Lemma 5",
       "where all live bullets are modest, a secure agent becomes insecure only by interacting "
       "with an "
       "insecure left neighbour",
       ClaimKind::steps, "M", at_each(&detail::PrlLemmas::agents_stay_secure),
       at_each(&detail::PrlLemmas::has_secure_agent)},
      {"Lemma 6", "C_NI is closed", ClaimKind::closed, "C_NI"},
      {"Lemma 7", "no leader is created in C_NI", ClaimKind::steps, "C_NI",
       [](const Step<State>& step) { return !detail::PrlShot(step).creates_leader(); }},
      {"Lemma 8", "S_RL is closed and safe", ClaimKind::safe, "S_RL"},
      {"detection", "the engines stop in S_RL and nowhere else", ClaimKind::equal, "S_RL"},
      {"Theorem", "S_RL is reached with probability 1", ClaimKind::reached, "S_RL"}};
  return claims;
}

}  // namespace conclave::protocols
