// Answers, exactly, the questions of VerifyOptions about one protocol on one small network:
// explores the configurations, checks the paper's claims in each, and solves for the expected
// times.
//
//   Verification<Fratricide> verification(Fratricide({}, 5), Network::complete(5), {});
//   verification.run().start.mean;  // 16
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/chain/hitting_law.hpp"
#include "conclave/chain/rational_hitting_times.hpp"
#include "conclave/exact/analysis.hpp"
#include "conclave/exact/claims_check.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/exploration.hpp"
#include "conclave/exact/model_files.hpp"
#include "conclave/exact/quotient_violation.hpp"
#include "conclave/exact/reachable_bound.hpp"
#include "conclave/exact/report.hpp"
#include "conclave/exact/start_law.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/exact/tracer.hpp"
#include "conclave/exact/verify_options.hpp"
#include "conclave/model/claims.hpp"

namespace conclave::exact {

// Copies the protocol. One verification runs once, on one thread.
template <PopulationProtocol P>
class Verification {
 public:
  using State = typename P::State;

  // `start` is an index among the protocol's starts.
  Verification(const P& protocol, Network network, VerifyOptions options, std::size_t start = 0)
      : network_(std::move(network)),
        options_(std::move(options)),
        first_(start),
        protocol_(protocol),
        claims_(claims_of(protocol_)),
        everywhere_(options_.extent == Extent::everywhere ||
                    (options_.extent == Extent::as_claimed && claims_.from_everywhere)),
        table_(protocol_, congruence()),
        check_(table_, claims_, network_) {}

  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  // Throws Error for unknown sets, for spaces that are too large, where possible before they are
  // explored, and for files that cannot be written; throws Interrupted.
  Report run() {
    const std::size_t target =
        known_set(options_.target.empty() ? std::string(converged_set) : options_.target);
    const std::size_t within = known_set(options_.within);
    explore_all();
    describe_space();
    report_claims();
    if (claims_.elects) report_safe_set();
    report_times(check_.set(target), check_.set(within));
    if constexpr (MeasuresHolding<P>) report_holding();
    if (!options_.folder.empty()) write_files();
    return std::move(report_);
  }

 private:
  using Check = ClaimsCheck<P>;

  // The chain and its sets.
  void write_files() const {
    ModelFiles files{.chain = chain_,
                     .rational_chain = rational_chain_ ? &*rational_chain_ : nullptr,
                     .agents = network_.agents(),
                     .configuration = [this](StateIndex number) { return tracer_.read(number); },
                     .agent_states = {},
                     .labels = {{std::string(converged_set), converged()}},
                     .start = start_};
    for (const State& state : table_.states()) {
      files.agent_states.push_back(claims_.notation(state));
    }
    for (std::size_t i = 0; i < claims_.sets.size(); ++i) {
      files.labels.emplace_back(claims_.sets[i].name, check_.set(Check::first_named_set + i));
    }
    write_model(files, options_.folder);
  }

  StateSet converged() const { return check_.set(Check::converged); }

  // One word per agent.
  std::string text(StateIndex number) const { return tracer_.text(number); }

  bool uses_congruence() const {
    return everywhere_ && options_.congruence && claims_.normal_form != nullptr;
  }
  typename StateTable<P>::NormalForm congruence() const {
    if (uses_congruence()) return claims_.normal_form;
    return {};
  }

  void explore_all() {
    if (everywhere_) {
      number_all_states();
    } else {
      refuse_hopeless();
      index_ = index_as_met(network_);
    }
    start_ = start_law(network_, laws_of_agents(table_, first_, network_.agents()), *index_);
    seeds_ = static_cast<StateIndex>(index_->size());
    chain_ = explore(network_, table_, *index_, check_, options_.bounds);
    start_.resize(index_->size());
    if (options_.exactly) rational_chain_ = explore_exactly(network_, table_, *index_);
  }

  // With a table of its own, since the order in which states are numbered shows in traces.
  void refuse_hopeless() const {
    StateTable<P> scratch(protocol_);
    std::vector<StateNumber> start;
    for (AgentCount agent = 0; agent < network_.agents(); ++agent) {
      start.push_back(law_of_agent(scratch, first_, agent).front().first);
    }
    check_reachable(network_, reachable_at_least(network_, scratch, start), options_.bounds);
  }

  void number_all_states() {
    if constexpr (SelfStabilizing<P>) {
      if constexpr (requires { protocol_.state_count(); }) check_states(protocol_.state_count());
      StateTable<P> plain(protocol_);
      for (const State& state : arbitrary_states(protocol_)) plain.number(state);
      if (uses_congruence()) check_congruence(plain.states());
      for (const State& state : plain.states()) {
        const StateNumber number = table_.number(state);
        multiplicity_.resize(table_.size(), 0.0);
        ++multiplicity_[number];
      }
      laws_of_agents(table_, first_, network_.agents());  // may have states of their own
      table_.close();
      multiplicity_.resize(table_.size(), 1.0);
      check_size(network_, static_cast<double>(table_.size()), options_.bounds);
      index_ = index_all(network_, table_.size());
    } else {
      throw Error(fmt::format("{} cannot name all its states; explore it from its start",
                              protocol_.info.name));
    }
  }

