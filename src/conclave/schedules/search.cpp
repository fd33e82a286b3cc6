#include "conclave/schedules/search.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/key_index.hpp"
#include "conclave/base/random.hpp"
#include "conclave/schedules/trap.hpp"

namespace conclave::schedules {
namespace {

// Numbers byte strings in the order in which they are first seen; the strings lie one after the
// other in one block, with eight bytes each for where they end.
class Interned {
 public:
  // The number of the string, and whether it is new. Expected O(length). At most 2^32 - 1 strings.
  std::pair<std::uint32_t, bool> number(std::string_view bytes) {
    const auto [number, is_new] = index_.find_or_add(
        hash(bytes), [&](std::uint32_t other) { return at(other) == bytes; },
        [this](std::uint32_t other) { return hash(at(other)); });
    if (is_new) {
      bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
      ends_.push_back(bytes_.size());
    }
    return {number, is_new};
  }

  std::size_t size() const { return ends_.size(); }

 private:
  static std::uint64_t hash(std::string_view bytes) { return std::hash<std::string_view>{}(bytes); }

  std::string_view at(std::uint32_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return {bytes_.data() + begin, ends_[number] - begin};
  }

  std::vector<char> bytes_;
  std::vector<std::size_t> ends_;
  KeyIndex<TaggedSlot> index_{50};
};

// Searches once. Keeps a reference to the system.
class Search {
 public:
  Search(const AnySystem& system, SearchLimits limits)
      : system_(system), draws_again_(system.draws_again()), limits_(std::move(limits)) {
    for (const std::string_view property : system.properties()) {
      result_.verdicts.push_back({property});
    }
    result_.verdicts.push_back({draws_again_ ? almost_sure_termination : termination});
  }

  SearchResult run() {
    meet(*system_.beginning(), none, 0);
    while (!open_.empty()) {
      if (is_enough()) return std::move(result_);
      const std::unique_ptr<AnyConfiguration> configuration = std::move(open_.front());
      open_.pop_front();
      expand(*configuration);
    }
    result_.is_complete = true;
    if (draws_again_) {
      look_for_a_trap();
    } else {
      count_schedules();
    }
    return std::move(result_);
  }

 private:
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

  std::uint32_t meet(AnyConfiguration& configuration, std::uint32_t parent, std::uint32_t step) {
    bytes_.clear();
    configuration.encode(bytes_);
    const auto [number, is_new] = known_.number(bytes_);
    if (!is_new) return number;
    origins_.push_back({parent, step, parent == none ? 0 : origins_[parent].depth + 1});
    result_.configurations = origins_.size();
    judge(configuration.violated(), number);
    open_.push_back(configuration.kept());
    return number;
  }

  // Keeps the first counterexample to each property; breadth first, none is shorter.
  void judge(std::uint32_t violated, std::uint32_t where) {
    for (std::size_t i = 0; i + 1 < result_.verdicts.size(); ++i) {
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
  void expand(const AnyConfiguration& configuration) {
    const auto number = static_cast<std::uint32_t>(expanded_++);
    result_.depth = origins_[number].depth;
    std::uint32_t step = 0;
    configuration.for_each_step([&](AnyConfiguration& next, std::size_t event) {
      const bool begins = step == 0 || event != last_event_;
      if (draws_again_ && begins) event_begins_.push_back(targets_.size());
      last_event_ = event;
      targets_.push_back(meet(next, number, step++));
    });
    if (draws_again_) event_counts_.push_back(event_begins_.size());
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

  const AnySystem& system_;
  bool draws_again_;
  SearchLimits limits_;
  SearchResult result_;
  std::size_t expanded_ = 0;
  std::string bytes_;
  Interned known_;
  std::deque<std::unique_ptr<AnyConfiguration>> open_;
  std::vector<Origin> origins_;
  std::vector<std::uint32_t> targets_;  // of all steps, configuration by configuration
  std::vector<std::size_t> ends_;
  // Where coins are drawn again: the events of all configurations (trap.hpp).
  std::vector<std::size_t> event_begins_;
  std::vector<std::size_t> event_counts_;
  std::size_t last_event_ = 0;
};

}  // namespace

SearchResult search(const AnySystem& system, SearchLimits limits) {
  return Search(system, std::move(limits)).run();
}

Estimate estimate_schedules(const AnySystem& system, std::uint32_t samples) {
  constexpr std::uint32_t most_steps = 10'000;
  Stream stream(StreamName{.seed = 1, .trial = 0, .purpose = Purpose::schedule});
  Estimate estimate;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::unique_ptr<AnyConfiguration> now = system.beginning();
    double product = 1;
    for (std::uint32_t step = 0; step < most_steps; ++step) {
      std::vector<std::unique_ptr<AnyConfiguration>> next;
      now->for_each_step([&](AnyConfiguration& each, std::size_t) { next.push_back(each.kept()); });
      if (next.empty()) break;
      product *= static_cast<double>(next.size());
      estimate.steps += 1.0 / samples;
      now = std::move(next[stream.below64(next.size())]);
    }
    estimate.schedules += product / samples;
  }
  return estimate;
}

}  // namespace conclave::schedules
