// How ppl is stored and hurried: its states in one word, the most frequent interactions without
// branches, and the stretches in which little happens but counting (model/brief_words.hpp). None of
// it changes what happens; tests compare it with the algorithm, in ppl.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace conclave::protocols::detail {

// P is Ppl, which inherits from it; incomplete here.
template <class P>
class PplPacking {
 public:
  // A state in 64 bits: timer_L, timer_I, virus, and the two flags on top.
  using Packed = std::uint64_t;

  constexpr Packed pack(const auto& s) const {
    return s.timer_l | s.timer_i * timer_i_one | s.virus * virus_one | s.shield * shield_bit |
           s.leader * leader_bit;
  }

  constexpr auto unpack(Packed word) const {
    typename P::State s;
    s.timer_l = heard_in(word);
    s.timer_i = timer_i_in(word);
    s.virus = static_cast<std::uint16_t>(virus_in(word));
    s.shield = (word & shield_bit) != 0;
    s.leader = (word & leader_bit) != 0;
    return s;
  }

  // Two packed states after they have interacted. Where `applies` is 0, the rest means nothing.
  struct Shortcut {
    Packed u;
    Packed v;
    Packed applies;
  };

  // The same transition function where nothing happens but the counting down of timers and viruses
  // and the reset of line 3, and where nobody crosses a line that the tally knows (half of a timer,
  // no virus): almost every interaction. No branches; subtractions stay within their fields, except
  // those that are made for the sign, which is the top bit: every condition is one.
  [[gnu::always_inline]] constexpr Shortcut shortcut(Packed u, Packed v) const {
    const Packed half_timer_l = (Packed{protocol().t_max()} + 1) / 2;
    const Packed before_half_timer_i =
        ((Packed{protocol().t_emit()} + 1) / 2) * timer_i_one - timer_i_one;
    const Packed timer_l_u = u & timer_l_mask;
    const Packed timer_l_v = v & timer_l_mask;
    const Packed timer_l = std::max(timer_l_u, timer_l_v);
    const Packed reset = (u | v) & leader_bit;
    const Packed new_timer_l = reset != 0 ? protocol().t_max() : timer_l - 1;  // lines 1, 3
    const Packed virus_u = u & virus_mask;
    const Packed virus_v = v & virus_mask;
    const Packed virus = std::max(std::max(virus_u, virus_v), Packed{virus_one});
    const Packed new_virus = virus - virus_one;                     // line 4
    const Packed new_timer_i_u = (u & timer_i_mask) - timer_i_one;  // line 6
    const Packed new_timer_i_v = (v & timer_i_mask) - timer_i_one;

    const Packed times_out = timer_l - 2;                       // line 2
    const Packed unshielded = (u & ~(u * 2)) | (v & ~(v * 2));  // line 5
    const Packed kills = unshielded & (0 - new_virus);
    const Packed fires = (new_timer_i_u - timer_i_one) | (new_timer_i_v - timer_i_one);  // 7-9
    const Packed late = new_timer_l - half_timer_l;
    const Packed crosses_half =
        ((timer_l_u - half_timer_l) ^ late) | ((timer_l_v - half_timer_l) ^ late);
    const Packed healthy = new_virus - 1;
    const Packed infects_or_heals = ((virus_u - 1) ^ healthy) | ((virus_v - 1) ^ healthy);
    const Packed any = times_out | kills | fires | crosses_half | infects_or_heals;
    const Packed leaves_half =
        (new_timer_i_u == before_half_timer_i) | (new_timer_i_v == before_half_timer_i);

    const Packed shared = new_timer_l | new_virus;
    return {.u = (u & flags_mask) | new_timer_i_u | shared,
            .v = (v & flags_mask) | new_timer_i_v | shared,
            .applies = (any / leader_bit | leaves_half) == 0};
  }

  // The brief word of a state, where all have heard of a leader lately: its level is the virus, and
  // timer_L is what it has heard. Leaders are looked at when they fire, and those without a shield
  // always while there may be a virus; followers before timer_L can get below t_max/2.
  class Brief {
   public:
    constexpr explicit Brief(const P& protocol)
        : t_max_(protocol.t_max()), t_emit_(protocol.t_emit()), half_timer_l_((t_max_ + 1) / 2) {}

    // With smaller timers stretches would be short.
    constexpr bool suits(const auto& tally) const {
      constexpr std::uint32_t least_timer = 256;
      return t_max_ >= least_timer && tally.leaders() > 0 && tally.all_have_heard();
    }

    // A leader's timer_L is t_max from its first interaction on.
    constexpr bool fits(Packed word) const {
      return leads(word) ? heard(word) == t_max_ : heard(word) >= half_timer_l_ + t_max_ / 4;
    }

    static constexpr bool leads(Packed word) { return (word & leader_bit) != 0; }
    static constexpr std::uint32_t level(Packed word) { return virus_in(word); }
    static constexpr std::uint32_t heard(Packed word) { return heard_in(word); }
    constexpr std::uint32_t most_heard() const { return t_max_; }
    static constexpr Packed having_heard(Packed word, std::uint32_t timer_l) {
      return (word & ~timer_l_mask) | timer_l;
    }

    constexpr std::uint32_t patience(Packed word, bool are_healthy) const {
      if (!leads(word)) return heard(word) - half_timer_l_;
      const bool is_exposed = (word & shield_bit) == 0;
      return is_exposed && !are_healthy ? 0 : std::max(timer_i_in(word), 1u) - 1;
    }

    // Lines 6 and 9: a timer_I of 0 or 1 is filled.
    constexpr Packed later(Packed word, std::uint32_t interactions, std::uint32_t virus) const {
      std::uint32_t left = timer_i_in(word);
      if (interactions > 0) {
        left = std::max(left, std::uint32_t{1});
        left =
            interactions < left ? left - interactions : t_emit_ - (interactions - left) % t_emit_;
      }
      return (word & (flags_mask | timer_l_mask)) | left * timer_i_one | virus * virus_one;
    }

   private:
    std::uint32_t t_max_;
    std::uint32_t t_emit_;
    std::uint32_t half_timer_l_;  // the smallest timer_L >= t_max/2
  };

 private:
  static constexpr Packed timer_l_mask = (Packed{1} << 24) - 1;
  static constexpr Packed timer_i_one = Packed{1} << 24;
  static constexpr Packed timer_i_mask = timer_l_mask * timer_i_one;
  static constexpr Packed virus_one = Packed{1} << 48;
  static constexpr Packed virus_mask = ((Packed{1} << 14) - 1) * virus_one;
  static constexpr Packed shield_bit = Packed{1} << 62;
  static constexpr Packed leader_bit = Packed{1} << 63;
  static constexpr Packed flags_mask = shield_bit | leader_bit;

  static constexpr std::uint32_t heard_in(Packed word) {
    return static_cast<std::uint32_t>(word & timer_l_mask);
  }
  static constexpr std::uint32_t timer_i_in(Packed word) {
    return static_cast<std::uint32_t>((word & timer_i_mask) / timer_i_one);
  }
  static constexpr std::uint32_t virus_in(Packed word) {
    return static_cast<std::uint32_t>((word & virus_mask) / virus_one);
  }

  constexpr const P& protocol() const { return static_cast<const P&>(*this); }
};

}  // namespace conclave::protocols::detail
