#include "bench/counts_bench.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "conclave/population/agents.hpp"
#include "conclave/population/counts.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll.hpp"

#include "bench/cell.hpp"
#include "bench/counts_workloads.hpp"
#include "bench/cpu_seconds.hpp"
#include "bench/subjects.hpp"

namespace conclave::bench {
namespace {

using population::AgentMemory;
using population::Agents;
using population::Counts;

// --- the peers ---

struct Published {
  double rate;            // interactions per CPU second
  bool is_array = false;  // by stepping through an array of agents, not in batches
};

constexpr std::array<std::uint64_t, 5> usual_sizes{10'000, 1'000'000, 100'000'000, 1'000'000'000,
                                                   10'000'000'000};

// The best of four published simulators, each at its best setting, measured on another machine.
const std::map<std::string_view, std::array<Published, 5>> published{
    {"epidemic", {{{2.1e8, true}, {2.0e9}, {1.7e10}, {5.8e10}, {1.9e11}}}},
    {"majority", {{{1.9e8, true}, {8.9e8}, {7.3e9}, {2.3e10}, {4.9e10}}}},
    {"fratricide", {{{1.4e8, true}, {9.3e8}, {7.6e9}, {2.3e10}, {6.4e10}}}},
    {"table-100", {{{1.8e8, true}, {1.5e8, true}, {2.0e8}, {5.4e8}, {1.6e9}}}},
    {"table-1000", {{{7.7e7, true}, {3.9e7, true}, {2.2e7, true}, {2.8e7}, {9.2e7}}}},
    {"clock-100", {{{9.2e7, true}, {6.2e8}, {5.3e9}, {1.6e10}, {5.4e10}}}},
    {"clock-1000", {{{9.1e7, true}, {3.8e8}, {3.4e9}, {1.1e10}, {3.8e10}}}},
};

std::optional<Published> peer(std::string_view workload, std::uint64_t n) {
  const auto row = published.find(workload);
  const auto column = std::ranges::find(usual_sizes, n);
  if (row == published.end() || column == usual_sizes.end()) return std::nullopt;
  return row->second[static_cast<std::size_t>(column - usual_sizes.begin())];
}

// --- measuring ---

// The extent of a simulation: whole runs, of this many interactions unless they converge earlier;
// or of a workload that soon looks the same at all times a piece, after a piece that is not timed.
enum class Extent : std::uint8_t { whole_runs, piece };

struct Plan {
  Extent extent;
  double interactions;  // per run
  Watch watch;
};

constexpr double seconds_per_repeat = 0.3;
constexpr double seconds_per_cell = 2;  // no further repeat after that
constexpr double seconds_to_warm_up = 0.05;

// Until the run is over or the time is up; adds what it did.
struct Measured {
  double interactions = 0;
  double seconds = 0;
  double rate() const { return interactions / seconds; }
};

template <class Engine>
Interactions advance_a_little(Engine& engine, Interactions budget) {
  if constexpr (requires { engine.advance(budget, std::uint64_t{1}); }) {
    return engine.advance(budget, 100'000);
  } else {
    return engine.advance(std::min<Interactions>(budget, std::uint64_t{1} << 20));
  }
}

template <class Engine>
Measured advance(Engine& engine, double interactions, double seconds) {
  const Interactions end =
      Interactions::from_wide(static_cast<Interactions::Wide>(interactions)) + engine.now();
  const Interactions from = engine.now();
  const double begin = cpu_seconds();
  double now = begin;
  while (engine.now() < end && !engine.has_stopped() && now - begin < seconds) {
    advance_a_little(engine, end - engine.now());
    now = cpu_seconds();
  }
  return {(engine.now() - from).as_double(), now - begin};
}

// make(trial) gives an engine, done(engine) looks at it after its run.
template <class MakeEngine, class Done>
double rate_of(const Plan& plan, MakeEngine make, Done done) {
  Measured sum;
  const bool is_whole = plan.extent == Extent::whole_runs;
  for (std::uint64_t trial = 0; sum.seconds < seconds_per_repeat; ++trial) {
    auto engine = make(trial);
    engine.watch(plan.watch);
    if (!is_whole) advance(engine, plan.interactions / 2, seconds_to_warm_up);
    const double seconds = is_whole ? 1e9 : seconds_per_repeat - sum.seconds;
    const Measured run = advance(engine, plan.interactions, seconds);
    sum.interactions += run.interactions;
    sum.seconds += run.seconds;
    done(engine);
  }
  return sum.rate();
}

template <class MakeEngine, class Done>
double best_rate(unsigned repeats, const Plan& plan, MakeEngine make, Done done) {
  double best = 0;
  const double begin = cpu_seconds();
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    best = std::max(best, rate_of(plan, make, done));
    if (cpu_seconds() - begin > seconds_per_cell) break;
  }
  return best;
}

// --- workloads ---

struct EngineRates {
  double counts = 0;
  std::optional<double> agents;
  std::size_t states = 0;  // occupied at the end

  double best() const { return std::max(counts, agents.value_or(0)); }
};

template <class Engine>
void check_census(const Engine& engine) {
  AgentCount agents = 0;
  for (const auto& [state, count] : engine.census()) agents += count;
  if (agents != engine.size()) throw std::logic_error("the census has lost agents");
}

// Agents take 4 bytes at most; beyond this size they are measured only where the best published
// figure is that of an array.
constexpr std::uint64_t most_agents_usually = 1'000'000;

template <class P>
EngineRates measure(std::string_view name, const P& protocol, std::uint64_t n, const Plan& plan,
                    unsigned repeats) {
  EngineRates cell;
  cell.counts = best_rate(
      repeats, plan,
      [&](std::uint64_t trial) { return Counts<P>(protocol, n, 0, {.seed = 1, .trial = trial}); },
      [&](const Counts<P>& engine) {
        check_census(engine);
        cell.states = engine.census().size();
      });
  const auto known = peer(name, n);
  if (n <= most_agents_usually || (known && known->is_array)) {
    AgentMemory memory;
    cell.agents = best_rate(
        repeats, plan,
        [&](std::uint64_t trial) {
          return Agents<P>(protocol, n, 0, {.seed = 1, .trial = trial}, memory);
        },
        [](const Agents<P>&) {});
  }
  return cell;
}

Plan whole(double interactions, Watch watch) { return {Extent::whole_runs, interactions, watch}; }
Plan piece(double interactions) { return {Extent::piece, interactions, Watch::nothing}; }

EngineRates measure_pll(std::string_view name, std::uint64_t n, double agents, unsigned repeats) {
  protocols::Pll::Parameters parameters;
  parameters.resolve(n);
  const Plan plan = whole(38 * agents, Watch::nothing);
  return measure(name, protocols::Pll(parameters, n), n, plan, repeats);
}

// A workload, what of it is simulated, and how.
struct Entry {
  std::string_view name;
  std::string_view what;
  std::uint64_t most_usually;  // agents, unless sizes are given
  EngineRates (*run)(std::string_view name, std::uint64_t n, double agents, unsigned repeats);
};

template <std::uint32_t q>
EngineRates run_table(std::string_view name, std::uint64_t n, double agents, unsigned repeats) {
  return measure(name, RandomTable(n, q), n, piece(100 * agents), repeats);
}

template <std::uint32_t q>
EngineRates run_clock(std::string_view name, std::uint64_t n, double agents, unsigned repeats) {
  return measure(name, PhaseClock(n, q), n, piece(200 * agents), repeats);
}

EngineRates run_epidemic(std::string_view name, std::uint64_t n, double agents, unsigned repeats) {
  const Plan plan = whole(20 * agents * std::log(agents), Watch::convergence);
  return measure(name, Epidemic(n), n, plan, repeats);
}

EngineRates run_majority(std::string_view name, std::uint64_t n, double agents, unsigned repeats) {
  const Plan plan = whole(20 * agents * std::log(agents), Watch::convergence);
  return measure(name, Majority(n), n, plan, repeats);
}

EngineRates run_fratricide(std::string_view name, std::uint64_t n, double agents,
                           unsigned repeats) {
  return measure(name, protocols::Fratricide({}, n), n, whole(10 * agents, Watch::nothing),
                 repeats);
}

constexpr std::uint64_t any = usual_sizes.back();

constexpr std::array entries{
    Entry{"epidemic", "one way, from one infected agent until one is left", any, run_epidemic},
    Entry{"majority", "from n/2 + n/1000 against the rest to consensus", any, run_majority},
    Entry{"fratricide", "the first 10 n interactions from n leaders", any, run_fratricide},
    Entry{"table-10", "uniformly random outputs, uniform start", any, run_table<10>},
    Entry{"table-100", "the same with 100 states", any, run_table<100>},
    Entry{"table-1000", "the same with 1000 states", any, run_table<1000>},
    Entry{"clock-10", "phase clock, 10 digits, sqrt(n) + 1 marked", any, run_clock<10>},
    Entry{"clock-100", "the same with 100 digits", any, run_clock<100>},
    Entry{"clock-1000", "the same with 1000 digits", any, run_clock<1000>},
    Entry{"pll", "the first 38 n interactions, its median run", 1'000'000, measure_pll},
};
static_assert(std::ranges::equal(entries, counts_workloads, {}, &Entry::name));

// --- the table ---

// The ratio to a rate that the user has measured has no goal.
std::string compared(double ours, double rate, const Published* known) {
  const double ratio = ours / rate;
  const bool is_array = known != nullptr && known->is_array;
  const char* met = "-";
  if (known != nullptr) met = ratio >= (is_array ? 1.3 : 2) ? "yes" : "no";
  return fmt::format("{:>8.1e}{}  {:>5.2f}  {}", rate, is_array ? "a" : " ", ratio, met);
}

std::string line(const Entry& entry, std::uint64_t n, const EngineRates& cell, const Peers& peers) {
  const auto known = peer(entry.name, n);
  const std::string agents = cell.agents ? fmt::format("{:.2e}", *cell.agents) : "-";
  std::string comparison = fmt::format("{:>9}  {:>5}  {}", "-", "-", "-");
  if (peers.are_given()) {
    const auto given = peers.rate(fmt::format("counts.{}", entry.name), n);
    if (given) comparison = compared(cell.best(), *given, nullptr);
  } else if (known) {
    comparison = compared(cell.best(), known->rate, &*known);
  }
  return fmt::format("{:<11} {:>7.0e}  {:>6}  {:>8.2e}  {:>8}  {}\n", entry.name,
                     static_cast<double>(n), cell.states, cell.counts, agents, comparison);
}

bool is_wanted(const CountsOptions& options, std::string_view name) {
  return options.workloads.empty() ||
         std::ranges::find(options.workloads, name) != options.workloads.end();
}

// Both engines on few agents: the share of the infected after n interactions is nearly the same in
// every run, and the census keeps all agents.
void check_counts() {
  constexpr std::uint64_t n = 1'000'000;
  const Majority protocol(n);
  AgentMemory memory;
  Agents<Majority> agents(protocol, n, 0, {.seed = 1}, memory);
  Counts<Majority> counts(protocol, n, 0, {.seed = 1});
  agents.advance(2 * n);
  counts.advance(2 * n);
  check_census(counts);
  std::array<double, 3> of_agents{}, of_counts{};
  for (AgentCount agent = 0; agent < n; ++agent) ++of_agents[agents.state(agent).value];
  for (const auto& [state, count] : counts.census()) {
    of_counts[state.value] = static_cast<double>(count);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (std::abs(of_agents[i] - of_counts[i]) > 20'000) {  // about 15 standard deviations
      throw std::logic_error("majority: the engines differ");
    }
  }
}

}  // namespace

void run_counts(const CountsOptions& options,
                const std::function<void(const std::string&)>& print) {
  check_counts();
  print("interactions per CPU second of one thread, best of the repeats; a: by an array of "
        "agents\n");
  print(options.peers.note());
  for (const Entry& entry : entries) {
    if (is_wanted(options, entry.name)) print(fmt::format("  {:<11} {}\n", entry.name, entry.what));
  }
  print(fmt::format("{:<11} {:>7}  {:>6}  {:>8}  {:>8}  {:>9}  {:>5}  {}\n", "workload", "n",
                    "states", "counts", "agents", "peer", "ratio", "goal met"));
  for (const Entry& entry : entries) {
    if (!is_wanted(options, entry.name)) continue;
    std::vector<std::uint64_t> sizes = options.sizes;
    if (sizes.empty()) sizes.assign(usual_sizes.begin(), usual_sizes.end());
    for (const std::uint64_t n : sizes) {
      if (options.sizes.empty() && n > entry.most_usually) continue;
      print(line(entry, n, entry.run(entry.name, n, static_cast<double>(n), options.repeats),
                 options.peers));
    }
  }
}

std::vector<Cell> counts_cells() {
  const auto rate_at = [](auto protocol, std::uint64_t n, Plan plan) {
    return [=] {
      using P = decltype(protocol);
      return rate_of(
          plan,
          [&](std::uint64_t trial) {
            return Counts<P>(protocol, n, 0, {.seed = 1, .trial = trial});
          },
          [](const Counts<P>&) {});
    };
  };
  constexpr std::uint64_t n = 100'000'000;
  return {{"counts majority n=1e8", Kernel::arithmetic,
           rate_at(Majority(n), n, whole(20 * 1e8 * std::log(1e8), Watch::convergence))},
          {"counts clock-100 n=1e8", Kernel::arithmetic,
           rate_at(PhaseClock(n, 100), n, piece(200 * 1e8))}};
}

}  // namespace conclave::bench
