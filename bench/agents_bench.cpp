#include "bench/agents_bench.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "conclave/population/agents.hpp"
#include "conclave/protocols/population/fratricide.hpp"
#include "conclave/protocols/population/pll.hpp"
#include "conclave/protocols/population/ppl.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"
#include "bench/median.hpp"

namespace conclave::bench {
namespace {

using population::AgentMemory;
using population::Agents;
using population::Meeting;
using population::PairPipeline;

// The first 40 n interactions of a trial, but no less than a tenth of a second's work and no more
// than ten seconds' in all; a trial that converges earlier is followed by the next.
std::uint64_t interactions_to_time(std::uint64_t n) {
  return std::clamp<std::uint64_t>(40 * n, 50'000'000, 400'000'000);
}

template <class P>
P with_defaults(AgentCount n) {
  typename P::Parameters parameters;
  if constexpr (requires { parameters.resolve(n); }) parameters.resolve(n);
  return P(parameters, n);
}

// The same trial by the engine and by a loop anyone can read.
template <class P>
void check_agents() {
  constexpr AgentCount n = 5000;
  const P protocol = with_defaults<P>(n);
  AgentMemory memory;
  Agents<P> engine(protocol, n, 0, {.seed = 1}, memory);
  PairPipeline pairs({.seed = 1, .trial = 0, .purpose = Purpose::schedule}, n);
  Stream choice({.seed = 1, .trial = 0, .purpose = Purpose::transition});
  std::vector<typename P::State> agents(n, protocol.initial(0, 0, choice));
  const std::uint64_t steps = *engine.advance(std::uint64_t{20} * n).as_uint64();
  for (std::uint64_t step = 0; step < steps; ++step) {
    const Meeting meeting{pairs.upcoming().front()};
    protocol.interact(agents[meeting.initiator()], agents[meeting.responder()], choice);
    pairs.drop(1);
  }
  for (AgentCount agent = 0; agent < n; ++agent) {
    if (!(engine.state(agent) == agents[agent])) {
      throw std::logic_error(fmt::format("{}: engine and plain loop differ", P::info.name));
    }
  }
}

template <class P>
double engine_rate(AgentCount n, AgentMemory& memory, std::uint64_t most) {
  const P protocol = with_defaults<P>(n);
  std::uint64_t done = 0;
  double seconds = 0;
  typename Agents<P>::MeetingTable table(protocol);  // trials share it, as those of `run` do
  for (std::uint64_t trial = 0; done < most; ++trial) {
    Agents<P> engine(protocol, n, 0, {.seed = 1, .trial = trial}, memory, n, &table);
    const double begin = cpu_seconds();
    done += *engine.advance(std::min(40 * n, most - done)).as_uint64();
    seconds += cpu_seconds() - begin;
  }
  return static_cast<double>(done) / seconds;
}

enum class Fetching { none, near, far };  // far: as the engine does where agents need much memory

// Reads both agents of every meeting, and writes them if asked to; returns what it has read, so
// that the reads are needed.
template <class Bytes, bool writing, Fetching fetching>
[[gnu::noinline]] std::uint64_t touch(Bytes* agents, PairPipeline& pairs, std::uint64_t meetings) {
  std::uint64_t sum = 0;
  for (std::uint64_t done = 0; done < meetings;) {
    const auto words = pairs.upcoming();
    for (std::size_t k = 0; k < words.size(); ++k) {
      if constexpr (fetching != Fetching::none) {
        population::fetch_agents<Agents<protocols::Pll>::fetch_ahead>(agents, words.data() + k,
                                                                      fetching == Fetching::far);
      }
      const Meeting meeting{words[k]};
      const Bytes u = agents[meeting.initiator()];
      const Bytes v = agents[meeting.responder()];
      sum += static_cast<std::uint64_t>(u) + v;
      if constexpr (writing) {
        agents[meeting.initiator()] = static_cast<Bytes>(u + 1);
        agents[meeting.responder()] = static_cast<Bytes>(v + 1);
      }
    }
    pairs.drop(words.size());
    done += words.size();
  }
  return sum;
}

// The fastest way to touch the agents, which is the limit of every engine: most interactions of
// many protocols change nothing, so that reading alone counts, too.
template <class Bytes>
double raw_rate(AgentCount n, AgentMemory& memory) {
  auto* const agents = reinterpret_cast<Bytes*>(memory.reserve(n * sizeof(Bytes)).data());
  std::fill_n(agents, n, Bytes{0});
  constexpr std::array ways{
      touch<Bytes, false, Fetching::none>, touch<Bytes, false, Fetching::near>,
      touch<Bytes, false, Fetching::far>,  touch<Bytes, true, Fetching::none>,
      touch<Bytes, true, Fetching::near>,  touch<Bytes, true, Fetching::far>};
  const std::uint64_t meetings = interactions_to_time(n) / ways.size();
  PairPipeline pairs({.seed = 1, .trial = 0, .purpose = Purpose::schedule}, n);
  double best = 0;
  for (const auto way : ways) {
    const double begin = cpu_seconds();
    [[maybe_unused]] const std::uint64_t sum = way(agents, pairs, meetings);
    best = std::max(best, static_cast<double>(meetings) / (cpu_seconds() - begin));
  }
  return best;
}

// One trial of ppl in pieces of so many interactions. Longer ones than the engine needs for brief
// words (population/detail/brief_agents.hpp) are by these, shorter ones by states.
class PplTrial {
 public:
  explicit PplTrial(AgentCount n)
      : engine_(with_defaults<protocols::Ppl>(n), n, 0, {.seed = 1}, memory_) {}

