// The cell of the events engine: prl on a ring, which jumps over the meetings that change nothing.
#include "conclave/model/graph.hpp"
#include "conclave/population/arc_events.hpp"
#include "conclave/protocols/population/prl.hpp"

#include "bench/cell.hpp"
#include "bench/cpu_seconds.hpp"

namespace conclave::bench {
namespace {

using protocols::Prl;

// Interactions per CPU second, those that were jumped over included, from the first start.
double ring_rate(AgentCount n, std::uint64_t interactions) {
  Prl::Parameters parameters;
  population::ArcEvents<Prl, DirectedRing> engine(Prl(parameters, n), DirectedRing(n), 0,
                                                  {.seed = 1});
  engine.watch(Watch::nothing);
  const double begin = cpu_seconds();
  engine.advance(interactions);
  return static_cast<double>(interactions) / (cpu_seconds() - begin);
}

}  // namespace

std::vector<Cell> events_cells() {
  return {
      {"events prl ring n=1000", Kernel::arithmetic, [] { return ring_rate(1000, 100'000'000); }}};
}

}  // namespace conclave::bench
