// The spine sampler: how often the leader of ppl is killed by its own virus, without levels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/protocols/population/importance/ppl_lineages.hpp"

namespace conclave::protocols {

// Importance sampling for suicide. Every interaction from an emission to the end of the shield is
// chosen with the law under which one lineage, the spine, survives: h is harmonic, so its weights
// make a law of meetings. A path's weight is h(t_emit, L, t_virus) / W, where W sums h over all
// lineages that are there at the end; the emission is followed by a suicide with that weight times
// 1/2 (the leader's timer expires as responder) times the share of plain continuations that kill.
// Unbiased without levels, up to a relative error of the order of the probability itself.
class PplSpine {
 public:
  explicit PplSpine(std::shared_ptr<const PplLineages> lineages) : lineages_(std::move(lineages)) {}

  // A cycle from emission to expiry for each 50 paths, at least two.
  RareRepetition sample(std::uint64_t paths, Stream& stream,
                        const KeepComputing& keep_computing) const {
    const std::uint64_t cycles = std::max<std::uint64_t>(2, paths / 50);
    std::vector<double> scores;
    RareRepetition result;
    for (std::uint64_t i = 0; i < cycles; ++i) {
      Cycle cycle(*lineages_, stream, keep_computing, result.interactions);
      scores.push_back(cycle.run());
    }
    result.ln_rate =
        log_sum_of(scores) - logarithm_of(static_cast<double>(cycles)) - lineages_->ln_cycle();
    return result;
  }

 private:
  class Cycle {
   public:
    Cycle(const PplLineages& lineages, Stream& stream, const KeepComputing& keep_computing,
          double& interactions)
        : h_(lineages),
          stream_(stream),
          keep_computing_(keep_computing),
          interactions_(interactions),
          width_(h_.t_virus() + std::size_t{1}),
          counts_(static_cast<std::size_t>(h_.n()) * width_),
          viruses_(static_cast<std::size_t>(h_.n())),
          left_(h_.t_emit()),
          value_(h_.t_virus()) {
      counts_[width_ - 1] = 1;
      viruses_[leader] = value_;
    }

    // ln of the cycle's estimate of the probability of a suicide.
    double run() {
      if (h_.on_leader(left_, value_) == minus_infinity) return minus_infinity;  // it dies too soon
      while (left_ > 0) meet();
      const double killed = share_killed();
      if (killed == 0) return minus_infinity;
      return h_.on_leader(h_.t_emit(), h_.t_virus()) - ln_weight() + logarithm_of(killed / 2);
    }

   private:
    static constexpr std::size_t leader = 0;

    std::uint64_t n() const { return h_.n(); }
    double* counts(std::size_t agent) { return counts_.data() + agent * width_; }

    void ask() {
      if (++since_question_ < 1024) return;
      interactions_ += static_cast<double>(std::exchange(since_question_, 0));
      if (keep_computing_ && !keep_computing_(interactions_)) throw Interrupted();
    }

    void meet() {
      ask();
      spine_ == leader ? meet_with_spine_on_leader() : meet_with_spine_on_follower();
    }

    // An agent that is none of the given ones.
    std::size_t other_than(std::size_t a) {
      const std::size_t i = stream_.below64(n() - 1);
      return i < a ? i : i + 1;
    }
    std::size_t other_than(std::size_t a, std::size_t b) {
      if (a > b) std::swap(a, b);
      std::size_t i = stream_.below64(n() - 2);
      if (i >= a) ++i;
      return i < b ? i : i + 1;
    }

    double uniform() { return static_cast<double>(stream_.word() >> 11) * 0x1p-53; }

    // Both agents carry the lineages of both, each shorter by one.
    void merge(std::size_t a, std::size_t b) {
      double* const one = counts(a);
      double* const two = counts(b);
      const std::uint32_t most = std::max(viruses_[a], viruses_[b]);
      if (most == 0) return;
      for (std::size_t v = 2; v <= most; ++v) {
        const double sum = one[v] + two[v];
        one[v - 1] = sum;
        two[v - 1] = sum;
      }
      one[most] = two[most] = 0;
      viruses_[a] = viruses_[b] = most - 1;
    }

