// Walks through everything a small system can do: breadth first, each configuration once, so that
// what goes wrong is found with a shortest way to it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/exact/detail/interned.hpp"

namespace conclave::exact {

// A configuration has a list of steps, always in the same order, of which any one may come next.
template <class S>
concept TransitionSystem =
    requires(const S& system, const typename S::Configuration& configuration, std::string& bytes,
             const std::function<void(typename S::Configuration&&)>& visit) {
  { system.beginnings() } -> std::same_as<std::vector<typename S::Configuration>>;
  // Equal configurations, and only they, append equal bytes.
  { system.encode(configuration, bytes) } -> std::same_as<void>;
  { system.for_each_step(configuration, visit) } -> std::same_as<void>;
  // What does not hold in a configuration, which has no further step if `is_final`; empty if
  // everything holds.
  { system.objection(configuration, bool{}) } -> std::same_as<std::string>;
};

// Which beginning, then which of the possible steps, one after the other.
struct Schedule {
  std::size_t beginning = 0;
  std::vector<std::uint32_t> steps{};
};

struct SearchResult {
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;  // nothing can happen any more
  double schedules = 0;                    // ways from a beginning to a final configuration
  std::uint64_t longest = 0;               // steps of the longest of them
  std::uint64_t depth = 0;                 // to which every configuration has been seen
  bool is_complete = false;                // false: the limit came first, or the caller stopped
  std::string objection{};                 // what does not hold; empty: everything holds
  Schedule counterexample{};               // a shortest way to where it does not hold
};

struct SearchLimits {
  std::uint64_t configurations = 0;
  std::function<bool()> keep_going{};  // asked now and then; none: never stops
};

// Exact; about 100 bytes per configuration on top of its encoding. `schedules` is rounded from
// 2^53 on. Termination is one of the properties: a circle of configurations is an objection.
template <TransitionSystem S>
class Search {
 public:
  Search(const S& system, SearchLimits limits) : system_(system), limits_(std::move(limits)) {}

  SearchResult run() {
    for (Configuration& beginning : system_.beginnings()) {
      meet(std::move(beginning), none, static_cast<std::uint32_t>(beginnings_++));
    }
    while (!open_.empty() && result_.objection.empty()) {
      if (is_enough()) return std::move(result_);
      const Configuration configuration = std::move(open_.front());
      open_.pop_front();
      expand(configuration);
    }
    result_.is_complete = true;
    if (result_.objection.empty()) count_schedules();
    return std::move(result_);
  }

 private:
  using Configuration = typename S::Configuration;
  static constexpr std::uint32_t none = 0xffffffffu;

  struct Origin {
    std::uint32_t parent;  // none: a beginning
    std::uint32_t step;    // of the parent; of a beginning its number
    std::uint32_t depth;
  };

  bool is_enough() {
    if (origins_.size() >= limits_.configurations) return true;
    return expanded_ % 4096 == 0 && limits_.keep_going && !limits_.keep_going();
  }

  std::uint32_t meet(Configuration&& configuration, std::uint32_t parent, std::uint32_t step) {
    bytes_.clear();
    system_.encode(configuration, bytes_);
    const auto [number, is_new] = known_.number(bytes_);
    if (!is_new) return number;
    const std::uint32_t depth = parent == none ? 0 : origins_[parent].depth + 1;
    origins_.push_back({parent, step, depth});
    result_.configurations = origins_.size();
    if (result_.objection.empty()) object(system_.objection(configuration, false), number);
    open_.push_back(std::move(configuration));
    return number;
  }

  void object(std::string objection, std::uint32_t where) {
    if (objection.empty()) return;
    result_.objection = std::move(objection);
    for (; origins_[where].parent != none; where = origins_[where].parent) {
      result_.counterexample.steps.push_back(origins_[where].step);
    }
    std::ranges::reverse(result_.counterexample.steps);
    result_.counterexample.beginning = origins_[where].step;
  }

  // Configurations are expanded in the order of their numbers.
  void expand(const Configuration& configuration) {
    const auto number = static_cast<std::uint32_t>(expanded_++);
    result_.depth = origins_[number].depth;
    std::uint32_t step = 0;
    system_.for_each_step(configuration, [&](Configuration&& next) {
      targets_.push_back(meet(std::move(next), number, step++));
    });
    result_.transitions = targets_.size();
    ends_.push_back(targets_.size());
    if (step > 0) return;
    ++result_.final_configurations;
    if (result_.objection.empty()) object(system_.objection(configuration, true), number);
  }

  // What a depth-first walk knows of a configuration.
  struct Future {
    double schedules = 0;
    std::uint64_t longest = 0;
    enum : std::uint8_t { unseen, open, done } state = unseen;
  };

  // Adds up the futures of all configurations, the last first. Meeting one that is still open means
  // that a schedule can go round in a circle.
  void count_schedules() {
    std::vector<Future> futures(origins_.size());
    for (std::uint32_t root = 0; root < beginnings_ && result_.objection.empty(); ++root) {
      if (origins_[root].parent != none) break;  // some beginnings were equal
      walk(root, futures);
      result_.schedules += futures[root].schedules;
      result_.longest = std::max(result_.longest, futures[root].longest);
    }
  }

  std::size_t begin_of(std::uint32_t number) const { return number == 0 ? 0 : ends_[number - 1]; }

  void walk(std::uint32_t root, std::vector<Future>& futures) {
    std::vector<std::pair<std::uint32_t, std::size_t>> path{{root, begin_of(root)}};
    while (!path.empty()) {
      auto& [number, next] = path.back();
      Future& future = futures[number];
      future.state = Future::open;
      if (next == ends_[number]) {
        if (begin_of(number) == next) future.schedules = 1;
        future.state = Future::done;
        path.pop_back();
        continue;
      }
      const std::uint32_t target = targets_[next];
      if (futures[target].state == Future::open) return object_to_circle(path);
      if (futures[target].state == Future::unseen) {
        path.push_back({target, begin_of(target)});
        continue;
      }
      future.schedules += futures[target].schedules;
      future.longest = std::max(future.longest, futures[target].longest + 1);
      ++next;
    }
  }

  void object_to_circle(const std::vector<std::pair<std::uint32_t, std::size_t>>& path) {
    result_.objection = "a schedule can go on for ever";
    result_.counterexample.beginning = origins_[path.front().first].step;
    for (const auto& [number, next] : path) {
      result_.counterexample.steps.push_back(static_cast<std::uint32_t>(next - begin_of(number)));
    }
  }

  const S& system_;
  SearchLimits limits_;
  SearchResult result_;
  std::size_t beginnings_ = 0;
  std::size_t expanded_ = 0;
  std::string bytes_;
  detail::Interned known_;
  std::deque<Configuration> open_;
  std::vector<Origin> origins_;
  std::vector<std::uint32_t> targets_;  // of all steps, configuration by configuration
  std::vector<std::size_t> ends_;
};

template <TransitionSystem S>
SearchResult search(const S& system, SearchLimits limits) {
  return Search<S>(system, std::move(limits)).run();
}

}  // namespace conclave::exact
