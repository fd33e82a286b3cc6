// All that is known about one protocol, as JSON: what `conclave describe --format json` prints.
#pragma once

#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/json.hpp"

namespace conclave::experiment {

// Of a text: after `Entry::examine`.
Json description_of(const catalog::Entry& entry);

}  // namespace conclave::experiment
