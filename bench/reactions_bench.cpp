#include "bench/reactions_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "conclave/base/poisson_clock.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/population/adaptive.hpp"
#include "conclave/text/text_protocol.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"
#include "bench/embedded_networks.hpp"

namespace conclave::bench {
namespace {

using NetworkProtocol = text::TextProtocol<std::uint8_t>;
using NetworkEngine = population::Adaptive<NetworkProtocol>;

struct Network {
  const char* name;
  std::string_view text;
};

std::array<Network, 4> all_networks() {
  return {{{"lotka-volterra", lotka_volterra},
           {"rock-paper-scissors", rock_paper_scissors},
           {"approximate-majority", approximate_majority},
           {"cascade", cascade}}};
}

std::shared_ptr<const text::Compiled> compiled(const Network& workload, std::uint64_t n) {
  const auto read = std::make_shared<const text::ProtocolText>(std::string(workload.name) + ".crn",
                                                               workload.text);
  return text::Compiled::make(read, {}, n);
}

// Gillespie's direct method (1977): an exponential wait, then a reaction by its propensity. The
// propensities of all reactions are computed anew at every event.
class DirectMethod {
 public:
  DirectMethod(const text::Compiled& network, const StreamName& name)
      : stream_(name), reactions_(network.reactions()), counts_(network.space().size()) {
    for (const auto& [state, count] : network.starts()[0].census) counts_[state] += count;
    for (const text::MassAction& each : reactions_) {
      const double volume = each.is_pair ? network.volume().as_double() : 1;
      const bool is_dimer = each.is_pair && each.reactants[0] == each.reactants[1];
      rates_.push_back(each.rate.as_double() / volume / (is_dimer ? 2 : 1));
    }
    propensities_.resize(reactions_.size());
  }

  double time() const { return time_; }
  std::uint64_t events() const { return events_; }
  double count(std::size_t species) const { return static_cast<double>(counts_[species]); }

  // False where nothing can happen before `end`, at which the time then stands.
  bool step(double end) {
    double sum = 0;
    for (std::size_t i = 0; i < reactions_.size(); ++i) sum += propensities_[i] = propensity(i);
    const double wait = sum > 0 ? -std::log(uniform()) / sum : end;
    if (time_ + wait >= end) {
      time_ = end;
      return false;
    }
    time_ += wait;
    double pick = uniform() * sum;
    std::size_t chosen = 0;
    while (chosen + 1 < reactions_.size() && pick >= propensities_[chosen]) {
      pick -= propensities_[chosen++];
    }
    happen(reactions_[chosen]);
    return true;
  }

 private:
  double uniform() { return (static_cast<double>(stream_.word() >> 11) + 0.5) * 0x1p-53; }

  double propensity(std::size_t index) const {
    const text::MassAction& each = reactions_[index];
    const double first = count(each.reactants[0]);
    if (!each.is_pair) return rates_[index] * first;
    const bool is_dimer = each.reactants[0] == each.reactants[1];
    return rates_[index] * first * (count(each.reactants[1]) - (is_dimer ? 1 : 0));
  }

  void happen(const text::MassAction& reaction) {
    ++events_;
    for (std::size_t i = 0; i < (reaction.is_pair ? 2u : 1u); ++i) {
      --counts_[reaction.reactants[i]];
      ++counts_[reaction.products[i]];
    }
  }

