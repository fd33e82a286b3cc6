#include "conclave/rare/splitting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "conclave/base/progress.hpp"

namespace conclave::rare {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t interactions_between_questions = 1 << 14;
constexpr int most_tries = 12;
constexpr double all_tries = (1 << most_tries) - 1;  // each has twice the paths of the one before
constexpr std::uint64_t wanted_crossings = 40;  // from the quiet set, to tell how often they happen
// A path that neither fails nor returns after this many interactions never will.
constexpr std::uint64_t most_interactions_of_a_path = std::uint64_t{1} << 36;

[[noreturn]] void throw_too_many_levels(std::uint64_t most, double last) {
  throw Error("more than " + std::to_string(most) + " levels are needed: the last one was at " +
              std::to_string(last) + "; allow more with --most-levels, or take smaller timers");
}

[[noreturn]] void throw_stuck(double level, double ln_floor) {
  throw Unreached("no path gets beyond the level " + std::to_string(level) +
                      ": use another importance function or more --particles",
                  ln_floor);
}

[[noreturn]] void throw_too_calm() {
  throw Error("the importance function has too few ups and downs in 2^31 interactions: it must "
              "vary from the start on and grow towards the failure");
}

[[noreturn]] void throw_trapped() {
  throw Error("a path has neither failed nor returned to the quiet set in 2^36 interactions: the "
              "population can be trapped where the importance function is large");
}

bool has_failed(const Stretch& stretch) {
  return stretch.end == StretchEnd::fails || stretch.end == StretchEnd::fails_else;
}

// The entrance from which path i of `paths` starts: each is chosen equally often on average.
std::size_t chosen_entrance(std::uint64_t i, std::uint64_t paths, std::uint64_t entrances,
                            std::uint64_t offset) {
  return static_cast<std::size_t>((entrances * i + offset) / paths);
}

}  // namespace

Splitting::Splitting(std::unique_ptr<FailingProcess> process, const SplittingOptions& options,
                     KeepComputing keep_computing, std::unique_ptr<const SplittingRules> rules)
    : process_(std::move(process)),
      options_(options),
      keep_computing_(std::move(keep_computing)),
      rules_(std::move(rules)),
      patience_(interactions_between_questions - 1) {}

SplittingPlan Splitting::pilot(const StreamName& name) {
  Stream stream(name);
  SplittingPlan plan = observed_base(stream);
  std::vector<Entrance> entrances = base_entrances(plan, stream);
  while (entrances.empty()) entrances = base_entrances(plan, stream);
  if (plan.levels.back() == infinity) return plan;
  const std::uint64_t paths = std::max<std::uint64_t>(100, options_.particles / 2);
  double ln_rate = logarithm_of(static_cast<double>(entrances.size())) -
                   logarithm_of(static_cast<double>(plan.base_run));  // of reaching the level
  // P(no success) <= 5 % if the share of successes were 3 over the number of paths.
  const double ln_share = logarithm_of(3) - logarithm_of(static_cast<double>(paths) * all_tries);
  for (;;) {
    const double here = plan.levels.back();
    const double next = next_level(entrances, here, plan.quiet, paths, stream);
    if (next == infinity) return plan;
    if (next == minus_infinity) throw_stuck(here, -ln_rate - ln_share);
    if (plan.levels.size() == options_.most_levels) {
      throw_too_many_levels(options_.most_levels, here);
    }
    plan.levels.push_back(next);
    std::uint64_t tried = paths;
    entrances = pilot_entrances(entrances, next, plan.quiet, tried, stream);
    if (entrances.empty()) throw_stuck(next, -ln_rate - ln_share);
    ln_rate += logarithm_of(static_cast<double>(entrances.size()) / static_cast<double>(tried));
  }
}

RareRepetition Splitting::run(const SplittingPlan& plan, const StreamName& name) {
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
    const double share = rules_->share(entrances.size(), options_.particles);
    result.factors.push_back(share);
    result.ln_rate += logarithm_of(share);
  }
  std::set<std::uint32_t> ancestors;
  for (const Entrance& each : entrances) ancestors.insert(each.ancestor);
  result.ancestors = ancestors.size();
  result.interactions = interactions_;
  return result;
}

