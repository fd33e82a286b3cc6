// Walks through everything that a small system can do: breadth first, each configuration once, so
// that a violated property is found with a shortest schedule that leads to it.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/schedules/detail/interned.hpp"
#include "conclave/schedules/trap.hpp"

namespace conclave::schedules {

// A system whose configurations each have a list of possible steps, always in the same order.
// for_each_step calls visit with the configuration after each of them.
template <class S>
concept TransitionSystem = requires(const S& system, const typename S::Configuration& configuration,
                                    std::string& bytes,
                                    const std::function<void(typename S::Configuration&&)>& visit) {
  { system.beginning() } -> std::same_as<typename S::Configuration>;
  // Equal configurations, and only they, append equal bytes.
  { system.encode(configuration, bytes) } -> std::same_as<void>;
  { system.for_each_step(configuration, visit) } -> std::same_as<void>;
  { S::properties[0] } -> std::convertible_to<std::string_view>;
  // Bit i is set where property i does not hold.
  { system.violated(configuration) } -> std::same_as<std::uint32_t>;
};

inline constexpr std::string_view termination = "every schedule comes to an end";
inline constexpr std::string_view almost_sure_termination =
    "with probability 1, every schedule comes to an end";

// A system in which coins may send a schedule back to where it was, as after a tie. Then the event
// of each step is known, and for every schedule the coins must lead to an end with probability 1.
template <class S>
concept DrawsAgain = requires {
  requires S::draws_again;
};

// A schedule: the index of each step among those that were possible then.
using Schedule = std::vector<std::uint32_t>;

struct Verdict {
  std::string_view property;
  bool holds = true;
  // A shortest one; for termination, a schedule that ends where it has been before; where coins are
  // drawn again, one to where the schedule can prevent the end for ever.
  Schedule counterexample{};
};

struct SearchResult {
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;  // those without a possible step
  double schedules = 0;                    // ways from the beginning to a final configuration;
                                           // infinity where coins are drawn again
  std::uint64_t longest = 0;               // steps of the longest of them
  std::uint64_t depth = 0;                 // every configuration up to this step has been seen
  bool is_complete = false;                // false: the limit came first, or the caller's wish
  std::vector<Verdict> verdicts{};

  bool all_hold() const { return is_complete && std::ranges::all_of(verdicts, &Verdict::holds); }
};

struct SearchLimits {
  std::uint64_t configurations = 0;
  ProgressCallback progress{};  // false ends the search with what it has found
};

// Searches once. Keeps a reference to the system. Exact, except that the number of schedules is
// rounded from 2^53 on. Takes about 60 bytes per configuration on top of its encoding.
template <TransitionSystem S>
class Search {
 public:
  Search(const S& system, SearchLimits limits) : system_(system), limits_(std::move(limits)) {
    for (const std::string_view property : S::properties) result_.verdicts.push_back({property});
    result_.verdicts.push_back({DrawsAgain<S> ? almost_sure_termination : termination});
  }

  SearchResult run() {
    meet(system_.beginning(), none, 0);
    while (!open_.empty()) {
      if (is_enough()) return std::move(result_);
      const Configuration configuration = std::move(open_.front());
      open_.pop_front();
      expand(configuration);
    }
    result_.is_complete = true;
    if constexpr (DrawsAgain<S>)
      look_for_a_trap();
    else
      count_schedules();
    return std::move(result_);
  }

 private:
  using Configuration = typename S::Configuration;
  static constexpr std::uint32_t none = 0xffffffffu;

  struct Origin {
    std::uint32_t parent;
    std::uint32_t step;  // of the parent
    std::uint32_t depth;
  };

  bool is_enough() {
    if (origins_.size() > limits_.configurations) return true;
    return expanded_ % 1024 == 0 && limits_.progress &&
           !limits_.progress("exploring the configurations found so far", expanded_,
                             origins_.size());
  }

  std::uint32_t meet(Configuration&& configuration, std::uint32_t parent, std::uint32_t step) {
    bytes_.clear();
    system_.encode(configuration, bytes_);
    const auto [number, is_new] = known_.number(bytes_);
    if (!is_new) return number;
    origins_.push_back({parent, step, parent == none ? 0 : origins_[parent].depth + 1});
    result_.configurations = origins_.size();
    judge(system_.violated(configuration), number);
    open_.push_back(std::move(configuration));
    return number;
  }

