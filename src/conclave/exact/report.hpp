// What an exact computation found, in words and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace conclave::exact {

// One line of a trace: the interaction (empty for the first) and the configuration after it.
struct TraceStep {
  std::string interaction;
  std::string configuration;
};

struct ClaimReport {
  std::string name;
  std::string statement;
  bool holds = true;
  std::string problem{};  // what the last line of the counterexample shows
  std::vector<TraceStep> counterexample{};
};

// The time from one law of the start to the target.
struct TimeReport {
  double probability = 1;  // of ever reaching the target
  double mean = 0;         // infinite unless the probability is 1
  double variance = 0;
};

// An extreme over configurations, and one that attains it.
struct Extreme {
  double value = 0;
  std::string configuration;
};

// Configurations are counted before any symmetry; counts above 2^53 are rounded.
struct SafeSetReport {
  double converged = 0;              // what the protocol calls converged
  double safe = 0;                   // the largest closed set with one leader and constant outputs
  double safe_only = 0;              // safe and not converged
  double converged_only = 0;         // converged and not safe
  std::string safe_example{};        // of safe_only
  std::string unsafe_example{};      // of converged_only
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
  double relative_error = 0;                  // certified, of every expected time
  std::optional<Extreme> shortest_holding{};  // over the converged configurations
  std::optional<double> start_holding{};      // from the start, where that is converged
  std::vector<double> law{};                  // P(T <= t) from the start, if asked for

  bool all_hold() const {
    for (const ClaimReport& claim : claims) {
      if (!claim.holds) return false;
    }
    return true;
  }
};

}  // namespace conclave::exact
