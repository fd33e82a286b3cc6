// All schedules of an asynchronous protocol on a small network: in every configuration any sleeping
// node may wake up, any timer that is set may run out, and the oldest message of any edge may
// arrive, with every outcome of the random choices that follow. A schedule need not wake up all
// nodes.
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

// A TransitionSystem (search.hpp). Keeps a reference to the protocol. At most `most_nodes` nodes;
// with identifiers, node i of a complete network has the identifier i + 1, and on a graph, which
// must outlive the system, the first step hands them out.
template <AsynchronousProtocol P>
class AsynchronousSchedules {
 public:
  using Configuration = detail::Configuration<P>;
  static constexpr auto properties = detail::election_properties<P>;
  static constexpr bool draws_again = requires { requires P::draws_again; };

  // Copies the protocol. n is at most most_nodes; a graph has n nodes.
  AsynchronousSchedules(const P& protocol, std::size_t n, bool has_ids,
                        const PortGraph* graph = nullptr)
      : protocol_(protocol), n_(n), has_ids_(has_ids), graph_(graph) {}

  // These three as TransitionSystem (search.hpp) asks for them. A step is a delivery, a wake-up or
  // a timeout with one outcome of its coins.
  Configuration beginning() const { return detail::beginning_of(protocol_, n_, has_ids_, graph_); }

  void encode(const Configuration& c, std::string& bytes) const { c.encode(bytes); }

  template <class Visit>
  void for_each_step(const Configuration& c, Visit&& visit) const {
    for_each_choice(c, [&](Configuration&& next, std::size_t) { visit(std::move(next)); });
  }

  // The same, with the number of the event: outcomes of one event differ by coins alone.
  template <class Visit>
  void for_each_choice(const Configuration& c, Visit&& visit) const {
    for_each_event(c, [&](Configuration& next, const Event& event) {
      drop_what_is_ignored(next);
      visit(std::move(next), number_of(event));
    });
  }

  // Bit i is set where properties[i] does not hold.
  std::uint32_t violated(const Configuration& c) const {
    bool all_sleep = true;
    for (std::size_t i = 0; i < n_; ++i) all_sleep = all_sleep && is_asleep(c, i);
    const bool is_over = c.under_way.empty() && c.timers == 0 && !all_sleep;
    return detail::violations(protocol_, c, is_over);
  }

  // The schedule step by step in words; the last entry is the configuration in which it ends.
  std::vector<TraceStep> trace(const Schedule& schedule) const {
    std::vector<TraceStep> steps;
    Configuration now = beginning();
    for (const std::uint32_t step : schedule) {
      std::uint32_t number = 0;
      Configuration after = now;
      for_each_event(now, [&](Configuration& next, const Event& event) {
        if (number++ != step) return;
        steps.push_back(text_of(now, next, event));
        drop_what_is_ignored(next);
        after = next;
      });
      now = std::move(after);
    }
    steps.push_back(detail::last_step(detail::snapshot_of(protocol_, now)));
    return steps;
  }

 private:
  using Message = typename P::Message;

  using Event = detail::NodeEvent;
  static constexpr std::size_t waking = Event::waking;
  static constexpr std::size_t timeout = Event::timeout;

  static bool is_message(std::size_t place) { return place < timeout; }

  // Different for all events of a configuration.
  std::size_t number_of(const Event& event) const {
    if (is_message(event.place)) return 2 * n_ + event.place;
    return event.place == waking ? event.node : n_ + event.node;
  }

  bool is_asleep(const Configuration& c, std::size_t node) const {
    return protocol_.view(c.nodes[node]).standing == Standing::asleep;
  }

  using VisitEvent = std::function<void(Configuration& next, const Event& event)>;

