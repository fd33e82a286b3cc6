// Writes traces in words. Numbers stand for canonical configurations, in which agents change their
// places; in a trace every agent keeps its place.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conclave/exact/claims_check.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/findings.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/pair_outcomes.hpp"

namespace conclave::exact {

class Tracer {
 public:
  // A state, by its number, as one word.
  using Notation = std::function<std::string(StateNumber)>;

  // Keeps references to the first three. The index may be made later, before the first use.
  Tracer(const Network& network, PairOutcomes& pairs,
         const std::unique_ptr<ConfigurationIndex>& index, Notation notation);

  // The states of the agents in a canonical configuration.
  std::vector<StateNumber> read(StateIndex number) const;

  // A canonical configuration, one word per agent.
  std::string text(StateIndex number) const { return text_of(read(number)); }

  // The trace along a path of configurations, each reached from the one before by an interaction.
  std::vector<TraceStep> along(const std::vector<StateIndex>& path);

  // Appends the first interaction that leads from the end of the trace to configuration `to`, up
  // to symmetry.
  void go(std::vector<TraceStep>& trace, StateIndex to);

  // Appends an interaction like this step. The trace must end in the step's configuration, up to
  // symmetry.
  void repeat(std::vector<TraceStep>& trace, const FailedStep& step);

 private:
  template <class Fits>
  void append_first(std::vector<TraceStep>& trace, Fits fits);
  StateIndex number_after(std::size_t u, std::size_t v, const PairOutcome& result) const;
  template <class Visit>
  void for_each_pair(Visit visit) const;
  std::string arrow(std::size_t u, std::size_t v) const;
  std::string text_of(const std::vector<StateNumber>& agents) const;

  const Network& network_;
  PairOutcomes& pairs_;
  const std::unique_ptr<ConfigurationIndex>& index_;
  Notation notation_;
  std::vector<StateNumber> agents_;  // at the end of the trace, in their places
};

}  // namespace conclave::exact
