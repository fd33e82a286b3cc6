// The kinds of values of which the variables of an agent and the constants of a protocol are made.
// A protocol that is a template over them has two lives from one text: engines run it with machine
// values, and `prove` runs the same `interact` with symbols, whose result is a formula about all
// states and all constants at once (prove/symbols.hpp).
//
//   template <class Values>
//   class CoinDuelOver {
//     struct State {
//       typename Values::Bool leader = true;
//       typename Values::template Number<std::uint16_t> level = 0;
//     };
//     ...
//   };
//   using CoinDuel = CoinDuelOver<MachineValues>;
#pragma once

namespace conclave {

struct MachineValues {
  using Bool = bool;
  template <class Integer>
  using Number = Integer;
  template <class Enumeration>
  using Name = Enumeration;
};

}  // namespace conclave