  // Keeps the first counterexample to each property; breadth first, none is shorter.
  void judge(std::uint32_t violated, std::uint32_t where) {
    for (std::size_t i = 0; i < S::properties.size(); ++i) {
      Verdict& verdict = result_.verdicts[i];
      if ((violated >> i & 1) == 0 || !verdict.holds) continue;
      verdict.holds = false;
      verdict.counterexample = way_to(where);
    }
  }

  Schedule way_to(std::uint32_t where) const {
    Schedule steps;
    for (; origins_[where].parent != none; where = origins_[where].parent) {
      steps.push_back(origins_[where].step);
    }
    std::ranges::reverse(steps);
    return steps;
  }

  // Configurations are expanded in the order of their numbers.
  void expand(const Configuration& configuration) {
    const auto number = static_cast<std::uint32_t>(expanded_++);
    result_.depth = origins_[number].depth;
    std::uint32_t step = 0;
    if constexpr (DrawsAgain<S>) {
      system_.for_each_choice(configuration, [&](Configuration&& next, std::size_t event) {
        if (step == 0 || event != last_event_) event_begins_.push_back(targets_.size());
        last_event_ = event;
        targets_.push_back(meet(std::move(next), number, step++));
      });
      event_counts_.push_back(event_begins_.size());
    } else {
      system_.for_each_step(configuration, [&](Configuration&& next) {
        targets_.push_back(meet(std::move(next), number, step++));
      });
    }
    result_.transitions = targets_.size();
    ends_.push_back(targets_.size());
    if (step == 0) ++result_.final_configurations;
  }

  void look_for_a_trap() {
    result_.schedules = std::numeric_limits<double>::infinity();
    const EventGraph graph{std::move(targets_), std::move(event_begins_), std::move(event_counts_)};
    const auto trap = TrapSearch(graph).find();
    if (!trap) return;
    result_.verdicts.back().holds = false;
    result_.verdicts.back().counterexample = way_to(*trap);
  }

  // The results of a depth-first walk below one configuration.
  struct Future {
    double schedules = 0;
    std::uint64_t longest = 0;
    enum : std::uint8_t { unseen, open, done } state = unseen;
  };

  struct Place {
    std::uint32_t number;
    std::size_t next;  // which of its steps comes next, as an index into targets_
  };

  std::size_t begin_of(std::uint32_t number) const { return number == 0 ? 0 : ends_[number - 1]; }

  // Counts the schedules from every configuration, depth first. A step to a configuration that is
  // still open closes a cycle: some schedule never ends.
  void count_schedules() {
    std::vector<Future> futures(origins_.size());
    std::vector<Place> path{{0, 0}};
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
      const Future& after = futures[targets_[next]];
      if (after.state == Future::open) return report_cycle(path);
      if (after.state == Future::unseen) {
        path.push_back({targets_[next], begin_of(targets_[next])});
        continue;
      }
      future.schedules += after.schedules;
      future.longest = std::max(future.longest, after.longest + 1);
      ++next;
    }
    result_.schedules = futures[0].schedules;
    result_.longest = futures[0].longest;
  }

  void report_cycle(const std::vector<Place>& path) {
    Verdict& verdict = result_.verdicts.back();
    verdict.holds = false;
    for (const auto& [number, next] : path) {
      verdict.counterexample.push_back(static_cast<std::uint32_t>(next - begin_of(number)));
    }
  }

  const S& system_;
  SearchLimits limits_;
  SearchResult result_;
  std::size_t expanded_ = 0;
  std::string bytes_;
  detail::Interned known_;
  std::deque<Configuration> open_;
  std::vector<Origin> origins_;
  std::vector<std::uint32_t> targets_;  // of all steps, configuration by configuration
  std::vector<std::size_t> ends_;
  // Where coins are drawn again: the events of all configurations (trap.hpp).
  std::vector<std::size_t> event_begins_;
  std::vector<std::size_t> event_counts_;
  std::size_t last_event_ = 0;
};

template <TransitionSystem S>
SearchResult search(const S& system, SearchLimits limits) {
  return Search<S>(system, std::move(limits)).run();
}

}  // namespace conclave::schedules
