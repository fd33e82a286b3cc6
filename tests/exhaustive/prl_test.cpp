// prl on rings so small that every configuration is visited: the lemmas of Sect. 4.1, the tally
// against the definitions, and the errata (errata-prl.md) that a configuration can show.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/prl_definitions.hpp"

namespace conclave::tests {
namespace {

// All 24 (N + 1) states.
std::vector<Prl::State> all_states(std::uint64_t bound) {
  std::vector<Prl::State> states;
  for (std::uint64_t distance = 0; distance <= bound; ++distance) {
    for (unsigned flags = 0; flags < 24; ++flags) {
      states.push_back({.distance = distance,
                        .bullet = static_cast<Prl::Bullet>(flags / 8),
                        .leader = (flags & 1) != 0,
                        .shield = (flags & 2) != 0,
                        .signal = (flags & 4) != 0});
    }
  }
  return states;
}

// All configurations of a ring, numbered.
struct Space {
  std::uint64_t n;
  std::uint64_t bound;
  Prl protocol = prl_with(n, bound);
  std::vector<Prl::State> states = all_states(bound);

  std::uint64_t size() const {
    std::uint64_t product = 1;
    for (std::uint64_t i = 0; i < n; ++i) product *= states.size();
    return product;
  }
  Ring ring(std::uint64_t number) const {
    Ring ring{.agents = {}, .bound = bound};
    for (std::uint64_t i = 0; i < n; ++i, number /= states.size()) {
      ring.agents.push_back(states[number % states.size()]);
    }
    return ring;
  }
  std::uint64_t number(const Ring& ring) const {
    std::uint64_t number = 0;
    for (std::uint64_t i = n; i-- > 0;) number = number * states.size() + index(ring.agents[i]);
    return number;
  }
  static std::uint64_t index(const Prl::State& s) {
    return s.distance * 24 + static_cast<std::uint64_t>(s.bullet) * 8 + (s.signal ? 4 : 0) +
           (s.shield ? 2 : 0) + (s.leader ? 1 : 0);
  }
  std::string name() const { return "n=" + std::to_string(n) + " N=" + std::to_string(bound); }
};

const std::vector<Space>& spaces() {
  static const std::vector<Space> all{{2, 2}, {2, 3}, {3, 3}, {3, 4}};
  return all;
}

TEST(Prl, HasTwentyFourStatesPerDistance) {
  for (const Space& space : spaces()) {
    EXPECT_EQ(space.protocol.state_count(), Interactions(space.states.size())) << space.name();
    for (const Prl::State& s : space.states) {
      EXPECT_EQ(space.protocol.unpack(space.protocol.pack(s)), s) << conclave::to_text(s);
    }
  }
}

// The null test never overlooks a change. It errs on the safe side in one case only: a leader fires
// at the shielded leader beside it, the bullet is gone at once and the signal is back.
TEST(Prl, NullTestFindsEveryChange) {
  const Space space{2, 3};
  for (const Prl::State& u : space.states) {
    for (const Prl::State& v : space.states) {
      Ring ring{.agents = {u, v}, .bound = space.bound};
      ring.interact(space.protocol, 0);
      const bool changes = ring.agents[0] != u || ring.agents[1] != v;
      const bool fires_in_vain = u.leader && u.signal && v.leader;
      const bool flagged =
          space.protocol.may_change(space.protocol.pack(u), space.protocol.pack(v)) != 0;
      EXPECT_EQ(flagged, changes || (fires_in_vain && flagged))
          << conclave::to_text(u) << " | " << conclave::to_text(v);
    }
  }
}

TEST(Prl, TallyOfEveryConfigurationIsInSrlByDefinition) {
  for (const Space& space : spaces()) {
    std::uint64_t converged = 0;
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      const Ring ring = space.ring(number);
      const Prl::Tally tally = tally_of(space.protocol, ring);
      ASSERT_EQ(tally.converged(), ring.in_s_rl()) << space.name() << ": " << to_text(ring);
      ASSERT_EQ(tally.leaders(), ring.leaders()) << space.name() << ": " << to_text(ring);
      converged += tally.converged() ? 1 : 0;
    }
    EXPECT_GT(converged, 0u) << space.name();
  }
}

TEST(Prl, TallyFollowsEveryInteractionOfEveryConfiguration) {
  for (const Space& space : {Space{2, 2}, Space{2, 3}, Space{3, 3}}) {
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      const Ring before = space.ring(number);
      const Prl::Tally tally_before = tally_of(space.protocol, before);
      for (std::uint64_t i = 0; i < space.n; ++i) {
        Ring after = before;
        after.interact(space.protocol, i);
        const std::uint64_t j = (i + 1) % space.n;
        Prl::Tally tally = tally_before;
        tally.replace_at(i, j, before.u(i), before.u(j), after.u(i), after.u(j), RingView{&after});
        ASSERT_EQ(tally.converged(), after.in_s_rl())
            << space.name() << ": " << to_text(before) << " --e" << i << "--> " << to_text(after);
      }
    }
  }
}

