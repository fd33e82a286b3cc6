#include "conclave/gpu/batch.hpp"

namespace conclave::gpu {

std::vector<TrialStreams> streams_of(const BatchRequest& request) {
  std::vector<TrialStreams> all;
  all.reserve(request.trials);
  for (std::uint64_t i = 0; i < request.trials; ++i) {
    const StreamName name{.seed = request.seed, .trial = request.first_trial + i};
    all.push_back({.schedule = Lanes(name.with(Purpose::schedule)).state(),
                   .start = Lanes(name.with(Purpose::start)).state(),
                   .transition = Lanes(name.with(Purpose::transition)).state()});
  }
  return all;
}

}  // namespace conclave::gpu
