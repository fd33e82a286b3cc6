#include "conclave/catalog/engines.hpp"

#include <array>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::catalog {

const EngineInfo& engine_info(Engine engine) {
  if (engine == Engine::agents) return agents_engine;
  if (engine == Engine::adaptive) return auto_engine;
  return engine == Engine::events ? events_engine : counts_engine;
}

std::optional<Engine> named_engine(const std::string& name, bool is_complete,
                                   std::string_view protocol) {
  if (name.empty() || name == auto_engine.name) return std::nullopt;
  for (const Engine engine : {Engine::agents, Engine::events, Engine::counts}) {
    if (name != engine_info(engine).name) continue;
    if (engine == Engine::counts && !is_complete) {
      throw Error(
          fmt::format("engine counts is for the complete graph; {} runs on another", protocol));
    }
    return engine;
  }
  const std::array names{auto_engine.name, agents_engine.name, events_engine.name,
                         counts_engine.name};
  throw Error(unknown_name("engine", name, names));
}

}  // namespace conclave::catalog
