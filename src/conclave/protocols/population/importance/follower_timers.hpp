// Importance functions for timeouts: followers count down since a leader was heard of, the larger
// of two timers spreads, and a follower that reaches 0 becomes a leader.
//
// The natural function, the largest timer of a follower, is confidently wrong: it forgets
// everything when the leader meets one follower, though the others may still run dry. `GroupTimer`
// looks at all groups of followers instead: m followers with small timers that meet only each other
// time out soon, and each of their meetings stays inside with a known probability.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/rare.hpp"

namespace conclave::protocols {

// The cost, as -ln of a probability, that m of n agents meet only each other until their
// largest timer has gone down by one: by a small particle run in which the particles with fewer
// meetings are copied.
class GroupCosts {
 public:
  // O(n) particle runs with random numbers of their own, so that the same n gives the same costs.
  explicit GroupCosts(AgentCount n) : first_(static_cast<std::size_t>(n)), each_(first_) {
    for (std::size_t m = 2; m < each_.size(); ++m) {
      first_[m] =
          -logarithm_of(static_cast<double>(m - 1) / static_cast<double>(2 * each_.size() - m - 1));
      Stream stream(StreamName{.seed = 1, .trial = m, .purpose = rare_purpose, .part = n});
      each_[m] = measured(m, first_[m], stream);
    }
  }

  // The cost of the meeting in which a group with timers of 1 times out, and of each unit before.
  double first(std::size_t m) const { return first_[m]; }
  double each(std::size_t m) const { return each_[m]; }

 private:
  static constexpr std::size_t particles = 100;
  static constexpr std::size_t units = 12;

  struct Particle {
    std::vector<std::uint32_t> ages;  // how far each timer is below full
    double weight = 0;                // its logarithm
  };

  static double measured(std::size_t m, double cost, Stream& stream) {
    if (m == 2) return cost;
    std::vector<Particle> all(particles, Particle{std::vector<std::uint32_t>(m, 0)});
    double total = 0;
    for (std::uint32_t unit = 1; unit <= 2 * units; ++unit) {
      std::vector<double> weights;
      for (Particle& each : all) {
        each.weight = -cost * static_cast<double>(meetings_until(each.ages, unit, stream));
        weights.push_back(each.weight);
      }
      const double sum = log_sum_of(weights);
      if (unit > units) total -= sum - logarithm_of(static_cast<double>(particles));
      resample(all, weights, sum, stream);
    }
    return total / static_cast<double>(units);
  }

  // Meetings inside until every timer has gone down by `unit`.
  static std::uint64_t meetings_until(std::vector<std::uint32_t>& ages, std::uint32_t unit,
                                      Stream& stream) {
    std::uint64_t meetings = 0;
    auto behind = std::ranges::count_if(ages, [&](std::uint32_t age) { return age < unit; });
    while (behind > 0) {
      const std::size_t a = stream.below64(ages.size());
      std::size_t b = stream.below64(ages.size() - 1);
      if (b >= a) ++b;
      const std::uint32_t age = std::min(ages[a], ages[b]) + 1;
      behind -= (ages[a] < unit) + (ages[b] < unit);
      behind += age < unit ? 2 : 0;
      ages[a] = ages[b] = age;
      ++meetings;
    }
    return meetings;
  }

  static void resample(std::vector<Particle>& all, const std::vector<double>& weights, double sum,
                       Stream& stream) {
    const double offset = static_cast<double>(stream.below64(1u << 30)) / (1u << 30);
    std::vector<Particle> chosen;
    double reached = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      reached += exponential_of(weights[i] - sum) * static_cast<double>(particles);
      while (chosen.size() < particles && static_cast<double>(chosen.size()) + offset < reached) {
        chosen.push_back(all[i]);
      }
    }
    while (chosen.size() < particles) chosen.push_back(all.back());  // by rounding
    all = std::move(chosen);
  }

  std::vector<double> first_;
  std::vector<double> each_;
};

