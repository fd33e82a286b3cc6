#include "bench/texts_bench.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "conclave/population/agents.hpp"
#include "conclave/text/text_protocol.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

using population::AgentMemory;
using population::Agents;
using Text = text::TextProtocol<std::uint64_t>;

// Ranking: n states, nearly all interactions change nothing.
struct Ranking {
  static constexpr std::string_view name = "ranking";
  static constexpr AgentCount n = 3000;
  static constexpr std::string_view text =
      "fields rank: 0..n-1\nstart s: all of {rank = 0}\n"
      "u + v when u.rank == v.rank -> v.rank = (v.rank + 1) mod n\n"
      "stop when count(rank == 1) > n\n";
  struct State {
    std::uint32_t rank = 0;
    bool operator==(const State&) const = default;
    static constexpr std::tuple fields{Field{"rank", &State::rank}};
  };
  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  void interact(State& u, State& v, Choice auto&) const {
    if (u.rank == v.rank) v.rank = v.rank + 1 == n ? 0 : v.rank + 1;
  }
  Role role(const State& state) const { return state.rank == 0 ? Role::leader : Role::follower; }
  static std::uint64_t packed(const State& state) { return state.rank; }
};

// A clock whose 20000 digits are all different after a while: 40000 states.
struct Clock {
  static constexpr std::string_view name = "clock";
  static constexpr AgentCount n = 10'000;
  static constexpr std::uint32_t q = 20'000;
  static constexpr std::string_view text =
      "let q = 20000\nfields digit: 0..q-1, marked: bool\n"
      "let ahead = (v.digit - u.digit) mod q\n"
      "start s: 101 of {marked = true}, rest of {marked = false}\n"
      "u + v when 0 < ahead < q/2 or ahead == 0 and v.marked -> u.digit = (u.digit + 1) mod q\n"
      "stop when count(digit == 1) > n\n";
  struct State {
    std::uint32_t digit = 0;
    bool marked = false;
    bool operator==(const State&) const = default;
    static constexpr std::tuple fields{Field{"digit", &State::digit},
                                       Field{"marked", &State::marked}};
  };
  State initial(std::size_t, AgentCount agent, Choice auto&) const { return {0, agent < 101}; }
  void interact(State& u, State& v, Choice auto&) const {
    const std::uint32_t ahead = v.digit >= u.digit ? v.digit - u.digit : v.digit + q - u.digit;
    if ((ahead > 0 && ahead < q / 2) || (ahead == 0 && v.marked)) {
      u.digit = u.digit + 1 == q ? 0 : u.digit + 1;
    }
  }
  Role role(const State& state) const { return state.marked ? Role::leader : Role::follower; }
  static std::uint64_t packed(const State& state) {
    return std::uint64_t{state.digit} << 1 | (state.marked ? 1 : 0);
  }
};

// A tournament of numbers that everybody draws from the meetings: four fields, all of them busy.
struct Tournament {
  static constexpr std::string_view name = "tournament";
  static constexpr AgentCount n = 10'000;
  static constexpr std::string_view text =
      "fields age: 0..999, number: 0..65535, coin: bool, lead: bool\n"
      "start s: all of {lead = true}\nleader = lead\n"
      "u + v do {\n"
      "  each { coin = not coin }\n"
      "  u.age = (u.age + 1) mod 1000\n"
      "  if u.age == 0 and u.lead { u.number = (2 * u.number + (if v.coin then 1 else 0)) mod "
      "65536 }\n"
      "  if u.number < v.number { u.number = v.number, u.lead = false }\n"
      "  else if v.number < u.number { v.number = u.number, v.lead = false }\n"
      "}\n"
      "stop when count(lead) > n\n";
  struct State {
    std::uint16_t age = 0;
    std::uint16_t number = 0;
    bool coin = false;
    bool lead = true;
    bool operator==(const State&) const = default;
    static constexpr std::tuple fields{Field{"age", &State::age}, Field{"number", &State::number},
                                       Field{"coin", &State::coin}, Field{"lead", &State::lead}};
  };
  State initial(std::size_t, AgentCount, Choice auto&) const { return {}; }
  void interact(State& u, State& v, Choice auto&) const {
    u.coin = !u.coin;
    v.coin = !v.coin;
    u.age = static_cast<std::uint16_t>(u.age == 999 ? 0 : u.age + 1);
    if (u.age == 0 && u.lead)
      u.number = static_cast<std::uint16_t>(2 * u.number + (v.coin ? 1 : 0));
    if (u.number < v.number) {
      u.number = v.number;
      u.lead = false;
    } else if (v.number < u.number) {
      v.number = u.number;
      v.lead = false;
    }
  }
  Role role(const State& state) const { return state.lead ? Role::leader : Role::follower; }
  static std::uint64_t packed(const State& state) {
    return std::uint64_t{state.age} << 18 | std::uint64_t{state.number} << 2 |
           (state.coin ? 2u : 0u) | (state.lead ? 1u : 0u);
  }
};

constexpr std::uint64_t text_interactions = 30'000'000;

