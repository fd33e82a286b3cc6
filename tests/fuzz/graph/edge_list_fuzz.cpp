// The edge list of a stranger, as a graph of five agents.
#include <cstddef>
#include <cstdint>

#include "conclave/graph/make_graph.hpp"

#include "tests/fuzz/reading.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::reads([&] {
    const auto graph = graph::make_graph("file:" + file.path(), 5, 1);
    CONCLAVE_CHECK(graph != nullptr);
  });
  return 0;
}
