// The plan of a stranger: read, expanded, and every cell prepared.
#include <cstddef>
#include <cstdint>

#include "conclave/sweep/plan.hpp"

#include "tests/fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::reads([&] {
    const sweep::Plan plan = sweep::read_plan(file.path());
    for (const sweep::Cell& cell : plan.cells) CONCLAVE_CHECK(!sweep::cell_text(cell).empty());
  });
  return 0;
}