// Lemmas 2, 6, 7, 8: C_PB, C_NI and S_RL are closed, C_PB always has a leader, C_NI creates none,
// and outputs never change in S_RL.
TEST(Prl, SetsOfSection41AreClosed) {
  for (const Space& space : spaces()) {
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      const Ring before = space.ring(number);
      if (!before.in_c_pb()) continue;
      const bool c_ni = before.in_c_ni();
      const bool s_rl = c_ni && before.leaders() == 1;
      for (std::uint64_t i = 0; i < space.n; ++i) {
        Ring after = before;
        after.interact(space.protocol, i);
        const std::string step = space.name() + ": " + to_text(before) + " -> " + to_text(after);
        ASSERT_TRUE(after.in_c_pb()) << step;
        ASSERT_GE(after.leaders(), 1u) << step;
        if (!c_ni) continue;
        ASSERT_TRUE(after.in_c_ni()) << step;
        ASSERT_FALSE(!before.u(i + 1).leader && after.u(i + 1).leader) << step;
        if (!s_rl) continue;
        ASSERT_TRUE(after.in_s_rl()) << step;
        ASSERT_TRUE(before.u(i + 1).leader == after.u(i + 1).leader) << step;
      }
    }
  }
}

// Adds to `inside` (or removes from it) until nothing changes, by looking at successors.
template <class Rule>
void close(const Space& space, std::vector<char>& inside, bool value, Rule rule) {
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      if ((inside[number] != 0) == value) continue;
      const Ring before = space.ring(number);
      for (std::uint64_t i = 0; i < space.n; ++i) {
        Ring after = before;
        after.interact(space.protocol, i);
        if (!rule(before, after, inside[space.number(after)] != 0)) continue;
        inside[number] = value ? 1 : 0;
        changed = true;
        break;
      }
    }
  }
}

std::vector<char> s_rl_of(const Space& space) {
  std::vector<char> inside(space.size());
  for (std::uint64_t k = 0; k < space.size(); ++k) inside[k] = space.ring(k).in_s_rl() ? 1 : 0;
  return inside;
}

TEST(Prl, SrlIsReachableFromEveryConfiguration) {
  for (const Space& space : {Space{2, 2}, Space{2, 3}, Space{3, 3}}) {
    std::vector<char> reaches = s_rl_of(space);
    close(space, reaches, true, [](const Ring&, const Ring&, bool next) { return next; });
    EXPECT_EQ(std::ranges::count(reaches, 0), 0) << space.name();
  }
}

// Erratum R5: outputs may be final before S_RL is entered.
TEST(Prl, MoreConfigurationsAreSafeByDefinition1ThanSrl) {
  struct Known {
    Space space;
    std::uint64_t safe_only;
  };
  for (const Known& known : {Known{{2, 2}, 1128}, Known{{2, 3}, 2248}, Known{{3, 3}, 62328}}) {
    const Space& space = known.space;
    std::vector<char> safe(space.size());
    for (std::uint64_t k = 0; k < space.size(); ++k) safe[k] = space.ring(k).leaders() == 1 ? 1 : 0;
    close(space, safe, false, [&](const Ring& before, const Ring& after, bool next) {
      const auto same = [](const Prl::State& a, const Prl::State& b) {
        return a.leader == b.leader;
      };
      return !next || !std::ranges::equal(before.agents, after.agents, same);
    });
    const std::vector<char> s_rl = s_rl_of(space);
    std::uint64_t safe_only = 0;
    for (std::uint64_t k = 0; k < space.size(); ++k) {
      EXPECT_LE(s_rl[k], safe[k]) << space.name() << ": " << to_text(space.ring(k));
      safe_only += safe[k] > s_rl[k] ? 1 : 0;
    }
    EXPECT_EQ(safe_only, known.safe_only) << space.name();
  }
}

