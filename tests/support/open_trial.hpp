// Trials as tests make them from the words of a run.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/row.hpp"
#include "conclave/experiment/run_text.hpp"
#include "conclave/population/trial.hpp"

namespace conclave {

inline const KeepGoing go_on = [](const Moment&) { return true; };

// A prepared run, with the entry that owns what its views refer to. `content` is that of the
// protocol file that the words name.
struct OpenRun {
  explicit OpenRun(const experiment::RunText& words, const TrialPlan& kept = {},
                   const std::string& content = {})
      : entry(content.empty() ? catalog::find(words.protocol)
                              : catalog::kept_text_entry(words.protocol, content)) {
    catalog::RunRequest request = request_of(entry, words);
    request.plan.grid = kept.grid;
    request.plan.keeps_final = kept.keeps_final;
    run = entry.prepare(request);
    workspace = run->workspace();
  }

  std::unique_ptr<population::Trial> begin(std::uint64_t number = 0) const {
    return run->begin({.seed = run->seed(), .trial = number}, *workspace, {});
  }
  TrialResult result(std::uint64_t number = 0) const { return run->run(number, *workspace, go_on); }

  catalog::Entry entry;
  std::shared_ptr<const catalog::PreparedRun> run;
  std::unique_ptr<catalog::Workspace> workspace;
};

}  // namespace conclave
