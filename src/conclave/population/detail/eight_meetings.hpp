// Eight meetings at a time, for loops that carry them out together where no two of them share an
// agent: then their order does not matter, and the result is that of one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "conclave/model/population.hpp"
#include "conclave/population/detail/instruction_set.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

#if defined(__x86_64__)
#define CONCLAVE_CONFLICTS [[gnu::target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,bmi2")]]

// Which of the sixteen agents is one of those before it.
CONCLAVE_CONFLICTS CONCLAVE_INLINE unsigned repeated_agents(const std::uint64_t* eight) {
  const __m512i same = _mm512_conflict_epi32(_mm512_loadu_si512(eight));
  return _mm512_test_epi32_mask(same, same);
}

// Eight meetings by the protocol's shortcut, on agents of 64 bits.
template <HasShortcut P>
class EightShortcuts {
 public:
  using Packed = typename P::Packed;
  static_assert(sizeof(Packed) == 8);

  // As many of the first meetings as can be carried out eight at a time: up to eight of which two
  // share an agent, or to one of which the shortcut does not apply or loses a leader. Fetches the
  // agents `ahead` meetings before their turn unless that is 0.
  template <std::size_t ahead>
  CONCLAVE_CONFLICTS static std::size_t meet(const P& given, Packed* agents,
                                             std::span<const std::uint64_t> meetings) {
    const P protocol = given;
    std::size_t done = 0;
    for (; meetings.size() - done >= 8; done += 8) {
      const std::uint64_t* const eight = &meetings[done];
      if constexpr (ahead > 0) fetch<ahead>(agents, eight);
      States states = read(agents, eight);
      if (repeated_agents(eight) != 0 || !all_apply(protocol, states)) break;
      write(agents, eight, states);
    }
    return done;
  }

 private:
  struct States {
    alignas(64) Packed u[8];
    alignas(64) Packed v[8];
  };

  template <std::size_t ahead>
  CONCLAVE_INLINE static void fetch(const Packed* agents, const std::uint64_t* eight) {
    for (std::size_t k = 0; k < 8; ++k) {
      const Meeting later{eight[k + ahead]};
      __builtin_prefetch(agents + later.initiator(), 1);
      __builtin_prefetch(agents + later.responder(), 1);
    }
  }

  // Word by word into registers: the instructions that gather take longer, and a register that is
  // loaded from eight places just written waits for all of them.
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static States read(const Packed* agents,
                                                        const std::uint64_t* eight) {
    const auto u = [=](int k) {
      return static_cast<long long>(agents[Meeting{eight[k]}.initiator()]);
    };
    const auto v = [=](int k) {
      return static_cast<long long>(agents[Meeting{eight[k]}.responder()]);
    };
    States states;
    _mm512_store_si512(states.u, _mm512_setr_epi64(u(0), u(1), u(2), u(3), u(4), u(5), u(6), u(7)));
    _mm512_store_si512(states.v, _mm512_setr_epi64(v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7)));
    return states;
  }

  // Computes the states after the meetings; what is false if some meeting must be left alone.
  CONCLAVE_CONFLICTS CONCLAVE_INLINE static bool all_apply(const P& protocol, States& states) {
    Packed applies = ~Packed{0};
    for (std::size_t k = 0; k < 8; ++k) {
      const Shortcut<Packed> next = protocol.shortcut(states.u[k], states.v[k]);
      states.u[k] = next.u;
      states.v[k] = next.v;
      applies &= next.leaders_lost == 0 ? next.applies : 0;
    }
    return applies != 0;
  }

  CONCLAVE_INLINE static void write(Packed* agents, const std::uint64_t* eight,
                                    const States& states) {
    const auto put = [&](std::size_t k) {
      agents[Meeting{eight[k]}.initiator()] = states.u[k];
      agents[Meeting{eight[k]}.responder()] = states.v[k];
    };
    put(0), put(1), put(2), put(3), put(4), put(5), put(6), put(7);
  }
};
#endif

}  // namespace conclave::population::detail
