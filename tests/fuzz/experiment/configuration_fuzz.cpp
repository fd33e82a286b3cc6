// A configuration of a stranger (run --init-from): read, and if it was one, written and read again.
#include <cstddef>
#include <cstdint>
#include <string>

#include "conclave/experiment/history.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

using namespace conclave;

void read_twice(const std::string& path) {
  const auto start = experiment::read_configuration(path);
  CONCLAVE_CHECK(!start->agents.empty() && experiment::agents_in(*start) > 0u);
  const fuzz::MemoryFile copy(experiment::configuration_header(false) +
                              experiment::configuration_lines(0, false, start->agents));
  CONCLAVE_CHECK(experiment::read_configuration(copy.path())->agents == start->agents);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::reads([&] { read_twice(file.path()); });
  return 0;
}
