// Messages on their way when an adversary decides how long each takes. On an edge no message
// overtakes another: it arrives no earlier than the one before it. A message costs sixteen bytes on
// its way, four at its sender, and its contents once for all who get it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "conclave/base/check.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/constant_transit.hpp"
#include "conclave/network/detail/calendar.hpp"
#include "conclave/network/detail/contents.hpp"
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
    return post(now, {from, to, contents_.add(message, 1)}, kind_of(message));
  }

  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    if (to.empty()) return;
    arrivals_.prefetch(from, to);
    const auto name = contents_.add(message, static_cast<std::uint32_t>(to.size()));
    for (const NodeIndex node : to) post(now, {from, node, name}, kind_of(message));
  }

  void post_all(Ticks now, NodeIndex from, const Message& message) {
    if (n_ == 1) return;
    const auto name = contents_.add(message, static_cast<std::uint32_t>(n_ - 1));
    for (NodeCount step = 1; step < n_; ++step) {
      post(now, {from, static_cast<NodeIndex>((from + step) % n_), name}, kind_of(message));
    }
  }

  // The next delivery, or nothing. Those that come later are announced to `prefetch` in time.
  const Delivery<Message>* next(const auto& prefetch) {
    const auto due = calendar_.front([&](const Item& coming) {
      prefetch(coming.to);
      arrivals_.prefetch(coming.to);  // for the answer
      contents_.prefetch(coming.name);
    });
    if (due.item == nullptr) return nullptr;
    name_ = due.item->name;
    due_ = {due.at, due.item->from, due.item->to, contents_.message(name_)};
    return &due_;
  }
  void drop() {
    contents_.drop(name_);
    calendar_.pop();
  }

  // Memory needed so far at most, approximately, since a table may shrink.
  std::size_t bytes() const { return calendar_.bytes() + arrivals_.bytes() + contents_.bytes(); }

 private:
  using Contents = detail::Contents<Message>;
  struct Item {
    NodeIndex from;
    NodeIndex to;
    typename Contents::Name name;
  };

  static std::string_view kind_of(const Message& message) {
    return P::kinds[static_cast<std::size_t>(message.kind)];
  }

  Ticks post(Ticks now, const Item& item, std::string_view kind) {
    const Ticks delay = adversary_->delay({item.from, item.to, kind}, *view_);
    CONCLAVE_CHECK(delay - 1 < unit);
    const Ticks arrival = arrivals_.take(now, item.from, item.to, now + delay);
    calendar_.add(now, arrival, item);
    return arrival;
  }

  NodeCount n_;
  DelayAdversary* adversary_;
  const NetworkView* view_;
  detail::Calendar<Item> calendar_;
  detail::LastArrivals arrivals_;
  Contents contents_;
  Delivery<Message> due_{};
  typename Contents::Name name_ = 0;
};

}  // namespace conclave::network
