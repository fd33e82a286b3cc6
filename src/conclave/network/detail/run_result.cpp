#include "conclave/network/detail/run_result.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "conclave/base/whole_numbers.hpp"

namespace conclave::network::detail {

void NodesAtRest::add(const NodeView& node, bool is_settled) {
  elected_ += node.standing == Standing::elected ? 1 : 0;
  informed_ += node.is_informed ? 1 : 0;
  settled_ += is_settled ? 1 : 0;
  last_phase_ = std::max(last_phase_, node.phase);
  if (!is_watched_) return;
  if (ended_in_.size() <= node.phase) ended_in_.resize(node.phase + 1);
  ++ended_in_[node.phase];
}

TrialResult NodesAtRest::result(NetworkOutcome outcome, std::uint64_t messages) const {
  outcome.elected = elected_;
  outcome.informed = informed_;
  TrialResult result{.interactions = messages};
  result.leaders = elected_;
  result.ending = elected_ == 1 && settled_ == n_ ? Ending::converged : Ending::hopeless;
  result.network = std::move(outcome);
  return result;
}

void NodesAtRest::observe(std::uint64_t candidates, std::uint64_t largest_bits,
                          std::vector<Observation> own, TrialResult& result) const {
  const double bits = static_cast<double>(largest_bits);
  result.observations = {{"candidates", candidates},
                         {"last_phase", std::uint64_t{last_phase_}},
                         {"message_bits", largest_bits},
                         {"message_bits_per_log_n", n_ > 1 ? bits / binary_logarithm(n_) : 0.0}};
  for (Observation& each : own) result.observations.push_back(std::move(each));
  if (!is_watched_) return;
  // Who has ended in a phase has taken part in all before it.
  std::string by_phase;
  std::uint64_t in_phase = 0;
  for (std::size_t phase = ended_in_.size(); phase-- > 1;) {
    in_phase += ended_in_[phase];
    if (!by_phase.empty()) by_phase.insert(0, 1, ' ');
    by_phase.insert(0, std::to_string(in_phase));
  }
  const std::uint64_t last = ended_in_.size() > 1 ? ended_in_.back() : 0;
  result.observations.push_back({"candidates_by_phase", by_phase});
  result.observations.push_back({"candidates_in_last_phase", last});
}

}  // namespace conclave::network::detail
