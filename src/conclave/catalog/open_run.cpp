// Networks of reactions whose molecules are born or die, by Gillespie's direct method in whole
// numbers.
//
// The propensity of a reaction is its weight times a product of numbers of molecules, over a scale
// that all share: an integer. So the next reaction is drawn exactly, below the sum of all. It comes
// after an exponential time, whose rate changes with every reaction; so how many reactions happen
// before a time is known only once the trial has come there. The trial asks its clock for the times
// at which it is to be sampled and to end, and the engine pauses at each of them, before the first
// reaction that comes later (Clock::learns).
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/catalog/population_run.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/population/trial_engine.hpp"
#include "conclave/text/condition_tally.hpp"

namespace conclave::catalog {
namespace {

using text::StateIndex;

// Beyond it a trial would take hours, or never end: as a rule the network grows without bound.
constexpr AgentCount most_molecules = 100'000'000;

// How far a trial is, for its engine and its clock.
struct Timeline {
  double now = 0;      // of the last reaction
  double reached = 0;  // a time before which all reactions have happened
  Interactions reactions{};
  std::set<double> awaited{};  // times to come at which the engine pauses
};

class LearningClock final : public Clock {
 public:
  explicit LearningClock(std::shared_ptr<Timeline> line) : line_(std::move(line)) {}

  Interactions interactions_at(const Fraction& time) override {
    const double wanted = time.as_double();
    if (wanted <= line_->reached) return line_->reactions;
    line_->awaited.insert(wanted);
    return Interactions::max();
  }
  // The time of the last reaction, which is what a trial asks for; 0 before the first.
  double time_after(Interactions) override { return line_->now; }
  bool learns() const override { return true; }
  std::unique_ptr<Clock> copy() const override {
    return std::make_unique<LearningClock>(std::make_shared<Timeline>(*line_));
  }

 private:
  std::shared_ptr<Timeline> line_;
};

class OpenEngine final : public population::TrialEngine {
 public:
  OpenEngine(const text::Compiled& network, const Census<StateIndex>& start, const StreamName& name)
      : network_(&network),
        tally_(network),
        counts_(network.space().size()),
        propensities_(network.open().reactions.size()),
        schedule_(name.with(Purpose::schedule)),
        waits_(name.with(Purpose::clock)) {
    for (const auto& [species, count] : start) {
      counts_[species] += count;
      molecules_ += count;
      tally_.add(species, count);
    }
    size_ = molecules_;
    list_affected();
    for (std::size_t i = 0; i < propensities_.size(); ++i) refresh(i);
    draw_next();
  }

  std::unique_ptr<TrialEngine> copy() const override {
    auto result = std::make_unique<OpenEngine>(*this);
    result->line_ = std::make_shared<Timeline>(*line_);
    return result;
  }
  std::unique_ptr<Clock> own_clock() override { return std::make_unique<LearningClock>(line_); }

  // Ends before the budget also where a time that is awaited comes first.
  void advance_a_chunk(Interactions budget, Interactions) override {
    constexpr std::uint64_t most = std::uint64_t{1} << 16;
    std::uint64_t left = std::min<Interactions>(budget, most).as_uint64().value_or(most);
    for (; left > 0 && !has_stopped(); --left) {
      if (pauses()) return;
      if (is_silent()) {
        line_->reactions += budget;  // nothing happens in all of them
        return;
      }
      react();
    }
    if (!has_stopped()) pauses();
  }

  void watch(Watch what) override { watch_ = what; }
  bool has_stopped() const override {
    return watch_ == Watch::convergence && (converged() || hopeless());
  }
  AgentCount size() const override { return size_; }
  Interactions now() const override { return line_->reactions; }
  AgentCount leaders() const override { return tally_.leaders(); }
  bool converged() const override {
    return network_->stops_when_silent() ? is_silent() : tally_.converged();
  }
  bool hopeless() const override { return !converged() && (is_silent() || tally_.hopeless()); }
  std::vector<Observation> observations() const override {
    if (!tally_.needs_census()) return tally_.observations();
    return tally_.observations(occupied());
  }
  std::vector<NamedCount> census() const override {
    std::vector<NamedCount> result;
    for (const auto& [species, count] : occupied()) {
      result.push_back({network_->space().name(species), count});
    }
    return result;
  }
  std::vector<NamedCount> agents(const KeepGoing*) const override { return census(); }
  population::AgentTable table() const override {
    population::AgentTable table{.variables = {{"state", network_->space().fields()[0].values}}};
    for (const auto& [species, count] : occupied()) {
      table.counts.push_back(count);
      table.values.push_back(network_->leads(species) ? 1 : 0);
      table.values.push_back(static_cast<double>(species));
    }
    return table;
  }
  population::NextMeeting next_meeting() override {
    return {is_silent() ? Interactions::max() : now() + 1u};
  }
  void note_next(std::vector<std::string>&) override {}
  AgentCount strike(const Fault&) override { return 0; }
  std::uint64_t effective_interactions() const override { return 0; }
  bool measures_holding() const override { return false; }
  void hold() override {}
  bool violated() const override { return false; }

