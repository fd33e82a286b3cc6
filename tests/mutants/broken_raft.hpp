// Elections of Raft that are almost right: walking through all schedules must find what is wrong
// with each of them.
#pragma once

#include "conclave/protocols/message/raft_election.hpp"

namespace conclave::tests {

// Forgets its vote, and so votes for everybody who asks.
struct VotesTwice : protocols::RaftElection {
  using RaftElection::on;
  using RaftElection::RaftElection;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    if (event.message.kind == Kind::request) node.voted_for = 0;
    RaftElection::on(node, event, effects, choice);
  }
};
static_assert(HasTimer<VotesTwice>);

// Counts votes that were given in an earlier term.
struct CountsOldVotes : protocols::RaftElection {
  using RaftElection::on;
  using RaftElection::RaftElection;
  bool ignores(const Node& node, const Message& message) const {
    return message.kind != Kind::vote && RaftElection::ignores(node, message);
  }
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    Received<Message> taken = event;
    if (taken.message.kind == Kind::vote) taken.message.term = node.term;
    RaftElection::on(node, taken, effects, choice);
  }
};
static_assert(HasTimer<CountsOldVotes>);

// A leader that hears of a later term goes on.
struct NeverStepsDown : protocols::RaftElection {
  using RaftElection::on;
  using RaftElection::RaftElection;
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    if (node.standing != Standing::elected) RaftElection::on(node, event, effects, choice);
  }
};
static_assert(HasTimer<NeverStepsDown>);

// Takes a refusal for a vote.
struct CountsRefusals : protocols::RaftElection {
  using RaftElection::on;
  using RaftElection::RaftElection;
  bool ignores(const Node&, const Message&) const { return false; }
  void on(Node& node, const Received<Message>& event, auto& effects, Choice auto& choice) const {
    Received<Message> taken = event;
    if (taken.message.kind == Kind::refusal) taken.message.kind = Kind::vote;
    RaftElection::on(node, taken, effects, choice);
  }
};
static_assert(HasTimer<CountsRefusals>);

}  // namespace conclave::tests