    void meet_with_spine_on_leader() {
      if (stream_.below64(n()) >= 2) {  // the leader is not among the two
        const std::size_t a = other_than(leader);
        merge(a, other_than(a, leader));
        return;
      }
      const std::size_t follower = other_than(leader);
      merge(leader, follower);
      --left_;
      --value_;
      const double stays = h_.on_leader(left_, value_);
      const double leaves = h_.on_follower(left_, value_);
      if (uniform() < 1 / (1 + exponential_of(std::min(leaves - stays, 600.0)))) return;
      spine_ = follower;
    }

    void meet_with_spine_on_follower() {
      // 2n-3 of the n(n-1)/2 pairs contain the leader or the spine.
      if (stream_.below64(n() * (n() - 1) / 2) >= 2 * n() - 3) {
        const std::size_t a = other_than(leader, spine_);
        std::size_t b = a;
        while (b == a) b = other_than(leader, spine_);
        merge(a, b);
        return;
      }
      const double here = h_.on_follower(left_, value_);
      const auto others = static_cast<double>(n() - 2);
      const double all = 2 * others + 1;
      double point = uniform() * all;
      point -= others * exponential_of(h_.on_follower(left_ - 1, value_) - here);
      if (point < 0) {
        merge(leader, other_than(leader, spine_));
        --left_;
        return;
      }
      const double infects = exponential_of(h_.on_leader(left_ - 1, value_ - 1) - here);
      const double returns = infects + exponential_of(h_.on_follower(left_ - 1, value_ - 1) - here);
      if (point < returns) {
        merge(leader, spine_);
        --left_;
        --value_;
        if (point < infects) spine_ = leader;
        return;
      }
      const std::size_t other = other_than(leader, spine_);
      merge(spine_, other);
      --value_;
      if (stream_.below64(2) == 0) spine_ = other;
    }

    double ln_weight() {
      double sum = 0;
      for (std::size_t i = 0; i < n(); ++i) {
        for (std::uint32_t v = 2; v < width_; ++v) {
          const double h = i == leader ? h_.on_leader(0, v) : h_.on_follower(0, v);
          sum += counts(i)[v] * exponential_of(h);
        }
      }
      return logarithm_of(sum);
    }

    // The share of plain continuations, after the shield is gone, in which the leader is killed.
    double share_killed() {
      if (viruses_[leader] > 1) return 1;
      const std::uint64_t continuations = 100 + n();
      std::uint64_t killed = 0;
      for (std::uint64_t i = 0; i < continuations; ++i) killed += is_killed(viruses_) ? 1 : 0;
      return static_cast<double>(killed) / static_cast<double>(continuations);
    }

    // Only meetings of carriers change anything, so others are passed over.
    bool is_killed(std::vector<std::uint32_t> viruses) {
      std::vector<std::size_t> carriers;
      for (std::size_t i = 0; i < n(); ++i) {
        if (viruses[i] > 1) carriers.push_back(i);
      }
      while (!carriers.empty()) {
        ask();
        // A pair with a carrier: its first agent is a carrier, and of two carriers each is as
        // likely to be the first, so such pairs are refused half of the time.
        const std::size_t a = carriers[stream_.below64(carriers.size())];
        const std::size_t b = other_than(a);
        if (viruses[b] > 1 && stream_.below64(2) == 0) continue;
        if (b == leader) return true;
        viruses[a] = viruses[b] = std::max(viruses[a], viruses[b]) - 1;
        carriers.clear();
        for (std::size_t i = 0; i < n(); ++i) {
          if (viruses[i] > 1) carriers.push_back(i);
        }
      }
      return false;
    }

    const PplLineages& h_;
    Stream& stream_;
    const KeepComputing& keep_computing_;
    double& interactions_;
    std::uint64_t since_question_ = 0;
    std::size_t width_;
    std::vector<double> counts_;          // of lineages, by agent and value
    std::vector<std::uint32_t> viruses_;  // what agents carry: their largest value with lineages
    std::uint32_t left_;                  // meetings of the leader until its shield runs out
    std::uint32_t value_;                 // of the spine
    std::size_t spine_ = leader;
  };

  std::shared_ptr<const PplLineages> lineages_;
};

}  // namespace conclave::protocols
