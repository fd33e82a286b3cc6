// Message-passing protocols that are almost right: walking through all schedules must find what is
// wrong with each of them.
#pragma once

#include <cstdint>

#include "conclave/protocols/message/afek_gafni_async.hpp"
#include "conclave/protocols/message/afek_gafni_sync.hpp"
#include "conclave/protocols/message/flooding.hpp"

namespace conclave::tests {

// A candidate does not own its own node.
struct CapturesOthersOnly : protocols::AfekGafniAsync {
  using AfekGafniAsync::AfekGafniAsync;
  using AfekGafniAsync::on;
  void on(Node& node, WakeUp, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::asleep) return;
    AfekGafniAsync::on(node, WakeUp{}, effects, choice);
    if (!node.terminated) node.owner = Owner::nobody;
  }
};
static_assert(AsynchronousProtocol<CapturesOthersOnly>);

// A candidate that has been killed does not answer for the nodes it owned.
struct DeadOwnersAreSilent : protocols::AfekGafniAsync {
  using AfekGafniAsync::AfekGafniAsync;
  using AfekGafniAsync::on;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    const bool is_asked = event.message.kind == Kind::contest;
    if (is_asked && node.standing != Standing::candidate) return;
    AfekGafniAsync::on(node, event, effects, choice);
  }
};
static_assert(AsynchronousProtocol<DeadOwnersAreSilent>);

// In the first round a candidate's node can be had by anybody.
struct OwnsItselfTooLate : protocols::AfekGafniSync {
  using AfekGafniSync::AfekGafniSync;
  using AfekGafniSync::on;
  void on(Node& node, const Round<Message>& round, auto& effects, Choice auto& choice) const {
    AfekGafniSync::on(node, round, effects, choice);
    if (node.age == 1 && !node.terminated) node.owner_id = 0;
  }
};
static_assert(SynchronousProtocol<OwnsItselfTooLate>);

// Does not wait for the last of the others.
struct ImpatientFlooding : protocols::Flooding {
  ImpatientFlooding(const Parameters& parameters, NodeCount n)
      : Flooding(parameters, n > 2 ? n - 1 : n) {}
};
static_assert(AsynchronousProtocol<ImpatientFlooding>);

}  // namespace conclave::tests
