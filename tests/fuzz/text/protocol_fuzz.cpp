// A protocol file as untrusted input, as .pp, as .rules and as .crn: parsed with the modules it
// brings along, then made ready for a few agents. Where there are many states, the register machine
// must agree with the rules.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "conclave/text/compiled.hpp"
#include "conclave/text/protocol_text.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

void compare(const conclave::text::Compiled& compiled) {
  const auto& space = compiled.space();
  for (std::uint64_t i = 0; i < 9; ++i) {
    const auto u = space.at(i % 3 * (space.size() / 3));
    const auto v = space.at(i / 3 * (space.size() / 3));
    auto new_u = u, new_v = v;
    if (!compiled.transitions().program().interact(new_u, new_v)) continue;
    const auto reaction = compiled.reaction(u, v);
    CONCLAVE_CHECK(reaction.is_null() || reaction.is_certain());
    CONCLAVE_CHECK(new_u == (reaction.is_null() ? u : reaction.outcomes[0].u));
    CONCLAVE_CHECK(new_v == (reaction.is_null() ? v : reaction.outcomes[0].v));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  for (const std::string name : {"stranger.pp", "stranger.rules", "stranger.crn"}) {
    fuzz::reads([&] {
      const auto content = fuzz::text_of(data, size);
      const auto parsed = std::make_shared<const text::ProtocolText>(name, content);
      const auto compiled = text::Compiled::make(parsed, {}, 7);
      CONCLAVE_CHECK(compiled->space().size() > 0);
      if (!compiled->space().is_dense()) compare(*compiled);
    });
  }
  return 0;
}
