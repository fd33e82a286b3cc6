// The configuration of a member, written by a stranger.
#include <cstddef>
#include <cstdint>

#include "election/config_file.hpp"

#include "tests/fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  fuzz::reads([&] {
    const election::NodeConfig config = election::read_config(file.path());
    CONCLAVE_CHECK(config.service.transport.self < config.service.transport.members.size());
  });
  return 0;
}
