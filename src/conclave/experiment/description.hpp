// All that is known about one protocol as JSON, which `conclave describe --format json` prints.
#pragma once

#include <span>

#include "conclave/base/json.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::experiment {

// The description of an entry; that of a text must have been examined (`Entry::examine`).
Json description_of(const catalog::Entry& entry);

// The parameters of a run as an object, by name.
Json json_of(std::span<const catalog::ParameterValue> parameters);

}  // namespace conclave::experiment