struct Step {
  std::uint64_t arc;
  std::string after;
};

// Plays the steps, checks each configuration, and returns the last one.
Ring play(Ring ring, std::initializer_list<Step> steps) {
  const Prl protocol = prl_with(ring.n(), ring.bound);
  for (const Step& step : steps) {
    ring.interact(protocol, step.arc);
    EXPECT_EQ(to_text(ring), step.after);
  }
  return ring;
}

// Erratum R1: killed at the interaction at which it fires a dummy, and it keeps the dummy.
TEST(PrlErrata, LinesAreExecutedOneAfterTheOther) {
  play(ring_of("FBs.1 L-s*0", 2), {{0, "F-s.1 Fds.0"}});
}

// Erratum R2.
TEST(PrlErrata, AFollowerWithABulletAndAFullDistanceBecomesALeaderWhateverIsOnItsLeft) {
  play(ring_of("L-S.0 Fds.3 F-s.0", 3), {{0, "L-S*0 LBS.0 F-s.0"}});
  play(ring_of("L-S.0 F-s.3 F-s.0", 3), {{0, "L-S.0 F-s.1 F-s.0"}});
}

// Sect. 4.1, Fig. 3: in C_PB and all secure, but not all live bullets are modest.
TEST(PrlErrata, FigureThreeCreatesALeaderBesideALeader) {
  const Ring begin = ring_of("L-S.0 FBs.2 L-s.0 F-s.3", 4);
  EXPECT_TRUE(begin.in_c_pb());
  EXPECT_FALSE(begin.in_c_ni());
  const Ring killed = ring_of("L-S.0 FBs.3 L-s.0 F-s.3", 4);
  EXPECT_TRUE(killed.in_c_pb() && killed.is_secure(1));
  play(killed, {{1, "L-S.0 F-s.3 F-s.0 F-s.3"}, {1, "L-S.0 F-s*3 LBS.0 F-s.3"}});
}

// Erratum R6, both readings of the claim.
TEST(PrlErrata, AnInsecureAgentWithADummyBulletStaysInsecure) {
  const Ring loose = play(ring_of("L-s.0 Fds.2 F-s.0", 3), {{0, "L-s.0 Fds.2 F-s.0"}});
  EXPECT_FALSE(loose.is_secure(1));
  const Ring created = play(ring_of("FBs.1 L-s*0 F-s.0", 3), {{0, "F-s.1 Fds.0 F-s.0"},
                                                              {1, "F-s.1 F-s.0 Fds.1"},
                                                              {0, "F-s.1 F-s.2 Fds.1"},
                                                              {2, "Fds.2 F-s.2 F-s.1"},
                                                              {1, "Fds.2 F-s*2 LBS.0"}});
  EXPECT_TRUE(created.is_modest(2) && created.is_secure(2) && !created.is_secure(0));
  const Ring after = play(created, {{2, "Fds.2 F-s*2 L-S.0"}});
  EXPECT_FALSE(after.is_secure(0));
}

// Erratum R6: not all agents are secure when seq_R(3, 1) completes, although u_3 leads.
TEST(PrlErrata, OneRoundDoesNotMakeAllAgentsSecure) {
  Ring ring = ring_of("L-s*0 FBs.2 L-s*0 FBs.0", 4);
  const Prl protocol = prl_with(4, 4);
  for (const std::uint64_t arc : {1u, 3u, 2u, 1u, 0u, 3u, 2u}) ring.interact(protocol, arc);
  EXPECT_EQ(to_text(ring), "Fds.2 Fds.1 F-s*3 LBS.0");
  EXPECT_TRUE(ring.is_modest(3));
  for (const std::uint64_t arc : {3u, 0u, 1u}) ring.interact(protocol, arc);
  EXPECT_EQ(to_text(ring), "F-s.2 F-s.1 Fds.2 L-S.0");
  EXPECT_FALSE(ring.is_secure(0));
}

