// A protocol text of a stranger, as .pp and as .rules: parsed, then made ready for a few agents.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "conclave/text/compiled.hpp"
#include "conclave/text/protocol_text.hpp"

#include "tests/fuzz/reading.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  for (const std::string name : {"stranger.pp", "stranger.rules"}) {
    fuzz::reads([&] {
      const auto content = fuzz::text_of(data, size);
      const auto parsed = std::make_shared<const text::ProtocolText>(name, content);
      const auto compiled = text::Compiled::make(parsed, {}, 7);
      CONCLAVE_CHECK(compiled->space().size() > 0);
    });
  }
  return 0;
}