template <class P>
double text_rate(const P& protocol, AgentCount n, AgentMemory& memory,
                 std::uint64_t interactions = text_interactions) {
  Agents<P> engine(protocol, n, 0, {.seed = 1}, memory);
  engine.watch(Watch::nothing);
  const double begin = cpu_seconds();
  engine.advance(interactions);
  return static_cast<double>(interactions) / (cpu_seconds() - begin);
}

template <class P>
void check_text(const text::Compiled& compiled) {
  AgentMemory memory, other;
  Agents<P> by_hand(P(), P::n, 0, {.seed = 1}, memory);
  Agents<Text> by_text(Text(compiled), P::n, 0, {.seed = 1}, other);
  by_hand.watch(Watch::nothing);
  by_text.watch(Watch::nothing);
  by_hand.advance(1'000'000u);
  by_text.advance(1'000'000u);
  for (AgentCount agent = 0; agent < P::n; ++agent) {
    if (by_text.state(agent).index == P::packed(by_hand.state(agent))) continue;
    throw std::logic_error(fmt::format("{}: text and C++ differ", P::name));
  }
}

double middle_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

template <class P>
std::string text_line(unsigned repeats) {
  const auto source =
      std::make_shared<const text::ProtocolText>(std::string(P::name) + ".pp", P::text);
  const auto compiled = text::Compiled::make(source, {}, P::n);
  check_text<P>(*compiled);
  std::vector<double> by_hand, by_text, ratio;
  AgentMemory memory;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    by_hand.push_back(text_rate(P(), P::n, memory));
    by_text.push_back(text_rate(Text(*compiled), P::n, memory));
    ratio.push_back(by_text.back() / by_hand.back());
  }
  return fmt::format("{:>10.3g}  {:<10} {:>10}  {:>10.3g}  {:>10.3g}  {:>8.2f}\n",
                     static_cast<double>(P::n), P::name, compiled->space().size(),
                     middle_of(by_hand), middle_of(by_text), middle_of(ratio));
}

// A clock of 168 states, which is looked up in a table, with what its text may observe.
constexpr std::string_view small_clock =
    "let q = 84\nfields digit: 0..q-1, marked: bool\n"
    "let ahead = (v.digit - u.digit) mod q\n"
    "start s: 20 of {marked = true}, rest of {marked = false}\n"
    "u + v when 0 < ahead < q/2 or ahead == 0 and v.marked -> u.digit = (u.digit + 1) mod q\n"
    "stop when count(marked) > n\n";
struct Observed {
  std::string_view name, lines;
};
constexpr std::array<Observed, 4> observed_lines{
    {{"nothing", ""},
     {"a count", "observe early = count(digit < q/2)\n"},
     {"sum, min, max", "observe s = sum(digit)\nobserve a = min(digit)\nobserve b = max(digit)\n"},
     {"silence", "observe quiet = silent\n"}}};

double observed_rate(const Observed& observed, std::uint64_t interactions = text_interactions) {
  using Small = text::TextProtocol<std::uint8_t>;
  const auto source = std::make_shared<const text::ProtocolText>(
      "clock.pp", std::string(small_clock) + std::string(observed.lines));
  const auto compiled = text::Compiled::make(source, {}, 1000);
  AgentMemory memory;
  Agents<Small> engine(Small(*compiled), 1000, 0, {.seed = 1}, memory);
  const double begin = cpu_seconds();
  engine.advance(interactions);
  return static_cast<double>(interactions) / (cpu_seconds() - begin);
}

void run_observed(unsigned repeats, const std::function<void(const std::string&)>& print) {
  print("\na text of 168 states at n = 1000, by what it observes; ratios to the first line\n");
  print(fmt::format("{:<16}{:>14}{:>10}\n", "observed", "interactions", "ratio"));
  std::array<std::vector<double>, observed_lines.size()> rates;
  for (unsigned repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      rates[i].push_back(observed_rate(observed_lines[i]));
    }
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    print(fmt::format("{:<16}{:>14.3g}{:>10.2f}\n", observed_lines[i].name, middle_of(rates[i]),
                      middle_of(rates[i]) / middle_of(rates[0])));
  }
}

}  // namespace

void run_texts(unsigned repeats, const std::function<void(const std::string&)>& print) {
  print("interactions per CPU second of one core\n"
        "texts with too many states for a table, beside the same protocol in C++\n");
  print(fmt::format("{:>10}  {:<10} {:>10}  {:>10}  {:>10}  {:>8}\n", "n", "protocol", "states",
                    "C++", "text", "text/C++"));
  print(text_line<Ranking>(repeats));
  print(text_line<Clock>(repeats));
  print(text_line<Tournament>(repeats));
  run_observed(repeats, print);
}

std::vector<Cell> texts_cells() {
  static constexpr std::uint64_t interactions = 10'000'000;
  const auto source = std::make_shared<const text::ProtocolText>("tournament.pp", Tournament::text);
  const auto compiled = text::Compiled::make(source, {}, Tournament::n);
  return {{"texts table of 168 states", Kernel::arithmetic,
           [] { return observed_rate(observed_lines[0], interactions); }},
          {"texts tournament", Kernel::arithmetic, [compiled] {
             AgentMemory memory;
             return text_rate(Text(*compiled), Tournament::n, memory, interactions);
           }}};
}

}  // namespace conclave::bench
