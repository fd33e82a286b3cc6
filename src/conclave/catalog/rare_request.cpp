#include "conclave/catalog/rare_request.hpp"

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

rare::Subject rare_subject(const RareRequest& request, AgentCount n, std::string_view protocol,
                           std::string_view start, std::span<const ParameterValue> parameters) {
  rare::Subject subject{.protocol = std::string(protocol),
                        .n = n,
                        .start = std::string(start),
                        .seed = request.run.seed,
                        .particles = request.choice.particles};
  for (const ParameterValue& each : parameters) {
    subject.parameters.push_back({std::string(each.name), each.value});
  }
  return subject;
}

void check_rare_request(std::string_view protocol, const RareRequest& request, bool by_attempt) {
  refuse_network_options(request.run, protocol);
  if (!request.run.graph.empty() && request.run.digraph) {
    throw Error("rare events are estimated on the complete graph only");
  }
  if (by_attempt || request.run.plan.limit == Interactions::max()) return;
  throw Error(fmt::format("{} may fail at any time, so that rare takes no limit: leave out "
                          "--max-parallel-time and --max-interactions",
                          protocol));
}

void require_rare(const Entry& entry) {
  require(entry, &Entry::rare,
          "names no importance functions, so that its rare failures are not known");
}

}  // namespace conclave::catalog
