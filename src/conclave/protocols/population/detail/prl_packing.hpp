// How prl is stored, its states in one word, and a test without branches for interactions that
// change nothing. None of it changes what happens; tests compare it with the algorithm, in prl.hpp.
#pragma once

#include <cstdint>

namespace conclave::protocols::detail {

// P is Prl, which inherits from it; incomplete here.
template <class P>
class PrlPacking {
 public:
  // A state in one word: five bits of flags below the distance.
  using Packed = std::uint64_t;

  constexpr Packed pack(const auto& s) const {
    return (s.leader ? leader_bit : 0) | (s.signal ? signal_bit : 0) | (s.shield ? shield_bit : 0) |
           static_cast<Packed>(s.bullet) << bullet_shift | s.distance << distance_shift;
  }

  constexpr auto unpack(Packed word) const {
    return typename P::State{.distance = word >> distance_shift,
                             .bullet = static_cast<typename P::Bullet>(word >> bullet_shift & 3),
                             .leader = (word & leader_bit) != 0,
                             .shield = (word & shield_bit) != 0,
                             .signal = (word & signal_bit) != 0};
  }

  // Lines 1-16 again: what must hold for none of them to change anything. It errs only where a
  // leader fires at a shielded leader next to it and gets its signal back at once.
  [[gnu::always_inline]] constexpr Packed may_change(Packed l, Packed r) const {
    const Packed bound = static_cast<const P&>(*this).bound();
    const Packed busy_leader = signal_bit | distance_mask;
    const Packed l_acts = mask((l & leader_bit) != 0) & l & busy_leader;  // lines 1, 6
    const Packed r_acts = mask((r & leader_bit) != 0) & r & busy_leader;  // lines 2, 8
    const Packed r_takes = mask((r & (leader_bit | bullet_mask)) == 0);   // line 2
    const Packed correction = (r & distance_mask) - (l & distance_mask) - one_step;
    const Packed r_is_full = mask(r >> distance_shift == bound);                   // line 3
    const Packed bullet_moves = l & bullet_mask;                                   // lines 10-15
    const Packed signals = (r | (r & leader_bit) * signal_bit) & ~l & signal_bit;  // line 16
    return l_acts | r_acts | (r_takes & correction) | r_is_full | bullet_moves | signals;
  }

 private:
  static constexpr Packed leader_bit = 1;
  static constexpr Packed signal_bit = 2;
  static constexpr Packed shield_bit = 4;
  static constexpr int bullet_shift = 3;
  static constexpr Packed bullet_mask = Packed{3} << bullet_shift;
  static constexpr int distance_shift = 5;
  static constexpr Packed distance_mask = ~Packed{0} << distance_shift;

  static constexpr Packed one_step = Packed{1} << distance_shift;

  static constexpr Packed mask(bool condition) { return condition ? ~Packed{0} : Packed{0}; }
};

}  // namespace conclave::protocols::detail
