// All that is known about one protocol, as JSON: what `conclave describe --format json` prints.
#pragma once

#include "conclave/base/json.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

// The description of an entry; that of a text must have been examined (`Entry::examine`).
Json description_of(const catalog::Entry& entry);

}  // namespace conclave::experiment
