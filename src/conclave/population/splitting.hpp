// Multilevel splitting with fixed effort, in flux form.
//
// The process that is simulated restarts when it fails. By renewal theory its expected time from
// the start to a failure is exactly 1 / J, where J is the long-run number of failures per
// interaction. With an importance function f, a quiet set A = {f <= quiet} and levels l_1 < ... <
// l_K above it, every failure belongs to the last crossing from A to l_1, so
//
//   J = (crossings from A to l_1 per interaction) p_1 ... p_K,
//
// where p_k is the probability that a path from its entrance to level k reaches level k+1 (for k =
// K: fails) before it returns to A. A base run counts crossings and keeps the configurations at
// which they enter level 1. For each level a fixed number of paths starts from the entrances of the
// level before, drawn by systematic sampling. The product of the rate and the shares of successes
// is an unbiased estimate of J, though its factors are dependent. A path that jumps over levels
// counts as a success at each of them, and a failure as a success at all.
//
// Levels are chosen by a pilot with random numbers of its own and then stay as they are: levels
// that follow the same run would bias it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/population/rare_process.hpp"

namespace conclave::population {

// The decisions of a pilot run.
struct SplittingPlan {
  double quiet = minus_infinity;  // A = {f <= quiet}
  std::vector<double> levels{};   // ascending, at least one
  std::uint64_t warm_up = 0;      // interactions before the base run
  std::uint64_t base_run = 0;     // interactions
};

struct SplittingOptions {
  std::uint64_t particles = 1000;    // paths that start at each level
  std::uint64_t most_levels = 2000;  // a pilot that needs more gives up
};

// The rules by which paths are counted, apart from the simulation so that tests can break them.
struct SplittingRules {
  // A crossing counts only if A was visited since the last one.
  static bool counts_crossing(bool was_quiet) { return was_quiet; }
  // An entrance that is already beyond the next level is a success there.
  static bool is_beyond(double value, double level) { return value >= level; }
  static double share(std::uint64_t successes, std::uint64_t starts) {
    return static_cast<double>(successes) / static_cast<double>(starts);
  }
  // Copies of one entrance go on with different random numbers.
  static void begin_path(Stream&, const Stream& /*at the level's first path*/) {}
};

namespace detail {
[[noreturn]] void throw_too_many_levels(std::uint64_t most, double last);
[[noreturn]] void throw_stuck(double level);
[[noreturn]] void throw_too_calm();
[[noreturn]] void throw_trapped();
}  // namespace detail

// Process is a RareProcess or offers the same. One object belongs to one thread.
template <class Process, class Rules = SplittingRules>
class Splitting {
 public:
  using Configuration = typename Process::Configuration;

  Splitting(Process process, const SplittingOptions& options, KeepComputing keep_computing)
      : process_(std::move(process)),
        options_(options),
        keep_computing_(std::move(keep_computing)) {}

  // Chooses levels such that a path passes each with a probability of about a quarter. Throws Error
  // where f does not lead to a failure, and Interrupted.
  SplittingPlan pilot(const StreamName& name) {
    Stream stream(name);
    SplittingPlan plan = observed_base(stream);
    std::vector<Entrance> entrances = base_entrances(plan, stream);
    while (entrances.empty()) entrances = base_entrances(plan, stream);
    const std::uint64_t paths = std::max<std::uint64_t>(100, options_.particles / 2);
    for (;;) {
      const double here = plan.levels.back();
      const double next = next_level(entrances, here, plan.quiet, paths, stream);
      if (next == infinity) return plan;
      if (plan.levels.size() == options_.most_levels)
        detail::throw_too_many_levels(options_.most_levels, here);
      plan.levels.push_back(next);
      entrances = pilot_entrances(entrances, next, plan.quiet, paths, stream);
    }
  }

