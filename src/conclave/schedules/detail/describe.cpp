#include "conclave/schedules/detail/describe.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace conclave::schedules::detail {
namespace {

constexpr std::array<std::string_view, 4> standing_names{"asleep", "candidate", "not elected",
                                                         "elected"};

std::string_view standing_name(const NodeView& view) {
  return standing_names[static_cast<std::size_t>(view.standing)];
}

// "REQUEST phase=1 id=2".
std::string message_text(const TraceEvent& sent) {
  std::string text{sent.message};
  for (const auto& [name, value] : sent.payload) {
    text += ' ' + std::string(name) + '=' + std::to_string(value);
  }
  return text;
}

// A node's standing and, for a candidate, what it waits for.
std::string view_text(const NodeView& view) {
  std::string text{standing_name(view)};
  const bool is_candidate = view.standing == Standing::candidate;
  if (is_candidate && view.phase > 0) text += ", phase " + std::to_string(view.phase);
  if (is_candidate && view.rank > 0) text += ", rank " + std::to_string(view.rank);
  if (is_candidate && view.awaited > 0) text += ", awaits " + std::to_string(view.awaited);
  if (view.standing == Standing::asleep || view.standing == Standing::elected) return text;
  return text + (view.is_informed ? ", knows the leader" : "");
}

TraceEvent become_event(std::size_t node, const NodeView& view) {
  return {.kind = TraceEvent::Kind::become,
          .node = node,
          .standing = standing_name(view),
          .phase = view.phase};
}

TraceEvent receive_event(const TraceEvent& sent) {
  TraceEvent event = sent;
  event.kind = TraceEvent::Kind::receive;
  std::swap(event.node, event.peer);
  return event;
}

// Appends the messages with index `first` or larger: as events, and in words, equal ones of a node
// in one line: "node 1 sends X to 2, 3".
void append_sends(const std::vector<TraceEvent>& all, std::size_t first, TraceStep& step) {
  for (std::size_t i = first; i < all.size(); ++i) {
    const bool continues = i > first && all[i].node == all[i - 1].node &&
                           all[i].message == all[i - 1].message &&
                           all[i].payload == all[i - 1].payload;
    if (continues)
      step.details.back() += ", " + std::to_string(all[i].peer);
    else
      step.details.push_back("node " + std::to_string(all[i].node) + " sends " +
                             message_text(all[i]) + " to " + std::to_string(all[i].peer));
    step.events.push_back(all[i]);
  }
}

}  // namespace

TraceStep placement_step(const Snapshot& next) {
  std::string text = "the nodes have the identifiers";
  for (std::size_t i = 0; i < next.nodes.size(); ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(next.nodes[i].id);
  }
  return {text, {}};
}

TraceStep event_step(const Snapshot& now, const Snapshot& next, const NodeEvent& event) {
  TraceStep step{"node " + std::to_string(event.node), {}};
  if (event.place == NodeEvent::waking) {
    step.title += " is woken";
    step.events.push_back({.kind = TraceEvent::Kind::wake, .node = event.node});
  } else if (event.place == NodeEvent::timeout) {
    step.title += "'s timer runs out";
    step.events.push_back({.kind = TraceEvent::Kind::timeout, .node = event.node});
  } else {
    const TraceEvent& sent = now.under_way[event.place];
    step.events.push_back(receive_event(sent));
    step.title += " gets " + message_text(sent) + " from " + std::to_string(sent.node);
  }
  const NodeView& after = next.nodes[event.node];
  if (now.nodes[event.node] != after) {
    step.title += " -> " + view_text(after);
    step.events.push_back(become_event(event.node, after));
  }
  append_sends(next.under_way, event.first_new, step);
  return step;
}

TraceStep round_step(const Snapshot& now, const Snapshot& next) {
  TraceStep step{"round " + std::to_string(next.rounds), {}};
  for (const TraceEvent& sent : now.under_way) step.events.push_back(receive_event(sent));
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    if (now.nodes[i] == next.nodes[i]) continue;
    if (now.nodes[i].standing == Standing::asleep) {
      step.events.push_back({.kind = TraceEvent::Kind::wake, .node = i});
    }
    step.events.push_back(become_event(i, next.nodes[i]));
    step.details.push_back("node " + std::to_string(i) + " -> " + view_text(next.nodes[i]));
  }
  append_sends(next.under_way, 0, step);
  return step;
}

TraceStep last_step(const Snapshot& end) {
  TraceStep step{"the end", {}};
  for (std::size_t i = 0; i < end.nodes.size(); ++i) {
    step.details.push_back("node " + std::to_string(i) + ": " + view_text(end.nodes[i]));
  }
  for (const TraceEvent& sent : end.under_way) {
    step.details.push_back("under way from " + std::to_string(sent.node) + " to " +
                           std::to_string(sent.peer) + ": " + message_text(sent));
  }
  if (end.under_way.empty()) step.details.emplace_back("nothing is under way");
  return step;
}

}  // namespace conclave::schedules::detail
