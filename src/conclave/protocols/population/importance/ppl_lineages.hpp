// Lineages of the virus that the leader of ppl emits, and how likely one outlives the shield.
//
// A copy of the virus with value v becomes, when its carrier meets another agent, two copies with
// value v - 1. Follow one of them at random and it is a lineage. h(R, place, v) is the expected
// number of lineages of a copy at `place` (on a follower F, on the leader L) that can still reach
// and kill the leader when its shield runs out, R meetings of the leader from now:
//
//   hF(R,v) = [(n-2) hF(R-1,v) + hF(R-1,v-1) + hL(R-1,v-1) + 2(n-2) hF(R,v-1)] / (2n-3)
//   hL(R,v) = hF(R-1,v-1) + hL(R-1,v-1)
//
// over the meetings that concern the copy or the leader. When the shield is gone (R = 0), a copy on
// the leader kills if v >= 2, and one on a follower with at most the expected number of its
// lineages that reach the leader. h bounds the probability of a suicide from above, is a good
// importance function, and weights the choice of meetings in the spine sampler. Everything in
// logarithms of double precision.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/real_functions.hpp"
#include "conclave/protocols/population/ppl.hpp"

namespace conclave::protocols {

class PplLineages {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;

  // Memory of the table; more than most_bytes is refused by callers.
  static std::uint64_t bytes(std::uint64_t t_virus, std::uint64_t t_emit) {
    return 2 * sizeof(double) * (t_virus + 1) * (t_emit + 1);
  }

  // n >= 3. O(t_virus t_emit).
  PplLineages(AgentCount n, std::uint32_t t_virus, std::uint32_t t_emit)
      : n_(n), t_virus_(t_virus), t_emit_(t_emit), follower_(rows()), leader_(rows()) {
    Row follower = row(follower_, 0);
    Row leader = row(leader_, 0);
    std::ranges::fill(follower, minus_infinity);
    std::ranges::fill(leader, minus_infinity);
    const auto others = static_cast<double>(n - 1);
    double reach = 0;
    for (std::uint32_t v = 2; v <= t_virus; ++v) {
      reach = (1 + 2 * reach * (others - 1)) / others;
      if (reach > 1) reach = 1;  // and it stays there
      follower[v] = logarithm_of(reach);
      leader[v] = 0;
    }
    for (std::uint32_t r = 1; r <= t_emit; ++r) {
      fill_row(row(follower_, r - 1), row(leader_, r - 1), row(follower_, r), row(leader_, r));
    }
    ln_alive_ = ln_expected_alive();
  }

  AgentCount n() const { return n_; }
  std::uint32_t t_virus() const { return t_virus_; }
  std::uint32_t t_emit() const { return t_emit_; }

  // ln h, for 0 <= r <= t_emit and 0 <= v <= t_virus.
  double on_follower(std::uint32_t r, std::uint32_t v) const { return follower_[at(r, v)]; }
  double on_leader(std::uint32_t r, std::uint32_t v) const { return leader_[at(r, v)]; }

  // An upper bound on ln of the probability that a virus is alive when the shield runs out: the
  // expected number of its lineages.
  double ln_emission_bound() const { return std::min(0.0, ln_alive_); }

  // The leader emits once in n t_emit interactions on average, and its timer expires as responder,
  // which takes the shield away, with probability 1/2: a lower bound on ln of the expected time
  // until a suicide, up to a relative error of the order of that probability.
  double ln_time_bound() const { return ln_cycle() + logarithm_of(2) - ln_emission_bound(); }
  double ln_cycle() const {
    return logarithm_of(static_cast<double>(n_) * static_cast<double>(t_emit_));
  }

  // Below that ratio one wave of infections makes the weights of the spine too uneven. Lineages of
  // longer viruses could be too many for a double.
  bool suits_spine() const {
    return t_virus_ >= 2 && t_virus_ <= 1000 && t_emit_ / t_virus_ >= 5 && ln_alive_ < -5;
  }

 private:
  using Row = std::span<double>;

  std::size_t at(std::uint32_t r, std::uint32_t v) const {
    return std::size_t{r} * (t_virus_ + 1) + v;
  }
  std::size_t rows() const { return std::size_t{t_emit_ + 1} * (t_virus_ + 1); }
  Row row(std::vector<double>& table, std::uint32_t r) const {
    return {table.data() + at(r, 0), t_virus_ + std::size_t{1}};
  }