// A lower bound on ln of the expected time until followers time out, if all timers begin with
// t_max: the time between two timeouts where the process begins anew after each failure.
//
// Let two followers time out at some interaction, and go back from it. Both have depth 0; an agent
// that meets one of depth d gets depth d + 1 with it, unless its own depth is smaller. Were the
// leader to meet an agent of depth d <= t_max - 2, both would still have timers above 1. So some
// agent gets to depth K = t_max - 1 before the leader meets one of those that have a depth. Let i
// be their number. c_i times the sum of theta^depth over them, 0 after a meeting with the leader,
// does not grow in expectation if theta = (2n - 3) / (n - 2) and, with m = n - 1 - i agents without
// depth,
//
//   c_{i+1} / c_i = (i + i m - (theta - 1)(i - 1)) / (m (i + 2 theta - 1)),
//
// since two agents of depths d <= e, 2 theta^d <= theta^d + theta^e, become two of depth d + 1. It
// begins with 2 c_2, and is 2 c_{n-1} theta^K at least where two agents of depth K have met.
inline double ln_timeout_bound(AgentCount n, std::uint64_t t_max) {
  const auto all = static_cast<double>(n);
  const double theta = (2 * all - 3) / (all - 2);
  double ln_time =
      logarithm_of(all / (all - 2)) + static_cast<double>(t_max - 1) * logarithm_of(theta);
  for (double i = 2; i < all - 1; ++i) {
    const double m = all - 1 - i;
    ln_time += logarithm_of((i + i * m - (theta - 1) * (i - 1)) / (m * (i + 2 * theta - 1)));
  }
  return ln_time;
}

// Where a timeout takes more than this many nats, splitting would need thousands of levels, and is
// done on request only.
inline constexpr double most_timeout_splitting = 2500;

// The timers of the followers, ascending: what all importance functions for timeouts look at.
// `timer` is the member of State that counts down.
template <class State, std::uint32_t State::*timer>
class FollowerTimers {
 public:
  void load(std::span<const State> agents) {
    timers_.clear();
    sorted_.clear();
    sum_ = 0;
    for (const State& each : agents) {
      timers_.push_back(each.*timer);
      if (each.leader) continue;
      sorted_.push_back(each.*timer);
      sum_ += each.*timer;
    }
    std::ranges::sort(sorted_);
  }

  void replace(std::span<const State> agents, std::size_t u, std::size_t v) {
    if (!agents[u].leader) replace(timers_[u], agents[u].*timer);
    if (!agents[v].leader) replace(timers_[v], agents[v].*timer);
  }

 protected:
  std::span<const std::uint32_t> sorted() const { return sorted_; }
  std::uint64_t sum() const { return sum_; }

 private:
  void replace(std::uint32_t& before, std::uint32_t now) {
    if (before == now) return;
    sum_ += now;
    sum_ -= before;
    const auto place = std::ranges::lower_bound(sorted_, before);
    if (now < before) {
      const auto end = std::upper_bound(sorted_.begin(), place, now);
      std::move_backward(end, place, place + 1);
      *end = now;
    } else {
      const auto end = std::lower_bound(place, sorted_.end(), now);
      std::move(place + 1, end, place);
      *(end - 1) = now;
    }
    before = now;
  }

  std::vector<std::uint32_t> timers_;
  std::vector<std::uint32_t> sorted_;
  std::uint64_t sum_ = 0;
};

// The importance of the most dangerous group of followers; needs two followers.
template <class Timers>
class GroupTimer : public Timers {
 public:
  explicit GroupTimer(std::shared_ptr<const GroupCosts> costs) : costs_(std::move(costs)) {}

  // Minus the smallest cost over the groups of the m followers with the smallest timers, m >= 2.
  double value() const {
    double least = std::numeric_limits<double>::infinity();
    const std::span<const std::uint32_t> timers = this->sorted();
    for (std::size_t m = 2; m <= timers.size(); ++m) {
      const double left = static_cast<double>(timers[m - 1]) - 1;
      least = std::min(least, costs_->first(m) + costs_->each(m) * left);
    }
    return -least;
  }

 private:
  std::shared_ptr<const GroupCosts> costs_;
};

// Minus the sum of the timers of the followers.
template <class Timers>
struct MeanTimer : Timers {
  double value() const { return -static_cast<double>(this->sum()); }
};

// Minus the second smallest timer of the followers, of whom there must be two.
template <class Timers>
struct SecondTimer : Timers {
  double value() const { return -static_cast<double>(this->sorted()[1]); }
};

// Minus the largest timer of the followers, of whom there must be one.
template <class Timers>
struct LargestTimer : Timers {
  double value() const { return -static_cast<double>(this->sorted().back()); }
};

}  // namespace conclave::protocols
