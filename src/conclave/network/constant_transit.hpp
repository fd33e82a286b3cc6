// Messages on their way when all take one unit of time: first sent, first delivered, so that a
// stream of bytes is all that is needed, and edges are FIFO by themselves. Ten bytes hold an
// answer, and five one that follows another of its kind to the same node, as where many answer in
// turn; a message to many is written once, with four bytes for each who gets it, and one to all
// with none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/wire.hpp"

namespace conclave::network {

// Later than every delivery.
inline constexpr Ticks never = ~Ticks{0};

template <class Message>
struct Delivery {
  Ticks at = 0;
  NodeIndex from = 0;
  NodeIndex to = 0;
  Received<Message> event{};  // but for the port
};

template <class P>
class ConstantTransit {
 public:
  using Message = typename P::Message;

  ConstantTransit(NodeCount n, DelayAdversary*, const NetworkView*) : n_(n) {}

  // Returns the time of arrival.
  Ticks post(Ticks now, NodeIndex from, NodeIndex to, const Message& message) {
    if (append_to_last(now, from, to, message)) return now + unit;
    std::uint8_t* end = begin_record(now, from, message, false, 1);
    last_ = {record_, now, to, static_cast<unsigned>(message.kind)};
    write(end, to);
    end_record(end);
    return now + unit;
  }

  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    for (; !to.empty(); to = to.subspan(std::min(to.size(), most_listed))) {
      const auto count = static_cast<std::uint32_t>(std::min(to.size(), most_listed));
      std::uint8_t* end = begin_record(now, from, message, true, count);
      write(end, count);
      std::memcpy(end, to.data(), count * sizeof(NodeIndex));
      end_record(end + count * sizeof(NodeIndex));
    }
  }

  void post_all(Ticks now, NodeIndex from, const Message& message) {
    std::uint8_t* end = begin_record(now, from, message, true, 0);
    write(end, std::uint32_t{0});
    end_record(end);
  }

  // The time of the next delivery, or never. Those that come later are announced to `prefetch` in
  // time.
  Ticks next(const auto& prefetch) {
    while (ahead_ - head_ < lookahead && expand(ring_[ahead_ % lookahead])) {
      prefetch(ring_[ahead_++ % lookahead].to);
    }
    return head_ < ahead_ ? ring_[head_ % lookahead].at : never;
  }
  // Takes it out, after `next` and if there is one. Valid until the next call of `next`.
  Delivery<Message>& take() { return ring_[head_++ % lookahead]; }

  // Memory needed so far at most.
  std::size_t bytes() const { return (blocks_.size() + spare_.size()) * sizeof(Block); }

 private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 16;
  static constexpr std::size_t most_listed = 4096;
  static constexpr std::uint64_t lookahead = 32;

  struct Block {
    std::uint32_t used = 0;
    std::array<std::uint8_t, block_bytes> bytes;
  };
  struct Last {  // the newest record, if it goes to one node
    std::uint8_t* begin = nullptr;
    Ticks sent = 0;
    NodeIndex to = 0;
    unsigned kind = 0;
  };
  struct Mark {  // the next records arrive at this time
    Ticks arrives;
    std::uint64_t records;
  };

  template <class T>
  static void write(std::uint8_t*& end, T value) {
    std::memcpy(end, &value, sizeof(value));
    end += sizeof(value);
  }
  template <class T>
  static T read(const std::uint8_t*& from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    from += sizeof(value);
    return value;
  }

  // A record: 3 bits kind, 1 bit "to many", 4 bits length; the message; sender; receiver, or the
  // number of receivers (0: all) and themselves. With length 15: 3 bits kind; the true length;
  // receiver; number of messages; and for each itself and its sender.
  static constexpr std::size_t many_to_one = 15;
  static_assert(detail::Wire<Message>::most_bytes < many_to_one);
  std::uint8_t* begin_record(Ticks now, NodeIndex from, const Message& message, bool to_many,
                             std::size_t listed) {
    const std::size_t most_bytes = 32 + listed * sizeof(NodeIndex);
    if (blocks_.empty() || blocks_.back()->used + most_bytes > block_bytes) add_block();
    if (marks_.empty() || marks_.back().arrives != now + unit) marks_.push_back({now + unit, 0});
    ++marks_.back().records;
    std::uint8_t* const begin = blocks_.back()->bytes.data() + blocks_.back()->used;
    record_ = begin;
    last_ = {};
    const std::size_t length = detail::Wire<Message>::encode(message, begin + 1);
    *begin = static_cast<std::uint8_t>(static_cast<unsigned>(message.kind) | (to_many ? 8u : 0u) |
                                       length << 4);
    std::uint8_t* end = begin + 1 + length;
    write(end, from);
    return end;
  }
  // Adds a message to the newest record, if it is one of the same time to the same node that nobody
  // has begun to read.
  bool append_to_last(Ticks now, NodeIndex from, NodeIndex to, const Message& message) {
    if (last_.begin == nullptr || last_.to != to || last_.sent != now) return false;
    if (last_.kind != static_cast<unsigned>(message.kind)) return false;
    Block& block = *blocks_.back();
    const auto offset = static_cast<std::size_t>(last_.begin - block.bytes.data());
    if (blocks_.size() == 1 && read_ > offset) return false;
    if (block.used + 64 > block_bytes) return false;
    if (*last_.begin >> 4 != many_to_one) make_many_to_one();
    std::uint8_t* end = block.bytes.data() + block.used;
    const std::size_t length = last_.begin[1];
    if (detail::Wire<Message>::encode(message, end) > length) return false;
    end += length;
    write(end, from);
    end_record(end);
    std::uint8_t* const count = last_.begin + 2 + sizeof(NodeIndex);
    const std::uint8_t* old = count;
    std::uint8_t* place = count;
    write(place, read<std::uint32_t>(old) + 1);
    return true;
  }

