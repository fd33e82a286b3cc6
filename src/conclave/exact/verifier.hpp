// Answers, exactly, the questions of VerifyOptions about one protocol on one small network:
// explores the configurations, checks the paper's claims in each, and solves for the expected
// times.
//
//   Verifier<Fratricide> verification(Fratricide({}, 5), Network::complete(5), {});
//   verification.run().start.mean;  // 16
//
// Only states, claims and the transition function depend on the protocol's type. Everything else
// knows states by their numbers (NumberedVerifier) and is compiled once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/chain/hitting_times.hpp"
#include "conclave/exact/claims_check.hpp"
#include "conclave/exact/configuration_chain.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/findings.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/start_law.hpp"
#include "conclave/exact/state_table.hpp"
#include "conclave/exact/tracer.hpp"
#include "conclave/exact/verify_options.hpp"
#include "conclave/model/claims.hpp"

namespace conclave::exact {

// A verification of a protocol whose states it knows by their numbers.
class NumberedVerifier {
 public:
  NumberedVerifier(const NumberedVerifier&) = delete;
  NumberedVerifier& operator=(const NumberedVerifier&) = delete;
  virtual ~NumberedVerifier();

 protected:
  // Questions beside claims and times.
  struct Questions {
    bool elects;            // whether the protocol elects a leader that stays: its safe set
    bool measures_holding;  // how long the outputs stay
  };

  // `start` is an index among the protocol's starts. The last two say whether the protocol claims
  // something about all configurations, and whether it has normal forms.
  NumberedVerifier(Network network, VerifyOptions options, std::size_t start,
                   bool claims_everywhere, bool has_normal_forms);

  // Called once.
  Report run(const Questions& questions);

  virtual NumberedStates& states() = 0;
  virtual const NumberedStates& states() const = 0;
  virtual std::string notation(StateNumber state) const = 0;
  virtual ClaimsRecord& check() = 0;
  virtual const ClaimsRecord& check() const = 0;

  const Network& network() const { return network_; }
  // Whether states with the same normal form have the same number.
  bool uses_congruence() const { return uses_congruence_; }

 private:
  // The distributions of the agents' states at the start; may add states.
  std::vector<StateLaw> laws_of_agents();
  // Adds every state that the protocol has; returns how many have the normal form of each number.
  std::vector<double> number_all_states();
  // Throw Error where the memory cannot suffice: for all configurations of the states known by now;
  // for those that can be reached from the start.
  void check_space();
  void check_reach() const;
  void report_congruence(const std::optional<std::string>& problem);
  void write_files() const;
  void explore_all();
  void describe_space();
  // How many configurations a class stands for.
  double weight(StateIndex number) const;
  void report_claims();
  // Whether a claim that does not fail says anything about the configurations explored.
  bool is_exercised(std::size_t number, ClaimKind kind) const;
  void examine(std::size_t number, ClaimKind kind, ClaimReport& report);
  void examine_closed(const StateSet& set, ClaimReport& report);
  void examine_safe(const StateSet& set, ClaimReport& report);
  void examine_steps(std::size_t number, ClaimReport& report);
  // A shortest trace to a configuration; where all are explored, it is itself a start.
  void fail_at(std::optional<StateIndex> where, ClaimReport& report, std::string problem);
  // A configuration is safe by definition if it reaches none whose output is wrong or changes.
  void report_safe_set();
  void note(double& sum, std::string& example, double count, StateIndex number);
  std::size_t known_set(const std::string& name) const;
  void report_times(const StateSet& target, const StateSet& within);
  // P(T <= t) from the start; empty if no steps are requested.
  std::vector<double> law(const StateSet& target, const chain::LawLimits& limits) const;
  void report_exactly(const StateSet& target);
  // How long the outputs stay as they are, from every converged configuration.
  void report_holding();

  Network network_;
  VerifyOptions options_;
  std::size_t first_;  // the start, among the protocol's
  bool everywhere_;    // all configurations are explored, not only those reachable from the start
  bool uses_congruence_;
  std::unique_ptr<ConfigurationIndex> index_;
  std::optional<Tracer> tracer_;
  std::vector<double> multiplicity_;  // of each state: how many have this normal form
  std::vector<double> start_;         // the distribution of the start
  StateIndex seeds_ = 0;              // the configurations that the index had first
  MarkovChain chain_;
  std::optional<RationalChain> rational_chain_;  // the same without rounding, if requested
  Report report_;
  mutable std::vector<StateNumber> scratch_ = std::vector<StateNumber>(network_.agents());
};

// Copies the protocol. One verification runs once, on one thread.
template <PopulationProtocol P>
class Verifier final : public NumberedVerifier {
 public:
  using State = typename P::State;

  // `start` is an index among the protocol's starts.
  Verifier(const P& protocol, Network network, VerifyOptions options, std::size_t start = 0)
      : Verifier(protocol, claims_of(protocol), std::move(network), std::move(options), start) {}

  // Throws Error for unknown sets, for spaces that are too large, where possible before they are
  // explored, and for files that cannot be written; throws Interrupted.
  Report run() {
    return NumberedVerifier::run(
        {.elects = claims_.elects, .measures_holding = MeasuresHolding<P>});
  }

 private:
  // The claims of a protocol refer to it, so those of the copy are made anew.
  Verifier(P protocol, const Claims<State>& given, Network network, VerifyOptions options,
           std::size_t start)
      : NumberedVerifier(std::move(network), std::move(options), start, given.from_everywhere,
                         given.normal_form != nullptr),
        protocol_(std::move(protocol)),
        claims_(claims_of(protocol_)),
        table_(protocol_, uses_congruence() ? claims_.normal_form : nullptr),
        check_(table_, claims_, this->network()) {}

  NumberedStates& states() override { return table_; }
  const NumberedStates& states() const override { return table_; }
  std::string notation(StateNumber state) const override {
    return claims_.notation(table_.state(state));
  }
  ClaimsRecord& check() override { return check_; }
  const ClaimsRecord& check() const override { return check_; }

  P protocol_;
  Claims<State> claims_;
  StateTable<P> table_;
  ClaimsCheck<P> check_;
};

}  // namespace conclave::exact