  void check_congruence(const std::vector<State>& states) {
    const auto problem = quotient_violation(protocol_, states, claims_.normal_form);
    report_.claims.push_back({"congruence",
                              "states with the same normal form behave alike (all pairs)",
                              problem ? Verdict::fails : Verdict::holds, problem.value_or("")});
  }

  // Called before the states are listed and all their pairs tried.
  void check_states(Interactions states) const {
    if (states <= most_states) return;
    throw Error(fmt::format("too large for an exact computation: an agent has {} states, and all "
                            "configurations can be explored up to {}; take smaller parameters, or "
                            "explore from a start with --from start",
                            to_string(states), most_states));
  }

  void describe_space() {
    report_.from_everywhere = everywhere_;
    report_.symmetry = name_of(network_.symmetry());
    report_.uses_congruence = uses_congruence();
    report_.agent_states = table_.size();
    report_.classes = index_->size();
    report_.transitions = chain_.transitions();
    double sum = 0;
    for (StateIndex i = 0; i < index_->size(); ++i) sum += weight(i);
    report_.configurations = sum;
  }

  // How many configurations a class stands for.
  double weight(StateIndex number) const {
    if (!everywhere_) return 1;
    index_->read(number, scratch_);
    double product = network_.orbit(scratch_);
    for (const StateNumber state : scratch_) product *= multiplicity_[state];
    return product;
  }

  void report_claims() {
    for (std::size_t i = 0; i < claims_.claims.size(); ++i) {
      const Claim<State>& claim = claims_.claims[i];
      report_.claims.push_back({claim.name, claim.statement});
      ClaimReport& report = report_.claims.back();
      examine(i, claim, report);
      if (!report.fails() && !is_exercised(i, claim)) report.verdict = Verdict::vacuous;
    }
  }

  // Whether a claim that does not fail says anything about the configurations explored.
  bool is_exercised(std::size_t number, const Claim<State>& claim) const {
    switch (claim.kind) {
      case ClaimKind::everywhere:
      case ClaimKind::steps:
        return check_.is_exercised(number);
      case ClaimKind::reached:
        return first_of(outside(check_.set_of(number))).has_value();
      case ClaimKind::closed:
      case ClaimKind::safe:
      case ClaimKind::equal:
        break;
    }
    return first_of(check_.set_of(number)).has_value();
  }

  void examine(std::size_t number, const Claim<State>& claim, ClaimReport& report) {
    switch (claim.kind) {
      case ClaimKind::everywhere:
        return fail_at(first_of(outside(check_.set_of(number))), report, "not so here");
      case ClaimKind::closed:
        return examine_closed(check_.set_of(number), report);
      case ClaimKind::safe:
        return examine_safe(check_.set_of(number), report);
      case ClaimKind::equal:
        return fail_at(first_difference(check_.set_of(number), converged()), report,
                       "in one of the two sets only");
      case ClaimKind::reached:
        return fail_at(first_of(outside(can_reach(chain_, check_.set_of(number)))), report,
                       "from here it is never reached");
      case ClaimKind::steps:
        return examine_steps(number, report);
    }
  }

  void examine_closed(const StateSet& set, ClaimReport& report) {
    const auto exit = way_out(chain_, set);
    if (!exit) return;
    fail_at(exit->first, report, "the last interaction leads out of the set");
    tracer_.go(report.counterexample, exit->second);
  }

  void examine_safe(const StateSet& set, ClaimReport& report) {
    examine_closed(set, report);
    for (StateIndex i = 0; !report.fails() && i < index_->size(); ++i) {
      if (!set.contains(i)) continue;
      if (!check_.is_in(i, Check::one_leader)) fail_at(i, report, "not exactly one leader");
      if (check_.is_in(i, Check::output_changes)) fail_at(i, report, "an output may change here");
    }
  }

  void examine_steps(std::size_t number, ClaimReport& report) {
    const std::optional<FailedStep>& failed = check_.failure(number);
    if (!failed) return;
    fail_at(failed->from, report, "not so at the last interaction");
    tracer_.repeat(report.counterexample, *failed);
  }

  // A shortest trace to a configuration; where all are explored, it is itself a start.
  void fail_at(std::optional<StateIndex> where, ClaimReport& report, std::string problem) {
    if (!where) return;
    report.verdict = Verdict::fails;
    report.problem = std::move(problem);
    report.counterexample = tracer_.along(everywhere_ ? std::vector<StateIndex>{*where}
                                                      : path_to(chain_, seeds_, *where));
  }

