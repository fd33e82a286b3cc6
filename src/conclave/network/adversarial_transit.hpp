// Messages on their way when an adversary decides how long each takes. On an edge no message
// overtakes another: it arrives no earlier than the one before it. A message costs twelve bytes on
// its way, four at its sender, and its contents, if they are long, once for all who get it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "conclave/base/check.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/detail/calendar.hpp"
#include "conclave/network/detail/envelopes.hpp"
#include "conclave/network/detail/last_arrivals.hpp"

namespace conclave::network {

// Arrivals keeps edges FIFO; benchmarks leave that out to see what it costs.
template <class P, class Arrivals>
class DelayedTransit {
 public:
  using Message = typename P::Message;

  // The adversary and the view must outlive it. It asks the adversary once per message.
  DelayedTransit(NodeCount n, DelayAdversary* adversary, const NetworkView* view)
      : n_(n), adversary_(adversary), view_(view), calendar_(20 * n), arrivals_(n), envelopes_(n) {}

  // Returns the time of arrival.
  [[gnu::always_inline]] Ticks post(Ticks now, NodeIndex from, NodeIndex to,
                                    const Message& message) {
    answered_ |= 1u << static_cast<unsigned>(due_.event.message.kind);
    Sending sending(arrivals_, now, from, 1);
    return post(now, from, to, envelopes_.seal(now, from, message), sending);
  }

  // To different nodes.
  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    post_each(now, from, message, to.size(), [&](std::size_t which) { return to[which]; });
  }

  // Sends a copy to every other node. O(n) questions to the adversary.
  void post_all(Ticks now, NodeIndex from, const Message& message) {
    arrivals_.begin_broadcast(now, from);
    post_each(now, from, message, n_ - 1,
              [&](std::size_t which) { return static_cast<NodeIndex>((from + 1 + which) % n_); });
  }

  // The time of the next delivery, or never. Those that come later are announced to `prefetch` in
  // time. Who gets a message of a kind that was answered before will answer, as a rule: then the
  // sender's notes are fetched, too.
  Ticks next(const auto& prefetch) { return calendar_.next(fetching(prefetch)); }

  // Shows the deliveries before this time to `visit`, one by one, as long as it says true. What it
  // posts meanwhile is among them if it arrives in time.
  [[gnu::always_inline]] void deliver(Ticks until, const auto& prefetch, const auto& visit) {
    const auto fetch = fetching(prefetch);
    while (const auto first = calendar_.take(until, fetch)) {
      due_.at = first->at;
      due_.to = envelopes_.to(first->item);
      envelopes_.open(first->item, due_.from, due_.event.message);
      if (!visit(due_)) return;
    }
  }

  // Memory needed so far at most, approximately, since a table may shrink.
  std::size_t bytes() const { return calendar_.bytes() + arrivals_.bytes() + envelopes_.bytes(); }

 private:
  using Envelope = typename detail::Envelopes<Message>::Envelope;
  using Sending = typename Arrivals::Sending;

  // Fetches what a delivery will need.
  auto fetching(const auto& prefetch) const {
    return [ this, &prefetch ](Envelope coming) __attribute__((always_inline)) {
      const NodeIndex to = envelopes_.to(coming);
      prefetch(to);
      envelopes_.prefetch(coming);
      arrivals_.prefetch(to & (0u - (answered_ >> envelopes_.kind(coming) & 1)));
    };
  }

  // How long a message takes that is sent now. The places where the next ones will be written are
  // fetched.
  [[gnu::always_inline]] Ticks delay(Ticks now, NodeIndex from, NodeIndex to, Envelope sealed) {
    if (told_ == foretold_.size()) return ask(from, to, envelopes_.kind(sealed));
    calendar_.expect(now + foretold_[(told_ + posts_ahead) % foretold_.size()]);
    return foretold_[told_++];
  }

  [[gnu::noinline]] Ticks ask(NodeIndex from, NodeIndex to, unsigned kind) {
    if (is_foretelling_ && adversary_->foretell(foretold_)) {
      for (const Ticks each : foretold_) CONCLAVE_CHECK(each - 1 < unit);
      told_ = 1;
      return foretold_[0];
    }
    is_foretelling_ = false;
    const Ticks delay = adversary_->delay({from, to, P::kinds[kind]}, *view_);
    CONCLAVE_CHECK(delay - 1 < unit);
    return delay;
  }

  // Sends copies to the different nodes to(0), to(1), ...
  void post_each(Ticks now, NodeIndex from, const Message& message, std::size_t count,
                 const auto& to) {
    if (count == 0) return;
    Sending sending(arrivals_, now, from, count);
    const Envelope sealed = envelopes_.seal(now, from, message);
    const std::size_t expected = Arrivals::is_crowd(count) ? 8 : count;  // none
    for (std::size_t which = 0; which < count; ++which) {
      if (which + expected < count) arrivals_.expect(from, to(which + expected));
      post(now, from, to(which), sealed, sending);
    }
  }

  [[gnu::always_inline]] Ticks post(Ticks now, NodeIndex from, NodeIndex to, Envelope sealed,
                                    Sending& sending) {
    const bool may_overtake = sending.may_overtake(to);  // first, while the notes are in registers
    Ticks arrival = now + delay(now, from, to, sealed);
    if (may_overtake) arrival = after_others(now, from, to, arrival);
    const auto mark = calendar_.add(now, arrival, envelopes_.addressed(sealed, to));
    sending.note(to, arrival, calendar_.bucket_of(arrival), mark);
    return arrival;
  }

  [[gnu::noinline]] Ticks after_others(Ticks now, NodeIndex from, NodeIndex to,
                                       Ticks arrival) const {
    return arrivals_.after_others(now, from, to, arrival, calendar_, [&](Envelope other) {
      return envelopes_.to(other) == to && envelopes_.from(other) == from;
    });
  }

  NodeCount n_;
  DelayAdversary* adversary_;
  const NetworkView* view_;
  detail::Calendar<Envelope> calendar_;
  Arrivals arrivals_;
  detail::Envelopes<Message> envelopes_;
  bool is_foretelling_ = true;  // unless the adversary does not
  static constexpr std::size_t posts_ahead = 6;
  std::array<Ticks, 128> foretold_{};
  std::size_t told_ = foretold_.size();
  Delivery<Message> due_{};
  unsigned answered_ = 0;  // kinds, one bit each, whose receivers have sent something at once
};

template <class P>
using AdversarialTransit = DelayedTransit<P, detail::LastArrivals>;

}  // namespace conclave::network
