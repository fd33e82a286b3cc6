// The concepts of rare events: how a protocol declares which of its failures are rare, and how near
// a configuration is to one.
//
// A file protocols/population/importance/NAME.hpp gives a protocol an overload of `rarity_of`. What
// it returns, the protocol's rarity, names the ways to fail, the start from which the time to
// failure is measured, and for each way some importance functions: numbers that grow on the way to
// the failure. `conclave rare` splits paths at levels of such a function. A value is trusted only
// where two functions agree, so each way needs two.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conclave/base/random.hpp"

namespace conclave {

// The streams of paths to rare failures are named by (seed, repetition, this purpose); the part
// tells importance functions and pilots apart.
inline constexpr Purpose rare_purpose{20};

// A way to fail. Bounds are lower bounds on the logarithm of the expected time in interactions
// until this failure, were it the only one; NaN-free, absent where none is known.
struct RareWay {
  std::string_view name;
  std::string_view meaning;
  std::optional<double> ln_bound{};  // to be shown beside every estimate
  // To be shown where there is no estimate; infinite: it cannot happen. From the rarity's own start
  // only.
  std::optional<double> ln_floor{};
};

// A named importance function of one way, or a sampler that needs no levels.
struct RareFunction {
  std::string_view name;
  std::string_view meaning;
  std::size_t way = 0;
  bool by_default = false;  // with these parameters, used where the user names none
};

// One independent estimate of a failure rate.
struct RareRepetition {
  double ln_rate = 0;                // failures per interaction; minus infinity: none was seen
  std::vector<double> factors{};     // the share of the paths that passed each level
  std::uint64_t ancestors = 0;       // distinct entrances to the first level among the failures
  double interactions = 0;           // that were simulated; for display only
  std::uint64_t configurations = 0;  // of the chain that was solved; 0: this is an estimate
};

// Called now and then by a computation, which throws Interrupted if it returns false.
using KeepComputing = std::function<bool(double interactions)>;

// Watches the agents of one configuration: `load` looks at all of them, `replace` is called after a
// meeting with the two agents that met. A larger value is nearer to the failure; minus infinity is
// allowed.
template <class F, class State>
concept ImportanceOf = std::copyable<F> &&
    requires(F& function, const F& view, std::span<const State> agents, std::size_t agent) {
  { function.load(agents) } -> std::same_as<void>;
  { function.replace(agents, agent, agent) } -> std::same_as<void>;  // initiator, responder
  { view.value() } -> std::same_as<double>;
};

// Samples a failure rate without levels, by importance sampling. `paths` is the effort.
template <class F>
concept RareSampler = requires(const F& sampler, std::uint64_t paths, Stream& stream,
                               const KeepComputing& keep_computing) {
  { sampler.sample(paths, stream, keep_computing) } -> std::same_as<RareRepetition>;
};

// Says which way the population has failed at an interaction, if any. Like an importance function
// it may keep counts of the configuration.
template <class F, class State>
concept FailuresOf = std::copyable<F> &&
    requires(F& failures, std::span<const State> agents, const State& state) {
  { failures.load(agents) } -> std::same_as<void>;
  // States of initiator and responder before; after.
  { failures.way(state, state, state, state) } -> std::same_as<std::optional<std::size_t>>;
};

}  // namespace conclave
