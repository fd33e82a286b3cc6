// The engines of population protocols as users know them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "conclave/catalog/catalog.hpp"

namespace conclave::catalog {

enum class Engine : std::uint8_t { agents, events, counts, adaptive };

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

const EngineInfo& engine_info(Engine engine);

// The engine of that name; nothing for "auto" and for no name. Throws Error for an unknown name,
// and for `counts` unless the graph is complete.
std::optional<Engine> named_engine(const std::string& name, bool is_complete,
                                   std::string_view protocol);

}  // namespace conclave::catalog
