// Evaluates a protocol's sets and claims in every configuration and at every interaction that an
// exploration visits.
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

// Whether an engine would stop here.
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

template <PopulationProtocol P>
class ClaimsCheck final : public Visitor {
 public:
  using State = typename P::State;

  ClaimsCheck(const StateTable<P>& table, const Claims<State>& claims, const Network& network)
      : table_(table),
        claims_(claims),
        sets_(first_named_set + claims.sets.size()),
        failures_(claims.claims.size()),
        before_(network.agents()),
        after_(network.agents()) {
    CONCLAVE_CHECK(sets_ <= 32);
    for (std::size_t i = 0; i < claims.claims.size(); ++i) {
      if (claims.claims[i].kind == ClaimKind::steps) open_.push_back(i);
    }
    for (const Claim<State>& claim : claims.claims) {
      const std::optional<std::size_t> set = find(claim.set);
      CONCLAVE_CHECK(set.has_value());
      bits_.push_back(*set);
    }
  }

  void configuration(StateIndex number, std::span<const StateNumber> agents) override {
    CONCLAVE_CHECK(number == marks_.size());
    for (std::size_t i = 0; i < agents.size(); ++i) before_[i] = table_.state(agents[i]);
    after_ = before_;
    std::uint32_t mark = mark_of(whole);
    if (has_converged(table_.protocol(), ConfigurationView<State>(before_)))
      mark |= mark_of(converged);
    if (count_leaders(table_.protocol(), ConfigurationView<State>(before_)) == 1) {
      mark |= mark_of(one_leader);
    }
    for (std::size_t i = 0; i < claims_.sets.size(); ++i) {
      if (claims_.sets[i].contains(before_)) mark |= mark_of(first_named_set + i);
    }
    marks_.push_back(mark);
  }

  void step(const NumberedStep& step) override {
    if (step.result.changes_output) marks_.back() |= mark_of(output_changes);
    if (open_.empty()) return;
    after_[step.initiator] = table_.state(step.result.u);
    after_[step.responder] = table_.state(step.result.v);
    const Step<State> seen{before_, after_, step.initiator, step.responder};
    std::erase_if(open_, [&](std::size_t i) {
      if ((marks_.back() & mark_of(bits_[i])) == 0 || claims_.claims[i].holds(seen)) return false;
      failures_[i] =
          FailedStep{step.from, step.initiator, step.responder, step.result.u, step.result.v};
      return true;
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

  // By its name, as claims refer to it.
  std::optional<std::size_t> find(const std::string& name) const {
    if (name == whole_set) return whole;
    if (name == converged_set) return converged;
    for (std::size_t i = 0; i < claims_.sets.size(); ++i) {
      if (claims_.sets[i].name == name) return first_named_set + i;
    }
    return std::nullopt;
  }

  StateSet set_of(std::size_t claim) const { return set(bits_[claim]); }
  const std::optional<FailedStep>& failure(std::size_t claim) const { return failures_[claim]; }

 private:
  static constexpr std::uint32_t mark_of(std::size_t set) { return std::uint32_t{1} << set; }

  const StateTable<P>& table_;
  const Claims<State>& claims_;
  std::size_t sets_;
  std::vector<std::size_t> bits_;  // the set of each claim
  std::vector<std::size_t> open_;  // claims about steps that have not failed yet
  std::vector<std::optional<FailedStep>> failures_;
  std::vector<std::uint32_t> marks_;  // per configuration, the sets it belongs to
  std::vector<State> before_;
  std::vector<State> after_;
};

}  // namespace conclave::exact
