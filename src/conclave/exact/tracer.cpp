#include "conclave/exact/tracer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace conclave::exact {

Tracer::Tracer(const Network& network, PairOutcomes& pairs,
               const std::unique_ptr<ConfigurationIndex>& index, Notation notation)
    : network_(network), pairs_(pairs), index_(index), notation_(std::move(notation)) {}

std::vector<StateNumber> Tracer::read(StateIndex number) const {
  std::vector<StateNumber> agents(network_.agents());
  index_->read(number, agents);
  return agents;
}

std::vector<TraceStep> Tracer::along(const std::vector<StateIndex>& path) {
  agents_ = read(path.front());
  std::vector<TraceStep> trace{{"", text_of(agents_)}};
  for (std::size_t i = 1; i < path.size(); ++i) go(trace, path[i]);
  return trace;
}

template <class Visit>
void Tracer::for_each_pair(Visit visit) const {
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

template <class Fits>
void Tracer::append_first(std::vector<TraceStep>& trace, Fits fits) {
  bool found = false;
  const OracleAnswer answer = pairs_.oracle_answer_in(agents_);
  for_each_pair([&](std::size_t u, std::size_t v) {
    for (const PairOutcome& result : pairs_.outcomes(agents_[u], agents_[v], answer)) {
      if (found || !fits(u, v, result)) continue;
      found = true;
      agents_[u] = result.u;
      agents_[v] = result.v;
      trace.push_back({arrow(u, v), text_of(agents_)});
      return;
    }
  });
}

void Tracer::go(std::vector<TraceStep>& trace, StateIndex to) {
  append_first(trace, [&](std::size_t u, std::size_t v, const PairOutcome& result) {
    return number_after(u, v, result) == to;
  });
}

void Tracer::repeat(std::vector<TraceStep>& trace, const FailedStep& step) {
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

StateIndex Tracer::number_after(std::size_t u, std::size_t v, const PairOutcome& result) const {
  std::vector<StateNumber> after = agents_;
  after[u] = result.u;
  after[v] = result.v;
  network_.canonicalize(after);
  return index_->number(after);
}

std::string Tracer::arrow(std::size_t u, std::size_t v) const {
  return network_.is_directed_ring() ? fmt::format("e{}", u) : fmt::format("({},{})", u, v);
}

// Many agents are written as `search` writes them: "30 x L 2 x F".
std::string Tracer::text_of(const std::vector<StateNumber>& agents) const {
  constexpr std::size_t most_by_name = 20;
  std::string text;
  for (auto agent = agents.begin(); agent != agents.end();) {
    auto end = agent + 1;
    if (agents.size() > most_by_name)
      end = std::find_if(end, agents.end(), [&](StateNumber each) { return each != *agent; });
    const auto equal = end - agent;
    text += (text.empty() ? "" : " ") + (equal > 1 ? fmt::format("{} x ", equal) : "") +
            notation_(*agent);
    agent = end;
  }
  return text;
}

}  // namespace conclave::exact