  double rate(std::uint64_t most, std::uint64_t piece) {
    const double begin = cpu_seconds();
    while (engine_.now() < most && !engine_.has_stopped()) {
      engine_.advance(std::min<Interactions>(piece, Interactions(most) - engine_.now()));
    }
    return engine_.now().as_double() / (cpu_seconds() - begin);
  }

  bool is_as(const PplTrial& other) const {
    for (AgentCount agent = 0; agent < engine_.size(); ++agent) {
      if (!(engine_.state(agent) == other.engine_.state(agent))) return false;
    }
    return engine_.now() == other.engine_.now();
  }

 private:
  AgentMemory memory_;
  Agents<protocols::Ppl> engine_;
};

std::string ppl_line(AgentCount n, unsigned repeats) {
  const std::uint64_t most = std::clamp<std::uint64_t>(50'000 * n, 100'000'000, 300'000'000);
  std::vector<double> by_states;
  std::vector<double> briefly;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    PplTrial slow(n);
    PplTrial fast(n);
    by_states.push_back(slow.rate(most, n * (population::brief_interactions_per_agent - 1)));
    briefly.push_back(fast.rate(most, population::brief_interactions_per_chunk));
    if (!slow.is_as(fast)) throw std::logic_error("ppl: brief words and states differ");
  }
  return fmt::format("{:>10.3g}  {:<10}        {:>10.3g}  {:>10.3g}  {:>8.2f}\n",
                     static_cast<double>(n), "ppl", median(by_states), median(briefly),
                     median(briefly) / median(by_states));
}

struct Rates {
  std::vector<double> raw, engine;

  void add(double raw_rate, double engine_rate) {
    raw.push_back(raw_rate);
    engine.push_back(engine_rate);
  }
  // The raw kernel is a limit, so that its best repeat counts.
  double limit() const { return *std::max_element(raw.begin(), raw.end()); }
};

// Interactions per CPU second of the fastest published agent-array simulator we know of, for a
// protocol of three states in 4 bytes per agent, measured on another machine.
const std::map<std::uint64_t, double> published_rates{
    {10'000, 1.9e8}, {1'000'000, 1.5e8}, {100'000'000, 3.6e7}, {1'000'000'000, 2.1e7}};

std::optional<double> peer_rate(const Peers& peers, std::uint64_t n) {
  if (peers.are_given()) return peers.rate("agents", n);
  const auto published = published_rates.find(n);
  return published == published_rates.end() ? std::nullopt : std::optional(published->second);
}

std::string line(std::uint64_t n, const char* name, std::size_t bytes, const Rates& rates,
                 const Peers& peers) {
  const std::optional<double> peer = peer_rate(peers, n);
  return fmt::format("{:>10.3g}  {:<10} {:>5}  {:>10.3g}  {:>10.3g}  {:>6.0f} %  {}\n",
                     static_cast<double>(n), name, bytes, rates.limit(), median(rates.engine),
                     100 * median(rates.engine) / rates.limit(),
                     peer ? fmt::format("{:>8.2f}", median(rates.engine) / *peer) : "       -");
}

}  // namespace

void run_agents(const AgentsOptions& options,
                const std::function<void(const std::string&)>& print) {
  check_agents<protocols::Fratricide>();
  check_agents<protocols::Pll>();
  print("interactions per CPU second of one core; raw: draws the pairs and touches the bytes "
        "only\n");
  print(options.peers.note());
  print(fmt::format("{:>10}  {:<10} {:>5}  {:>10}  {:>10}  {:>8}  {:>8}\n", "n", "protocol",
                    "bytes", "raw", "engine", "of raw", "/ peer"));
  AgentMemory memory;
  for (const std::uint64_t n : options.sizes) {
    const std::uint64_t most = interactions_to_time(n);
    Rates fratricide;
    Rates pll;
    for (unsigned repeat = 0; repeat < options.repeats; ++repeat) {
      const double raw_byte = raw_rate<std::uint8_t>(n, memory);
      fratricide.add(raw_byte, engine_rate<protocols::Fratricide>(n, memory, most));
      const double raw_word = raw_rate<Agents<protocols::Pll>::Touched>(n, memory);
      pll.add(raw_word, engine_rate<protocols::Pll>(n, memory, most));
    }
    print(line(n, "fratricide", Agents<protocols::Fratricide>::bytes_per_agent, fratricide,
               options.peers));
    print(line(n, "pll", sizeof(Agents<protocols::Pll>::Touched), pll, options.peers));
  }
  print("the beginning of a trial of ppl by states, and by the engine's brief words\n");
  print(fmt::format("{:>10}  {:<10}        {:>10}  {:>10}  {:>8}\n", "n", "protocol", "states",
                    "engine", "ratio"));
  for (const std::uint64_t n : {1000UL, 4000UL, 100'000UL}) print(ppl_line(n, options.repeats));
}

std::vector<Cell> agents_cells() {
  static constexpr std::uint64_t most = 30'000'000;
  const auto memory = std::make_shared<AgentMemory>();
  return {
      {"agents fratricide n=1e4", Kernel::arithmetic,
       [=] { return engine_rate<protocols::Fratricide>(10'000, *memory, most); }},
      {"agents pll n=1e4", Kernel::arithmetic,
       [=] { return engine_rate<protocols::Pll>(10'000, *memory, most); }},
      {"agents ppl n=4000", Kernel::arithmetic,
       [=] { return engine_rate<protocols::Ppl>(4000, *memory, most); }},
      {"agents pll n=1e6", Kernel::memory,
       [=] { return engine_rate<protocols::Pll>(1'000'000, *memory, most); }},
  };
}

}  // namespace conclave::bench