 private:
  using Reactions = std::vector<text::OpenReaction>;
  const Reactions& reactions() const { return network_->open().reactions; }

  bool is_silent() const { return sum_ == 0u; }

  text::ConditionTally::States occupied() const {
    text::ConditionTally::States result;
    for (StateIndex species = 0; species < counts_.size(); ++species) {
      if (counts_[species] > 0) result.emplace_back(species, counts_[species]);
    }
    return result;
  }

  // The reactions whose propensity changes with each reaction.
  void list_affected() {
    for (const text::OpenReaction& each : reactions()) {
      std::vector<std::size_t>& affected = affected_.emplace_back();
      for (std::size_t i = 0; i < reactions().size(); ++i) {
        const bool is_changed = std::ranges::any_of(reactions()[i].reactants, [&](StateIndex one) {
          return std::ranges::count(each.reactants, one) != std::ranges::count(each.products, one);
        });
        if (is_changed) affected.push_back(i);
      }
    }
  }

  void refresh(std::size_t number) {
    const text::OpenReaction& reaction = reactions()[number];
    Interactions propensity = reaction.weight;
    for (std::size_t i = 0; i < reaction.reactants.size(); ++i) {
      const AgentCount count = counts_[reaction.reactants[i]];
      const bool is_second = i == 1 && reaction.reactants[0] == reaction.reactants[1];
      propensity = propensity * Interactions(is_second && count > 0 ? count - 1 : count);
    }
    sum_ = sum_ - propensities_[number] + propensity;
    propensities_[number] = propensity;
  }

  void draw_next() {
    if (is_silent()) return;
    constexpr double unit = 0x1p-60;
    const double wait = exponential_(waits_).as_double() * unit;
    next_ = line_->now + wait * network_->open().scale / sum_.as_double();
  }

  // Whether the next reaction comes after a time that is awaited, which is reached then.
  bool pauses() {
    std::set<double>& awaited = line_->awaited;
    if (awaited.empty() || (!is_silent() && next_ < *awaited.begin())) return false;
    line_->reached = *awaited.begin();
    awaited.erase(awaited.begin());
    return true;
  }

  void react() {
    Interactions pick = below128(schedule_, sum_);
    std::size_t number = 0;
    for (; pick >= propensities_[number]; ++number) pick = pick - propensities_[number];
    const text::OpenReaction& reaction = reactions()[number];
    for (const StateIndex species : reaction.reactants) {
      --counts_[species];
      tally_.remove(species);
    }
    for (const StateIndex species : reaction.products) {
      ++counts_[species];
      tally_.add(species);
    }
    molecules_ += reaction.products.size();
    molecules_ -= reaction.reactants.size();
    for (const std::size_t each : affected_[number]) refresh(each);
    line_->now = line_->reached = next_;
    line_->reactions += 1u;
    if (molecules_ > std::max(most_molecules, size_)) explode();
    draw_next();
  }

  [[noreturn]] void explode() const {
    throw Error(fmt::format("{} has more than {} molecules at time {:.6g}: it grows without bound; "
                            "end its trials earlier, with --until or a stop condition",
                            network_->text().name(), std::max(most_molecules, size_), line_->now));
  }

