// fischer-jiang a second time, written from the description without a look at src/: an agent is
// {leader, bullet, shield}, the last entry of a configuration is the oracle's clock, and the law of
// the time comes from following the probability of every configuration.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace conclave::tests::naive {

using RingAgent = std::array<int, 3>;
using RingConfiguration = std::vector<RingAgent>;  // n agents, then {clock}

struct FischerJiang {
  bool fires_first = false;
  bool guards = false;
  bool passes = false;
  bool initiator_is_made = true;
  bool responder_is_made = true;
  bool ends = false;

  void operator()(RingAgent& l, RingAgent& r, bool told_of_no_leader) const {
    bool is_birth = false;
    const auto give_birth = [&](RingAgent& x, bool is_meant) {
      if (!told_of_no_leader || !is_meant || x[0] == 1) return;
      x = {1, 1, 1};
      is_birth = true;
    };
    give_birth(l, initiator_is_made);
    give_birth(r, responder_is_made);
    if (is_birth && ends) return;
    const bool arrives = l[1] == 1;
    const bool is_open = r[2] == 0;
    const bool loads = r[0] == 1 && r[1] == 0;
    const bool has_bullet = r[1] == 1 || (loads && fires_first);
    const bool dies = arrives && is_open && r[0] == 1 && !(guards && has_bullet);
    const bool lands = arrives && is_open && (!dies || passes);
    const bool fires = loads && !dies;
    l = {l[0], 0, std::max(l[2], r[2])};
    r = {r[0] == 1 && !dies ? 1 : 0, has_bullet || lands || fires ? 1 : 0, 0};
  }
};

// The ring with an oracle that errs for `duration` interactions: "immediate", "delay", "lies" or
// "silent".
struct OracleRing {
  FischerJiang rule;
  std::string oracle = "immediate";
  int duration = 0;

  static std::size_t size(const RingConfiguration& ring) { return ring.size() - 1; }
  static int leaders(const RingConfiguration& ring) {
    int count = 0;
    for (std::size_t i = 0; i < size(ring); ++i) count += ring[i][0];
    return count;
  }

  bool tells(const RingConfiguration& ring) const {
    const bool is_over = ring.back()[0] >= duration;
    if (oracle == "lies") return !is_over || leaders(ring) == 0;
    if (oracle == "immediate") return leaders(ring) == 0;
    return is_over && leaders(ring) == 0;
  }

  RingConfiguration after(RingConfiguration ring, std::size_t arc) const {
    const bool was_empty = leaders(ring) == 0;
    rule(ring[arc], ring[(arc + 1) % size(ring)], tells(ring));
    int& clock = ring.back()[0];
    const bool goes_on = oracle != "delay" || (was_empty && leaders(ring) == 0);
    clock = goes_on ? std::min(clock + 1, duration) : 0;
    return ring;
  }

  // One leader, and the first marked agent to its left has a shield and no bullet.
  bool is_done(const RingConfiguration& ring) const {
    if (leaders(ring) != 1 || (oracle == "lies" && ring.back()[0] < duration)) return false;
    std::size_t at = 0;
    while (ring[at][0] == 0) ++at;
    if (ring[at][2] == 1) return true;
    for (std::size_t left = size(ring) - 1; left > 0; --left) {
      const RingAgent& met = ring[(at + left) % size(ring)];
      if (met[1] + met[2] > 0) return met[1] == 0;
    }
    return false;
  }

  // P(T <= t) for t = 0 ... steps.
  std::vector<double> law(const RingConfiguration& start, std::size_t steps) const {
    std::map<RingConfiguration, double> now{{start, 1.0}};
    std::vector<double> cdf;
    double done = 0;
    for (std::size_t t = 0; t <= steps; ++t) {
      std::map<RingConfiguration, double> next;
      for (const auto& [ring, chance] : now) {
        if (is_done(ring)) {
          done += chance;
          continue;
        }
        for (std::size_t arc = 0; arc < size(ring); ++arc) {
          next[after(ring, arc)] += chance / static_cast<double>(size(ring));
        }
      }
      cdf.push_back(done);
      now = std::move(next);
    }
    return cdf;
  }
};

}  // namespace conclave::tests::naive
