// All that is known about one protocol, as JSON: what `conclave describe --format json` prints.
#pragma once

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/json.hpp"

namespace conclave::experiment {

// The description of an entry; that of a text must have been examined (`Entry::examine`).
Json description_of(const catalog::Entry& entry);

}  // namespace conclave::experiment
