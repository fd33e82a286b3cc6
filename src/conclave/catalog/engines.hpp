// The engines as users know them.
#pragma once

#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

inline constexpr EngineInfo agents_engine{
    "agents", "one state per agent in an array; exact, one interaction after the other"};
inline constexpr EngineInfo events_engine{
    "events",
    "jumps over interactions that change nothing; exact, for protocols with many of them"};

}  // namespace conclave::catalog