// Erratum R6: where all live bullets are modest and all leaders have distL 0, Claim 2 holds for
// agents without a bullet.
TEST(PrlErrata, ClaimTwoHoldsForAgentsWithoutABullet) {
  for (const Space& space : spaces()) {
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      const Ring before = space.ring(number);
      const bool applies = before.leaders() > 0 && before.every_agent([&](std::uint64_t i) {
        return !(before.u(i).leader && before.u(i).distance > 0) &&
               (!before.is_live(i) || before.is_modest(i));
      });
      for (std::uint64_t i = 0; applies && i < space.n; ++i) {
        if (!before.is_secure(i) || before.u(i + 1).bullet != Prl::Bullet::none) continue;
        Ring after = before;
        after.interact(space.protocol, i);
        ASSERT_TRUE(after.is_secure((i + 1) % space.n)) << to_text(before) << " --e" << i << "-->";
      }
    }
  }
}

// Claim 1 of Lemma 11, with a memory of who has led: from every configuration in which all live
// bullets are modest and all leaders have distL 0, whoever has led since is secure.
TEST(PrlErrata, ClaimOneHoldsAfterAnyNumberOfInteractions) {
  for (const Space& space : spaces()) {
    const std::uint64_t masks = std::uint64_t{1} << space.n;
    std::vector<bool> seen(space.size() * masks);
    std::vector<std::uint64_t> open;
    const auto visit = [&](const Ring& ring, std::uint64_t has_led) {
      for (std::uint64_t i = 0; i < space.n; ++i) {
        if (ring.u(i).leader) has_led |= std::uint64_t{1} << i;
      }
      const std::uint64_t node = space.number(ring) * masks + has_led;
      if (seen[node]) return;
      seen[node] = true;
      open.push_back(node);
    };
    for (std::uint64_t number = 0; number < space.size(); ++number) {
      const Ring ring = space.ring(number);
      const bool begins = ring.leaders() > 0 && ring.every_agent([&](std::uint64_t i) {
        return !(ring.u(i).leader && ring.u(i).distance > 0) &&
               (!ring.is_live(i) || ring.is_modest(i));
      });
      if (begins) visit(ring, 0);
    }
    EXPECT_GT(open.size(), 100u);
    while (!open.empty()) {
      const Ring before = space.ring(open.back() / masks);
      const std::uint64_t has_led = open.back() % masks;
      open.pop_back();
      for (std::uint64_t i = 0; i < space.n; ++i) {
        ASSERT_TRUE((has_led >> i & 1) == 0 || before.is_secure(i)) << to_text(before);
        Ring after = before;
        after.interact(space.protocol, i);
        visit(after, has_led);
      }
    }
  }
}

// Erratum R7: u_2, the last of the three leaders, differs between P_RL and P'_RL (no line 11),
// because its right neighbour is killed.
TEST(PrlErrata, TheLastOfThreeLeadersDependsOnItsRightNeighbour) {
  EXPECT_TRUE(ring_of("L-s.0 L-s.0 L-s*0 L-s.0", 4).in_c_ni());
  play(ring_of("L-s.0 L-s.0 L-s*0 L-s.0", 4), {{2, "L-s.0 L-s.0 L-S.0 F-s.0"}});
}

// Lemma 10: gamma = (e_0 ... e_{n-1})^k creates a leader with k = ceil(N/n) + 1, not with the
// floor. A follower's shield is never read, so it is left out.
std::uint64_t leaderless_after_rounds(const Space& space, std::uint64_t rounds) {
  std::uint64_t count = 0;
  for (std::uint64_t number = 0; number < space.size(); ++number) {
    Ring ring = space.ring(number);
    const auto is_left_out = [](const Prl::State& s) { return s.leader || s.shield; };
    if (std::ranges::any_of(ring.agents, is_left_out)) continue;
    bool created = false;
    for (std::uint64_t step = 0; step < rounds * space.n && !created; ++step) {
      ring.interact(space.protocol, step % space.n);
      created = ring.leaders() > 0;
    }
    count += created ? 0 : 1;
  }
  return count;
}

TEST(PrlErrata, LemmaTenNeedsTheCeiling) {
  const Space space{3, 5};
  EXPECT_EQ(leaderless_after_rounds(space, 5 / 3 + 1), 4032u);
  EXPECT_EQ(leaderless_after_rounds(space, 5 / 3 + 2), 0u);
}

}  // namespace
}  // namespace conclave::tests