  // A configuration is safe by definition if it reaches none whose output is wrong or changes.
  void report_safe_set() {
    StateSet bad = outside(check_.set(Check::one_leader));
    for (StateIndex i = 0; i < index_->size(); ++i) {
      if (check_.is_in(i, Check::output_changes)) bad.insert(i);
    }
    const StateSet safe = outside(can_reach(chain_, bad));
    SafeSetReport& found = report_.safe_set.emplace();
    for (StateIndex i = 0; i < index_->size(); ++i) {
      const bool is_safe = safe.contains(i);
      const bool is_converged = check_.is_in(i, Check::converged);
      if (!is_safe && !is_converged) continue;
      const double count = weight(i);
      found.safe += is_safe ? count : 0;
      found.converged += is_converged ? count : 0;
      if (is_safe && !is_converged) note(found.safe_only, found.safe_example, count, i);
      if (!is_safe && is_converged) note(found.converged_only, found.unsafe_example, count, i);
    }
    if (found.safe_only == 0 || index_->size() > most_for_second_solve) return;
    const HittingTimes times = chain::hitting_times(chain_, safe);
    if (times.infinite == 0) {
      found.slowest = Extreme{times.mean[times.slowest()], text(times.slowest())};
    }
  }

  void note(double& sum, std::string& example, double count, StateIndex number) {
    if (sum == 0) example = text(number);
    sum += count;
  }

  std::size_t known_set(const std::string& name) const {
    if (const auto set = check_.find(name)) return *set;
    std::vector<std::string_view> names{converged_set};
    for (const auto& set : claims_.sets) names.push_back(set.name);
    throw Error(unknown_name("set of configurations", name, names));
  }

  void report_times(const StateSet& target, const StateSet& within) {
    report_progress(options_.bounds.progress, "solving", 0, 0);
    const HittingTimes times = chain::hitting_times(chain_, target, {.variance = true});
    report_.residual = times.residual;
    report_.relative_error = times.relative_error;
    report_.start = time_from(chain_, target, times, start_);
    if (const auto slowest = slowest_in(within, times.mean)) {
      report_.slowest = Extreme{times.mean[*slowest], text(*slowest)};
    }
    if (options_.exactly && std::isfinite(report_.start.mean)) report_exactly(target);
    report_.distribution = law(target, {options_.distribution_steps, 0});
    report_.comparison_law = law(target, {options_.comparison_steps, options_.comparison_tail});
  }

  // P(T <= t) from the start; nothing if no steps are asked for.
  std::vector<double> law(const StateSet& target, const chain::LawLimits& limits) const {
    if (limits.last_step == 0) return {};
    return chain::hitting_law(chain_, target, start_, limits, [&](std::uint64_t step) {
      report_progress(options_.bounds.progress, "distribution", step, limits.last_step);
    });
  }

  void report_exactly(const StateSet& target) {
    report_progress(options_.bounds.progress, "solving in fractions", 0, 0);
    const auto laws = laws_of_agents(table_, first_, network_.agents());
    const std::vector<Rational> start = rational_start_law(network_, laws, *index_);
    std::vector<StateIndex> support;
    for (StateIndex i = 0; i < start.size(); ++i) {
      if (start[i] != 0) support.push_back(i);
    }
    const std::vector<Rational> times =
        chain::rational_hitting_times(*rational_chain_, target, support).mean;
    Rational mean = 0;
    for (std::size_t i = 0; i < support.size(); ++i) mean += start[support[i]] * times[i];
    report_.start_exactly = mean.get_str();
  }

  // How long the outputs stay as they are, from every converged configuration.
  void report_holding() {
    const MarkovChain holding = until_output_changes(network_, table_, *index_, options_.bounds);
    StateSet changed(holding.size());
    changed.insert(static_cast<StateIndex>(index_->size()));
    const std::vector<double> mean = chain::hitting_times(holding, changed).mean;
    Extreme least{std::numeric_limits<double>::infinity(), {}};
    double from_start = 0;
    bool is_converged = true;
    for (StateIndex i = 0; i < index_->size(); ++i) {
      if (start_[i] > 0) {
        from_start += start_[i] * mean[i];
        is_converged = is_converged && check_.is_in(i, Check::converged);
      }
      if (!check_.is_in(i, Check::converged) || mean[i] >= least.value) continue;
      least = {mean[i], text(i)};
    }
    if (!least.configuration.empty()) report_.shortest_holding = least;
    if (is_converged) report_.start_holding = from_start;
  }

  static constexpr std::uint64_t most_states = 4096;
  static constexpr std::uint64_t most_for_second_solve = 2'000'000;

  Network network_;
  VerifyOptions options_;
  std::size_t first_;  // the start, among the protocol's
  P protocol_;
  Claims<State> claims_;
  bool everywhere_;
  StateTable<P> table_;
  Check check_;
  std::unique_ptr<ConfigurationIndex> index_;
  Tracer<P> tracer_{network_, table_, index_, claims_.notation};
  std::vector<double> multiplicity_;  // of each state: how many have this normal form
  std::vector<double> start_;         // the distribution of the start
  StateIndex seeds_ = 0;              // the configurations that the index had first
  MarkovChain chain_;
  std::optional<RationalChain> rational_chain_;  // the same without rounding, if asked for
  Report report_;
  mutable std::vector<StateNumber> scratch_ = std::vector<StateNumber>(network_.agents());
};

}  // namespace conclave::exact