  void for_each_event(const Configuration& c, const VisitEvent& visit) const {
    if (!c.is_placed) {
      std::size_t number = 0;  // each placement is an event of its own
      return detail::for_each_placement(protocol_, c, [&](Configuration& next) {
        visit(next, Event{number++, waking, 0});
      });
    }
    for (std::size_t node = 0; node < n_; ++node) {
      if (is_asleep(c, node)) for_each_outcome(c, node, waking, visit);
    }
    for (std::size_t node = 0; node < n_; ++node) {
      if (c.has_timer(node)) for_each_outcome(c, node, timeout, visit);
    }
    for (std::size_t place = 0; place < c.under_way.size(); ++place) {
      if (is_oldest(c, place)) for_each_outcome(c, c.under_way[place].to, place, visit);
    }
  }

  static bool is_oldest(const Configuration& c, std::size_t place) {
    for (std::size_t i = 0; i < place; ++i) {
      if (c.under_way[i].from == c.under_way[place].from &&
          c.under_way[i].to == c.under_way[place].to) {
        return false;
      }
    }
    return true;
  }

  void for_each_outcome(const Configuration& c, std::size_t node, std::size_t place,
                        const VisitEvent& visit) const {
    detail::Outcomes choice;
    do {
      Configuration next = c;
      if (is_message(place)) {
        next.under_way.erase(next.under_way.begin() + static_cast<std::ptrdiff_t>(place));
      }
      const std::size_t first_new = next.under_way.size();
      detail::Sink<P, detail::Outcomes> sink(next, node, choice);
      if (place == waking)
        protocol_.on(next.nodes[node], WakeUp{}, sink, choice);
      else if (place == timeout)
        fire(next, node, sink, choice);
      else
        deliver(next, c.under_way[place], sink, choice);
      visit(next, Event{node, place, first_new});
    } while (choice.next());
  }

  template <class Sink>
  void fire(Configuration& next, std::size_t node, Sink& sink, detail::Outcomes& choice) const {
    if constexpr (HasTimer<P>) {
      sink.cancel_timer();
      protocol_.on(next.nodes[node], Timeout{}, sink, choice);
    }
  }

  template <class Sink>
  void deliver(Configuration& next, const detail::UnderWay<Message>& what, Sink& sink,
               detail::Outcomes& choice) const {
    auto& node = next.nodes[what.to];
    if (!detail::expects(protocol_, node, what.message)) {
      next.broke_rule = true;
      return;
    }
    const Port port = next.ports.port_to(what.to, what.from, choice);
    protocol_.on(node, Received<Message>{port, what.message}, sink, choice);
  }

  // It does not matter when a message arrives that a node ignores for ever: it is removed at once
  // and counts as no step. That the node really ignores it is checked.
  void drop_what_is_ignored(Configuration& c) const {
    const auto is_ignored = [&](const detail::UnderWay<Message>& what) {
      const auto& node = c.nodes[what.to];
      if (!detail::ignores(protocol_, node, what.message)) return false;
      if (!detail::expects(protocol_, node, what.message) || reacts(c, what)) c.broke_rule = true;
      return true;
    };
    std::vector<detail::UnderWay<Message>> kept;
    for (const auto& what : c.under_way) {
      if (!is_ignored(what)) kept.push_back(what);
    }
    c.under_way = std::move(kept);
  }

  bool reacts(const Configuration& c, const detail::UnderWay<Message>& what) const {
    detail::Outcomes choice;
    Configuration scratch = c;
    detail::Sink<P, detail::Outcomes> sink(scratch, what.to, choice);
    deliver(scratch, what, sink, choice);
    return scratch.nodes[what.to] != c.nodes[what.to] || scratch.timers != c.timers ||
           scratch.under_way.size() != c.under_way.size();
  }

  TraceStep text_of(const Configuration& now, const Configuration& next, const Event& event) const {
    const detail::Snapshot after = detail::snapshot_of(protocol_, next);
    if (!now.is_placed) return detail::placement_step(after);
    return detail::event_step(detail::snapshot_of(protocol_, now), after, event);
  }

  const P& protocol_;
  std::size_t n_;
  bool has_ids_;
  const PortGraph* graph_;
};

}  // namespace conclave::schedules
