#include "conclave/population/adaptive.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace conclave::population {

AdaptiveEngine::AdaptiveEngine(std::shared_ptr<const detail::AdaptiveStages> stages,
                               std::unique_ptr<detail::Species> species, AgentCount n,
                               const StreamName& name, AgentMemory& memory)
    : stages_(std::move(stages)), n_(n), name_(name), memory_(memory) {
  if (n < least_agents_to_batch && offers_channels()) {
    begin_small_network(*species, species->take_first_counts());
  } else if (n < least_agents_to_batch && stages_->may_use_agents(n)) {
    agents_ = stages_->agents_after(*species, species->take_first_counts(), n_, name_, memory_);
    look_after_ = 4u;
    set_next_look();
  } else {
    counts_ = std::make_unique<Counts>(std::move(species), n, name, cost_table<CountsCosts>);
  }
}

AdaptiveEngine::AdaptiveEngine(const AdaptiveEngine& other, AgentMemory& memory)
    : stages_(other.stages_),
      n_(other.n_),
      name_(other.name_),
      memory_(memory),
      watch_(other.watch_),
      before_(other.before_),
      look_after_(other.look_after_),
      next_look_(other.next_look_),
      compare_at_(other.compare_at_),
      most_cost_(other.most_cost_) {
  if (other.counts_) counts_ = other.counts_->exact_copy();
  if (other.agents_) agents_ = other.agents_->copy();
  if (other.direct_) direct_ = other.direct_->copy();
}

Interactions AdaptiveEngine::advance(Interactions budget, std::uint64_t most_work,
                                     Interactions horizon) {
  const Interactions before = now();
  for (std::uint64_t work = 0; work < most_work && !has_stopped();) {
    const Interactions done = now() - before;
    if (done == budget) break;
    if (counts_) {
      work += step_counts(budget - done, horizon - done);
    } else {
      work += agents_ ? step_agents(budget - done) : step_directly(budget - done, most_work - work);
    }
  }
  return now() - before;
}

AgentTable AdaptiveEngine::table() const {
  return agents_ ? stages_->table(*agents_) : running().table();
}

AgentCount AdaptiveEngine::strike(const Fault& fault) {
  if (direct_) use_counts();
  return running().strike(fault);
}

TrialEngine& AdaptiveEngine::running() const {
  if (direct_) return direct_->engine();
  return agents_ ? *agents_ : *counts_;
}

bool AdaptiveEngine::offers_channels() const {
  constexpr std::size_t most_channels = 100;
  return stages_->channels() != 0 && stages_->channels() <= most_channels;
}

void AdaptiveEngine::begin_small_network(const detail::Species& species,
                                         const std::vector<AgentCount>& counts) {
  direct_ = stages_->direct_after(species, counts, n_, name_);
  most_cost_ = cost_of_chance;
  if (direct_->cost() > most_cost_) return use_agents();
  set_next_look();
}

std::uint64_t AdaptiveEngine::step_agents(Interactions budget) {
  const Interactions before = now();
  agents_->advance_a_chunk(std::min<Interactions>(budget, until_next_look()), budget);
  const std::uint64_t done = (now() - before).as_uint64().value();
  if (!has_stopped() && until_next_look() == 0) use_counts();
  return std::max<std::uint64_t>(1, done);
}

std::uint64_t AdaptiveEngine::step_counts(Interactions budget, Interactions horizon) {
  CountsEngine& counts = counts_->engine();
  const Interactions done =
      counts.advance(budget, compare_at_ - std::min(compare_at_, counts.work()), horizon);
  const bool is_due = counts.work() >= compare_at_ && counts.stands_still();
  if (!is_due && done < horizon && !has_stopped()) return work_per_look;  // only a look
  compare_at_ = counts.work() + work_before_comparing();
  if (!has_stopped()) change_over();
  return work_per_look;
}

std::uint64_t AdaptiveEngine::step_directly(Interactions budget, std::uint64_t most_work) {
  const std::uint64_t before = direct_->reactions();
  const Interactions most = std::min<Interactions>(budget, until_next_look());
  direct_->advance(most, std::min(most_work, compare_at_ - before));
  const std::uint64_t after = direct_->reactions();
  const bool is_late = until_next_look() == 0;
  if (!has_stopped() && (after == compare_at_ || is_late)) {
    compare_at_ = after + work_per_look;
    if (is_late || direct_->cost() > most_cost_) use_counts();
  }
  return 1 + after - before;
}

std::uint64_t AdaptiveEngine::work_before_comparing() const {
  return offers_channels() ? work_per_look : std::min<std::uint64_t>(work_per_look, 64 + n_ / 4);
}

void AdaptiveEngine::change_over() {
  const double cost = counts_->engine().cost();
  const bool is_small = n_ < least_agents_to_batch;
  if (offers_channels() && use_direct_method(is_small ? std::min(cost, cost_of_chance) : cost)) {
    return;
  }
  if (stages_->may_use_agents(n_) && cost > cost_of_agents()) use_agents();
}

bool AdaptiveEngine::use_direct_method(double cost_of_others) {
  StreamName name = name_;
  ++name.part;
  const CountsEngine& counts = counts_->engine();
  auto next = stages_->direct_after(counts.species(), counts.shown(), n_, name);
  if (next->cost() > 0.75 * cost_of_others) return false;
  name_ = name;
  most_cost_ = cost_of_others;
  compare_at_ = work_per_look;
  go_on_with(nullptr, nullptr, std::move(next));
  set_next_look();
  return true;
}

double AdaptiveEngine::cost_of_agents() const {
  const std::uint64_t bytes = n_ * stages_->bytes_per_agent();
  if (bytes <= std::uint64_t{1} << 20) return 3;
  return bytes <= std::uint64_t{1} << 25 ? 5 : 20;
}

std::uint64_t AdaptiveEngine::until_next_look() const {
  const Interactions now = running().now();
  return now < next_look_ ? static_cast<std::uint64_t>((next_look_ - now).as_wide()) : 0;
}

void AdaptiveEngine::set_next_look() {
  look_after_ = look_after_ * 2u;
  next_look_ = look_after_ * Interactions(n_);
}

StreamName AdaptiveEngine::next_part() {
  ++name_.part;
  return name_;
}

void AdaptiveEngine::use_agents() {
  const StreamName name = next_part();
  if (direct_) {
    go_on_with(nullptr, stages_->agents_after(*direct_, n_, name, memory_), nullptr);
  } else {
    const CountsEngine& counts = counts_->engine();
    auto next = stages_->agents_after(counts.species(), counts.shown(), n_, name, memory_);
    go_on_with(nullptr, std::move(next), nullptr);
  }
  set_next_look();
}

void AdaptiveEngine::use_counts() {
  auto species = direct_ ? stages_->species_after(*direct_) : stages_->species_after(*agents_);
  go_on_with(std::make_unique<Counts>(std::move(species), n_, next_part(), cost_table<CountsCosts>),
             nullptr, nullptr);
  compare_at_ = work_before_comparing();
}

void AdaptiveEngine::go_on_with(std::unique_ptr<Counts> counts, std::unique_ptr<TrialEngine> agents,
                                std::unique_ptr<detail::DirectStage> direct) {
  before_ = now();
  counts_ = std::move(counts);
  agents_ = std::move(agents);
  direct_ = std::move(direct);
  running().watch(watch_);
}

}  // namespace conclave::population
