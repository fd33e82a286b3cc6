// The rivals of the papers' tables a second time, written from their descriptions without a look at
// src/: agents are tuples of plain integers, a rule turns two of them into two others. And their
// expected times a second time: every configuration, and one unknown per configuration.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace conclave::tests::naive {

using Agent = std::array<int, 4>;
using Rule = std::function<void(Agent&, Agent&)>;
using Configuration = std::vector<Agent>;  // sorted
using IsDone = std::function<bool(const Configuration&)>;

// Cai, Izumi, Wada. Agent: rank.
inline Rule ciw(int n) {
  return [n](Agent& initiator, Agent& responder) {
    if (initiator[0] - responder[0] == 0) responder[0] = (responder[0] + 1) % n;
  };
}

// Sudo et al. 2012. Agent: leader, timer. "reading" as the protocol's parameter.
inline Rule timers(int t_max, const std::string& reading) {
  return [=](Agent& x, Agent& y) {
    const auto reset_if_led = [&] {
      if (x[0] + y[0] > 0) x[1] = y[1] = t_max;
    };
    const auto fight = [&] { y[0] = x[0] == 1 ? 0 : y[0]; };
    const auto propagate = [&] {
      const bool were_zero = x[1] == 0 && y[1] == 0;
      const int t = std::max({x[1] - 1, y[1] - 1, 0});
      x[1] = y[1] = t;
      if (t > 0 || (reading == "late" && !were_zero)) return;
      x[0] = 1;
      y[0] = reading == "both" ? 1 : y[0];
      x[1] = y[1] = t_max;
    };
    if (reading == "ppl") {
      propagate();
      reset_if_led();
      fight();
    } else if (x[0] + y[0] > 0) {
      fight();
      reset_if_led();
    } else {
      propagate();
    }
  };
}

// Alistarh, Gelashvili 2015, reconstructed. Agent: s > 0 a leader, s < 0 a minion of value |s|.
inline Rule ag_minions(int m, bool contender) {
  return [=](Agent& u, Agent& v) {
    const int a = u[0];
    const int b = v[0];
    const int top = std::max(std::abs(a), std::abs(b));
    const bool u_wins = a > 0 && std::abs(a) >= std::abs(b);
    const bool v_wins =
        b > 0 && (std::abs(b) > std::abs(a) || (contender && std::abs(b) == std::abs(a) && a < 0));
    u[0] = u_wins ? std::min(top + 1, m + 1) : -std::min(top, m);
    v[0] = v_wins ? std::min(top + 1, m + 1) : -std::min(top, m);
  };
}

// Burman et al. 2021. Agent: settled {0, rank, children, 0}, unsettled {1, errorcount, 0, 0},
// resetting {2, resetcount, delaytimer, 1 if leader}.
struct OptimalSilent {
  int n = 2;
  int r_max = 1;
  int d_max = 1;
  int e_max = 1;
  bool falls_through = false;
  bool goes_below_zero = false;
  bool joins_as_follower = false;
  bool needs_a_resetting_initiator = false;

  static bool resets(const Agent& x) { return x[0] == 2; }

  void wake(Agent& x) const { x = x[3] == 1 ? Agent{0, 1, 0, 0} : Agent{1, e_max, 0, 0}; }
  void trigger(Agent& x) const { x = {2, r_max, d_max, 1}; }

  void propagate(Agent& u, Agent& v) const {
    std::map<Agent*, int> before{{&u, u[1]}, {&v, resets(v) ? v[1] : -1}};
    if (u[1] > 0 && !resets(v)) v = {2, 0, d_max, joins_as_follower ? 0 : 1};
    if (resets(v)) u[1] = v[1] = std::max({u[1] - 1, v[1] - 1, 0});
    for (auto [i, j] : {std::pair{&u, &v}, std::pair{&v, &u}}) {
      if (!resets(*i) || (*i)[1] != 0) continue;
      const bool sleeps_for_ever = goes_below_zero && (*i)[2] == 0 && before[i] == 0;
      if (before[i] != 0) {
        (*i)[2] = d_max;
      } else {
        (*i)[2] = std::max((*i)[2] - 1, 0);
      }
      if (((*i)[2] == 0 && !sleeps_for_ever) || !resets(*j)) wake(*i);
    }
  }

  void operator()(Agent& a, Agent& b) const {
    if (!resets(a) && resets(b) && needs_a_resetting_initiator) return;
    if (resets(a) || resets(b)) {
      resets(a) ? propagate(a, b) : propagate(b, a);
      if (resets(a) && resets(b) && a[3] == 1 && b[3] == 1) b[3] = 0;
      if (!falls_through) return;
    }
    if (a[0] == 0 && b[0] == 0 && a[1] == b[1]) {
      trigger(a);
      trigger(b);
    }
    for (auto [i, j] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
      if ((*i)[0] != 0 || (*j)[0] != 1 || (*i)[2] == 2) continue;
      const int next = 2 * (*i)[1] + (*i)[2];
      if (next > n) continue;
      *j = {0, next, 0, 0};
      (*i)[2] += 1;
    }
    for (Agent* i : {&a, &b}) {
      if ((*i)[0] != 1) continue;
      (*i)[1] = std::max((*i)[1] - 1, 0);
      if ((*i)[1] > 0) continue;
      trigger(a);
      trigger(b);
    }
  }
};

// The expected number of interactions from a configuration to one that is done, which must be
// certain to be reached, by sweeps over one equation per configuration.
inline double expected_steps(Configuration start, const Rule& rule, const IsDone& is_done) {
  std::ranges::sort(start);
  std::map<Configuration, std::size_t> numbers{{start, 0}};
  std::vector<Configuration> found{start};
  std::vector<std::vector<std::size_t>> next;
  for (std::size_t at = 0; at < found.size(); ++at) {
    next.emplace_back();
    const Configuration here = found[at];
    for (std::size_t i = 0; i < here.size() && !is_done(here); ++i) {
      for (std::size_t j = 0; j < here.size(); ++j) {
        if (i == j) continue;
        Configuration there = here;
        rule(there[i], there[j]);
        std::ranges::sort(there);
        const auto [entry, is_new] = numbers.try_emplace(there, found.size());
        if (is_new) found.push_back(there);
        next.back().push_back(entry->second);
      }
    }
  }
  std::vector<double> time(found.size(), 0);
  for (double change = 1; change > 1e-13;) {
    change = 0;
    for (std::size_t at = found.size(); at-- > 0;) {
      if (next[at].empty()) continue;
      double sum = static_cast<double>(next[at].size());
      double leaves = 0;
      for (const std::size_t to : next[at]) {
        sum += to == at ? 0 : time[to];
        leaves += to == at ? 0 : 1;
      }
      change = std::max(change, std::abs(sum / leaves - time[at]) / (sum / leaves));
      time[at] = sum / leaves;
    }
  }
  return time[0];
}

}  // namespace conclave::tests::naive
