// One trial that can be observed while it runs: its owner advances it by any amount, looks at it,
// and gets its row in the end. It is the trial that `run` makes of the same words, bit for bit;
// where it pauses changes nothing.
//
//   WatchedTrial trial({.words = {.protocol = "pll", .n = "1000", .seed = "7"}});
//   trial.advance_to(5000u);
//   trial.table();           // every agent's variables
//   trial.advance_to(Interactions::max());
//   trial.row();             // what `conclave run pll --n 1000 --seed 7 --format jsonl` prints
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/exploration.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/model/trial.hpp"
#include "conclave/population/agent_table.hpp"

namespace conclave::experiment {

struct WatchRequest {
  RunText words{};
  std::uint64_t trial = 0;
  std::string content{};  // of the text that `words.protocol` names; empty: read the file
  std::uint64_t most_bytes = UINT64_MAX;  // that the trial may take
  std::optional<TraceGrid> grid{};  // when the trial is looked at for its trace; none: no trace
};

// An interaction that changed something, and who met in it, where the engine knows.
struct Change {
  Interactions number{};
  std::uint64_t initiator = 0;
  std::uint64_t responder = 0;
  bool has_agents = false;
};

// For one thread at a time. A trial of message passing runs to its end at once; what happened in it
// is in `events`.
class WatchedTrial {
 public:
  // Throws Error if the request makes no sense.
  explicit WatchedTrial(const WatchRequest& request);
  ~WatchedTrial();
  WatchedTrial(const WatchedTrial&) = delete;
  WatchedTrial& operator=(const WatchedTrial&) = delete;

  const catalog::Entry& entry() const { return entry_; }
  const catalog::PreparedRun& run() const { return *run_; }
  // Whether agents can be watched; false for message passing.
  bool is_population() const { return live_ != nullptr; }

  // Simulates up to this many interactions from the start; a trial that is over just goes on, and
  // its row stays as it is.
  void advance_to(Interactions time);
  // Simulates up to and including the next interaction that changes something, at most this many;
  // nothing if none of them did.
  std::optional<Change> advance_to_change(Interactions most);

  Interactions now() const;
  double time() const;  // of the trial's clock: parallel time, or the network's own
  // How many interactions have happened at that time; 0 for message passing.
  Interactions interactions_at(const Fraction& time) const;
  bool is_over() const;       // the row is final
  bool is_converged() const;  // now
  std::uint64_t leaders() const;
  std::vector<Observation> observations() const;
  population::AgentTable table() const;
  population::NextMeeting next_meeting();
  // The steps of the pseudocode that the last interaction executed, by the names of their lines
  // (ProtocolInfo::steps; of a text, the lines of its rules). Known where the trial was advanced to
  // that interaction from the one before, or from the last that changed something.
  const std::vector<std::string>& steps() const { return steps_; }
  const std::vector<FaultOutcome>& faults() const;
  const std::vector<NetworkEvent>& events() const;  // of message passing, in order of time

  // As `run --format jsonl` prints it, without newline; only once it is over.
  std::string row() const;
  // As `run --trace` writes it, with the header; only once it is over and with a grid.
  std::string trace() const;

 private:
  struct Live;

  void finish();
  void note_steps(Interactions time);

  catalog::Entry entry_;  // first: the run looks at its strings
  std::unique_ptr<const catalog::PreparedRun> run_;
  std::unique_ptr<catalog::Workspace> workspace_;
  std::uint64_t trial_;
  std::unique_ptr<Live> live_;  // of populations
  std::vector<std::string> steps_;
  std::optional<TrialResult> result_;  // once it is over
};

}  // namespace conclave::experiment
