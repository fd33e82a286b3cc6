// The ranks of a conclave that was built without MPI: there are none.
#include "conclave/base/error.hpp"
#include "conclave/mpi/ranks.hpp"

namespace conclave::mpi {

Ranks::Ranks() {
  throw Error("this conclave was built without MPI: install Open MPI (libopenmpi-dev) and build it "
              "again, or use --shard");
}
Ranks::~Ranks() = default;
void Ranks::serve(const sweep::Plan&, sweep::Sweep&, const std::atomic<bool>&) {}
void Ranks::work(const std::atomic<bool>&) const {}

}  // namespace conclave::mpi
