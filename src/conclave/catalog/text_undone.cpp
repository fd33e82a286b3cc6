// Whether the stop condition of a protocol file may hold and then end: all censuses of a few agents
// that can be reached are visited, with n, the parameters and the start as the file has them for so
// few.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/text/condition_tally.hpp"

namespace conclave::catalog {
namespace {

constexpr AgentCount most_agents_visited = 6;
constexpr std::size_t most_censuses = 2000;

// How many agents are in each state.
using FewCounts = std::vector<std::uint8_t>;

class FewAgents {
 public:
  explicit FewAgents(const text::Compiled& file) : file_(&file) {}

  // False also where there is too much to visit.
  bool finds_undoing(const text::CompiledStart& start) {
    FewCounts first(file_->space().size());
    for (const auto& [state, count] : start.census) {
      first[state] = static_cast<std::uint8_t>(first[state] + count);
    }
    add(first);
    while (!waiting_.empty() && seen_.size() <= most_censuses) {
      const FewCounts counts = waiting_.back();
      waiting_.pop_back();
      if (leaves_convergence(counts)) return true;
    }
    return false;
  }

 private:
  bool converged(const FewCounts& counts) const {
    text::ConditionTally tally(*file_);
    for (std::size_t state = 0; state < counts.size(); ++state) {
      if (counts[state] > 0) tally.add(state, counts[state]);
    }
    return tally.converged();
  }

  void add(const FewCounts& counts) {
    if (seen_.insert(counts).second) waiting_.push_back(counts);
  }

  // Whether an interaction ends convergence; adds all censuses that may follow.
  bool leaves_convergence(const FewCounts& counts) {
    const bool is_converged = converged(counts);
    for (std::size_t u = 0; u < counts.size(); ++u) {
      for (std::size_t v = 0; v < counts.size(); ++v) {
        const bool can_meet = counts[u] > 0 && counts[v] > (u == v ? 1 : 0);
        if (!can_meet || !file_->transitions().reacts(u, v)) continue;
        for (const text::Outcome& each : file_->reaction(u, v).outcomes) {
          FewCounts next = counts;
          --next[u];
          --next[v];
          ++next[each.u];
          ++next[each.v];
          if (is_converged && !converged(next)) return true;
          add(next);
        }
      }
    }
    return false;
  }

  const text::Compiled* file_;
  std::set<FewCounts> seen_;
  std::vector<FewCounts> waiting_;
};

bool is_undone(const text::Compiled& file, std::size_t start) {
  const text::CompiledStart& from = file.starts()[start];
  if (!from.objection.empty() || from.is_random || !file.transitions().has_table()) return false;
  return FewAgents(file).finds_undoing(from);
}

}  // namespace

std::string undone_command(const text::Compiled& compiled, const std::vector<Setting>& settings,
                           const std::string& start) {
  constexpr std::uint64_t most_states = 256;
  const text::ProtocolText& text = compiled.text();
  if (compiled.space().size() > most_states) return {};
  std::size_t number = 0;
  for (std::size_t i = 0; i < text.starts().size(); ++i) {
    if (text.starts()[i].name == start) number = i;
  }
  for (AgentCount n = 2; n <= most_agents_visited; ++n) {
    try {
      const auto few = text::Compiled::make(compiled.shared_text(), given_of(settings), n);
      if (few->space().size() > most_states || !is_undone(*few, number)) continue;
    } catch (const Error&) {  // a file that makes no sense for so few
      continue;
    }
    std::string command = fmt::format("conclave verify {} --n {}", text.name(), n);
    if (number > 0) command += fmt::format(" --init {}", start);
    for (const Setting& each : settings) {
      command += fmt::format(" --param {}={}", each.name, each.value);
    }
    return command;
  }
  return {};
}

}  // namespace conclave::catalog
