// Writes traces in words. Numbers stand for canonical configurations, in which agents change their
// places; in a trace every agent keeps its place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/exact/claims_check.hpp"
#include "conclave/exact/configuration_index.hpp"
#include "conclave/exact/network.hpp"
#include "conclave/exact/report.hpp"
#include "conclave/exact/state_table.hpp"

namespace conclave::exact {

template <PopulationProtocol P>
class Tracer {
 public:
  using Notation = std::function<std::string(const typename P::State&)>;

  // Keeps references to all four. The index may be made later, before the first use.
  Tracer(const Network& network, StateTable<P>& table,
         const std::unique_ptr<ConfigurationIndex>& index, const Notation& notation)
      : network_(network), table_(table), index_(index), notation_(notation) {}

  std::vector<StateNumber> read(StateIndex number) const {
    std::vector<StateNumber> agents(network_.agents());
    index_->read(number, agents);
    return agents;
  }

  // A canonical configuration, one word per agent.
  std::string text(StateIndex number) const { return text_of(read(number)); }

  // The trace along a path of configurations, each reached from the one before by an interaction.
  std::vector<TraceStep> along(const std::vector<StateIndex>& path) {
    agents_ = read(path.front());
    std::vector<TraceStep> trace{{"", text_of(agents_)}};
    for (std::size_t i = 1; i < path.size(); ++i) go(trace, path[i]);
    return trace;
  }

  // Appends the first interaction that leads from the end of the trace to configuration `to`, up
  // to symmetry.
  void go(std::vector<TraceStep>& trace, StateIndex to) {
    append_first(trace, [&](std::size_t u, std::size_t v, const PairOutcome& result) {
      return number_after(u, v, result) == to;
    });
  }

  // Appends an interaction like this step. The trace must end in the step's configuration, up to
  // symmetry.
  void repeat(std::vector<TraceStep>& trace, const FailedStep& step) {
    const std::vector<StateNumber> before = read(step.from);
    std::vector<StateNumber> after = before;
    after[step.initiator] = step.new_initiator;
    after[step.responder] = step.new_responder;
    network_.canonicalize(after);
    const StateIndex to = index_->number(after);
    append_first(trace, [&](std::size_t u, std::size_t v, const PairOutcome& result) {
      return agents_[u] == before[step.initiator] && agents_[v] == before[step.responder] &&
             result.u == step.new_initiator && result.v == step.new_responder &&
             number_after(u, v, result) == to;
    });
  }

 private:
  template <class Fits>
  void append_first(std::vector<TraceStep>& trace, Fits fits) {
    bool found = false;
    for_each_pair([&](std::size_t u, std::size_t v) {
      for (const PairOutcome& result : table_.outcomes(agents_[u], agents_[v])) {
        if (found || !fits(u, v, result)) continue;
        found = true;
        agents_[u] = result.u;
        agents_[v] = result.v;
        trace.push_back({arrow(u, v), text_of(agents_)});
        return;
      }
    });
  }

  StateIndex number_after(std::size_t u, std::size_t v, const PairOutcome& result) const {
    std::vector<StateNumber> after = agents_;
    after[u] = result.u;
    after[v] = result.v;
    network_.canonicalize(after);
    return index_->number(after);
  }

  template <class Visit>
  void for_each_pair(Visit visit) const {
    if (network_.symmetry() != Symmetry::permutation) {
      return network_.for_each_meeting(
          agents_, [&](std::size_t u, std::size_t v, std::uint64_t) { visit(u, v); });
    }
    for (std::size_t u = 0; u < network_.agents(); ++u) {
      for (std::size_t v = 0; v < network_.agents(); ++v) {
        if (u != v) visit(u, v);
      }
    }
  }

  std::string arrow(std::size_t u, std::size_t v) const {
    return network_.is_directed_ring() ? fmt::format("e{}", u) : fmt::format("({},{})", u, v);
  }

  std::string text_of(const std::vector<StateNumber>& agents) const {
    std::string text;
    for (const StateNumber agent : agents) {
      text += (text.empty() ? "" : " ") + notation_(table_.state(agent));
    }
    return text;
  }

  const Network& network_;
  StateTable<P>& table_;
  const std::unique_ptr<ConfigurationIndex>& index_;
  const Notation& notation_;
  std::vector<StateNumber> agents_;  // at the end of the trace, in their places
};

}  // namespace conclave::exact
