// Every protocol by name, joined with the engines that can run it: the only place that knows both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/progress.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/team.hpp"
#include "conclave/exact/findings.hpp"
#include "conclave/exact/verify_options.hpp"
#include "conclave/model/clock.hpp"
#include "conclave/model/graph.hpp"
#include "conclave/model/protocol_info.hpp"
#include "conclave/model/rare.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/schedules/search.hpp"

namespace conclave::population {

class Trial;        // trial.hpp
class TrialEngine;  // trial_engine.hpp
}  // namespace conclave::population

namespace conclave::rare {
class Prepared;
}

namespace conclave::catalog {

// A parameter as the user gave it, "m=20".
struct Setting {
  std::string name;
  std::string value;
};

// A parameter with the value in effect.
struct ParameterValue {
  std::string_view name;
  std::variant<std::uint64_t, std::string, double> value;
};

// A parameter in words, for `describe`; views live as long as the entry.
struct ParameterInfo {
  std::string_view name;
  std::string_view meaning;
  std::string_view fallback;
  std::string allowed;
};

// An engine as `describe` lists it.
struct EngineInfo {
  std::string_view name;
  std::string_view meaning;
};

// Options of message passing. An empty one stands for the first that the protocol allows.
struct NetworkRequest {
  std::string delay{};
  std::string wakeup{};
  std::string ids{};
  bool counts_edges = false;  // count the messages on each edge in large networks, too
};

// A configuration to start from, as read from a file: runs of equal agents, by the names of their
// states. `label` stands for it in rows.
struct GivenStart {
  std::vector<NamedCount> agents{};
  std::string label{};
};

struct RunRequest {
  Interactions n;
  std::vector<Setting> settings;
  std::string start;   // empty: the protocol's first
  std::string engine;  // empty or "auto": chosen here
  std::uint64_t seed = 1;
  TrialPlan plan{};
  std::string graph{};                       // empty: the protocol's own
  std::shared_ptr<const Digraph> digraph{};  // the graph of that name, unless it is complete
  bool places_randomly = false;  // on a graph: the agents of the start, instead of in their order
  NetworkRequest network{};
  std::shared_ptr<const GivenStart> given{};  // instead of a start; of n agents in all
  // How many trials will be run, and on how many threads: engine auto uses a device only for many
  // trials or large ones (gpu_run.hpp), and never if these are 0.
  std::uint64_t trials = 0;
  unsigned threads = 1;
  unsigned device = 0;  // for engine gpu: which CUDA device, modulo how many there are
};

// How a message passing protocol is run.
struct NetworkSetting {
  std::string_view ids;
  std::string_view delay;  // empty: synchronous
  std::string_view wakeup;
  std::span<const std::string_view> kinds;  // of messages
  std::string_view problem{};  // empty: election, with all knowing the leader in the end
};

// The means of one worker: memory, kept from trial to trial, and a team of threads that a single
// trial may use, unless it is null.
class Workspace {
 public:
  virtual ~Workspace() = default;
  // For trials that are begun afterwards; null takes it back. The team must outlive them.
  void lend(Team* team) { team_ = team; }
  Team* team() const { return team_; }

 private:
  Team* team_ = nullptr;
};

// A protocol with parameters, size, start and engine fixed. Several threads may run trials at once,
// each with a workspace of its own, none of which may outlive the run. A trial depends on the seed
// and on its number alone, not on trials before it. The views live as long as the run.
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;

  // For one thread at a time.
  virtual std::unique_ptr<Workspace> workspace() const = 0;
  // One trial, to its end or until `keep_going` returns false.
  virtual TrialResult run(std::uint64_t trial, Workspace& workspace,
                          const KeepGoing& keep_going) const;

  // The same trial, at its start, to be advanced step by step; it uses the run and the workspace as
  // long as it lives. Null for message passing and engine gpu, whose trials run to their end.
  // `keep_going`, unless it is empty, is called while very many agents are made; throws Interrupted
  // if it returns false.
  std::unique_ptr<population::Trial> begin(const StreamName& name, Workspace& workspace,
                                           const KeepGoing& keep_going) const;
  // Throws Error if its trials cannot be struck by this fault.
  virtual void check_fault(const Fault& fault) const;

  // Engines that run many trials at once (gpu): how many at best, and all of them, handed over in
  // order. Other engines run one at a time.
  virtual std::uint64_t trials_at_once(const Workspace&) const { return 1; }
  virtual void run_batch(std::uint64_t first, std::uint64_t trials, Workspace& workspace,
                         const KeepGoing& keep_going,
                         const std::function<void(std::uint64_t, TrialResult)>& take) const {
    for (std::uint64_t i = first; i < first + trials; ++i) take(i, run(i, workspace, keep_going));
  }

