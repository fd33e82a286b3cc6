// Would this meeting change anything? Asked by the engines that jump over meetings that do not.
//
// Where a pair reacts by chance and rarely, most meetings that could change something do not. A
// protocol may therefore weigh its pairs: an engine then jumps from one meeting to the next as if
// each pair reacted with probability jump_weight / jump_scale, and the protocol decides, given
// that, what comes of the pair. Networks of reactions are such protocols (text/uniformized.hpp).
#pragma once

#include <concepts>
#include <cstdint>

#include "conclave/base/choice.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"

namespace conclave::population::detail {

// A Choice that only records whether a random decision was made.
struct AskedChoice final : VirtualChoice {  // NOLINT: it is final
  bool asked = false;
  std::uint32_t below(std::uint32_t) override {
    asked = true;
    return 0;
  }
  bool chance(std::uint32_t, std::uint32_t) override {
    asked = true;
    return false;
  }
  bool wide_chance(std::uint64_t, std::uint64_t) override {
    asked = true;
    return false;
  }
};

// False only if the interaction is certain to leave both agents as they are. One that depends on
// chance counts as reacting.
template <PopulationProtocol P>
bool reacts(const P& protocol, const typename P::State& u, const typename P::State& v) {
  typename P::State new_u = u;
  typename P::State new_v = v;
  AskedChoice choice;
  protocol.interact(new_u, new_v, choice);
  return choice.asked || !(new_u == u) || !(new_v == v);
}

// Two states after a meeting; where chance decides, they mean nothing.
template <class State>
struct MeetingResult {
  State u;
  State v;
  bool is_certain;
};

// Not inlined: those who ask remember the answer.
template <PopulationProtocol P>
[[gnu::noinline]] MeetingResult<typename P::State> result_of_meeting(const P& protocol,
                                                                     typename P::State u,
                                                                     typename P::State v) {
  AskedChoice choice;
  protocol.interact(u, v, static_cast<VirtualChoice&>(choice));
  return {u, v, !choice.asked};
}

// The weight is at least the probability that the pair reacts, times the scale, and at most the
// scale; 0 if it never does. A scale of 1 stands for no weights at all. Scale times agents is at
// most 2^62.
template <class P>
concept WeighsPairs = requires(const P& protocol, typename P::State& u, Stream& stream) {
  { protocol.jump_scale() } -> std::same_as<std::uint32_t>;
  { protocol.jump_weight(u, u) } -> std::same_as<std::uint32_t>;
  protocol.interact_after_jump(u, u, stream);
};

template <PopulationProtocol P>
std::uint32_t jump_scale(const P& protocol) {
  if constexpr (WeighsPairs<P>) return protocol.jump_scale();
  return 1;
}

// The weight of a pair, given whether it reacts at all.
template <PopulationProtocol P>
std::uint32_t pair_weight(const P& protocol, const typename P::State& u, const typename P::State& v,
                          bool reacts) {
  if constexpr (WeighsPairs<P>) {
    if (reacts && protocol.jump_scale() != 1) return protocol.jump_weight(u, v);
  }
  return reacts ? 1 : 0;
}

// The interaction of a pair to which an engine has jumped.
template <PopulationProtocol P>
void interact_after_jump(const P& protocol, typename P::State& u, typename P::State& v,
                         Stream& choice) {
  if constexpr (WeighsPairs<P>) {
    if (protocol.jump_scale() != 1) return protocol.interact_after_jump(u, v, choice);
  }
  protocol.interact(u, v, choice);
}

}  // namespace conclave::population::detail
