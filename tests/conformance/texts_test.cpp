// The protocol texts that are shipped, through the catalog.
#include "tests/support/texts.hpp"

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

}  // namespace
}  // namespace conclave::tests
