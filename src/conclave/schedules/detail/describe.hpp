// Describes configurations and steps in words, for counterexamples. Words are made from snapshots,
// which do not depend on the protocol's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "conclave/base/fields.hpp"
#include "conclave/model/message.hpp"
#include "conclave/schedules/detail/configuration.hpp"
#include "conclave/schedules/search.hpp"

namespace conclave::schedules::detail {

// A configuration as its description needs it.
struct Snapshot {
  bool is_placed;
  std::uint32_t rounds;
  std::vector<NodeView> nodes;
  std::vector<TraceEvent> under_way;  // the messages, as they were sent
};

// An event of an asynchronous network.
struct NodeEvent {
  static constexpr std::size_t waking = SIZE_MAX;
  static constexpr std::size_t timeout = SIZE_MAX - 1;

  std::size_t node;
  std::size_t place;      // the message's index in under_way, or one of the two above
  std::size_t first_new;  // messages sent have this index or a larger one after the step
};

// The identifiers have been handed out; an event has happened to a node; a round has passed; this
// is where a schedule ends.
TraceStep placement_step(const Snapshot& next);
TraceStep event_step(const Snapshot& now, const Snapshot& next, const NodeEvent& event);
TraceStep round_step(const Snapshot& now, const Snapshot& next);
TraceStep last_step(const Snapshot& end);

// A message that has been sent, by its kind and the fields that are not zero.
template <MessageProtocol P>
TraceEvent send_event(std::size_t from, std::size_t to, const typename P::Message& message) {
  TraceEvent event{.kind = TraceEvent::Kind::send,
                   .node = from,
                   .peer = to,
                   .message = P::kinds[static_cast<std::size_t>(message.kind)]};
  const auto append_field = [&](const auto& field) {
    const auto value = static_cast<std::uint64_t>(as_integer(message.*field.member));
    if (field.name != "kind" && value != 0) event.payload.emplace_back(field.name, value);
  };
  std::apply([&](const auto&... field) { (append_field(field), ...); }, P::Message::fields);
  return event;
}

// The views of all nodes and the messages under way, without the type of the protocol.
template <MessageProtocol P>
Snapshot snapshot_of(const P& protocol, const Configuration<P>& configuration) {
  Snapshot snapshot{configuration.is_placed, configuration.rounds, {}, {}};
  for (std::size_t i = 0; i < configuration.size; ++i) {
    snapshot.nodes.push_back(protocol.view(configuration.nodes[i]));
  }
  for (const auto& [from, to, message] : configuration.under_way) {
    snapshot.under_way.push_back(send_event<P>(from, to, message));
  }
  return snapshot;
}

}  // namespace conclave::schedules::detail