  // The size, an estimate of memory, and how many states an agent can have; 0 where that means
  // nothing.
  virtual AgentCount n() const = 0;
  virtual std::uint64_t bytes_per_trial() const = 0;  // an estimate, for choosing the threads
  virtual Interactions state_count() const = 0;
  // Bits that name any state of an agent, rounded: the binary logarithm of how many there are.
  virtual double state_bits() const;
  virtual std::string_view protocol() const = 0;
  virtual std::string_view engine() const = 0;
  // Its name, where another device than the processor runs the trials.
  virtual std::string_view device() const { return {}; }
  virtual std::string_view start() const = 0;
  virtual std::uint64_t seed() const = 0;
  virtual std::span<const ParameterValue> parameters() const = 0;
  virtual std::span<const Observable> observables() const = 0;  // all that a trial may report
  virtual const TrialPlan& plan() const = 0;
  virtual std::string_view graph() const = 0;                        // empty: the protocol's own
  virtual const NetworkSetting* network() const { return nullptr; }  // of message passing only
  // Whether trials have a time of their own beside parallel time: those of networks of reactions.
  virtual bool has_clock() const { return false; }
  // For a protocol made from a text: the hash of the text, and what looks like an oversight in it.
  virtual std::string_view source_hash() const { return {}; }
  virtual std::span<const std::string> warnings() const { return {}; }
  // Whether its convergence may end again, as seen in populations of a few agents: the command that
  // shows it. Empty: not seen, or not looked at. May take a tenth of a second.
  virtual std::string undone() const { return {}; }
  // Where trials are checked (TrialPlan::checks): the property of the file that this one ended by
  // breaking, and how, in one sentence; empty: none.
  virtual std::string violation(std::uint64_t /*trial*/, const TrialResult&) const { return {}; }

 protected:
  // The engine of a trial at its start; see `begin`.
  virtual std::unique_ptr<population::TrialEngine> engine_at_start(
      const StreamName& name, Workspace& workspace, const KeepGoing& keep_going) const;
  // The clock of a protocol that measures time its own way; null where parallel time is used.
  virtual std::unique_ptr<Clock> clock_of(const StreamName& /*name*/) const { return nullptr; }

 private:
  // The engine's own or the protocol's.
  std::unique_ptr<Clock> clock_for(population::TrialEngine& engine, const StreamName& name) const;
};

// A line of `describe` beyond those that all entries have.
struct Detail {
  std::string_view name;
  std::string text;
};

// An exact verification. It uses n, parameters, start and graph of the run.
struct VerifyRequest {
  RunRequest run;
  exact::VerifyOptions options{};
};

struct Verified {
  exact::Report report;
  std::vector<ParameterValue> parameters;
  std::string_view start;
  std::optional<double>
      ticks_per_time{};                 // of a network of reactions: interactions per unit of time
  std::shared_ptr<const void> owner{};  // of the names, where they are those of a protocol file
};

// A search for a bad start, or of message passing for bad delays, wake-ups and identifiers. It uses
// n, parameters, seed, graph and the plan of the run.
struct SearchRequest {
  RunRequest run;
  std::uint64_t budget = 0;  // trials
  ProgressCallback progress{};
  std::string objective{};  // of message passing: time (also if empty) or messages
};

// The start, or adversary, found to take longest. A search that was interrupted gives the worst
// start so far, with the times of the trials by which it was chosen, whose mean is biased upwards.
struct Searched {
  std::string configuration;
  // In interactions, or what the objective is; of fresh trials from there if is_complete.
  std::vector<double> times;
  std::uint64_t candidates = 0;
  std::uint64_t trials = 0;
  bool is_complete = true;
  std::vector<ParameterValue> parameters{};
  std::shared_ptr<const void> owner{};  // of their names, as of those of Verified
};

// An exploration: all schedules of a message-passing protocol on a few nodes.
struct ExplorationRequest {
  Interactions n;
  std::vector<Setting> settings{};
  bool has_identifiers = true;
  std::string graph{};                            // empty: the protocol's own
  std::shared_ptr<const Digraph> digraph{};       // the graph of that name, unless it is complete
  std::uint64_t most_configurations = 4'000'000;  // about 500 bytes each
  ProgressCallback progress{};
};

struct ExploredProperty {
  std::string_view name;
  bool holds = true;
  std::vector<schedules::TraceStep> counterexample{};  // a shortest schedule, then where it ends
};

