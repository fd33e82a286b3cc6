// The exact module's Choice that walks through all outcomes, under the name that the tests use.
#pragma once

#include "conclave/exact/every_choice.hpp"

namespace conclave::tests {

using exact::EveryChoice;

}  // namespace conclave::tests