// As FailingProcess::advance, with a question to the caller now and then.
Stretch Splitting::advance(std::uint64_t most, double low, double high, Stream& stream) {
  std::uint64_t done = 0;
  for (;;) {
    if (patience_ == 0) {
      patience_ = interactions_between_questions;
      interactions_ += static_cast<double>(interactions_between_questions);
      if (keep_computing_ && !keep_computing_(interactions_)) throw Interrupted();
    }
    const Stretch part = process_->advance(std::min(most - done, patience_), low, high, stream);
    patience_ -= part.interactions;
    done += part.interactions;
    if (part.end != StretchEnd::enough || done == most) return {done, part.end};
  }
}

// A number of interactions of the restarted process; returns how often it failed.
std::uint64_t Splitting::restart_through(std::uint64_t interactions, Stream& stream) {
  std::uint64_t failures = 0;
  while (interactions > 0) {
    const Stretch stretch = advance(interactions, no_bound, no_bound, stream);
    if (has_failed(stretch)) {
      process_->restart(stream);
      ++failures;
    }
    interactions -= stretch.interactions;
  }
  return failures;
}

// Samples f along the restarted process until its quiet half and its livelier tenth are known and
// have alternated often enough to tell how long a crossing takes.
SplittingPlan Splitting::observed_base(Stream& stream) {
  constexpr std::uint64_t shortest = 1 << 15;
  constexpr std::uint64_t longest = std::uint64_t{1} << 31;
  if (options_.by_attempt) return {.levels = {minus_infinity}, .base_run = options_.particles};
  process_->restart(stream);
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
  throw_too_calm();
}

// Where f does not vary and failures are frequent all the same, they are the only level. Without
// levels where it does not vary and there are few of them.
SplittingPlan Splitting::observed_plan(std::uint64_t length, Stream& stream) {
  constexpr std::uint64_t samples = 1 << 13;
  std::vector<double> values;
  std::uint64_t failures = 0;
  while (values.size() < samples) {
    failures += restart_through(1, stream);
    values.push_back(process_->importance());
    failures += restart_through(length / samples - 1, stream);
  }
  std::ranges::sort(values);
  SplittingPlan plan{.quiet = values[values.size() / 2], .warm_up = 0, .base_run = length};
  const auto above = std::ranges::upper_bound(values, plan.quiet);
  if (above != values.end()) {
    plan.levels.push_back(std::max(*above, values[values.size() - values.size() / 10]));
  } else if (failures >= wanted_crossings) {
    plan.levels.push_back(infinity);
  }
  return plan;
}

// The present configuration as an entrance.
Splitting::Entrance Splitting::entrance(double value, std::uint32_t ancestor) const {
  if (value == infinity) return {nullptr, value, ancestor};
  return {process_->configuration(), value, ancestor};
}

// Attempts at their start, which is the first level.
std::vector<Splitting::Entrance> Splitting::started(std::uint64_t attempts, Stream& stream) {
  std::vector<Entrance> entrances;
  for (std::uint64_t i = 0; i < attempts; ++i) {
    process_->restart(stream);
    entrances.push_back(entrance(process_->importance(), static_cast<std::uint32_t>(i)));
  }
  return entrances;
}

// The entrances to level 1 during the base run. A restart counts as a visit of A. Between two
// visits of A only the next one is looked for, unless the rules count more crossings than that.
std::vector<Splitting::Entrance> Splitting::base_entrances(const SplittingPlan& plan,
                                                           Stream& stream) {
  if (options_.by_attempt) return started(plan.base_run, stream);
  std::vector<Entrance> entrances;
  const auto enter = [&](double value) {
    entrances.push_back(entrance(value, static_cast<std::uint32_t>(entrances.size())));
  };
  if (plan.warm_up > 0) {
    process_->restart(stream);
    restart_through(plan.warm_up, stream);
  }
  const double level = plan.levels.front();
  bool was_quiet = false;
  for (std::uint64_t left = plan.base_run; left > 0;) {
    const bool counts = rules_->counts_crossing(was_quiet);
    const Stretch stretch =
        advance(left, was_quiet ? no_bound : plan.quiet, counts ? level : no_bound, stream);
    left -= stretch.interactions;
    if (stretch.end == StretchEnd::fails && counts) enter(infinity);
    if (has_failed(stretch)) {
      process_->restart(stream);
      was_quiet = true;
    }
    const double value = process_->importance();
    if (value >= level) {
      if (rules_->counts_crossing(was_quiet)) enter(value);
      was_quiet = false;
    } else if (value <= plan.quiet) {
      was_quiet = true;
    }
  }
  return entrances;
}

