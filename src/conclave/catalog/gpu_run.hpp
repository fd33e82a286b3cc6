// Runs of the gpu engine: a prepared run of the agents engine whose trials a device runs.
#pragma once

#include <cstddef>
#include <memory>

#include "conclave/catalog/catalog.hpp"
#include "conclave/gpu/engine.hpp"

namespace conclave::catalog {

// `agents` tells everything but how trials are run; `protocol` is what `make` takes, `start` the
// number of its start. Throws Error where the device engine cannot do this run.
std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun> agents,
                                          std::shared_ptr<const void> protocol, std::size_t start,
                                          gpu::MakeEngine make);

}  // namespace conclave::catalog
