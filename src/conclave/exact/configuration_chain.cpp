#include "conclave/exact/configuration_chain.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"

namespace conclave::exact {
namespace {

// Agents that are copied between two looks at the memory and at the caller's wishes.
constexpr std::uint64_t work_between_looks = std::uint64_t{1} << 20;
constexpr double gibibyte = 1024.0 * 1024 * 1024;

// The memory that exploring, checking and solving take at their peak, roughly: a growing vector is
// there twice while it moves.
double bytes_needed(double configurations, double transitions) {
  return 80 * configurations + 24 * transitions;
}

void check_memory(const ConfigurationIndex& index, const PairOutcomes& pairs,
                  const ChainBuilder& chain, const Bounds& bounds) {
  const auto found = static_cast<double>(index.size());
  const double share = found / static_cast<double>(std::max<std::size_t>(1, chain.rows()));
  const double needed = bytes_needed(found, share * static_cast<double>(chain.transitions())) +
                        static_cast<double>(index.bytes() + pairs.bytes());
  if (needed <= static_cast<double>(bounds.memory) && index.size() < 0xffffffffu) return;
  throw Error(fmt::format(
      "too large for an exact computation: more than {} configurations can be reached, which takes "
      "over {:.3g} GiB, and {:.3g} GiB are allowed; take smaller parameters or a smaller n, or "
      "allow more with --memory",
      index.size(), needed / gibibyte, static_cast<double>(bounds.memory) / gibibyte));
}

// Says when it is time to look up from a loop whose rounds differ a lot in cost.
class Pace {
 public:
  explicit Pace(const Network& network) : agents_(network.agents()) {}

  // At the first row, and after every work_between_looks since.
  bool is_time(std::uint64_t transitions_so_far) {
    const std::uint64_t work = (transitions_so_far + ++rows_) * agents_;
    if (rows_ > 1 && work < next_) return false;
    next_ = work + work_between_looks;
    return true;
  }

 private:
  std::uint64_t agents_;
  std::uint64_t rows_ = 0;
  std::uint64_t next_ = 0;
};

// The rows of a chain, one configuration after the other.
class Walk {
 public:
  Walk(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index)
      : network_(network), pairs_(pairs), index_(index), before_(network.agents()) {}

  std::span<const StateNumber> enter(StateIndex from) {
    from_ = from;
    index_.read(from, before_);
    oracle_answer_ = pairs_.oracle_answer_in(before_);
    find_targets();
    return before_;
  }

  // Calls visit(step, ways) for all interactions in the configuration entered.
  template <class Visit>
  void for_each_way(Visit visit) {
    std::size_t changes = 0;
    for_each_result(
        [&](std::size_t u, std::size_t v, const PairOutcome& result, std::uint64_t ways) {
          const StateIndex to = is_null(u, v, result) ? from_ : targets_[changes++];
          visit(NumberedStep{from_, to, before_, u, v, result}, ways);
        });
  }

  // The same with the probability of the step.
  template <class Visit>
  void for_each_step(Visit visit) {
    const auto pairs = static_cast<double>(network_.pairs());
    for_each_way([&](const NumberedStep& step, std::uint64_t ways) {
      visit(step, static_cast<double>(ways) / pairs * step.result.weight.as_double());
    });
  }

 private:
  template <class Visit>
  void for_each_result(Visit visit) {
    network_.for_each_meeting(before_, [&](std::size_t u, std::size_t v, std::uint64_t ways) {
      for (const PairOutcome& result : pairs_.outcomes(before_[u], before_[v], oracle_answer_)) {
        visit(u, v, result, ways);
      }
    });
  }

  bool is_null(std::size_t u, std::size_t v, const PairOutcome& result) const {
    return result.u == before_[u] && result.v == before_[v];
  }

  // All at once, because each may lie anywhere in memory.
  void find_targets() {
    after_.clear();
    for_each_result([&](std::size_t u, std::size_t v, const PairOutcome& result, std::uint64_t) {
      if (is_null(u, v, result)) return;
      const std::size_t begin = after_.size();
      after_.insert(after_.end(), before_.begin(), before_.end());
      after_[begin + u] = result.u;
      after_[begin + v] = result.v;
      network_.canonicalize(std::span(after_).subspan(begin));
    });
    targets_.resize(after_.size() / network_.agents());
    index_.number_all(after_, targets_);
  }