// Starts paths from the entrances and returns the entrances to the next level; where that is
// infinite, those that fail.
std::vector<Splitting::Entrance> Splitting::passed(const std::vector<Entrance>& entrances,
                                                   double level, double quiet, std::uint64_t paths,
                                                   Stream& stream) {
  std::vector<Entrance> result;
  const std::uint64_t offset = stream.below64(entrances.size());
  const Stream first = stream;
  for (std::uint64_t i = 0; i < paths; ++i) {
    const Entrance& from = entrances[chosen_entrance(i, paths, entrances.size(), offset)];
    if (rules_->is_beyond(from.value, level)) result.push_back(from);
    if (from.value >= level) continue;
    rules_->begin_path(stream, first);
    process_->load(from.configuration);
    const double reached = climb(level, quiet, stream);
    if (reached >= level) result.push_back(entrance(reached, from.ancestor));
  }
  return result;
}

// Goes on until f >= level, which is returned; infinite after a failure, minus infinity after a
// return to A.
double Splitting::climb(double level, double quiet, Stream& stream) {
  switch (advance(most_interactions_of_a_path, quiet, level, stream).end) {
    case StretchEnd::fails:
      return infinity;
    case StretchEnd::is_high:
      return process_->importance();
    case StretchEnd::fails_else:
    case StretchEnd::is_low:
      return minus_infinity;
    case StretchEnd::enough:
      break;
  }
  throw_trapped();
}

// The next level: what a quarter of the paths reach before they return; infinite where that is the
// failure, minus infinity where no path goes on.
double Splitting::next_level(const std::vector<Entrance>& entrances, double here, double quiet,
                             std::uint64_t paths, Stream& stream) {
  for (int tries = 0; tries < most_tries; ++tries, paths *= 2) {
    const std::vector<double> highest = summits(entrances, quiet, paths, stream);
    const double quarter = highest[highest.size() - 1 - highest.size() / 4];
    if (quarter > here) return quarter;
    const auto above = std::ranges::upper_bound(highest, here);
    if (above != highest.end()) return *above;
  }
  return minus_infinity;
}

// How far paths get before they return, ascending.
std::vector<double> Splitting::summits(const std::vector<Entrance>& entrances, double quiet,
                                       std::uint64_t paths, Stream& stream) {
  std::vector<double> highest;
  const std::uint64_t offset = stream.below64(entrances.size());
  for (std::uint64_t i = 0; i < paths; ++i) {
    const Entrance& from = entrances[chosen_entrance(i, paths, entrances.size(), offset)];
    highest.push_back(from.value == infinity ? infinity : summit(from, quiet, stream));
  }
  std::ranges::sort(highest);
  return highest;
}

double Splitting::summit(const Entrance& from, double quiet, Stream& stream) {
  process_->load(from.configuration);
  double highest = from.value;
  for (;;) {
    const double reached = climb(std::nextafter(highest, infinity), quiet, stream);
    if (reached == minus_infinity) return highest;
    highest = reached;
    if (highest == infinity) return highest;
  }
}

// As `passed`, with more and more paths until some get through; none if none do.
std::vector<Splitting::Entrance> Splitting::pilot_entrances(const std::vector<Entrance>& entrances,
                                                            double level, double quiet,
                                                            std::uint64_t& paths, Stream& stream) {
  for (int tries = 0; tries < most_tries; ++tries, paths *= 2) {
    std::vector<Entrance> next = passed(entrances, level, quiet, paths, stream);
    if (!next.empty()) return next;
  }
  return {};
}

}  // namespace conclave::rare
