#include "bench/network_bench.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays/uniform.hpp"
#include "conclave/network/delays/unit.hpp"
#include "conclave/network/wakeups/all.hpp"
#include "conclave/network/wakeups/one.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

using network::NodeIndex;
using network::Ticks;
using protocols::KmppAsync;

constexpr StreamName name{.seed = 1, .trial = 0};

struct MeasuredElection {
  double seconds = 0;
  TrialResult result{};
  std::size_t bytes = 0;

  double messages() const { return result.interactions.as_double(); }
  double rate() const { return messages() / seconds; }
};

template <template <class> class Transit, class Wakeup>
MeasuredElection elect(std::uint64_t n, network::DelayAdversary* delay) {
  Wakeup wakeup(n, name);
  const KmppAsync protocol({}, n);
  const double begin = cpu_seconds();
  network::Asynchronous<KmppAsync, Transit> network(protocol, n, name, delay, wakeup,
                                                    {.counts_edges = false});
  MeasuredElection measured{.result = network.run([](Interactions) { return true; })};
  measured.seconds = cpu_seconds() - begin;
  measured.bytes = network.bytes();
  return measured;
}

MeasuredElection with_unit_delays(std::uint64_t n) {
  return elect<network::ConstantTransit, network::All>(n, nullptr);
}
MeasuredElection with_uniform_delays(std::uint64_t n) {
  network::Uniform delay(n, name);
  return elect<network::AdversarialTransit, network::All>(n, &delay);
}

// The exact count of a lone candidate, and the same run through both kinds of queue.
void check_network() {
  constexpr std::uint64_t n = 3000;
  const KmppAsync protocol({}, n);
  std::uint64_t lone = 3 * (n - 1);
  for (unsigned phase = 1; phase < protocol.last_phase(); ++phase) {
    lone += 2 * std::uint64_t{protocol.referees(phase)};
  }
  const auto one = elect<network::ConstantTransit, network::One>(n, nullptr);
  network::Unit unit(n, name);
  const auto queued = elect<network::AdversarialTransit, network::All>(n, &unit);
  const auto streamed = with_unit_delays(n);
  const bool is_right = one.result.interactions == Interactions(lone) &&
                        queued.result.interactions == streamed.result.interactions &&
                        queued.result.network->time == streamed.result.network->time &&
                        streamed.result.ending == Ending::converged;
  if (!is_right) throw std::logic_error("network: the engine is wrong");
}

// A node of the same size, which only counts what it gets.
struct Counter {
  std::uint64_t received = 0;
  std::byte rest[sizeof(KmppAsync::Node) - 8]{};
};
struct Event {
  NodeIndex to;
  NodeIndex from;
  std::uint64_t word;
};

// Twenty events per node are on their way; each delivery sends one more, into another bucket.
double bare_rate(std::uint64_t n, std::size_t buckets, std::uint64_t deliveries) {
  std::vector<Counter> nodes(n);
  std::vector<std::vector<Event>> calendar(buckets);
  Stream stream({.seed = 2});
  const auto any_node = [&] { return static_cast<NodeIndex>(stream.below64(n)); };
  for (std::uint64_t i = 0; i < 20 * n; ++i) calendar[i % buckets].push_back({any_node(), 0, i});
  const double begin = cpu_seconds();
  std::uint64_t done = 0;
  std::vector<Event> due;
  for (std::size_t now = 0; done < deliveries; ++now) {
    due.clear();
    due.swap(calendar[now % buckets]);
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (i + 16 < due.size()) __builtin_prefetch(&nodes[due[i + 16].to], 1);
      ++nodes[due[i].to].received;
      const std::uint64_t draw = stream.word();
      const std::size_t later = 1 + (buckets > 1 ? (draw >> 32) % (buckets - 1) : 0);
      const auto to = static_cast<NodeIndex>((draw & 0xffffffff) * n >> 32);
      calendar[(now + later) % buckets].push_back({to, due[i].to, due[i].word});
    }
    done += due.size();
  }
  return static_cast<double>(done) / (cpu_seconds() - begin);
}

double best_of(unsigned repeats, const auto& measure) {
  double best = 0;
  for (unsigned i = 0; i < repeats; ++i) best = std::max(best, measure());
  return best;
}

std::string line(std::uint64_t n, std::string_view delay, const MeasuredElection& run, double rate,
                 double bare, const std::string& of_sum) {
  return fmt::format("{:>10}  {:<8} {:>8.1f} {:>8.1f} {:>10.0f} {:>10.1f} {:>9.0f} % {:>9}\n", n,
                     delay, run.messages() / static_cast<double>(n), rate / 1e6,
                     static_cast<double>(run.bytes) / static_cast<double>(n), bare / 1e6,
                     100 * rate / bare, of_sum);
}

}  // namespace

void run_network(const NetworkOptions& options,
                 const std::function<void(const std::string&)>& print) {
  check_network();
  print(
      "kmpp-async with everybody awake, beside bare bucket queues; millions per CPU second. Sum:\n"
      "the time of the same election with unit delays, most of which is the protocol's own, and "
      "of\n"
      "the bare queue together.\n\n");
  print(fmt::format("{:>10}  {:<8} {:>8} {:>8} {:>10} {:>10} {:>11} {:>9}\n", "N", "DELAY",
                    "PER NODE", "ENGINE", "BYTES/NODE", "BARE QUEUE", "ENGINE/BARE", "OF SUM"));
  constexpr std::size_t many = 4096;
  for (const std::uint64_t n : options.sizes) {
    MeasuredElection unit;
    MeasuredElection uniform;
    const double unit_rate =
        best_of(options.repeats, [&] { return (unit = with_unit_delays(n)).rate(); });
    const double rounds = best_of(options.repeats, [&] { return bare_rate(n, 2, 40 * n); });
    print(line(n, "unit", unit, unit_rate, rounds, "-"));
    const double uniform_rate =
        best_of(options.repeats, [&] { return (uniform = with_uniform_delays(n)).rate(); });
    const double calendar = best_of(options.repeats, [&] { return bare_rate(n, many, 40 * n); });
    const double of_sum = uniform_rate * (1 / unit_rate + 1 / calendar);
    print(
        line(n, "uniform", uniform, uniform_rate, calendar, fmt::format("{:.0f} %", 100 * of_sum)));
  }
}

std::vector<Cell> network_cells() {
  return {
      {"network unit delays n=3e4", Kernel::memory, [] { return with_unit_delays(30'000).rate(); }},
      {"network uniform delays n=3e4", Kernel::memory,
       [] { return with_uniform_delays(30'000).rate(); }}};
}

}  // namespace conclave::bench
