// All schedules of a synchronous protocol on a small network: in every round any set of sleeping
// nodes may wake up, with every outcome of the random choices of that round. Rounds are counted
// from the first wake-up, which is in round 1. Nodes of a protocol that starts together all wake up
// then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/schedules/detail/configuration.hpp"
#include "conclave/schedules/detail/describe.hpp"
#include "conclave/schedules/detail/election.hpp"
#include "conclave/schedules/search.hpp"

namespace conclave::schedules {

// A protocol that promises to send nothing after a certain round, counted from the first wake-up.
template <class P>
concept BoundsRounds = SynchronousProtocol<P> && requires(const P& protocol) {
  { protocol.most_rounds() } -> std::same_as<std::uint32_t>;
};

// A TransitionSystem (search.hpp) whose steps are rounds. Keeps a reference to the protocol. At
// most `most_nodes` nodes; with identifiers, node i of a complete network has the identifier i + 1,
// and on a graph, which must outlive the system, the first step hands them out.
template <BoundsRounds P>
class SynchronousSchedules {
 public:
  using Configuration = detail::Configuration<P>;
  static constexpr std::array<std::string_view, 5> properties{
      detail::election_properties<P>[0], detail::election_properties<P>[1],
      detail::election_properties<P>[2], detail::election_properties<P>[3],
      "no message is sent later than promised"};

  // Copies the protocol. n is at most most_nodes; a graph has n nodes.
  SynchronousSchedules(const P& protocol, std::size_t n, bool has_ids,
                       const PortGraph* graph = nullptr)
      : protocol_(protocol), n_(n), has_ids_(has_ids), graph_(graph) {}

  // These three as TransitionSystem (search.hpp) asks for them. A step is a round, with some nodes
  // woken and one outcome of all coins.
  Configuration beginning() const { return detail::beginning_of(protocol_, n_, has_ids_, graph_); }

  void encode(const Configuration& c, std::string& bytes) const { c.encode(bytes); }

  void for_each_step(const Configuration& c,
                     const std::function<void(Configuration&&)>& visit) const {
    if (!c.is_placed) {
      return detail::for_each_placement(protocol_, c,
                                        [&](Configuration& next) { visit(std::move(next)); });
    }
    if (is_over(c)) return;
    detail::Outcomes choice;
    do {
      Configuration next = c;
      run_round(c, next, choice);
      const bool has_begun = next.rounds > 1 || is_any_awake(next);
      if (has_begun) visit(std::move(next));
    } while (choice.next());
  }

  // Bit i is set where properties[i] does not hold.
  std::uint32_t violated(const Configuration& c) const {
    const bool is_at_rest = is_over(c) || is_idle(c);
    std::uint32_t result = detail::violations(protocol_, c, is_at_rest);
    // When several nodes announce themselves in one round, one remains; until then nodes may take
    // different ones for the leader.
    if (!is_at_rest) result &= ~std::uint32_t{detail::two_elected | detail::wrong_leader};
    return result | (c.is_late ? 1u << detail::election_properties<P>.size() : 0);
  }

  // The schedule round by round in words; the last entry is the configuration in which it ends.
  std::vector<TraceStep> trace(const Schedule& schedule) const {
    std::vector<TraceStep> steps;
    Configuration now = beginning();
    for (const std::uint32_t step : schedule) {
      std::uint32_t number = 0;
      Configuration after = now;
      for_each_step(now, [&](Configuration&& next) {
        if (number++ == step) after = std::move(next);
      });
      steps.push_back(text_of(now, after));
      now = std::move(after);
    }
    steps.push_back(detail::last_step(detail::snapshot_of(protocol_, now)));
    return steps;
  }

 private:
  using Message = typename P::Message;

  NodeView view(const Configuration& c, std::size_t node) const {
    return protocol_.view(c.nodes[node]);
  }

  bool is_any_awake(const Configuration& c) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (view(c, i).standing != Standing::asleep) return true;
    }
    return false;
  }

  // Every node is settled and no message is under way; or it has gone on for too long.
  bool is_over(const Configuration& c) const {
    if (c.rounds > protocol_.most_rounds() + 3) return true;
    if (!c.under_way.empty()) return false;
    for (std::size_t i = 0; i < n_; ++i) {
      if (!is_settled<P>(view(c, i))) return false;
    }
    return true;
  }

  // No node does anything before another one wakes up: only candidates act by themselves.
  bool is_idle(const Configuration& c) const {
    for (std::size_t i = 0; i < n_; ++i) {
      if (view(c, i).standing == Standing::candidate) return false;
    }
    return c.under_way.empty() && is_any_awake(c);
  }

  void run_round(const Configuration& c, Configuration& next, detail::Outcomes& choice) const {
    next.under_way.clear();
    ++next.rounds;
    for (std::size_t node = 0; node < n_; ++node) {
      detail::Sink<P, detail::Outcomes> sink(next, node, choice);
      const bool is_woken =
          view(c, node).standing == Standing::asleep && (StartsTogether<P> || choice.below(2) == 1);
      if (is_woken) protocol_.on(next.nodes[node], WakeUp{}, sink, choice);
      std::vector<Received<Message>> inbox;
      for (const auto& [from, to, message] : c.under_way) {
        if (to != node) continue;
        inbox.push_back({next.ports.port_to(node, from, choice), message});
        if (!detail::expects(protocol_, next.nodes[node], message)) next.broke_rule = true;
      }
      const bool is_awake = view(next, node).standing != Standing::asleep;
      if (is_awake || !inbox.empty()) {
        protocol_.on(next.nodes[node], Round<Message>{inbox}, sink, choice);
      }
    }
    if (next.rounds > protocol_.most_rounds() && !next.under_way.empty()) next.is_late = true;
  }

  TraceStep text_of(const Configuration& now, const Configuration& next) const {
    const detail::Snapshot after = detail::snapshot_of(protocol_, next);
    if (!now.is_placed) return detail::placement_step(after);
    return detail::round_step(detail::snapshot_of(protocol_, now), after);
  }

  const P& protocol_;
  std::size_t n_;
  bool has_ids_;
  const PortGraph* graph_;
};

}  // namespace conclave::schedules
