// Whether a protocol file computes what it says (`computes if A > B then yes else no`): for every
// input of n agents, all outputs agree with probability 1 on the right one and stay so. All
// configurations that inputs lead to are visited. On a finite chain the claim holds for an input
// unless it reaches a configuration from which no configuration can be reached whose outputs are
// right for ever.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/condition_tally.hpp"

namespace conclave::catalog {
namespace {

constexpr std::size_t most_configurations = 2'000'000;

using text::StateIndex;
using Agents = std::vector<StateIndex>;  // the states of all agents, sorted in configurations
using Marks = std::vector<bool>;         // by configuration

class Inputs {
 public:
  // Visits what the inputs of one computation lead to.
  Inputs(const text::Compiled& file, const text::Computation& computation,
         const ProgressCallback& progress)
      : file_(file) {
    add_inputs(computation.inputs, {}, 0);
    inputs_ = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      report_progress(progress, "inputs", i, 0);
      visit(i);
    }
    from_.resize(all_.size());
    for (std::uint32_t i = 0; i < to_.size(); ++i) {
      for (const std::uint32_t next : to_[i]) from_[next].push_back(i);
    }
  }

  // A shortest run from the first input that fits a case to where its output is lost; nothing: the
  // case holds.
  std::optional<std::vector<exact::TraceStep>> refutation_of(
      const text::Computation::Case& claim) const {
    Marks wrong(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) wrong[i] = !holds(claim.consensus, i);
    const Marks lost = complement(reaching(complement(reaching(wrong))));
    const Marks doomed = reaching(lost);
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (doomed[i] && holds(claim.condition, i)) return run(i, lost);
    }
    return std::nullopt;
  }

  bool has_input(const text::Computation::Case& claim) const {
    for (std::size_t i = 0; i < inputs_; ++i) {
      if (holds(claim.condition, i)) return true;
    }
    return false;
  }

 private:
  void add_inputs(const Agents& states, Agents agents, std::size_t first) {
    if (agents.size() == file_.agents()) {
      std::ranges::sort(agents);
      number(agents);
      return;
    }
    agents.push_back(0);
    for (std::size_t i = first; i < states.size(); ++i) {
      agents.back() = states[i];
      add_inputs(states, agents, i);
    }
  }

  std::uint32_t number(const Agents& agents) {
    const auto [place, is_new] =
        numbers_.try_emplace(agents, static_cast<std::uint32_t>(all_.size()));
    if (is_new) all_.push_back(agents);
    if (all_.size() <= most_configurations) return place->second;
    throw Error(fmt::format("the inputs of {} agents lead to more than {} configurations, too many "
                            "to check what {} computes; take fewer agents",
                            file_.agents(), most_configurations, file_.text().name()));
  }

  // Calls visit(i, j, agents) for all that one interaction makes of these agents, not sorted.
  template <class Visit>
  void for_each_next(const Agents& agents, Visit visit) const {
    for (std::size_t i = 0; i < agents.size(); ++i) {
      for (std::size_t j = 0; j < agents.size(); ++j) {
        if (i == j || !file_.reacts(agents[i], agents[j])) continue;
        for (const text::Outcome& each : file_.reaction(agents[i], agents[j]).outcomes) {
          if (each.weight == 0) continue;
          Agents next = agents;
          next[i] = each.u;
          next[j] = each.v;
          visit(i, j, next);
        }
      }
    }
  }

  void visit(std::size_t from) {
    std::vector<std::uint32_t> found;
    for_each_next(Agents(all_[from]), [&](std::size_t, std::size_t, Agents next) {
      std::ranges::sort(next);
      found.push_back(number(next));
    });
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    to_.push_back(std::move(found));
  }

  bool holds(const text::Node& condition, std::size_t i) const {
    text::ConditionTally::States census;
    for (const StateIndex state : all_[i]) {
      if (census.empty() || census.back().first != state) census.emplace_back(state, 0);
      ++census.back().second;
    }
    return text::holds_in(file_, condition, census);
  }

  static Marks complement(Marks marks) {
    marks.flip();
    return marks;
  }

  // The configurations from which one of these can be reached.
  Marks reaching(Marks marks) const {
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < marks.size(); ++i) {
      if (marks[i]) open.push_back(i);
    }
    while (!open.empty()) {
      const std::uint32_t i = open.back();
      open.pop_back();
      for (const std::uint32_t before : from_[i]) {
        if (!marks[before]) open.push_back(before);
        marks[before] = true;
      }
    }
    return marks;
  }

  // A shortest run between them, every agent in its place.
  std::vector<exact::TraceStep> run(std::size_t input, const Marks& ends) const {
    std::map<std::uint32_t, std::uint32_t> before;
    std::vector<std::uint32_t> path{static_cast<std::uint32_t>(input)};
    for (std::size_t i = 0; i < path.size() && !ends[path.back()]; ++i) {
      for (const std::uint32_t next : to_[path[i]]) {
        if (next == input || ends[path.back()] || !before.try_emplace(next, path[i]).second)
          continue;
        path.push_back(next);
      }
    }
    path = {path.back()};
    while (path.back() != input) path.push_back(before.at(path.back()));
    Agents agents = all_[input];
    std::vector<exact::TraceStep> steps{{"", text_of(agents)}};
    for (std::size_t i = path.size() - 1; i-- > 0;) step(steps, agents, all_[path[i]]);
    return steps;
  }

  void step(std::vector<exact::TraceStep>& steps, Agents& agents, const Agents& wanted) const {
    Agents after;
    std::string interaction;
    for_each_next(agents, [&](std::size_t u, std::size_t v, const Agents& next) {
      Agents sorted = next;
      std::ranges::sort(sorted);
      if (!after.empty() || sorted != wanted) return;
      after = next;
      interaction = fmt::format("({},{})", u, v);
    });
    agents = after;
    steps.push_back({interaction, text_of(agents)});
  }

  std::string text_of(const Agents& agents) const {
    std::vector<std::string> names;
    for (const StateIndex state : agents) names.push_back(file_.space().name(state));
    return join_parts(names, " ");
  }

  const text::Compiled& file_;
  std::map<Agents, std::uint32_t> numbers_;
  std::vector<Agents> all_;
  std::size_t inputs_ = 0;
  std::vector<std::vector<std::uint32_t>> to_, from_;
};

}  // namespace

std::vector<exact::ClaimReport> computations_of(const text::Compiled& file,
                                                const ProgressCallback& progress) {
  std::vector<exact::ClaimReport> reports;
  for (const text::Computation& each : file.computations()) {
    const Inputs inputs(file, each, progress);
    exact::ClaimReport& report = reports.emplace_back();
    report.name = "computes";
    report.statement = each.text;
    report.verdict = exact::Verdict::vacuous;
    for (const text::Computation::Case& one : each.cases) {
      if (report.fails() || !inputs.has_input(one)) continue;
      report.verdict = exact::Verdict::holds;
      auto trace = inputs.refutation_of(one);
      if (!trace) continue;
      report.verdict = exact::Verdict::fails;
      report.problem = fmt::format("from here the outputs never become {} for ever", one.output);
      report.counterexample = std::move(*trace);
    }
  }
  return reports;
}

}  // namespace conclave::catalog
