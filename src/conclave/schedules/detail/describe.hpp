// Describes configurations, messages and steps in words, for counterexamples.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/model/message.hpp"
#include "conclave/schedules/detail/configuration.hpp"
#include "conclave/schedules/trace_step.hpp"

namespace conclave::schedules::detail {

// A message that one node sends or gets.
template <MessageProtocol P>
TraceEvent message_event(TraceEvent::Kind kind, std::size_t node, std::size_t peer,
                         const typename P::Message& message) {
  TraceEvent event{.kind = kind,
                   .node = node,
                   .peer = peer,
                   .message = P::kinds[static_cast<std::size_t>(message.kind)]};
  const auto append_field = [&](const auto& field) {
    const auto value = static_cast<std::uint64_t>(as_integer(message.*field.member));
    if (field.name != "kind" && value != 0) event.payload.emplace_back(field.name, value);
  };
  std::apply([&](const auto&... field) { (append_field(field), ...); }, P::Message::fields);
  return event;
}

// A message by its kind and the fields that are not zero: "REQUEST phase=1 id=2".
template <MessageProtocol P>
std::string message_text(const typename P::Message& message) {
  const TraceEvent event = message_event<P>(TraceEvent::Kind::send, 0, 0, message);
  std::string text{event.message};
  for (const auto& [name, value] : event.payload) {
    text += ' ' + std::string(name) + '=' + std::to_string(value);
  }
  return text;
}

inline constexpr std::array<std::string_view, 4> standing_names{"asleep", "candidate",
                                                                "not elected", "elected"};

inline TraceEvent become_event(std::size_t node, const NodeView& view) {
  return {.kind = TraceEvent::Kind::become,
          .node = node,
          .standing = standing_names[static_cast<std::size_t>(view.standing)],
          .phase = view.phase};
}

// The messages with index `first` or larger.
template <MessageProtocol P>
void append_sends(const Configuration<P>& configuration, std::size_t first, TraceStep& step) {
  for (std::size_t i = first; i < configuration.under_way.size(); ++i) {
    const auto& [from, to, message] = configuration.under_way[i];
    step.events.push_back(message_event<P>(TraceEvent::Kind::send, from, to, message));
  }
}

// A node's standing and, for a candidate, what it waits for.
inline std::string view_text(const NodeView& view) {
  std::string text{standing_names[static_cast<std::size_t>(view.standing)]};
  const bool is_candidate = view.standing == Standing::candidate;
  if (is_candidate && view.phase > 0) text += ", phase " + std::to_string(view.phase);
  if (is_candidate && view.rank > 0) text += ", rank " + std::to_string(view.rank);
  if (is_candidate && view.awaited > 0) text += ", awaits " + std::to_string(view.awaited);
  if (view.standing == Standing::asleep || view.standing == Standing::elected) return text;
  return text + (view.is_informed ? ", knows the leader" : "");
}

// "the nodes have the identifiers 2, 1, 3".
template <MessageProtocol P>
std::string placement_text(const P& protocol, const Configuration<P>& configuration) {
  std::string text = "the nodes have the identifiers";
  for (std::size_t i = 0; i < configuration.size; ++i) {
    text += (i == 0 ? " " : ", ") + std::to_string(protocol.view(configuration.nodes[i]).id);
  }
  return text;
}

// The messages with index `first` or larger, equal ones of a node in one line: "node 1 sends X to
// 2, 3".
template <MessageProtocol P>
std::vector<std::string> sends_text(const Configuration<P>& configuration, std::size_t first) {
  std::vector<std::string> lines;
  const auto& all = configuration.under_way;
  for (std::size_t i = first; i < all.size(); ++i) {
    const bool continues =
        i > first && all[i].from == all[i - 1].from && all[i].message == all[i - 1].message;
    if (continues)
      lines.back() += ", " + std::to_string(all[i].to);
    else
      lines.push_back("node " + std::to_string(all[i].from) + " sends " +
                      message_text<P>(all[i].message) + " to " + std::to_string(all[i].to));
  }
  return lines;
}

// One line per node and one per message under way.
template <MessageProtocol P>
std::vector<std::string> configuration_text(const P& protocol,
                                            const Configuration<P>& configuration) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < configuration.size; ++i) {
    lines.push_back("node " + std::to_string(i) + ": " +
                    view_text(protocol.view(configuration.nodes[i])));
  }
  for (const auto& [from, to, message] : configuration.under_way) {
    lines.push_back("under way from " + std::to_string(from) + " to " + std::to_string(to) + ": " +
                    message_text<P>(message));
  }
  if (configuration.under_way.empty()) lines.emplace_back("nothing is under way");
  return lines;
}

}  // namespace conclave::schedules::detail
