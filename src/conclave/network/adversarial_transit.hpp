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

template <class P>
class AdversarialTransit {
 public:
  using Message = typename P::Message;

  AdversarialTransit(NodeCount n, DelayAdversary* adversary, const NetworkView* view)
      : n_(n), adversary_(adversary), view_(view), calendar_(20 * n), arrivals_(n), envelopes_(n) {}

  // Returns the time of arrival.
  Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message) {
    return post(now, from, to, message, envelopes_.seal(from, message, 1), false);
  }

  // To different nodes.
  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    post_each(now, from, message, to.size(), [&](std::size_t which) { return to[which]; });
  }

  void post_all(Ticks now, NodeIndex from, const Message& message) {
    post_each(now, from, message, n_ - 1,
              [&](std::size_t which) { return static_cast<NodeIndex>((from + 1 + which) % n_); });
  }

  // The next delivery, or nothing. Those that come later are announced to `prefetch` in time.
  const Delivery<Message>* next(const auto& prefetch) {
    const auto due = calendar_.front([&](Envelope coming) {
      const NodeIndex to = envelopes_.to(coming);
      prefetch(to);
      arrivals_.prefetch(to & answers_.mask(envelopes_.kind(coming)));
      envelopes_.prefetch(coming);
    });
    if (!due) return nullptr;
    next_ = due->item;
    due_.at = due->at;
    due_.to = envelopes_.to(next_);
    envelopes_.open(next_, due_.from, due_.message);
    return &due_;
  }
  void drop() {
    answers_.taken(envelopes_.kind(next_));
    envelopes_.drop(next_);
    calendar_.pop();
  }

  // Memory needed so far at most, approximately, since a table may shrink.
  std::size_t bytes() const { return calendar_.bytes() + arrivals_.bytes() + envelopes_.bytes(); }

 private:
  using Envelope = typename detail::Envelopes<Message>::Envelope;

  // Which kinds of messages are answered, as a rule: who gets one of these will send. Only the
  // speed depends on it.
  class Answers {
   public:
    // All bits if messages of that kind are answered, none if not.
    NodeIndex mask(std::size_t kind) const { return masks_[kind]; }
    void sent() { has_sent_ = true; }
    // The delivery of the message before ends, and that of one of this kind begins.
    void taken(std::size_t kind) {
      const int score = std::clamp(scores_[last_] + (has_sent_ ? 2 : -1), -most, most);
      scores_[last_] = static_cast<std::int8_t>(score);
      masks_[last_] = score < 0 ? 0 : ~NodeIndex{0};
      last_ = kind;
      has_sent_ = false;
    }

   private:
    static constexpr int most = 32;
    std::array<NodeIndex, 8> masks_{};
    std::array<std::int8_t, 8> scores_{};
    std::size_t last_ = 0;
    bool has_sent_ = false;
  };

  Ticks delay(NodeIndex from, NodeIndex to, const Message& message) {
    if (told_ < foretold_.size()) return foretold_[told_++];
    return ask(from, to, message);
  }

  [[gnu::noinline]] Ticks ask(NodeIndex from, NodeIndex to, const Message& message) {
    if (is_foretelling_ && adversary_->foretell(foretold_)) {
      for (const Ticks each : foretold_) CONCLAVE_CHECK(each - 1 < unit);
      told_ = 1;
      return foretold_[0];
    }
    is_foretelling_ = false;
    const std::string_view kind = P::kinds[static_cast<std::size_t>(message.kind)];
    const Ticks delay = adversary_->delay({from, to, kind}, *view_);
    CONCLAVE_CHECK(delay - 1 < unit);
    return delay;
  }

  // Sends copies to the different nodes to(0), to(1), ...
  void post_each(Ticks now, NodeIndex from, const Message& message, std::size_t count,
                 const auto& to) {
    if (count == 0) return;
    const bool is_alone = arrivals_.is_idle(now, from);
    const Envelope sealed = envelopes_.seal(from, message, static_cast<std::uint32_t>(count));
    for (std::size_t which = 0; which < count; ++which) {
      post(now, from, to(which), message, sealed, is_alone);
    }
  }

  // `is_alone`: there is no other message on its edge.
  Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message, Envelope sealed,
             bool is_alone) {
    Ticks arrival = now + delay(from, to, message);
    if (!is_alone) {
      arrival = arrivals_.after_others(now, from, to, arrival, calendar_, [&](Envelope other) {
        return envelopes_.to(other) == to && envelopes_.from(other) == from;
      });
    }
    answers_.sent();
    const auto mark = calendar_.add(now, arrival, envelopes_.addressed(sealed, to));
    arrivals_.note(now, from, to, arrival, calendar_, mark);
    return arrival;
  }

  NodeCount n_;
  DelayAdversary* adversary_;
  const NetworkView* view_;
  detail::Calendar<Envelope> calendar_;
  detail::LastArrivals arrivals_;
  detail::Envelopes<Message> envelopes_;
  Answers answers_;
  bool is_foretelling_ = true;  // unless the adversary does not
  std::array<Ticks, 64> foretold_{};
  std::size_t told_ = foretold_.size();
  Delivery<Message> due_{};
  Envelope next_ = 0;
};

}  // namespace conclave::network
