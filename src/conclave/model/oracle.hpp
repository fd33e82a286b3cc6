// Oracles give agents information about the whole configuration, which none of them can see.
//
// The oracle Omega? of Fischer and Jiang says whether there is a leader. It guarantees only this:
// if there is a leader all the time, or none all the time, it says so from some interaction on.
// Until then an adversary chooses its answers; some adversaries are offered here. Both agents of an
// interaction get the same answer, about the configuration before it.
//
//   LeaderOracle oracle(LeaderOracle::Kind::delay, 10u);
//   oracle.see(true, 0u);   // no leader at the start
//   oracle.denies();        // false: it will say so after 10 interactions
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "conclave/base/interactions.hpp"
#include "conclave/model/population.hpp"
#include "conclave/model/protocol_info.hpp"

namespace conclave {

// Exact; every call is O(1). A value, for one thread at a time.
class LeaderOracle {
 public:
  enum class Kind : std::uint8_t {
    immediate,  // the truth
    delay,      // "no leader" only after this many interactions without a leader
    lies,       // "no leader" for this many interactions, true or not; then the truth
    silent,     // "a leader" for this many interactions, true or not; then the truth
  };

  // `duration` is not used for `immediate`.
  constexpr LeaderOracle(Kind kind, Interactions duration) : kind_(kind), duration_(duration) {}

  constexpr Kind kind() const { return kind_; }

  // How things stand after `now` interactions. To be called in the order of time: at the start,
  // after every fault, after every interaction that changes an output or follows a denial, and at
  // `next_change`.
  constexpr void see(bool leaderless, Interactions now) {
    if (leaderless && !leaderless_) since_ = now;
    leaderless_ = leaderless;
    now_ = now;
  }

  // Whether the answer to the agents of the next interaction is that there is no leader.
  constexpr bool denies() const {
    switch (kind_) {
      case Kind::immediate:
        return leaderless_;
      case Kind::delay:
        return leaderless_ && now_ - since_ >= duration_;
      case Kind::lies:
        return leaderless_ || now_ < duration_;
      case Kind::silent:
        return leaderless_ && now_ >= duration_;
    }
    return false;
  }

  // After how many interactions since the start the answer, "a leader", changes to the other if no
  // output changes before; Interactions::max() if it does not.
  constexpr Interactions next_change() const {
    if (!leaderless_ || denies()) return Interactions::max();
    return kind_ == Kind::delay ? since_ + duration_ : duration_;
  }

  // False while it may still claim that there is no leader where there is one: then nothing counts
  // as elected, for a lie can break any configuration.
  constexpr bool is_trustworthy() const { return kind_ != Kind::lies || now_ >= duration_; }

 private:
  Kind kind_;
  Interactions duration_;
  bool leaderless_ = false;
  Interactions since_;  // leaderless
  Interactions now_;
};

// A protocol whose agents ask an oracle. `interact` is what they do if the answer is that there is
// a leader, `interact_leaderless` what they do if it is that there is none.
template <class P>
concept AsksOracle = PopulationProtocol<P> &&
    requires(const P& protocol, typename P::State u, typename P::State v, AnyChoice& choice) {
  { protocol.oracle() } -> std::same_as<LeaderOracle>;
  { protocol.interact_leaderless(u, v, choice) } -> std::same_as<void>;
};

// For all other protocols; empty.
struct NoOracle {};

// The oracle of a protocol that asks one, made anew; NoOracle for all others.
template <PopulationProtocol P>
constexpr auto oracle_of(const P& protocol) {
  if constexpr (AsksOracle<P>) {
    return protocol.oracle();
  } else {
    return NoOracle{};
  }
}

template <>
inline constexpr std::array<std::string_view, 4> names_of<LeaderOracle::Kind>{"immediate", "delay",
                                                                              "lies", "silent"};

}  // namespace conclave
