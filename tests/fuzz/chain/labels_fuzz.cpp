// Foreign files about a chain that is known: a .lab, a .srew and a .trew file.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "conclave/chain/explicit_files.hpp"
#include "conclave/chain/markov_chain.hpp"

#include "tests/fuzz/reading.hpp"

namespace {

// A walk along 16 states that stays at the last.
conclave::chain::MarkovChain known_chain() {
  conclave::chain::ChainBuilder builder;
  for (conclave::chain::StateIndex state = 0; state < 16; ++state) {
    builder.add(state < 15 ? state + 1 : state, 1);
    builder.end_row();
  }
  return std::move(builder).build();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace conclave;
  const fuzz::MemoryFile file(fuzz::text_of(data, size));
  const chain::MarkovChain known = known_chain();
  fuzz::reads([&] {
    const chain::Labels labels = chain::read_labels(file.path(), known.size());
    for (const auto& states : labels.states) {
      for (const chain::StateIndex state : states) CONCLAVE_CHECK(state < known.size());
    }
  });
  for (const bool of_states : {true, false}) {
    fuzz::reads([&] {
      const auto rewards = of_states ? chain::read_state_rewards(file.path(), known.size())
                                     : chain::read_transition_rewards(file.path(), known);
      CONCLAVE_CHECK(rewards.size() == known.size());
      for (const double reward : rewards) CONCLAVE_CHECK(std::isfinite(reward) && reward >= 0);
    });
  }
  return 0;
}
