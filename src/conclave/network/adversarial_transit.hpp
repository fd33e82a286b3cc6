// Messages on their way when an adversary decides how long each takes. On an edge no message
// overtakes another: it arrives no earlier than the one before it.
#pragma once

#include <cstddef>
#include <span>

#include "conclave/base/check.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/detail/calendar.hpp"
#include "conclave/network/detail/last_arrivals.hpp"

namespace conclave::network {

template <class P>
class AdversarialTransit {
 public:
  using Message = typename P::Message;

  AdversarialTransit(NodeCount n, DelayAdversary* adversary, const NetworkView* view)
      : n_(n), adversary_(adversary), view_(view), calendar_(20 * n), arrivals_(n) {}

  // Returns the time of arrival.
  Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message) {
    const Parcel parcel{from, to, P::kinds[static_cast<std::size_t>(message.kind)]};
    const Ticks delay = adversary_->delay(parcel, *view_);
    CONCLAVE_CHECK(delay - 1 < unit);
    const Ticks arrival = arrivals_.take(now, from, to, now + delay);
    calendar_.add(now, {arrival, from, to, message});
    return arrival;
  }

  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    arrivals_.prefetch(from, to);
    for (const NodeIndex node : to) post(now, from, node, message);
  }

  void post_all(Ticks now, NodeIndex from, const Message& message) {
    for (NodeCount step = 1; step < n_; ++step) {
      post(now, from, static_cast<NodeIndex>((from + step) % n_), message);
    }
  }

  const Delivery<Message>* next(const auto& prefetch) {
    const auto prepare = [&](const Delivery<Message>& due) {
      prefetch(due.to);
      arrivals_.prefetch(due.to);  // for the answer
    };
    const auto prepare_more = [&](const Delivery<Message>& due) {
      arrivals_.prefetch_records(due.to);
    };
    return calendar_.front(prepare, prepare_more);
  }
  void drop() { calendar_.pop(); }

  // Memory needed so far at most, approximately, since the table may shrink.
  std::size_t bytes() const { return calendar_.bytes() + arrivals_.bytes(); }

 private:
  NodeCount n_;
  DelayAdversary* adversary_;
  const NetworkView* view_;
  detail::Calendar<Delivery<Message>> calendar_;
  detail::LastArrivals arrivals_;
};

}  // namespace conclave::network
