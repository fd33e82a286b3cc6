// Networks with one mistake each.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/detail/calendar.hpp"
#include "conclave/protocols/message/kmpp_async.hpp"

namespace conclave::tests::mutants {

// Messages overtake each other on an edge.
template <class P>
class OvertakingTransit {
 public:
  using Message = typename P::Message;

  OvertakingTransit(NodeCount n, network::DelayAdversary* adversary,
                    const network::NetworkView* view)
      : n_(n), adversary_(adversary), view_(view), calendar_(20 * n) {}

  network::Ticks post(network::Ticks now, network::NodeIndex from, network::NodeIndex to,
                      const Message& message) {
    const network::Parcel parcel{from, to, P::kinds[static_cast<std::size_t>(message.kind)]};
    const network::Ticks arrives = now + adversary_->delay(parcel, *view_);
    calendar_.add(now, arrives, {arrives, from, to, {.message = message}});
    return arrives;
  }
  void post_some(network::Ticks now, network::NodeIndex from,
                 std::span<const network::NodeIndex> to, const Message& message) {
    for (const network::NodeIndex each : to) post(now, from, each, message);
  }
  void post_all(network::Ticks now, network::NodeIndex from, const Message& message) {
    for (NodeCount step = 1; step < n_; ++step) {
      post(now, from, static_cast<network::NodeIndex>((from + step) % n_), message);
    }
  }

  network::Ticks next(const auto&) { return calendar_.next(ignore); }
  void deliver(network::Ticks until, const auto&, const auto& visit) {
    while (auto due = calendar_.take(until, ignore)) {
      if (!visit(due->item)) return;
    }
  }
  std::size_t bytes() const { return 0; }

 private:
  static constexpr auto ignore = [](const network::Delivery<Message>&) {};

  NodeCount n_;
  network::DelayAdversary* adversary_;
  const network::NetworkView* view_;
  network::detail::Calendar<network::Delivery<Message>> calendar_;
};

// Asks its first ports instead of random ones, but says that it treats all ports alike.
struct PrefersFirstPorts : protocols::KmppAsync {
  using KmppAsync::KmppAsync;

  template <class Event>
  void on(Node& node, const Event& event, auto& effects, Choice auto& choice) const
      requires(!std::same_as<Event, Timeout>) {
    FirstPorts<std::remove_reference_t<decltype(effects)>> first{effects};
    KmppAsync::on(node, event, first, choice);
  }

 private:
  template <class Effects>
  struct FirstPorts {
    Effects& effects;

    void send(Port port, const Message& message) { effects.send(port, message); }
    void broadcast(const Message& message) { effects.broadcast(message); }
    void send_to_some(std::uint32_t count, const Message& message, Choice auto&) {
      for (Port port = 0; port < count; ++port) effects.send(port, message);
    }
  };
};
static_assert(PortBlind<PrefersFirstPorts>);

// Draws ports one by one and may draw one twice.
class RepeatingDraws {
 public:
  std::span<const std::uint32_t> operator()(std::uint32_t count, std::uint32_t bound,
                                            Choice auto& choice) {
    drawn_.clear();
    for (std::uint32_t i = 0; i < count; ++i) drawn_.push_back(choice.below(bound));
    return drawn_;
  }

 private:
  std::vector<std::uint32_t> drawn_;
};

}  // namespace conclave::tests::mutants