  const Network& network_;
  PairOutcomes& pairs_;
  ConfigurationIndex& index_;
  StateIndex from_ = 0;
  OracleAnswer oracle_answer_ = OracleAnswer::nothing;
  std::vector<StateNumber> before_;
  std::vector<StateNumber> after_;   // every interaction that changes something, one by one
  std::vector<StateIndex> targets_;  // their numbers
};

}  // namespace

void check_size(const Network& network, double states, const Bounds& bounds) {
  constexpr double bytes_of_pair = 48;  // of states: its place and at least one outcome
  const double classes = count_canonical(network, states);
  const double bytes =
      bytes_needed(classes, classes * static_cast<double>(network.most_meetings())) +
      bytes_of_pair * states * states;
  if (bytes <= static_cast<double>(bounds.memory) && classes < 4e9) return;
  throw Error(fmt::format(
      "too large for an exact computation: {} agents with {} states have {:.3g} configurations up "
      "to symmetry, which takes about {:.3g} GiB, and {:.3g} GiB are available; take a smaller n "
      "or smaller parameters, allow more with --memory, or search for slow ones with: conclave "
      "search",
      network.agents(), states, classes, bytes / gibibyte,
      static_cast<double>(bounds.memory) / gibibyte));
}

void check_reachable(const Network& network, const Reachable& reachable, const Bounds& bounds) {
  const double configurations = reachable.configurations;
  const double bytes = bytes_needed(configurations, reachable.transitions) +
                       configurations * static_cast<double>(network.agents());
  if (bytes <= static_cast<double>(bounds.memory)) return;
  constexpr double most_shown = 1e300;  // beyond it a double may be infinite
  throw Error(fmt::format(
      "too large for an exact computation: more than {:.2g} configurations can be reached, "
      "which takes over {:.2g} GiB, and {:.3g} GiB are allowed; take a smaller n or smaller "
      "parameters, or allow more with --memory",
      std::min(configurations, most_shown), std::min(bytes / gibibyte, most_shown),
      static_cast<double>(bounds.memory) / gibibyte));
}

MarkovChain explore(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                    Visitor& visitor, const Bounds& bounds) {
  Walk walk(network, pairs, index);
  ChainBuilder chain;
  // Where all are known beforehand, nothing has to move as the chain grows.
  chain.reserve(index.size(), index.size() * network.most_meetings());
  Pace pace(network);
  for (StateIndex from = 0; from < index.size(); ++from) {
    if (pace.is_time(chain.transitions())) {
      check_memory(index, pairs, chain, bounds);
      report_progress(bounds.progress, "exploring the configurations found so far", from,
                      index.size());
    }
    visitor.configuration(from, walk.enter(from));
    walk.for_each_step([&](const NumberedStep& step, double chance) {
      visitor.step(step);
      chain.add(step.to, chance);
    });
    chain.end_row();
  }
  return std::move(chain).build();
}

RationalChain explore_exactly(const Network& network, PairOutcomes& pairs,
                              ConfigurationIndex& index) {
  Walk walk(network, pairs, index);
  RationalChain chain;
  for (StateIndex from = 0; from < index.size(); ++from) {
    walk.enter(from);
    std::map<StateIndex, Rational> row;  // a rational chain does not merge transitions by itself
    walk.for_each_way([&](const NumberedStep& step, std::uint64_t ways) {
      const Weight weight = step.result.weight.times(ways, network.pairs());
      row[step.to] += Rational(weight.numerator, weight.denominator);
    });
    for (auto& [to, probability] : row) chain.add(to, std::move(probability));
    chain.end_row();
  }
  return chain;
}

namespace {

// Whether walks have ended in configurations, asked once for each.
class EndedWalks {
 public:
  EndedWalks(const Network& network, const ConfigurationIndex& index, const WalkEnd& end)
      : index_(index), end_(end), agents_(network.agents()) {}

  bool operator()(StateIndex number) {
    if (!end_.is_over) return false;
    for (; known_.size() <= number; known_.push_back(end_.is_over(agents_))) {
      index_.read(static_cast<StateIndex>(known_.size()), agents_);
    }
    return known_[number];
  }

 private:
  const ConfigurationIndex& index_;
  const WalkEnd& end_;
  std::vector<StateNumber> agents_;
  std::vector<bool> known_;
};

void check_count(std::uint64_t configurations, std::uint64_t most) {
  if (configurations <= most) return;
  throw Error(fmt::format("too large for an exact computation: more than {} configurations can be "
                          "reached before a failure; take a smaller n or smaller parameters",
                          most));
}

}  // namespace

MarkovChain until_end(const Network& network, PairOutcomes& pairs, ConfigurationIndex& index,
                      const WalkEnd& end, const ProgressCallback& progress) {
  Walk walk(network, pairs, index);
  EndedWalks has_ended(network, index, end);
  ChainBuilder chain;
  chain.add(0, 1);
  chain.end_row();
  Pace pace(network);
  for (StateIndex from = 0; from < index.size(); ++from, chain.end_row()) {
    check_count(index.size(), end.most_configurations);
    if (pace.is_time(chain.transitions())) {
      report_progress(progress, "following outputs until they change", from, index.size());
    }
    if (has_ended(from)) {
      chain.add(0, 1);
      continue;
    }
    walk.enter(from);
    walk.for_each_step([&](const NumberedStep& step, double chance) {
      if (step.result.changes_output && step.result.way != end.way) {
        for (StateIndex i = 0; i < end.restart.size(); ++i) {
          chain.add(i + 1, chance * end.restart[i]);
        }
        return;
      }
      const bool ends = step.result.changes_output || has_ended(step.to);
      chain.add(ends ? 0 : step.to + 1, chance);
    });
  }
  return std::move(chain).build();
}

}  // namespace conclave::exact
