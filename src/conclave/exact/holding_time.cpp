#include "conclave/exact/holding_time.hpp"

#include <utility>

#include "conclave/chain/hitting_times.hpp"

namespace conclave::exact {
namespace {

std::vector<StateLaw> laws_at(NumberedStates& table, std::size_t start, AgentCount n) {
  std::vector<StateLaw> laws;
  for (AgentCount agent = 0; agent < n; ++agent) laws.push_back(law_of_agent(table, start, agent));
  return laws;
}

}  // namespace

HoldingTimes::HoldingTimes(std::unique_ptr<NumberedStates> table,
                           std::unique_ptr<FailureQuestion> question, std::size_t start,
                           AgentCount n, const HoldingLimits& limits, ProgressCallback progress)
    : table_(std::move(table)),
      question_(std::move(question)),
      network_(Network::complete(n)),
      limits_(limits),
      progress_(std::move(progress)),
      members_(*table_, *question_, laws_at(*table_, start, n), limits.states),
      states_(members_, members_.coarsest()),
      index_(index_as_met(network_)),
      start_(start_law(network_, states_.agents(), *index_, progress_)) {}

MarkovChain HoldingTimes::chain_until(std::size_t way) {
  std::vector<StateNumber> states;
  const auto is_over = [&](std::span<const StateNumber> blocks) {
    states.clear();
    for (const StateNumber block : blocks) states.push_back(states_.state(block));
    return question_->is_over(states);
  };
  const WalkEnd end{way, start_, is_over, limits_.configurations};
  return until_end(network_, states_, *index_, end, progress_);
}

bool HoldingTimes::is_possible(std::size_t way) {
  const MarkovChain chain = chain_until(way);
  for (StateIndex from = 1; from < chain.size(); ++from) {
    if (chain.successors(from).front() == 0) return true;
  }
  return false;
}

HoldingTime HoldingTimes::until(std::size_t way) {
  const MarkovChain chain = chain_until(way);
  StateSet failed(chain.size());
  failed.insert(0);
  report_progress(progress_, "solving", 0, 0);
  const HittingTimes times = chain::hitting_times(chain, failed);
  HoldingTime result{0, times.relative_error};
  for (StateIndex i = 0; i < start_.size(); ++i) {
    if (start_[i] > 0) result.mean += start_[i] * times.mean[i + 1];
  }
  return result;
}

}  // namespace conclave::exact
