// Evaluates a protocol's sets and claims in every configuration and at every interaction that an
// exploration visits. Sets are kept as one bit per configuration and set; claims about steps and
// premises are decided on the spot, and no longer evaluated once they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/exact/configuration_chain.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/model/claims.hpp"
#include "conclave/model/tally.hpp"

namespace conclave::exact {

// Whether an engine would stop in this configuration. O(agents).
template <PopulationProtocol P>
bool has_converged(const P& protocol, ConfigurationView<typename P::State> agents) {
  using Tally = typename TallyFor<P>::type;
  const auto converges = [&](Tally tally) {
    for (const auto& agent : agents) tally.add(agent);
    return tally.converged();
  };
  if constexpr (PositionalTallyOf<Tally, P>) {
    return converges(Tally(protocol, agents.size()));
  } else {
    return converges(Tally(protocol));
  }
}

// Where a claim about steps fails first.
struct FailedStep {
  StateIndex from;
  std::size_t initiator;
  std::size_t responder;
  StateNumber new_initiator;
  StateNumber new_responder;
};

// A claim without its predicates.
struct ClaimOutline {
  std::string name;
  std::string statement;
  ClaimKind kind;
  std::string set;
};

// Which configurations belong to which sets, and what is decided about each claim: everything a
// verification needs to know about the claims of a protocol after the exploration. Takes 4 bytes
// per configuration; there may be at most 28 named sets.
class ClaimsRecord : public Visitor {
 public:
  ~ClaimsRecord() override;

  // Sets that every protocol has; those that it names come after them.
  enum SetNumber : std::size_t { whole, converged, one_leader, output_changes, first_named_set };

  // Whether a configuration that was visited belongs to a set, by the number of the set.
  bool is_in(StateIndex number, std::size_t set) const {
    return (marks_[number] & mark_of(set)) != 0;
  }
  // All configurations of a set. O(configurations).
  StateSet set(std::size_t number) const;

  // The number of a set by its name, as claims refer to it; nothing if there is no such set.
  std::optional<std::size_t> find(const std::string& name) const;
  const std::vector<std::string>& named_sets() const { return sets_; }

  // The claims, in the order of their numbers.
  const std::vector<ClaimOutline>& claims() const { return outlines_; }
  // The set that a claim is about.
  StateSet set_of(std::size_t claim) const { return set(bits_[claim]); }
  // For claims about steps.
  const std::optional<FailedStep>& failure(std::size_t claim) const { return failures_[claim]; }
  // For claims of the kinds `everywhere` and `steps`: whether their premise has occurred.
  bool is_exercised(std::size_t claim) const { return is_exercised_[claim]; }

 protected:
  ClaimsRecord(std::vector<std::string> sets, std::vector<ClaimOutline> claims);

  static constexpr std::uint32_t mark_of(std::size_t set) { return std::uint32_t{1} << set; }

  // Whether the configuration visited last is in the set of a claim.
  bool is_here(std::size_t claim) const { return (marks_.back() & mark_of(bits_[claim])) != 0; }

  std::vector<std::size_t> open_;         // claims about steps that have not failed yet
  std::vector<std::size_t> unexercised_;  // claims `everywhere` whose premise is still to come
  std::vector<std::size_t> unexercised_steps_;  // the same for claims about steps
  std::vector<std::optional<FailedStep>> failures_;
  std::vector<bool> is_exercised_;
  std::vector<std::uint32_t> marks_;  // per configuration, the sets it belongs to

 private:
  std::vector<std::string> sets_;
  std::vector<ClaimOutline> outlines_;
  std::vector<std::size_t> bits_;  // the set of each claim
};

// Fills the record. The table and the claims must outlive it.
template <PopulationProtocol P>
class ClaimsCheck final : public ClaimsRecord {
 public:
  using State = typename P::State;

  // Nothing is visited yet; explore() shows it the configurations.
  ClaimsCheck(const StateTable<P>& table, const Claims<State>& claims, const Network& network)
      : ClaimsRecord(names_of(claims), outlines_of(claims)),
        table_(table),
        claims_(claims),
        before_(network.agents()),
        after_(network.agents()) {}

  void configuration(StateIndex number, std::span<const StateNumber> agents) override {
    CONCLAVE_CHECK(number == marks_.size());
    for (std::size_t i = 0; i < agents.size(); ++i) before_[i] = table_.state(agents[i]);
    after_ = before_;
    const ConfigurationView<State> view(before_);
    std::uint32_t mark = mark_of(whole);
    if (has_converged(table_.protocol(), view)) mark |= mark_of(converged);
    if (count_leaders(table_.protocol(), view) == 1) mark |= mark_of(one_leader);
    for (std::size_t i = 0; i < claims_.sets.size(); ++i) {
      if (claims_.sets[i].contains(view)) mark |= mark_of(first_named_set + i);
    }
    marks_.push_back(mark);
    settle(unexercised_, [&](std::size_t i) -> bool {
      const auto& premise = claims_.claims[i].premise;
      return is_exercised_[i] = !premise || premise(view);
    });
  }

  void step(const NumberedStep& step) override {
    if (step.result.changes_output) marks_.back() |= mark_of(output_changes);
    if (open_.empty() && unexercised_steps_.empty()) return;
    after_[step.initiator] = table_.state(step.result.u);
    after_[step.responder] = table_.state(step.result.v);
    const Step<State> seen{before_, after_, step.initiator, step.responder};
    settle(open_, [&](std::size_t i) {
      if (!is_here(i) || claims_.claims[i].holds(seen)) return false;
      failures_[i] =
          FailedStep{step.from, step.initiator, step.responder, step.result.u, step.result.v};
      return true;
    });
    settle(unexercised_steps_, [&](std::size_t i) -> bool {
      const auto& premise = claims_.claims[i].step_premise;
      return is_exercised_[i] = is_here(i) && (!premise || premise(seen));
    });
    after_[step.initiator] = before_[step.initiator];
    after_[step.responder] = before_[step.responder];
  }

 private:
  static std::vector<std::string> names_of(const Claims<State>& claims) {
    std::vector<std::string> names;
    for (const NamedSet<State>& set : claims.sets) names.push_back(set.name);
    return names;
  }
  static std::vector<ClaimOutline> outlines_of(const Claims<State>& claims) {
    std::vector<ClaimOutline> outlines;
    for (const Claim<State>& each : claims.claims) {
      outlines.push_back({each.name, each.statement, each.kind, each.set});
    }
    return outlines;
  }

  // Removes the claims that are decided now.
  template <class IsDecided>
  static void settle(std::vector<std::size_t>& claims, IsDecided is_decided) {
    if (!claims.empty()) std::erase_if(claims, is_decided);
  }

  const StateTable<P>& table_;
  const Claims<State>& claims_;
  std::vector<State> before_;
  std::vector<State> after_;
};

}  // namespace conclave::exact
