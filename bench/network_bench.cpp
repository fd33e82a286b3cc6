#include "bench/network_bench.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/network/asynchronous.hpp"
#include "conclave/network/delays.hpp"
#include "conclave/network/wakeups.hpp"
#include "conclave/population/agent_memory.hpp"
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

// Lets messages of an edge overtake each other, as the model forbids: what it saves is what the
// engine pays for FIFO edges.
class Overtaking {
 public:
  explicit Overtaking(NodeCount) {}

  struct Sending {
    Sending(Overtaking&, Ticks, NodeIndex, std::size_t) {}
    static bool may_overtake(NodeIndex) { return false; }
    static void note(NodeIndex, Ticks, std::uint64_t, std::uint16_t) {}
  };
  static Ticks after_others(Ticks, NodeIndex, NodeIndex, Ticks arrival, const auto&, const auto&) {
    return arrival;
  }
  static void begin_broadcast(Ticks, NodeIndex) {}
  static bool is_crowd(std::size_t) { return false; }
  static void expect(NodeIndex, NodeIndex) {}
  static void prefetch(NodeIndex) {}
  static std::size_t bytes() { return 0; }
};
template <class P>
using OvertakingTransit = network::DelayedTransit<P, Overtaking>;

MeasuredElection without_fifo(std::uint64_t n) {
  network::Uniform delay(n, name);
  return elect<OvertakingTransit, network::All>(n, &delay);
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

// Twelve bytes, as a message of the engine: when it leaves, from the beginning of its bucket on.
struct Event {
  std::uint32_t offset;
  NodeIndex to;
  NodeIndex from;
};

template <class T>
T* in_large_pages(population::AgentMemory& memory, std::size_t count) {
  T* const first = reinterpret_cast<T*>(memory.reserve(count * sizeof(T)).data());
  std::uninitialized_default_construct_n(first, count);
  return first;
}

// A queue with random delays cannot do with less: it writes a message into the
// bucket of its time, and brings the bucket whose time has come into order. With two buckets, for
// unit delays, there is nothing to order. All buckets have their places in large pages beforehand,
// twice as large as a bucket becomes on average.
class BareQueue {
 public:
  BareQueue(std::size_t buckets, std::uint64_t at_once)
      : sizes_(buckets),
        capacity_(buckets == 2 ? at_once : 4 * at_once / buckets + 64),
        events_(in_large_pages<Event>(memory_, buckets * capacity_)) {}

  // Into one of the next buckets; `draw` says which and where in it.
  void add(std::uint64_t draw, NodeIndex to, NodeIndex from) {
    const std::size_t later = 1 + ((draw >> 32) * (sizes_.size() - 1) >> 32);
    const std::size_t bucket = (now_ + later) % sizes_.size();
    if (sizes_[bucket] == capacity_) throw std::logic_error("network: a bucket is too small");
    events_[bucket * capacity_ + sizes_[bucket]++] = {static_cast<std::uint32_t>(draw), to, from};
  }

  // The messages of the next bucket, in order of time.
  std::span<const Event> next() {
    const std::size_t bucket = ++now_ % sizes_.size();
    const std::span<const Event> due(&events_[bucket * capacity_], sizes_[bucket]);
    sizes_[bucket] = 0;
    if (sizes_.size() == 2) return due;
    distribute(due);
    for (std::size_t i = 1; i < ordered_.size(); ++i) {
      for (std::size_t k = i; k > 0 && ordered_[k].offset < ordered_[k - 1].offset; --k) {
        std::swap(ordered_[k], ordered_[k - 1]);
      }
    }
    return ordered_;
  }

 private:
  // As many cells as messages: then few are left to be moved.
  void distribute(std::span<const Event> due) {
    const int drop = 32 - std::max(1, static_cast<int>(std::bit_width(due.size())));
    begins_.assign((std::size_t{1} << 32 >> drop) + 1, 0);
    for (const Event& event : due) ++begins_[(event.offset >> drop) + 1];
    for (std::size_t cell = 1; cell < begins_.size(); ++cell) begins_[cell] += begins_[cell - 1];
    ordered_.resize(due.size());
    for (const Event& event : due) ordered_[begins_[event.offset >> drop]++] = event;
  }

  std::vector<std::size_t> sizes_;  // of the buckets
  std::size_t capacity_;            // of each
  population::AgentMemory memory_;
  Event* events_;  // bucket by bucket
  std::size_t now_ = 0;
  std::vector<Event> ordered_;
  std::vector<std::uint32_t> begins_;
};

// As many messages as an election has, of which twenty per node are on their way at once: all nodes
// send as many at first, and each delivery one more, as long as there are any. Memory is fresh, as
// it is for the engine.
double bare_rate(std::uint64_t n, std::size_t buckets, double of_an_election) {
  const auto messages = static_cast<std::uint64_t>(of_an_election);
  const double begin = cpu_seconds();
  population::AgentMemory memory;
  Counter* const nodes = in_large_pages<Counter>(memory, n);
  BareQueue queue(buckets, 20 * n);
  Stream stream({.seed = 2});
  std::uint64_t sent = 0;
  const auto send = [&](NodeIndex from) {
    queue.add(stream.word(), static_cast<NodeIndex>(stream.below64(n)), from);
    ++sent;
  };
  while (sent < std::min(20 * n, messages)) send(static_cast<NodeIndex>(sent / 20));
  for (std::uint64_t done = 0; done < messages;) {
    const std::span<const Event> due = queue.next();
    for (std::size_t i = 0; i < due.size(); ++i) {
      if (i + 16 < due.size()) __builtin_prefetch(&nodes[due[i + 16].to], 1);
      ++nodes[due[i].to].received;
      if (sent < messages) send(due[i].to);
    }
    done += due.size();
  }
  return static_cast<double>(messages) / (cpu_seconds() - begin);
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
      "the bare queue together. No FIFO: messages may overtake, and no notes are kept about them.\n"
      "\n");
  print(fmt::format("{:>10}  {:<8} {:>8} {:>8} {:>10} {:>10} {:>11} {:>9}\n", "N", "DELAY",
                    "PER NODE", "ENGINE", "BYTES/NODE", "BARE QUEUE", "ENGINE/BARE", "OF SUM"));
  constexpr std::size_t many = 1024;
  for (const std::uint64_t n : options.sizes) {
    MeasuredElection unit;
    MeasuredElection uniform;
    const double unit_rate =
        best_of(options.repeats, [&] { return (unit = with_unit_delays(n)).rate(); });
    const double rounds =
        best_of(options.repeats, [&] { return bare_rate(n, 2, unit.messages()); });
    print(line(n, "unit", unit, unit_rate, rounds, "-"));
    const double uniform_rate =
        best_of(options.repeats, [&] { return (uniform = with_uniform_delays(n)).rate(); });
    const double calendar =
        best_of(options.repeats, [&] { return bare_rate(n, many, uniform.messages()); });
    const auto of_sum = [&](double rate) {
      return fmt::format("{:.0f} %", 100 * rate * (1 / unit_rate + 1 / calendar));
    };
    print(line(n, "uniform", uniform, uniform_rate, calendar, of_sum(uniform_rate)));
    MeasuredElection loose;
    const double loose_rate =
        best_of(options.repeats, [&] { return (loose = without_fifo(n)).rate(); });
    print(line(n, "no FIFO", loose, loose_rate, calendar, of_sum(loose_rate)));
  }
}

std::vector<Cell> network_cells() {
  return {
      {"network unit delays n=3e4", Kernel::memory, [] { return with_unit_delays(30'000).rate(); }},
      {"network uniform delays n=3e4", Kernel::memory,
       [] { return with_uniform_delays(30'000).rate(); }}};
}

}  // namespace conclave::bench
