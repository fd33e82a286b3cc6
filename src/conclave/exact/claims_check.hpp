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
#include "conclave/exact/exploration.hpp"
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

// Takes 4 bytes per configuration. The table and the claims must outlive it; there may be at most
// 28 named sets.
template <PopulationProtocol P>
class ClaimsCheck final : public Visitor {
 public:
  using State = typename P::State;

  ClaimsCheck(const StateTable<P>& table, const Claims<State>& claims, const Network& network)
      : table_(table),
        claims_(claims),
        failures_(claims.claims.size()),
        is_exercised_(claims.claims.size(), false),
        before_(network.agents()),
        after_(network.agents()) {
    CONCLAVE_CHECK(first_named_set + claims.sets.size() <= 32);
    for (std::size_t i = 0; i < claims.claims.size(); ++i) {
      const Claim<State>& claim = claims.claims[i];
      if (claim.kind == ClaimKind::steps) open_.push_back(i);
      if (claim.kind == ClaimKind::everywhere) unexercised_.push_back(i);
      const std::optional<std::size_t> set = find(claim.set);
      CONCLAVE_CHECK(set.has_value());
      bits_.push_back(*set);
    }
    unexercised_steps_ = open_;
  }

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

  // Sets that every protocol has; those that it names come after them.
  enum SetNumber : std::size_t { whole, converged, one_leader, output_changes, first_named_set };

  bool is_in(StateIndex number, std::size_t set) const {
    return (marks_[number] & mark_of(set)) != 0;
  }

  StateSet set(std::size_t number) const {
    StateSet members(marks_.size());
    for (StateIndex i = 0; i < marks_.size(); ++i) {
      if (is_in(i, number)) members.insert(i);
    }
    return members;
  }

  // The number of a set by its name, as claims refer to it; nothing if there is no such set.
  std::optional<std::size_t> find(const std::string& name) const {
    if (name == whole_set) return whole;
    if (name == converged_set) return converged;
    for (std::size_t i = 0; i < claims_.sets.size(); ++i) {
      if (claims_.sets[i].name == name) return first_named_set + i;
    }
    return std::nullopt;
  }

  // The set that a claim is about.
  StateSet set_of(std::size_t claim) const { return set(bits_[claim]); }
  // For claims about steps.
  const std::optional<FailedStep>& failure(std::size_t claim) const { return failures_[claim]; }
  // For claims of the kinds `everywhere` and `steps`: whether their premise has occurred.
  bool is_exercised(std::size_t claim) const { return is_exercised_[claim]; }

 private:
  static constexpr std::uint32_t mark_of(std::size_t set) { return std::uint32_t{1} << set; }

  // Whether the configuration visited last is in the set of a claim.
  bool is_here(std::size_t claim) const { return (marks_.back() & mark_of(bits_[claim])) != 0; }

  // Removes the claims that are decided now.
  template <class IsDecided>
  static void settle(std::vector<std::size_t>& claims, IsDecided is_decided) {
    if (!claims.empty()) std::erase_if(claims, is_decided);
  }

  const StateTable<P>& table_;
  const Claims<State>& claims_;
  std::vector<std::size_t> bits_;         // the set of each claim
  std::vector<std::size_t> open_;         // claims about steps that have not failed yet
  std::vector<std::size_t> unexercised_;  // claims `everywhere` whose premise is still to come
  std::vector<std::size_t> unexercised_steps_;  // the same for claims about steps
  std::vector<std::optional<FailedStep>> failures_;
  std::vector<bool> is_exercised_;
  std::vector<std::uint32_t> marks_;  // per configuration, the sets it belongs to
  std::vector<State> before_;
  std::vector<State> after_;
};

}  // namespace conclave::exact
