// The exact module's table of states, under the name that the tests use.
#pragma once

#include "conclave/exact/state_table.hpp"

namespace conclave::tests {

using exact::reachable_states;
using exact::StateTable;

}  // namespace conclave::tests
