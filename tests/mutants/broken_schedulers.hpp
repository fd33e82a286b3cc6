// Schedulers with one mistake each, for PlainSampler. A test of laws that does not reject them is
// no test.
#pragma once

#include <algorithm>
#include <cstdint>

#include "conclave/base/random.hpp"

#include "tests/support/samplers.hpp"

namespace conclave::tests::mutants {

// Samples with replacement: one interaction in n is an agent with itself.
struct WithReplacement {
  static OrderedPair next(std::uint32_t n, Stream& stream) {
    const std::uint32_t initiator = stream.below(n);
    return {initiator, stream.below(n)};
  }
};

// Never swaps: the right pairs, but the agent with the smaller number always initiates.
struct NeverSwaps {
  static OrderedPair next(std::uint32_t n, Stream& stream) {
    const OrderedPair pair = UniformPairs::next(n, stream);
    return {std::min(pair.initiator, pair.responder), std::max(pair.initiator, pair.responder)};
  }
};

// Biased: agent 0 initiates twice as often as any other.
struct BiasedInitiator {
  static OrderedPair next(std::uint32_t n, Stream& stream) {
    const std::uint32_t initiator = stream.below(n + 1) % n;
    const std::uint32_t responder = stream.below(n - 1);
    return {initiator, responder < initiator ? responder : responder + 1};
  }
};

// Biased: whoever initiates prefers the next agent in order as its responder.
struct BiasedResponder {
  static OrderedPair next(std::uint32_t n, Stream& stream) {
    const std::uint32_t initiator = stream.below(n);
    const std::uint32_t distance = stream.below(n) % (n - 1);
    return {initiator, (initiator + 1 + distance) % n};
  }
};

}  // namespace conclave::tests::mutants
