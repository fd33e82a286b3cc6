// The trace of a stranger, as a table and as a script for gnuplot: data must be numbers.
#include <cstddef>
#include <cstdint>

#include "conclave/plot/space_time.hpp"
#include "conclave/plot/trace_table.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

using namespace conclave;

void read_everything(const std::string& path) {
  const plot::TraceTable table(path);
  if (!table.has("event")) {
    for (std::size_t i = 0; i < table.lines(); ++i) table.real(i, table.column("trial"));
    return;
  }
  const plot::SpaceTimeDiagram diagram(table);
  CONCLAVE_CHECK(!diagram.csv().empty() && !diagram.pgfplots("title", {}).empty());
  const plot::Script script = diagram.script("title");
  for (const std::string& data : script.data()) {
    CONCLAVE_CHECK(data.find_first_not_of("0123456789.e+- \n") == std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::reads([&] { read_everything(file.path()); });
  return 0;
}
