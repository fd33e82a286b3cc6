// A .tra file of a stranger, read with rounding and without: where both take it, they agree about
// the number of states.
#include <cstddef>
#include <cstdint>

#include "conclave/chain/explicit_files.hpp"
#include "conclave/chain/rational_chain.hpp"

#include "tests/fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  std::size_t states = 0;
  const bool is_chain = fuzz::reads([&] { states = chain::read_transitions(file.path()).size(); });
  fuzz::reads([&] {
    const auto exact = chain::read_rational_transitions(file.path());
    CONCLAVE_CHECK(!is_chain || exact.size() == states);
  });
  return 0;
}
