// How timers is stored and hurried: its states in one word, and the stretches in which timers only
// count down (model/brief_words.hpp). None of it changes what happens; tests compare it with the
// algorithm, in timers.hpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace conclave::protocols::detail {

// P is Timers, which inherits from it; incomplete here.
template <class P>
class TimersPacking {
 public:
  using Packed = std::uint32_t;

  constexpr Packed pack(const auto& s) const { return s.timer | (s.leader ? leader_bit : 0); }
  constexpr auto unpack(Packed word) const {
    return typename P::State{.leader = (word & leader_bit) != 0, .timer = word & ~leader_bit};
  }

  // Two packed states after they have interacted. Where `applies` is 0, the rest means nothing.
  struct Shortcut {
    Packed u;
    Packed v;
    Packed applies;
  };

  // The same transition function where two followers count down, and neither a timeout nor half of
  // the timer is reached: almost every interaction.
  [[gnu::always_inline]] constexpr Shortcut shortcut(Packed u, Packed v) const {
    const Packed t_max = static_cast<const P&>(*this).t_max();
    const Packed half = t_max / 2 + t_max % 2;
    const Packed larger = u < v ? v : u;
    const Packed next = larger - 1;
    const bool leads = ((u | v) & leader_bit) != 0;
    const bool times_out = larger < 2;
    const bool crosses_half = ((u < half) != (next < half)) | ((v < half) != (next < half));
    return {.u = next, .v = next, .applies = !(leads | times_out | crosses_half)};
  }

  // The brief word of a state, where all have heard of a leader lately: there are no levels, and
  // the timer is what it has heard. Every interaction of a leader is looked at, for it may be with
  // another one; followers are looked at before their timers can get below t_max/2.
  class Brief {
   public:
    constexpr explicit Brief(const P& protocol)
        : t_max_(protocol.t_max()), half_timer_(t_max_ / 2 + t_max_ % 2) {}

    // With smaller timers stretches would be short, and with more leaders, which are one in 64 at
    // the usual t_max, most interactions would be looked at.
    constexpr bool suits(const auto& tally) const {
      constexpr std::uint32_t least_timer = 256;
      return t_max_ >= least_timer && tally.leaders() > 0 &&
             tally.leaders() <= std::max(t_max_ / 512, 2u) && tally.all_have_heard();
    }

    // A leader's timer is full from its first interaction on.
    constexpr bool fits(Packed word) const {
      return leads(word) ? heard(word) == t_max_ : heard(word) >= half_timer_ + t_max_ / 4;
    }

    static constexpr bool leads(Packed word) { return (word & leader_bit) != 0; }
    static constexpr std::uint32_t level(Packed) { return 0; }
    static constexpr std::uint32_t heard(Packed word) { return word & ~leader_bit; }
    constexpr std::uint32_t most_heard() const { return t_max_; }
    static constexpr Packed having_heard(Packed word, std::uint32_t timer) {
      return (word & leader_bit) | timer;
    }
    constexpr std::uint32_t patience(Packed word, bool) const {
      return leads(word) ? 0 : heard(word) - half_timer_;
    }
    static constexpr Packed later(Packed word, std::uint32_t, std::uint32_t) { return word; }

   private:
    std::uint32_t t_max_;
    std::uint32_t half_timer_;  // the smallest timer >= t_max/2
  };

 private:
  static constexpr Packed leader_bit = Packed{1} << 31;
};

}  // namespace conclave::protocols::detail
