// The protocol texts that are shipped, through the catalog.
#include "tests/support/texts.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"

namespace conclave::tests {
namespace {

TEST(Catalog, FindsTextsByTheirPathAndRunsThemOnEveryEngine) {
  for (const char* name : example_names) {
    const catalog::Entry entry = catalog::find(example_path(name));
    EXPECT_EQ(entry.info.name, std::string(name) + ".pp");
    for (const char* engine : {"agents", "events"}) {
      catalog::RunRequest request{.n = 20u, .settings = {}, .start = {}, .engine = engine};
      const auto run = entry.prepare(request);
      EXPECT_EQ(run->source_hash().size(), 16u);
      const auto workspace = run->workspace();
      const auto result = run->run(0, *workspace, [](Interactions) { return true; });
      EXPECT_EQ(result.ending, Ending::converged) << name << ' ' << engine;
      EXPECT_EQ(result.observations.size(), entry.info.observables.size());
    }
  }
  EXPECT_THROW(catalog::find("no-such-file.pp"), Error);
}

// An array is twice as fast as jumping for some files of few states, and much slower for others.
TEST(EngineAuto, FindsOutDuringTheRunWhetherAFileOfFewStatesJumps) {
  const auto engine_of = [](const std::string& protocol, std::uint64_t n) {
    const catalog::Entry entry = catalog::find(protocol);
    return std::string(
        entry.prepare({.n = n, .settings = {}, .start = {}, .engine = {}})->engine());
  };
  EXPECT_EQ(engine_of(example_path("approximate_majority"), 1000), "auto");
  EXPECT_EQ(engine_of(example_path("approximate_majority"), 63), "agents");
  EXPECT_EQ(engine_of(example_path("junta_clock"), 1000), "agents");  // many states
  EXPECT_EQ(engine_of("fratricide", 1000), "events");                 // declares it
}

}  // namespace
}  // namespace conclave::tests
