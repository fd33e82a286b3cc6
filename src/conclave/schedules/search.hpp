// Walks through everything that a small system can do: breadth first, each configuration once, so
// that a violated property is found with a shortest schedule that leads to it. The search knows
// systems and configurations by virtual functions, so that it is compiled once for all protocols.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/progress.hpp"

namespace conclave::schedules {

// One step of a counterexample: in words for people, and as events for programs and pictures.

// An event at a node in a step. The views look into constants of the program.
struct TraceEvent {
  enum class Kind : std::uint8_t { wake, receive, send, become, timeout };
  Kind kind = Kind::wake;
  std::size_t node = 0;
  std::size_t peer = 0;        // receive, send: the other end
  std::string_view message{};  // its kind
  std::vector<std::pair<std::string_view, std::uint64_t>> payload{};  // its fields that are not 0
  std::string_view standing{};  // become: what the node is now
  std::uint64_t phase = 0;      // ... and in which phase
};

struct TraceStep {
  std::string title;                   // what happens, in one line
  std::vector<std::string> details{};  // what follows from it, such as messages sent
  std::vector<TraceEvent> events{};    // the same, in this order: who wakes, gets or times out,
                                       // becomes and sends what
};

// The most nodes of a network whose schedules can be walked through.
inline constexpr std::size_t most_nodes = 6;

// A system whose configurations each have a list of possible steps, always in the same order.
// for_each_step calls visit with the configuration after each of them.
template <class S>
concept TransitionSystem = requires(const S& system, const typename S::Configuration& configuration,
                                    std::string& bytes,
                                    const std::function<void(typename S::Configuration&&)>& visit) {
  { system.beginning() } -> std::same_as<typename S::Configuration>;
  // Equal configurations, and only they, append equal bytes.
  { system.encode(configuration, bytes) } -> std::same_as<void>;
  { system.for_each_step(configuration, visit) } -> std::same_as<void>;
  { S::properties[0] } -> std::convertible_to<std::string_view>;
  // Bit i is set where property i does not hold.
  { system.violated(configuration) } -> std::same_as<std::uint32_t>;
};

inline constexpr std::string_view termination = "every schedule comes to an end";
inline constexpr std::string_view almost_sure_termination =
    "with probability 1, every schedule comes to an end";

// A system in which coins may send a schedule back to where it was, as after a tie. Then the event
// of each step is known, and for every schedule the coins must lead to an end with probability 1.
template <class S>
concept DrawsAgain = requires {
  requires S::draws_again;
};

// A configuration of some system, with everything a search needs to know about it.
class AnyConfiguration {
 public:
  using Visit = std::function<void(AnyConfiguration& next, std::size_t event)>;

  virtual ~AnyConfiguration() = default;
  // These three as in TransitionSystem.
  virtual void encode(std::string& bytes) const = 0;
  virtual std::uint32_t violated() const = 0;
  // `event` tells steps apart that are different events; 0 where coins are never drawn again. The
  // configuration lives until `visit` returns.
  virtual void for_each_step(const Visit& visit) const = 0;
  // Moves it to the heap.
  virtual std::unique_ptr<AnyConfiguration> kept() = 0;
};

// A system as a search sees it.
class AnySystem {
 public:
  virtual ~AnySystem() = default;
  virtual std::unique_ptr<AnyConfiguration> beginning() const = 0;
  // By the bits that `violated` sets; and whether S is one that DrawsAgain.
  virtual std::span<const std::string_view> properties() const = 0;
  virtual bool draws_again() const = 0;
};

// Keeps a reference to the system.
template <TransitionSystem S>
class ConfigurationOf final : public AnyConfiguration {
 public:
  using Own = typename S::Configuration;
  // The system must outlive it.
  ConfigurationOf(const S& system, Own own) : system_(system), own_(std::move(own)) {}

  void encode(std::string& bytes) const override { system_.encode(own_, bytes); }
  std::uint32_t violated() const override { return system_.violated(own_); }
  void for_each_step(const Visit& visit) const override {
    const auto visit_next = [&](Own&& next, std::size_t event) {
      ConfigurationOf configuration(system_, std::move(next));
      visit(configuration, event);
    };
    if constexpr (DrawsAgain<S>) {
      system_.for_each_choice(own_, visit_next);
    } else {
      system_.for_each_step(own_, [&](Own&& next) { visit_next(std::move(next), 0); });
    }
  }
  std::unique_ptr<AnyConfiguration> kept() override {
    return std::make_unique<ConfigurationOf>(system_, std::move(own_));
  }

 private:
  const S& system_;
  Own own_;
};

// Keeps a reference to the system.
template <TransitionSystem S>
class SystemOf final : public AnySystem {
 public:
  // The system must outlive it.
  explicit SystemOf(const S& system) : system_(system) {}
  std::unique_ptr<AnyConfiguration> beginning() const override {
    return std::make_unique<ConfigurationOf<S>>(system_, system_.beginning());
  }
  std::span<const std::string_view> properties() const override { return S::properties; }
  bool draws_again() const override { return DrawsAgain<S>; }

 private:
  const S& system_;
};

// A schedule: the index of each step among those that were possible then.
using Schedule = std::vector<std::uint32_t>;

struct Verdict {
  std::string_view property;
  bool holds = true;
  // A shortest one; for termination, a schedule that ends where it has been before; where coins are
  // drawn again, one to where the schedule can prevent the end for ever.
  Schedule counterexample{};
};

// Everything that was found up to the end or the limit.
struct SearchResult {
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;  // those without a possible step
  double schedules = 0;                    // ways from the beginning to a final configuration;
                                           // infinity where coins are drawn again
  std::uint64_t longest = 0;               // steps of the longest of them
  std::uint64_t depth = 0;                 // every configuration up to this step has been seen
  bool is_complete = false;                // false: the limit came first, or the caller's wish
  std::vector<Verdict> verdicts{};

  // Whether the search came to its end and found no counterexample.
  bool all_hold() const { return is_complete && std::ranges::all_of(verdicts, &Verdict::holds); }
};

struct SearchLimits {
  std::uint64_t configurations = 0;
  ProgressCallback progress{};  // false ends the search with what it has found
};

// Searches. Exact, except that the number of schedules is rounded from 2^53 on. Takes about 60
// bytes per configuration on top of its encoding.
SearchResult search(const AnySystem& system, SearchLimits limits);

// The same for a system of any type.
template <TransitionSystem S>
SearchResult search(const S& system, SearchLimits limits) {
  return search(SystemOf<S>(system), std::move(limits));
}

// How many schedules there are, roughly, where they are too many to walk through.
struct Estimate {
  double schedules = 0;
  double steps = 0;  // the mean length of a random schedule
};

// The method of D. E. Knuth: Estimating the efficiency of backtrack programs. Mathematics of
// Computation 29, 1975. The product of the numbers of possible steps along a random schedule has
// the number of schedules as its expectation. Its variance is large: only the order of magnitude
// can be relied on. The random schedules have a fixed seed; each is cut after 10 000 steps.
Estimate estimate_schedules(const AnySystem& system, std::uint32_t samples = 500);

// The same for a system of any type.
template <TransitionSystem S>
Estimate estimate_schedules(const S& system, std::uint32_t samples = 500) {
  return estimate_schedules(SystemOf<S>(system), samples);
}

}  // namespace conclave::schedules