  // Rewrites the newest record, which has one message.
  void make_many_to_one() {
    const std::uint8_t head = *last_.begin;
    const std::size_t length = head >> 4;
    std::array<std::uint8_t, 32> message_and_sender;
    std::memcpy(message_and_sender.data(), last_.begin + 1, length + sizeof(NodeIndex));
    std::uint8_t* end = last_.begin;
    write(end, static_cast<std::uint8_t>((head & 7) | many_to_one << 4));
    write(end, static_cast<std::uint8_t>(length));
    write(end, last_.to);
    write(end, std::uint32_t{1});
    std::memcpy(end, message_and_sender.data(), length + sizeof(NodeIndex));
    end_record(end + length + sizeof(NodeIndex));
  }

  void end_record(const std::uint8_t* end) {
    blocks_.back()->used = static_cast<std::uint32_t>(end - blocks_.back()->bytes.data());
  }

  void add_block() {
    if (spare_.empty()) {
      blocks_.push_back(std::make_unique_for_overwrite<Block>());
    } else {
      blocks_.push_back(std::move(spare_.back()));
      spare_.pop_back();
    }
    blocks_.back()->used = 0;
  }

  // Takes the next delivery out of the stream.
  bool expand(Delivery<Message>& delivery) {
    if (left_ == 0 && !open_record()) return false;
    --left_;
    delivery = current_;
    if (to_all_) {
      current_.to = current_.to + 1 == n_ ? 0 : current_.to + 1;
    } else if (left_ > 0 && from_many_) {
      read_one_of_many();
    } else if (left_ > 0) {
      const std::uint8_t* place = blocks_.front()->bytes.data() + read_;
      current_.to = read<NodeIndex>(place);
      read_ += sizeof(NodeIndex);
    }
    return true;
  }

  bool open_record() {
    if (blocks_.empty()) return false;
    if (read_ == blocks_.front()->used) {
      if (blocks_.size() == 1) return false;
      spare_.push_back(std::move(blocks_.front()));
      blocks_.pop_front();
      read_ = 0;
    }
    const std::uint8_t* place = blocks_.front()->bytes.data() + read_;
    const auto head = read<std::uint8_t>(place);
    from_many_ = head >> 4 == many_to_one;
    if (from_many_) {
      open_many_to_one(head & 7, place);
      return true;
    }
    current_.event.message = detail::Wire<Message>::decode(head & 7, place, head >> 4);
    place += head >> 4;
    current_.from = read<NodeIndex>(place);
    left_ = (head & 8) != 0 ? read<std::uint32_t>(place) : 1;
    to_all_ = left_ == 0;
    if (to_all_) {
      left_ = n_ - 1;
      current_.to = static_cast<NodeIndex>((NodeCount{current_.from} + 1) % n_);
    } else {
      current_.to = read<NodeIndex>(place);
    }
    read_ = static_cast<std::uint32_t>(place - blocks_.front()->bytes.data());
    current_.at = arrival_of_record();
    return true;
  }

  void open_many_to_one(std::uint8_t kind, const std::uint8_t* place) {
    kind_ = kind;
    length_ = read<std::uint8_t>(place);
    current_.to = read<NodeIndex>(place);
    left_ = read<std::uint32_t>(place);
    to_all_ = false;
    read_ = static_cast<std::uint32_t>(place - blocks_.front()->bytes.data());
    current_.at = arrival_of_record();
    read_one_of_many();
  }

  void read_one_of_many() {
    const std::uint8_t* place = blocks_.front()->bytes.data() + read_;
    current_.event.message = detail::Wire<Message>::decode(kind_, place, length_);
    place += length_;
    current_.from = read<NodeIndex>(place);
    read_ = static_cast<std::uint32_t>(place - blocks_.front()->bytes.data());
  }

  Ticks arrival_of_record() {
    while (marks_.front().records == 0) marks_.pop_front();
    --marks_.front().records;
    return marks_.front().arrives;
  }

  NodeCount n_;
  std::deque<std::unique_ptr<Block>> blocks_;
  std::vector<std::unique_ptr<Block>> spare_;
  std::deque<Mark> marks_;
  std::uint32_t read_ = 0;  // position in the first block

  Delivery<Message> current_{};  // of the record being taken apart
  NodeCount left_ = 0;           // deliveries it still holds
  bool to_all_ = false;
  bool from_many_ = false;   // it holds the messages of many to one
  std::uint8_t kind_ = 0;    // of these
  std::uint8_t length_ = 0;  // and how many bytes they have

  std::uint8_t* record_ = nullptr;  // the newest
  Last last_;

  std::array<Delivery<Message>, lookahead> ring_{};
  std::uint64_t head_ = 0;
  std::uint64_t ahead_ = 0;
};

}  // namespace conclave::network
