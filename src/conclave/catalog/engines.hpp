// The engines as users know them.
#pragma once

#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

inline constexpr EngineInfo agents_engine{
    "agents", "one state per agent in an array; exact, one interaction after the other"};
inline constexpr EngineInfo events_engine{
    "events",
    "jumps over interactions that change nothing; exact, for protocols with many of them"};
inline constexpr EngineInfo counts_engine{
    "counts",
    "how many agents are in which state, many interactions at once; exact, complete graph only"};
inline constexpr EngineInfo gpu_engine{
    "gpu", "the same trials as agents, thousands at a time on a CUDA device; rows say agents"};
inline constexpr EngineInfo auto_engine{
    "auto", "counts or agents, whichever takes less work at the time; exact"};

}  // namespace conclave::catalog