  Stream stream_;
  const std::vector<text::MassAction>& reactions_;
  std::vector<std::uint64_t> counts_;
  std::vector<double> rates_, propensities_;
  double time_ = 0;
  std::uint64_t events_ = 0;
};

struct NetworkSpeed {
  double time = 0;   // units of the network's time per CPU second
  double steps = 0;  // interactions or events per CPU second
};

constexpr double last_time = 5;
constexpr double most_cpu_seconds = 1.5;  // per run; what is not done by then is left

NetworkSpeed speed_of_direct_method(const text::Compiled& network, std::uint64_t trial) {
  DirectMethod direct(network, {.seed = 1, .trial = trial});
  const double begin = cpu_seconds();
  double now = begin;
  for (bool goes_on = true; goes_on && now - begin < most_cpu_seconds; now = cpu_seconds()) {
    for (int i = 0; i < 10'000 && goes_on; ++i) goes_on = direct.step(last_time);
  }
  return {direct.time() / (now - begin), static_cast<double>(direct.events()) / (now - begin)};
}

NetworkSpeed speed_of_engine(const text::Compiled& network, std::uint64_t trial) {
  const NetworkProtocol protocol(network);
  population::AgentMemory memory;
  const double ticks_per_time = network.ticks_per_time().as_double();
  const double begin = cpu_seconds();
  const StreamName name{.seed = 1, .trial = trial};
  const Interactions end = PoissonClock(name, ticks_per_time).points_before(last_time);
  NetworkEngine engine(protocol, network.agents(), 0, name, memory);
  engine.watch(Watch::nothing);
  double now = begin;
  for (; engine.now() < end && now - begin < most_cpu_seconds; now = cpu_seconds()) {
    engine.advance(end - engine.now(), 100'000);
  }
  const double ticks = engine.now().as_double() / (now - begin);
  return {ticks / ticks_per_time, ticks};
}

// The means of the first species at time 1, with 1000 molecules.
void check_network(const Network& workload) {
  const auto network = compiled(workload, 1000);
  const NetworkProtocol protocol(*network);
  population::AgentMemory memory;
  const std::string first_species = protocol.name_of(protocol.state_of_species(0));
  std::vector<double> ours, theirs;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    const StreamName name{.seed = 2, .trial = trial};
    NetworkEngine engine(protocol, 1000, 0, name, memory);
    engine.watch(Watch::nothing);
    PoissonClock clock(name, network->ticks_per_time().as_double());
    engine.advance(clock.points_before(1));
    double first = 0;
    for (const NamedCount& each : engine.named_census()) {
      if (each.name == first_species) first = static_cast<double>(each.count);
    }
    ours.push_back(first);
    DirectMethod direct(*network, name);
    while (direct.step(1)) {
    }
    theirs.push_back(direct.count(0));
  }
  const Summary a = summarize(ours), b = summarize(theirs);
  if (std::abs(a.mean - b.mean) <= 6 * std::sqrt((a.variance + b.variance) / 200)) return;
  throw std::logic_error(
      fmt::format("{}: the engine and the direct method disagree", workload.name));
}

template <class Measure>
NetworkSpeed best_speed(unsigned repeats, Measure measure) {
  NetworkSpeed best;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    const NetworkSpeed speed = measure(repeat);
    if (speed.time > best.time) best = speed;
  }
  return best;
}

}  // namespace

void run_reactions(const ReactionsOptions& options,
                   const std::function<void(const std::string&)>& print) {
  for (const Network& each : all_networks()) check_network(each);
  print(fmt::format("from the start to time {}, on one core; rates per CPU second\n", last_time));
  print(fmt::format("{:<22}{:>12}{:>12}{:>14}{:>14}{:>12}{:>10}\n", "network", "molecules", "time",
                    "interactions", "direct: time", "events", "ratio"));
  for (const Network& each : all_networks()) {
    for (const std::uint64_t n : options.sizes) {
      const auto network = compiled(each, n);
      const auto repeats = options.repeats;
      const NetworkSpeed ours = best_speed(
          repeats, [&](std::uint64_t trial) { return speed_of_engine(*network, trial); });
      const NetworkSpeed direct = best_speed(
          repeats, [&](std::uint64_t trial) { return speed_of_direct_method(*network, trial); });
      print(fmt::format("{:<22}{:>12}{:>12.3g}{:>14.3g}{:>14.3g}{:>12.3g}{:>10.3g}\n", each.name, n,
                        ours.time, ours.steps, direct.time, direct.steps, ours.time / direct.time));
    }
  }
}

std::vector<Cell> reactions_cells() {
  const auto network = compiled(all_networks()[1], 10'000);
  return {{"reactions rock-paper-scissors n=1e4", Kernel::arithmetic,
           [network] { return speed_of_engine(*network, 0).steps; }}};
}

}  // namespace conclave::bench
