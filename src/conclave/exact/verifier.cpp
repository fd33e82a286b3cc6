#include "conclave/exact/verifier.hpp"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/chain/hitting_times.hpp"
#include "conclave/chain/rational_chain.hpp"
#include "conclave/exact/analysis.hpp"
#include "conclave/exact/model_files.hpp"
#include "conclave/exact/reachable_bound.hpp"

namespace conclave::exact {
namespace {

using Check = ClaimsRecord;

constexpr std::uint64_t most_for_second_solve = 2'000'000;

}  // namespace

NumberedVerifier::~NumberedVerifier() = default;  // compiled here, once

NumberedVerifier::NumberedVerifier(Network network, VerifyOptions options, std::size_t start,
                                   bool claims_everywhere, bool has_normal_forms)
    : network_(std::move(network)),
      options_(std::move(options)),
      first_(start),
      everywhere_(options_.extent == Extent::everywhere ||
                  (options_.extent == Extent::as_claimed && claims_everywhere)),
      uses_congruence_(everywhere_ && options_.congruence && has_normal_forms) {}

Report NumberedVerifier::run(const Questions& questions) {
  tracer_.emplace(network_, states(), index_,
                  [this](StateNumber state) { return notation(state); });
  const std::size_t target =
      known_set(options_.target.empty() ? std::string(converged_set) : options_.target);
  const std::size_t within = known_set(options_.within);
  explore_all();
  describe_space();
  report_claims();
  if (questions.elects) report_safe_set();
  report_times(check().set(target), check().set(within));
  if (questions.measures_holding) report_holding();
  if (!options_.folder.empty()) write_files();
  return std::move(report_);
}

std::vector<StateLaw> NumberedVerifier::laws_of_agents() {
  std::vector<StateLaw> laws;
  for (AgentCount agent = 0; agent < network_.agents(); ++agent) {
    laws.push_back(law_of_agent(states(), first_, agent));
  }
  return laws;
}

std::vector<double> NumberedVerifier::number_all_states() {
  constexpr StateNumber look_up = 1 << 16;
  const auto plain = states().empty_table(false);
  std::vector<double> multiplicity;
  plain->add_all_states([&](StateNumber state) {
    if (state % look_up == look_up - 1) check_space();
    const StateNumber number = states().number_like(*plain, state);
    multiplicity.resize(states().size(), 0.0);
    ++multiplicity[number];
  });
  check_space();  // before all pairs of states are tried
  if (uses_congruence_) {
    report_congruence(quotient_violation(*plain, *states().empty_table(true)));
  }
  laws_of_agents();  // may have states of their own
  states().close([this] { check_space(); });
  multiplicity.resize(states().size(), 1.0);
  return multiplicity;
}

void NumberedVerifier::check_space() {
  check_size(network_, static_cast<double>(states().size()), options_.bounds);
}

// With a table of its own, since the order in which states are numbered shows in traces.
void NumberedVerifier::check_reach() const {
  if (states().asks_oracle()) return;  // what a part of the agents does depends on all
  const auto scratch = states().empty_table(false);
  std::vector<StateNumber> agents;
  for (AgentCount agent = 0; agent < network_.agents(); ++agent) {
    agents.push_back(law_of_agent(*scratch, first_, agent).front().first);
  }
  const Bounds bounds = options_.bounds.while_unknown();
  const double least = reachable_at_least(network_, *scratch, agents);
  check_reachable(network_, {least, least}, bounds);
  check_reachable(network_, reachable_by_halves(network_, *scratch, agents), bounds);
}

void NumberedVerifier::write_files() const {
  ModelFiles files{.chain = chain_,
                   .rational_chain = rational_chain_ ? &*rational_chain_ : nullptr,
                   .agents = network_.agents(),
                   .configuration = [this](StateIndex number) { return tracer_->read(number); },
                   .agent_states = {},
                   .labels = {{std::string(converged_set), check().set(Check::converged)}},
                   .start = start_};
  for (StateNumber state = 0; state < states().size(); ++state) {
    files.agent_states.push_back(notation(state));
  }
  const std::vector<std::string>& sets = check().named_sets();
  for (std::size_t i = 0; i < sets.size(); ++i) {
    files.labels.emplace_back(sets[i], check().set(Check::first_named_set + i));
  }
  write_model(files, options_.folder);
}

void NumberedVerifier::explore_all() {
  if (everywhere_) {
    multiplicity_ = number_all_states();
    check_space();
    index_ = index_all(network_, states().size(), options_.bounds.progress);
  } else {
    check_reach();
    index_ = index_as_met(network_);
  }
  start_ = start_law(network_, laws_of_agents(), *index_, options_.bounds.progress);
  seeds_ = static_cast<StateIndex>(index_->size());
  chain_ = explore(network_, states(), *index_, check(),
                   everywhere_ ? options_.bounds : options_.bounds.while_unknown());
  start_.resize(index_->size());
  if (options_.exactly) rational_chain_ = explore_exactly(network_, states(), *index_);
}

void NumberedVerifier::report_congruence(const std::optional<std::string>& problem) {
  report_.claims.push_back({"congruence",
                            "states with the same normal form behave alike (all pairs)",
                            problem ? Verdict::fails : Verdict::holds, problem.value_or("")});
}

void NumberedVerifier::describe_space() {
  report_.from_everywhere = everywhere_;
  report_.symmetry = name_of(network_.symmetry());
  report_.uses_congruence = uses_congruence_;
  report_.agent_states = states().size();
  report_.classes = index_->size();
  report_.transitions = chain_.transitions();
  double sum = 0;
  for (StateIndex i = 0; i < index_->size(); ++i) sum += weight(i);
  report_.configurations = sum;
}

double NumberedVerifier::weight(StateIndex number) const {
  if (!everywhere_) return 1;
  index_->read(number, scratch_);
  double product = network_.orbit(scratch_);
  for (const StateNumber state : scratch_) product *= multiplicity_[state];
  return product;
}

void NumberedVerifier::report_claims() {
  const std::vector<ClaimOutline>& claims = check().claims();
  for (std::size_t i = 0; i < claims.size(); ++i) {
    report_.claims.push_back({claims[i].name, claims[i].statement});
    ClaimReport& report = report_.claims.back();
    examine(i, claims[i].kind, report);
    if (!report.fails() && !is_exercised(i, claims[i].kind)) report.verdict = Verdict::vacuous;
  }
}

bool NumberedVerifier::is_exercised(std::size_t number, ClaimKind kind) const {
  switch (kind) {
    case ClaimKind::everywhere:
    case ClaimKind::steps:
      return check().is_exercised(number);
    case ClaimKind::reached:
      return first_of(outside(check().set_of(number))).has_value();
    case ClaimKind::closed:
    case ClaimKind::safe:
    case ClaimKind::equal:
      break;
  }
  return first_of(check().set_of(number)).has_value();
}

void NumberedVerifier::examine(std::size_t number, ClaimKind kind, ClaimReport& report) {
  switch (kind) {
    case ClaimKind::everywhere:
      return fail_at(first_of(outside(check().set_of(number))), report, "not so here");
    case ClaimKind::closed:
      return examine_closed(check().set_of(number), report);
    case ClaimKind::safe:
      return examine_safe(check().set_of(number), report);
    case ClaimKind::equal:
      return fail_at(first_difference(check().set_of(number), check().set(Check::converged)),
                     report, "in one of the two sets only");
    case ClaimKind::reached:
      return fail_at(first_of(outside(can_reach(chain_, check().set_of(number)))), report,
                     "from here it is never reached");
    case ClaimKind::steps:
      return examine_steps(number, report);
  }
}

void NumberedVerifier::examine_closed(const StateSet& set, ClaimReport& report) {
  const auto exit = way_out(chain_, set);
  if (!exit) return;
  fail_at(exit->first, report, "the last interaction leads out of the set");
  tracer_->go(report.counterexample, exit->second);
}

void NumberedVerifier::examine_safe(const StateSet& set, ClaimReport& report) {
  examine_closed(set, report);
  for (StateIndex i = 0; !report.fails() && i < index_->size(); ++i) {
    if (!set.contains(i)) continue;
    if (!check().is_in(i, Check::one_leader)) fail_at(i, report, "not exactly one leader");
    if (check().is_in(i, Check::output_changes)) fail_at(i, report, "an output may change here");
  }
}

void NumberedVerifier::examine_steps(std::size_t number, ClaimReport& report) {
  const std::optional<FailedStep>& failed = check().failure(number);
  if (!failed) return;
  fail_at(failed->from, report, "not so at the last interaction");
  tracer_->repeat(report.counterexample, *failed);
}

void NumberedVerifier::fail_at(std::optional<StateIndex> where, ClaimReport& report,
                               std::string problem) {
  if (!where) return;
  report.verdict = Verdict::fails;
  report.problem = std::move(problem);
  report.counterexample = tracer_->along(everywhere_ ? std::vector<StateIndex>{*where}
                                                     : path_to(chain_, seeds_, *where));
}

void NumberedVerifier::report_safe_set() {
  StateSet bad = outside(check().set(Check::one_leader));
  for (StateIndex i = 0; i < index_->size(); ++i) {
    if (check().is_in(i, Check::output_changes)) bad.insert(i);
  }
  const StateSet safe = outside(can_reach(chain_, bad));
  SafeSetReport& found = report_.safe_set.emplace();
  for (StateIndex i = 0; i < index_->size(); ++i) {
    const bool is_safe = safe.contains(i);
    const bool is_converged = check().is_in(i, Check::converged);
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
    found.slowest = Extreme{times.mean[times.slowest()], tracer_->text(times.slowest())};
  }
}

void NumberedVerifier::note(double& sum, std::string& example, double count, StateIndex number) {
  if (sum == 0) example = tracer_->text(number);
  sum += count;
}

std::size_t NumberedVerifier::known_set(const std::string& name) const {
  if (const auto set = check().find(name)) return *set;
  std::vector<std::string_view> names{converged_set};
  for (const std::string& set : check().named_sets()) names.push_back(set);
  throw Error(unknown_name("set of configurations", name, names));
}

void NumberedVerifier::report_times(const StateSet& target, const StateSet& within) {
  report_progress(options_.bounds.progress, "solving", 0, 0);
  const HittingTimes times = chain::hitting_times(chain_, target, {.variance = true});
  report_.residual = times.residual;
  report_.relative_error = times.relative_error;
  report_.start = time_from(chain_, target, times, start_);
  if (const auto slowest = slowest_in(within, times.mean)) {
    report_.slowest = Extreme{times.mean[*slowest], tracer_->text(*slowest)};
  }
  if (options_.exactly && std::isfinite(report_.start.mean)) report_exactly(target);
  report_.distribution = law(target, {options_.distribution_steps, 0});
  report_.comparison_law = law(target, {options_.comparison_steps, options_.comparison_tail});
}

std::vector<double> NumberedVerifier::law(const StateSet& target,
                                          const chain::LawLimits& limits) const {
  if (limits.last_step == 0) return {};
  return chain::hitting_law(chain_, target, start_, limits, [&](std::uint64_t step) {
    report_progress(options_.bounds.progress, "distribution", step, limits.last_step);
  });
}

void NumberedVerifier::report_exactly(const StateSet& target) {
  report_progress(options_.bounds.progress, "solving in fractions", 0, 0);
  const auto laws = laws_of_agents();
  const std::vector<Rational> start =
      rational_start_law(network_, laws, *index_, options_.bounds.progress);
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

void NumberedVerifier::report_holding() {
  const MarkovChain holding = until_end(network_, states(), *index_, {}, options_.bounds.progress);
  StateSet changed(holding.size());
  changed.insert(0);
  const std::vector<double> mean = chain::hitting_times(holding, changed).mean;
  Extreme least{std::numeric_limits<double>::infinity(), {}};
  double from_start = 0;
  bool is_converged = true;
  for (StateIndex i = 0; i < index_->size(); ++i) {
    if (start_[i] > 0) {
      from_start += start_[i] * mean[i + 1];
      is_converged = is_converged && check().is_in(i, Check::converged);
    }
    if (!check().is_in(i, Check::converged) || mean[i + 1] >= least.value) continue;
    least = {mean[i + 1], tracer_->text(i)};
  }
  if (!least.configuration.empty()) report_.shortest_holding = least;
  if (is_converged) report_.start_holding = from_start;
}

}  // namespace conclave::exact
