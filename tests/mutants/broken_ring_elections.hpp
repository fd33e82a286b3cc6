// Ring elections that are almost right: walking through all schedules must find what is wrong with
// each of them.
#pragma once

#include "conclave/protocols/message/chang_roberts.hpp"
#include "conclave/protocols/message/flood_max.hpp"
#include "conclave/protocols/message/hirschberg_sinclair.hpp"
#include "conclave/protocols/message/itai_rodeh.hpp"
#include "conclave/protocols/message/peterson.hpp"

namespace conclave::tests {

// A node that was not woken swallows lower identifiers than its own, too.
struct SleepersSwallow : protocols::ChangRoberts {
  using ChangRoberts::ChangRoberts;
  using ChangRoberts::on;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    node.competes = true;
    ChangRoberts::on(node, event, effects, choice);
  }
};
static_assert(AsynchronousProtocol<SleepersSwallow>);

// A relay passes on only the first message of a phase.
struct KeepsSecondMessages : protocols::Peterson {
  using Peterson::on;
  using Peterson::Peterson;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    const bool is_second = event.message.kind == Kind::second;
    if (is_second && node.standing == Standing::retired) return;
    Peterson::on(node, event, effects, choice);
  }
};
static_assert(AsynchronousProtocol<KeepsSecondMessages>);

// Replies to others are not passed on.
struct DropsReplies : protocols::HirschbergSinclair {
  using HirschbergSinclair::HirschbergSinclair;
  using HirschbergSinclair::on;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    if (event.message.kind == Kind::reply && event.message.id != node.id) return;
    HirschbergSinclair::on(node, event, effects, choice);
  }
};
static_assert(AsynchronousProtocol<DropsReplies>);

// A token that meets its equal is not marked.
struct ForgetsTies : protocols::ItaiRodeh {
  using ItaiRodeh::ItaiRodeh;
  using ItaiRodeh::on;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    Received<Message> unmarked = event;
    unmarked.message.is_marked = false;
    ItaiRodeh::on(node, unmarked, effects, choice);
  }
};
static_assert(AsynchronousProtocol<ForgetsTies>);

// Decides a round too early.
struct DecidesEarly : protocols::FloodMax {
  DecidesEarly(const Parameters& parameters, NodeCount n)
      : FloodMax({.diameter = *parameters.diameter - 1, .sending = parameters.sending}, n) {}
};
static_assert(SynchronousProtocol<DecidesEarly>);

}  // namespace conclave::tests