  void fill_row(Row before_f, Row before_l, Row now_f, Row now_l) const {
    const auto others = static_cast<double>(n_ - 2);
    const double ln_others = logarithm_of(others);
    const double ln_twice = logarithm_of(2 * others);
    const double ln_all = logarithm_of(2 * others + 1);
    now_f[0] = now_l[0] = minus_infinity;
    for (std::uint32_t v = 1; v <= t_virus_; ++v) {
      const std::array<double, 2> met{before_f[v - 1], before_l[v - 1]};
      now_l[v] = log_sum_of(met);
      const std::array<double, 3> all{ln_others + before_f[v], now_l[v], ln_twice + now_f[v - 1]};
      now_f[v] = log_sum_of(all) - ln_all;
    }
  }

  // The same recursion with h(0, v >= 2) = 1, from the emission on.
  double ln_expected_alive() const {
    std::vector<double> before_f(t_virus_ + std::size_t{1}, 0);
    before_f[0] = minus_infinity;
    if (t_virus_ >= 1) before_f[1] = minus_infinity;
    std::vector<double> before_l = before_f, now_f = before_f, now_l = before_f;
    for (std::uint32_t r = 1; r <= t_emit_; ++r) {
      fill_row(before_f, before_l, now_f, now_l);
      std::swap(before_f, now_f);
      std::swap(before_l, now_l);
    }
    return before_l[t_virus_];
  }

  AgentCount n_;
  std::uint32_t t_virus_;
  std::uint32_t t_emit_;
  std::vector<double> follower_;
  std::vector<double> leader_;
  double ln_alive_ = 0;
};

// The viruses of a population with one leader: what importance functions for suicide look at.
class PplViruses {
 public:
  void load(std::span<const Ppl::State> agents) {
    viruses_.clear();
    alive_ = 0;
    for (std::size_t i = 0; i < agents.size(); ++i) {
      viruses_.push_back(agents[i].virus);
      alive_ += agents[i].virus > 1 ? 1 : 0;
      if (agents[i].leader) leader_ = i;
    }
    look_at_leader(agents);
  }

  void replace(std::span<const Ppl::State> agents, std::size_t u, std::size_t v) {
    for (const std::size_t i : {u, v}) {
      alive_ += agents[i].virus > 1 ? 1 : 0;
      alive_ -= viruses_[i] > 1 ? 1 : 0;
      viruses_[i] = agents[i].virus;
      if (i == leader_) look_at_leader(agents);
    }
  }

 protected:
  bool is_clean() const { return alive_ == 0; }          // a virus of 1 can do nothing
  std::uint32_t meetings_left() const { return left_; }  // of the shielded leader; 0: no shield
  std::size_t leader() const { return leader_; }
  std::span<const std::uint16_t> viruses() const { return viruses_; }

 private:
  void look_at_leader(std::span<const Ppl::State> agents) {
    left_ = agents[leader_].shield ? agents[leader_].timer_i : 0;
  }

  std::vector<std::uint16_t> viruses_;
  std::size_t leader_ = 0;
  std::uint32_t left_ = 0;
  std::uint64_t alive_ = 0;
};

// ln of the sum of h over all copies of the virus.
class PplFirstMoment : public PplViruses {
 public:
  explicit PplFirstMoment(std::shared_ptr<const PplLineages> lineages)
      : lineages_(std::move(lineages)) {}

  double value() const {
    if (is_clean()) return minus_infinity;
    const std::uint32_t r = meetings_left();
    const std::uint32_t on_leader = viruses()[leader()];
    double most = lineages_->on_leader(r, on_leader);
    std::array<std::uint32_t, 8> largest{};  // of the followers; the rest adds next to nothing
    std::size_t kept = 0;
    for (std::size_t i = 0; i < viruses().size(); ++i) {
      if (i == leader() || viruses()[i] <= largest[7]) continue;
      kept = 7;
      while (kept > 0 && largest[kept - 1] < viruses()[i]) {
        largest[kept] = largest[kept - 1];
        --kept;
      }
      largest[kept] = viruses()[i];
    }
    most = std::max(most, lineages_->on_follower(r, largest[0]));
    if (most == minus_infinity) return most;
    double sum = exponential_of(lineages_->on_leader(r, on_leader) - most);
    for (const std::uint32_t v : largest) {
      sum += exponential_of(lineages_->on_follower(r, v) - most);
    }
    return most + logarithm_of(sum);
  }

 private:
  std::shared_ptr<const PplLineages> lineages_;
};

// Interactions of the leader since it has emitted a virus; minus infinity where none lives.
class PplSinceEmission : public PplViruses {
 public:
  explicit PplSinceEmission(const std::shared_ptr<const PplLineages>& lineages)
      : t_emit_(lineages->t_emit()) {}

  double value() const {
    if (is_clean()) return minus_infinity;
    return static_cast<double>(t_emit_) - static_cast<double>(meetings_left());
  }

 private:
  std::uint32_t t_emit_;
};

}  // namespace conclave::protocols