struct Exploration {
  std::uint64_t n = 0;
  std::vector<ParameterValue> parameters{};
  bool has_identifiers = true;  // false also if the protocol does not use them
  std::uint64_t configurations = 0;
  std::uint64_t transitions = 0;
  std::uint64_t final_configurations = 0;
  double schedules = 0;       // exact up to 2^53; 0 unless is_complete; may be infinity
  std::uint64_t longest = 0;  // steps; 0 unless is_complete
  bool is_complete = false;   // false: interrupted, or ended at the limit with a counterexample
  std::vector<ExploredProperty> properties{};
};

// An option that can be chosen by its name, with a sentence about it.
struct Named {
  std::string_view name;
  std::string_view meaning;
};

// The further choices that a message passing protocol offers.
struct NetworkOffer {
  std::vector<std::string_view> kinds;
  std::vector<Named> ids;
  std::vector<Named> delays;  // none: synchronous
  std::vector<Named> wakeups;
  std::string_view own_graph = "complete";  // as --graph names it
  bool runs_on_any_graph = false;
};

struct RareRequest;  // rare_request.hpp

struct Entry {
  ProtocolInfo info;
  std::vector<Start> starts;
  std::vector<ParameterInfo> parameters;
  std::vector<EngineInfo> engines;
  std::size_t bytes_per_agent = 0;       // in engine agents; per node in message passing
  std::size_t most_bytes_per_agent = 0;  // where many states occur; 0: never more than above
  // For a text: fills in what takes time to compute (states, memory, warnings). Throws Error if the
  // text makes no sense.
  std::function<void(Entry&)> examine{};
  std::vector<Detail> details{};        // about the text it was made from
  std::vector<std::string> warnings{};  // about what looks like an oversight in that text
  std::shared_ptr<const void> owner{};  // keeps alive what the views refer to, unless it is static
  std::optional<NetworkOffer> network{};  // none: a population protocol
  bool keeps_census = false;              // its states have names and can be counted
  // A text may say how many agents the start of this name has.
  std::function<std::optional<AgentCount>(const std::vector<Setting>&, const std::string& start)>
      fixed_population{};
  // Throws Error if the request does not make sense.
  std::function<std::unique_ptr<const PreparedRun>(const RunRequest&)> prepare;
  // Throws Error if the request does not make sense or is too large, and Interrupted.
  std::function<Verified(const VerifyRequest&)> verify{};
  // Throws Error, and Interrupted if that comes before the first result.
  std::function<Searched(const SearchRequest&)> search{};
  // The ways to fail and the importance functions of `rare`, each with its way, for `describe`.
  std::span<const RareWay> rare_ways{};
  std::span<const RareFunction> rare_functions{};
  // Prepares the estimate of rare failures; none: the protocol names no importance functions.
  std::function<std::unique_ptr<rare::Prepared>(const RareRequest&)> rare{};
  // Walks through all schedules of message passing; none: a population protocol.
  std::function<Exploration(const ExplorationRequest&)> explore{};
};

// Sorted by name.
std::span<const Entry> entries();

// A listed protocol by its name, or a text by its path. Throws Error with the nearest name, or with
// the place of what is wrong in the text.
Entry find(std::string_view name);

// The file that `find` reads for this name; empty for the name of a listed protocol.
std::string file_of(std::string_view protocol);

// The entry of a protocol text whose content was stored, for example with the results of a sweep;
// no file is read. `name` is the file's name without folders. Throws Error if the content makes no
// sense.
Entry kept_text_entry(const std::string& name, std::string_view content);

inline constexpr Interactions most_agents = std::uint64_t{1} << 62;

// n as a number of agents; throws Error unless 2 <= n <= 2^62.
AgentCount checked_population(Interactions n);

// Throws Error if options of message passing are given to a population protocol.
void refuse_network_options(const RunRequest& request, std::string_view protocol);

// Commands that not every protocol supports, such as `verify`, check here that theirs does.

// Throws Error if the entry lacks an ability, such as &Entry::verify. `what` completes the sentence
// after the protocol's name; the protocols that have the ability are listed.
template <class Ability>
void require(const Entry& entry, Ability ability, std::string_view what) {
  if (entry.*ability) return;
  std::string able;
  for (const Entry& each : entries()) {
    if (each.*ability) able += (able.empty() ? "" : ", ") + std::string(each.info.name);
  }
  throw Error(std::string(entry.info.name) + ' ' + std::string(what) + "; these can: " + able);
}

}  // namespace conclave::catalog