  // One independent estimate; throws Interrupted.
  RareRepetition run(const SplittingPlan& plan, const StreamName& name) {
    Stream stream(name);
    RareRepetition result;
    interactions_ = 0;
    std::vector<Entrance> entrances = base_entrances(plan, stream);
    result.ln_rate = logarithm_of(static_cast<double>(entrances.size())) -
                     logarithm_of(static_cast<double>(plan.base_run));
    for (std::size_t k = 0; k < plan.levels.size(); ++k) {
      if (entrances.empty()) break;
      const double next = k + 1 < plan.levels.size() ? plan.levels[k + 1] : infinity;
      entrances = passed(entrances, next, plan.quiet, options_.particles, stream);
      const double share = Rules::share(entrances.size(), options_.particles);
      result.factors.push_back(share);
      result.ln_rate += logarithm_of(share);
    }
    std::set<std::uint32_t> ancestors;
    for (const Entrance& each : entrances) ancestors.insert(each.ancestor);
    result.ancestors = ancestors.size();
    result.interactions = interactions_;
    return result;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr std::uint64_t interactions_between_questions = 1 << 14;
  static constexpr int most_tries = 12;
  // A path that neither fails nor returns after so many interactions never will.
  static constexpr std::uint64_t most_interactions_of_a_path = std::uint64_t{1} << 36;

  // A configuration in which a path begins. One that has failed has no configuration any more.
  struct Entrance {
    Configuration configuration{};
    double value = 0;  // infinite: it has failed
    std::uint32_t ancestor = 0;
  };

  RareStep step(Stream& stream) {
    if (--patience_ == 0) {
      patience_ = interactions_between_questions;
      interactions_ += static_cast<double>(interactions_between_questions);
      if (keep_computing_ && !keep_computing_(interactions_)) throw Interrupted();
    }
    return process_.step(stream);
  }

  // Samples f along the restarted process until its quiet half and its livelier tenth are known and
  // have alternated often enough to tell how long a crossing takes.
  SplittingPlan observed_base(Stream& stream) {
    constexpr std::uint64_t shortest = 1 << 15, longest = std::uint64_t{1} << 31;
    constexpr std::uint64_t wanted_crossings = 40;
    process_.restart(stream);
    for (std::uint64_t length = shortest; length <= longest; length *= 4) {
      SplittingPlan plan = observed_plan(length, stream);
      if (plan.levels.empty()) continue;
      const std::uint64_t crossings = base_entrances(plan, stream).size();
      if (crossings < wanted_crossings) continue;
      const std::uint64_t each = length / crossings + 1;
      plan.base_run = each * std::max<std::uint64_t>(64, options_.particles / 4);
      plan.warm_up = std::max(plan.base_run / 4, length / 4);
      return plan;
    }
    detail::throw_too_calm();
  }

  SplittingPlan observed_plan(std::uint64_t length, Stream& stream) {
    constexpr std::uint64_t samples = 1 << 13;
    std::vector<double> values;
    for (std::uint64_t i = 0; i < length; ++i) {
      if (step(stream) != RareStep::goes_on) process_.restart(stream);
      if (i % (length / samples) == 0) values.push_back(process_.value());
    }
    std::ranges::sort(values);
    SplittingPlan plan{.quiet = values[values.size() / 2], .warm_up = 0, .base_run = length};
    const auto above = std::ranges::upper_bound(values, plan.quiet);
    if (above != values.end()) {
      plan.levels.push_back(std::max(*above, values[values.size() - values.size() / 10]));
    }
    return plan;
  }

  // The entrances to level 1 during the base run. A restart counts as a visit of A.
  std::vector<Entrance> base_entrances(const SplittingPlan& plan, Stream& stream) {
    std::vector<Entrance> entrances;
    const auto enter = [&](double value) {
      const auto ancestor = static_cast<std::uint32_t>(entrances.size());
      entrances.push_back(
          {value == infinity ? Configuration{} : process_.configuration(), value, ancestor});
    };
    if (plan.warm_up > 0) {
      process_.restart(stream);
      for (std::uint64_t i = 0; i < plan.warm_up; ++i) {
        if (step(stream) != RareStep::goes_on) process_.restart(stream);
      }
    }
    bool was_quiet = false;
    for (std::uint64_t i = 0; i < plan.base_run; ++i) {
      const RareStep came = step(stream);
      if (came == RareStep::fails && Rules::counts_crossing(was_quiet)) enter(infinity);
      if (came != RareStep::goes_on) process_.restart(stream);
      was_quiet = was_quiet || came != RareStep::goes_on;
      const double value = process_.value();
      if (value >= plan.levels.front()) {
        if (Rules::counts_crossing(was_quiet)) enter(value);
        was_quiet = false;
      } else if (value <= plan.quiet) {
        was_quiet = true;
      }
    }
    return entrances;
  }

  // The entrance from which path i of `paths` starts: each is chosen equally often on average.
  static std::size_t chosen(std::uint64_t i, std::uint64_t paths, std::uint64_t entrances,
                            std::uint64_t offset) {
    return static_cast<std::size_t>((entrances * i + offset) / paths);
  }

  // Starts paths from the entrances and returns the entrances to the next level; where that is
  // infinite, those that fail.
  std::vector<Entrance> passed(const std::vector<Entrance>& entrances, double level, double quiet,
                               std::uint64_t paths, Stream& stream) {
    std::vector<Entrance> result;
    const std::uint64_t offset = stream.below64(entrances.size());
    const Stream first = stream;
    for (std::uint64_t i = 0; i < paths; ++i) {
      const Entrance& from = entrances[chosen(i, paths, entrances.size(), offset)];
      if (Rules::is_beyond(from.value, level)) result.push_back(from);
      if (from.value >= level) continue;
      Rules::begin_path(stream, first);
      process_.load(from.configuration);
      const double reached = climb(level, quiet, stream);
      if (!(reached >= level)) continue;
      result.push_back({reached == infinity ? Configuration{} : process_.configuration(), reached,
                        from.ancestor});
    }
    return result;
  }

  // Goes on until f >= level, which is returned; infinite after a failure, minus infinity after a
  // return to A.
  double climb(double level, double quiet, Stream& stream) {
    for (std::uint64_t i = 0; i < most_interactions_of_a_path; ++i) {
      const RareStep came = step(stream);
      if (came == RareStep::fails) return infinity;
      if (came == RareStep::fails_else) return minus_infinity;
      const double value = process_.value();
      if (value >= level) return value;
      if (value <= quiet) return minus_infinity;
    }
    detail::throw_trapped();
  }

  // The next level: what a quarter of the paths reach before they return; infinite where that is
  // the failure.
  double next_level(const std::vector<Entrance>& entrances, double here, double quiet,
                    std::uint64_t paths, Stream& stream) {
    for (int tries = 0; tries < most_tries; ++tries, paths *= 2) {
      const std::vector<double> highest = summits(entrances, quiet, paths, stream);
      const double quarter = highest[highest.size() - 1 - highest.size() / 4];
      if (quarter > here) return quarter;
      const auto above = std::ranges::upper_bound(highest, here);
      if (above != highest.end()) return *above;
    }
    detail::throw_stuck(here);
  }

  // How far paths get before they return, ascending.
  std::vector<double> summits(const std::vector<Entrance>& entrances, double quiet,
                              std::uint64_t paths, Stream& stream) {
    std::vector<double> highest;
    const std::uint64_t offset = stream.below64(entrances.size());
    for (std::uint64_t i = 0; i < paths; ++i) {
      const Entrance& from = entrances[chosen(i, paths, entrances.size(), offset)];
      highest.push_back(from.value == infinity ? infinity : summit(from, quiet, stream));
    }
    std::ranges::sort(highest);
    return highest;
  }

  double summit(const Entrance& from, double quiet, Stream& stream) {
    process_.load(from.configuration);
    double highest = from.value;
    for (;;) {
      const double reached = climb(std::nextafter(highest, infinity), quiet, stream);
      if (reached == minus_infinity) return highest;
      highest = reached;
      if (highest == infinity) return highest;
    }
  }

  // As `passed`, with more and more paths until some get through.
  std::vector<Entrance> pilot_entrances(const std::vector<Entrance>& entrances, double level,
                                        double quiet, std::uint64_t paths, Stream& stream) {
    for (int tries = 0; tries < most_tries; ++tries, paths *= 2) {
      std::vector<Entrance> next = passed(entrances, level, quiet, paths, stream);
      if (!next.empty()) return next;
    }
    detail::throw_stuck(level);
  }

  Process process_;
  SplittingOptions options_;
  KeepComputing keep_computing_;
  std::uint64_t patience_ = interactions_between_questions;
  double interactions_ = 0;
};

}  // namespace conclave::population
