// The moment for people and their tools, as in 2026-01-31T12:00:00.000Z. Nothing is decided by it.
#pragma once

#include <string>

namespace conclave::election {

std::string wall_clock_text();  // UTC; from any thread

}  // namespace conclave::election
