// A protocol whose agents hold more than can be copied at every interaction: it owns the whole
// configuration, and its engine (population/stepping.hpp) only tells it who meets whom. One object
// is one trial; it is not copied and belongs to one thread.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"

namespace conclave {

// Built from its Parameters, n and a start, and a `const KeepGoing*` behind them if making its
// agents takes long (ask_to_go_on, model/trial.hpp); `objection` says in one sentence why these do
// not fit together, or is empty.
template <class C>
concept ConfigurationProtocol = requires(C& configuration, const C& view,
                                         const typename C::Parameters& parameters, AgentCount agent,
                                         std::size_t start, Interactions number, Stream& choice) {
  { C::info } -> std::convertible_to<const ProtocolInfo&>;
  { C::starts.size() } -> std::convertible_to<std::size_t>;
  { C::objection(parameters, agent) } -> std::same_as<std::string>;
  C(parameters, agent, start, choice);
  // The interaction with this number, counted from 1: initiator, responder.
  { configuration.meet(agent, agent, number, choice) } -> std::same_as<void>;
  { view.size() } -> std::same_as<AgentCount>;
  { view.leaders() } -> std::same_as<AgentCount>;
  { view.is_leader(agent) } -> std::same_as<bool>;
  { view.converged() } -> std::same_as<bool>;
  { view.hopeless() } -> std::same_as<bool>;
  { view.observations() } -> std::same_as<std::vector<Observation>>;
};

// One into which faults can be injected: `strike` does to an agent what the fault of this kind
// does.
template <class C>
concept CorruptibleConfiguration = ConfigurationProtocol<C> &&
    requires(C& configuration, AgentCount agent, Stream& choice) {
  { configuration.strike(agent, FaultKind::corrupt, choice) } -> std::same_as<void>;
};

// One with stretches in which many meetings do the same little: `pass` carries out the first of
// these (initiator + responder * 2^32), up to one that does more, or none, and returns how many. It
// does what `meet` would; those meetings make no random choice, and none of them changes what
// `converged`, `hopeless`, `leaders` or `observations` return.
template <class C>
concept PassingConfiguration = ConfigurationProtocol<C> &&
    requires(C& configuration, std::span<const std::uint64_t> meetings) {
  { configuration.pass(meetings) } -> std::same_as<std::size_t>;
};

// One that fetches into the caches what meetings to come will look at: the second comes sooner.
template <class C>
concept FetchingConfiguration = ConfigurationProtocol<C> &&
    requires(const C& view, std::uint64_t meeting) {
  { view.fetch(meeting, meeting) } -> std::same_as<void>;
};

}  // namespace conclave
