// The common part of the asynchronous and the synchronous algorithm of Afek and Gafni: candidates
// are ordered by strength, and every message may carry the strength of the candidate it speaks of.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "conclave/base/fields.hpp"
#include "conclave/model/message.hpp"

namespace conclave::protocols::detail {

inline constexpr std::string_view afek_gafni_paper =
    "Y. Afek, E. Gafni: Time and message bounds for election in synchronous and "
    "asynchronous complete networks. SIAM Journal on Computing 20(2):376-394, 1991";
inline constexpr std::string_view afek_gafni_convergence =
    "quiescence with exactly one node elected and all n informed";

// By level first; the identifier breaks ties.
struct Strength {
  std::uint32_t level = 0;
  Identifier id = 0;

  friend auto operator<=>(const Strength&, const Strength&) = default;
};

template <class Kind>
struct AfekGafniMessage {
  Kind kind = Kind::capture;
  std::uint32_t level = 0;
  Identifier id = 0;

  friend bool operator==(const AfekGafniMessage&, const AfekGafniMessage&) = default;
  static constexpr std::tuple fields{Field{"kind", &AfekGafniMessage::kind},
                                     Field{"level", &AfekGafniMessage::level},
                                     Field{"id", &AfekGafniMessage::id}};
};

}  // namespace conclave::protocols::detail