  const text::Compiled* network_;
  text::ConditionTally tally_;
  std::vector<AgentCount> counts_;  // by species
  AgentCount molecules_ = 0;
  AgentCount size_ = 0;  // at the start
  std::vector<Interactions> propensities_;
  Interactions sum_{};
  std::vector<std::vector<std::size_t>> affected_;
  Stream schedule_;
  Stream waits_;
  Geometric exponential_{1u, Interactions(std::uint64_t{1} << 60)};  // in units of 2^-60
  double next_ = 0;  // the time of the next reaction, unless there is none
  std::shared_ptr<Timeline> line_ = std::make_shared<Timeline>();
  Watch watch_ = Watch::convergence;
};

// How a prepared run of such a network describes itself.
class OpenRun final : public PreparedRun {
 public:
  OpenRun(const RunRequest& request, std::shared_ptr<const text::Compiled> network)
      : network_(std::move(network)),
        n_(network_->agents()),
        seed_(request.seed),
        plan_(request.plan),
        given_(request.given),
        parameters_(text_parameters(*network_)),
        warnings_(network_->warnings()) {
    const text::ProtocolText& text = network_->text();
    info_.name = text.name();
    info_.observables = text.observables();
    start_ = start_index(info_, text.starts(), request.start);
    check_engine(request.engine);
    refuse_faults(text.name(), plan_);
    refuse_network_options(request, text.name());
    if (given_) {
      read_given();
    } else {
      if (network_->starts()[start_].is_random) {
        throw Error(
            fmt::format("{}: where molecules are born or die, no start is random", text.name()));
      }
      census_ = network_->starts()[start_].census;
    }
    check_end();
  }

  std::unique_ptr<Workspace> workspace() const override { return std::make_unique<Workspace>(); }
  AgentCount n() const override { return n_; }
  std::uint64_t bytes_per_trial() const override { return std::uint64_t{1} << 20; }
  Interactions state_count() const override { return network_->space().size(); }
  std::string_view protocol() const override { return network_->text().name(); }
  std::string_view engine() const override { return events_engine.name; }
  std::string_view start() const override {
    return given_ ? std::string_view(given_->label) : network_->text().starts()[start_].name;
  }
  std::uint64_t seed() const override { return seed_; }
  std::span<const ParameterValue> parameters() const override { return parameters_; }
  std::span<const Observable> observables() const override { return info_.observables; }
  const TrialPlan& plan() const override { return plan_; }
  std::string_view graph() const override { return {}; }
  bool has_clock() const override { return true; }
  std::string_view source_hash() const override { return network_->text().hash(); }
  std::span<const std::string> warnings() const override { return warnings_; }
  std::string violation(std::uint64_t trial, const TrialResult& result) const override {
    return plan_.checks ? violation_of(*network_, trial, result) : "";
  }

 protected:
  std::unique_ptr<population::TrialEngine> engine_at_start(const StreamName& name, Workspace&,
                                                           const KeepGoing&) const override {
    return std::make_unique<OpenEngine>(*network_, census_, name);
  }

 private:
  void check_engine(const std::string& engine) const {
    if (engine.empty() || engine == auto_engine.name || engine == events_engine.name) return;
    throw Error(fmt::format("engine {} keeps its agents, and the molecules of {} are born or die: "
                            "engine events runs it",
                            engine, network_->text().name()));
  }

  void read_given() {
    check_given(*given_, n_);
    for (const NamedCount& each : given_->agents) {
      const auto species = network_->space().state_named(each.name);
      if (!species) {
        refuse_state(network_->text().name(), each.name, network_->space().name(0));
      }
      census_.emplace_back(*species, each.count);
    }
  }

  // A network that can never fall silent must have another end.
  void check_end() const {
    if (!network_->stops_when_silent() || plan_.until || plan_.limit != Interactions::max()) return;
    const auto& all = network_->open().reactions;
    const bool is_fed = std::ranges::any_of(
        all, [](const auto& each) { return each.reactants.empty() && each.weight > 0; });
    const bool only_grows = std::ranges::none_of(all, [](const auto& each) {
      return each.weight > 0 && each.products.size() < each.reactants.size();
    });
    if (!is_fed && !only_grows) return;
    throw Error(fmt::format("{} never falls silent, for {}: give --until T, or a stop condition in "
                            "the file",
                            network_->text().name(),
                            is_fed ? "molecules are born from nothing" : "no molecule dies"));
  }

  std::shared_ptr<const text::Compiled> network_;
  AgentCount n_;
  std::uint64_t seed_;
  TrialPlan plan_;
  std::shared_ptr<const GivenStart> given_;
  std::vector<ParameterValue> parameters_;
  std::vector<std::string> warnings_;
  ProtocolInfo info_{};
  std::size_t start_ = 0;
  Census<StateIndex> census_;
};

}  // namespace

std::unique_ptr<const PreparedRun> prepare_open(
    const RunRequest& request, const std::shared_ptr<const text::Compiled>& compiled) {
  return std::make_unique<const OpenRun>(request, compiled);
}

}  // namespace conclave::catalog
