#include "conclave/catalog/make_search.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/progress.hpp"

namespace conclave::catalog {
namespace {

// How many chunks of interactions a trial may take. A search without a limit on its trials ends all
// the same: if all its trials took that long, it would need about 2^41 steps of an engine.
std::uint64_t most_chunks_of_a_trial(const SearchRequest& request) {
  if (request.run.plan.limit != Interactions::max()) return UINT64_MAX;
  return std::max<std::uint64_t>(2, (std::uint64_t{1} << 19) / request.budget);
}

}  // namespace

AgentCount searchable_population(AgentCount n) {
  constexpr AgentCount most = 1'000'000;
  if (n <= most) return n;
  throw Error(
      fmt::format("n = {} is too large for a search: at most {} agents are allowed", n, most));
}

TrialPatience::TrialPatience(const SearchRequest& request, std::uint64_t trials_done)
    : request_(request), done_(trials_done), left_(most_chunks_of_a_trial(request)) {}

bool TrialPatience::operator()(Interactions now) {
  report_progress(request_.progress, "searching", done_, request_.budget);
  if (left_-- == 0) {
    throw Error(fmt::format("a trial has not ended after {} interactions and may never end; say "
                            "with --max-interactions how long one may take",
                            to_string(now)));
  }
  return true;
}

std::string text_of_agents(std::size_t agents,
                           FunctionRef<bool(std::size_t, std::size_t)> are_equal,
                           FunctionRef<std::string(std::size_t)> notation) {
  std::string text;
  for (std::size_t i = 0; i < agents;) {
    std::size_t end = i + 1;
    while (end < agents && are_equal(end, i)) ++end;
    text += (text.empty() ? "" : " ") + (end > i + 1 ? fmt::format("{} x ", end - i) : "") +
            notation(i);
    i = end;
  }
  return text;
}

}  // namespace conclave::catalog
