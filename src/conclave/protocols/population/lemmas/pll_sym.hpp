// The lemmas of pll for its symmetric variant, and the balance of its coins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "conclave/model/claims.hpp"
#include "conclave/protocols/population/lemmas/pll.hpp"
#include "conclave/protocols/population/pll_sym.hpp"

namespace conclave::protocols {

inline Claims<PllSym::State> claims_of(const PllSym& protocol) {
  using State = PllSym::State;
  const auto has_coins = [](ConfigurationView<State> agents) {
    return std::ranges::any_of(agents, [](const State& s) {
      return s.coin == PllSym::Coin::f0 || s.coin == PllSym::Coin::f1;
    });
  };
  const auto has_fair_coins = [](ConfigurationView<State> agents) {
    std::ptrdiff_t difference = 0;
    for (const State& s : agents) {
      difference += s.coin == PllSym::Coin::f0 ? 1 : 0;
      difference -= s.coin == PllSym::Coin::f1 ? 1 : 0;
    }
    return difference == 0;
  };
  Claims<State> claims = pll_claims(protocol);
  claims.sets.push_back({"fair coins", "as many agents with F0 as with F1", has_fair_coins});
  claims.claims.push_back(Claim<State>::everywhere("Section 4", "there are as many heads as tails",
                                                   "fair coins", has_coins));
  claims.notation = [](const State& s) {
    std::string text = pll_notation(s, "XYAB");
    if (!s.leader) text += "JKHT"[static_cast<std::size_t>(s.coin)];
    if (s.ready) text += 'r';
    if (s.status_l != 0) text += '\'';
    return text;
  };
  return claims;
}

}  // namespace conclave::protocols
