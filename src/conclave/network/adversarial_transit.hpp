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

  // Returns the time of arrival. Not inlined, since protocols send from many places.
  [[gnu::noinline]] Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message) {
    answers_.sent();
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

  // The time of the next delivery, or never. Those that come later are announced to `prefetch` in
  // time.
  Ticks next(const auto& prefetch) {
    const auto due = calendar_.front([&](Envelope coming) {
      const NodeIndex to = envelopes_.to(coming);
      prefetch(to);
      arrivals_.prefetch(to & answers_.mask(envelopes_.kind(coming)));
      envelopes_.prefetch(coming);
    });
    if (!due) return never;
    next_ = due->item;
    due_.at = due->at;
    return due_.at;
  }
  // Takes it out, after `next` and if there is one. Valid until the next call of `take`.
  const Delivery<Message>& take() {
    answers_.taken(envelopes_.kind(next_));
    due_.to = envelopes_.to(next_);
    envelopes_.open(next_, due_.from, due_.message);
    calendar_.pop();
    return due_;
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
    void sent() { ++sent_[last_]; }
    // The delivery of the message before ends, and that of one of this kind begins.
    void taken(std::size_t kind) {
      ++taken_[kind];
      last_ = kind;
      if (++since_look_ == between_looks) look();
    }

   private:
    static constexpr std::uint32_t between_looks = 1024;

    // One answer to three messages is enough to be prepared for it.
    [[gnu::noinline]] void look() {
      for (std::size_t kind = 0; kind < masks_.size(); ++kind) {
        if (taken_[kind] > 0) masks_[kind] = 3 * sent_[kind] < taken_[kind] ? 0 : ~NodeIndex{0};
      }
      sent_ = taken_ = {};
      since_look_ = 0;
    }

    std::array<NodeIndex, 8> masks_{};
    std::array<std::uint32_t, 8> sent_{};
    std::array<std::uint32_t, 8> taken_{};
    std::size_t last_ = 0;
    std::uint32_t since_look_ = 0;
  };

  // How long a message takes that is sent now. In large networks, the places where the next ones
  // will be written are fetched.
  [[gnu::always_inline]] Ticks delay(Ticks now, NodeIndex from, NodeIndex to,
                                     const Message& message) {
    if (told_ == foretold_.size()) return ask(from, to, message);
    if (is_large_) calendar_.expect(now + foretold_[(told_ + posts_ahead) % foretold_.size()]);
    return foretold_[told_++];
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
    answers_.sent();
    const bool is_alone = arrivals_.is_idle(now, from);
    const Envelope sealed = envelopes_.seal(from, message, static_cast<std::uint32_t>(count));
    for (std::size_t which = 0; which < count; ++which) {
      if (which + 8 < count) arrivals_.expect(from, to(which + 8), count);
      post(now, from, to(which), message, sealed, is_alone);
    }
  }

  // `is_alone`: there is no other message on its edge.
  [[gnu::always_inline]] Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message,
                                    Envelope sealed, bool is_alone) {
    Ticks arrival = now + delay(now, from, to, message);
    if (!is_alone && arrivals_.may_overtake(now, from, to)) {
      arrival = after_others(now, from, to, arrival);
    }
    const auto mark = calendar_.add(now, arrival, envelopes_.addressed(sealed, to));
    arrivals_.note(now, from, to, arrival, calendar_, mark);
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
  detail::LastArrivals arrivals_;
  detail::Envelopes<Message> envelopes_;
  Answers answers_;
  bool is_foretelling_ = true;  // unless the adversary does not
  static constexpr std::size_t posts_ahead = 6;
  static constexpr NodeCount large = 30'000;  // then messages on their way do not fit near caches
  bool is_large_ = n_ >= large;
  std::array<Ticks, 128> foretold_{};
  std::size_t told_ = foretold_.size();
  Delivery<Message> due_{};
  Envelope next_ = 0;
};

}  // namespace conclave::network
