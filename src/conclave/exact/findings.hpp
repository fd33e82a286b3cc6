// The findings of an exact verification, in words and numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::exact {

// One step of a trace: the interaction (empty for the first) and the configuration after it.
struct TraceStep {
  std::string interaction;
  std::string configuration;
};

// A claim is vacuous where it is true only because its premise never occurs among the
// configurations explored.
enum class Verdict : std::uint8_t { holds, fails, vacuous };

// "holds", "fails", "vacuous".
constexpr std::string_view name_of(Verdict verdict) {
  constexpr std::array<std::string_view, 3> names{"holds", "fails", "vacuous"};
  return names[static_cast<std::size_t>(verdict)];
}

struct ClaimReport {
  std::string name;
  std::string statement;
  Verdict verdict = Verdict::holds;
  std::string problem{};  // of a claim that fails: what the end of the counterexample shows
  std::vector<TraceStep> counterexample{};

  // A vacuous claim does not fail.
  bool fails() const { return verdict == Verdict::fails; }
};

// The time from a start, random or not, to the target, in interactions.
struct TimeReport {
  double probability = 1;  // of ever reaching the target
  double mean = 0;         // infinite unless the probability is 1
  double variance = 0;
};

// The extreme of a quantity over configurations, and the first configuration that attains it.
struct Extreme {
  double value = 0;
  std::string configuration;
};

// Numbers of configurations, before any symmetry; above 2^53 they are rounded.
struct SafeSetReport {
  double converged = 0;              // what the protocol calls converged
  double safe = 0;                   // the largest closed set with one leader and constant outputs
  double safe_only = 0;              // safe and not converged
  double converged_only = 0;         // converged and not safe
  std::string safe_example{};        // one of those counted by safe_only
  std::string unsafe_example{};      // one of those counted by converged_only
  std::optional<Extreme> slowest{};  // the largest expected time to a safe configuration
};

struct Report {
  bool from_everywhere = false;  // all configurations, not only those reachable from the start
  std::string symmetry;
  bool uses_congruence = false;
  std::uint64_t agent_states = 0;  // modulo the congruence
  double configurations = 0;       // before any symmetry
  std::uint64_t classes = 0;       // modulo symmetry and congruence: the states of the chain
  std::uint64_t transitions = 0;   // between classes, loops included
  std::vector<ClaimReport> claims;
  std::optional<SafeSetReport> safe_set{};  // none where no leader is elected
  TimeReport start;
  std::optional<std::string> start_exactly{};  // the mean as a fraction
  std::optional<Extreme> slowest;              // the largest expectation; may be infinite
  double residual = 0;
  double relative_error = 0;                  // certified, for every expected time
  std::optional<Extreme> shortest_holding{};  // over the converged configurations
  std::optional<double> start_holding{};      // from the start, where that is converged
  std::vector<double> distribution{};         // P(T <= t) from the start, if requested
  std::vector<double> comparison_law{};       // the same, as far as trials are compared with it

  // Vacuous claims count as true.
  bool all_hold() const { return std::ranges::none_of(claims, &ClaimReport::fails); }
};

}  // namespace conclave::exact
