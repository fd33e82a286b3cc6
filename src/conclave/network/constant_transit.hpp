// Messages on their way when all take one unit of time: first sent, first delivered, so that a
// stream of bytes is all that is needed, and edges are FIFO by themselves. Thirteen bytes hold an
// answer, and six one that follows another to the same node, as where many answer in turn; a
// message to many is written once, with four bytes for each who gets it, and one to all with none.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "conclave/model/message.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/wire.hpp"

namespace conclave::network {

// A message that arrives at node `to`; the port is left to the caller.
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

  // Asks nobody: the adversary and the view are there for the sake of the common interface.
  ConstantTransit(NodeCount n, DelayAdversary*, const NetworkView*) : n_(n) {}

  // Returns the time of arrival.
  [[gnu::always_inline]] Ticks post(Ticks now, NodeIndex from, NodeIndex to,
                                    const Message& message) {
    if (to != run_to_ || now != sent_ || end_ > limit_) begin_run(now, to);
    end_ = written(Wire::write(message, end_), from);
    const auto length = static_cast<std::uint16_t>(end_ - run_);
    std::memcpy(run_ - sizeof(length), &length, sizeof(length));
    return now + unit;
  }

  // Sends a copy to each of the given nodes, or to every other one; they arrive one unit from now.
  void post_some(Ticks now, NodeIndex from, std::span<const NodeIndex> to, const Message& message) {
    for (; !to.empty(); to = to.subspan(std::min(to.size(), most_listed))) {
      const auto count = static_cast<std::uint32_t>(std::min(to.size(), most_listed));
      begin_list(now, from, message, count);
      std::memcpy(end_, to.data(), count * sizeof(NodeIndex));
      end_ += count * sizeof(NodeIndex);
    }
  }

  // To every node but the sender, at the cost of one record.
  void post_all(Ticks now, NodeIndex from, const Message& message) {
    begin_list(now, from, message, 0);
  }

  // The time of the next delivery, or never. Those that come later are announced to `prefetch` in
  // time.
  Ticks next(const auto& prefetch) {
    if (left_ == 0 && !open_record(prefetch)) return never;
    return current_.at;
  }

  // Shows the deliveries before this time to `visit`, one by one, as long as it says true. What it
  // posts meanwhile is among them if it arrives in time.
  [[gnu::always_inline]] void deliver(Ticks until, const auto& prefetch, const auto& visit) {
    while (next(prefetch) < until) {
      take(prefetch);
      if (!visit(current_)) return;
    }
  }

  // Memory needed so far at most.
  std::size_t bytes() const { return blocks_.size() * sizeof(Block); }

 private:
  using Wire = detail::Wire<Message>;
  static constexpr std::size_t block_bytes = std::size_t{1} << 16;
  static constexpr std::size_t most_listed = 4096;
  static constexpr std::uint32_t lookahead = 32;      // receivers
  static constexpr NodeIndex nobody = ~NodeIndex{0};  // no index is as large

  // The stream is made of records, which begin with their form. `time`: when the next ones arrive.
  // `run`: a receiver; the length of the rest, two bytes; and messages, each with its sender.
  // `list`: a message and its sender; how many get it, 0 for all; and the receivers.
  enum class Form : std::uint8_t { time, run, list };
  // More than a time and the beginning of a record take, or a message of a run. A message is read
  // and written in words that may reach beyond its end.
  static constexpr std::size_t room = 64;
  static_assert(Wire::most_bytes < 24);

  struct Block {
    Block* next = nullptr;
    const std::uint8_t* end = nullptr;  // of what is written in it, once there is a next one
    std::array<std::uint8_t, block_bytes> bytes;
  };
  struct Place {  // in the stream
    Block* block = nullptr;
    const std::uint8_t* at = nullptr;
  };

  template <class T>
  [[nodiscard]] static std::uint8_t* written(std::uint8_t* end, T value) {
    std::memcpy(end, &value, sizeof(value));
    return end + sizeof(value);
  }
  template <class T>
  static T read(const std::uint8_t*& from) {
    T value;
    std::memcpy(&value, from, sizeof(value));
    from += sizeof(value);
    return value;
  }

  [[gnu::noinline]] void begin_run(Ticks now, NodeIndex to) {
    run_ = written(begin_record(now, Form::run, 0), to) + sizeof(std::uint16_t);
    run_to_ = to;
    end_ = run_;
  }

  void begin_list(Ticks now, NodeIndex from, const Message& message, std::uint32_t count) {
    std::uint8_t* const end = begin_record(now, Form::list, count);
    end_ = written(written(Wire::write(message, end), from), count);
    run_to_ = nobody;
  }

  std::uint8_t* begin_record(Ticks now, Form form, std::size_t listed) {
    const auto needed = static_cast<std::ptrdiff_t>(listed * sizeof(NodeIndex));
    if (end_ == nullptr || limit_ - end_ < needed) add_block();
    if (now != sent_) end_ = written(written(end_, Form::time), now + unit);
    sent_ = now;
    return written(end_, form);
  }

  void add_block() {
    if (spare_.empty()) {
      blocks_.push_back(std::make_unique_for_overwrite<Block>());
      spare_.push_back(blocks_.back().get());
    }
    Block* const block = spare_.back();
    spare_.pop_back();
    if (newest_ == nullptr) {
      read_ = ahead_ = {block, block->bytes.data()};
    } else {
      newest_->next = block;
      newest_->end = end_;
    }
    newest_ = block;
    end_ = block->bytes.data();
    limit_ = end_ + block_bytes - 2 * room;
  }

  // Announces receivers beyond those that are delivered next, until there are enough of them.
  [[gnu::noinline]] void announce(const auto& prefetch) {
    while (announced_ < lookahead) {
      if (listed_ahead_ == 0 && !announce_record(prefetch)) return;
      const std::uint32_t count = std::min<std::uint32_t>(listed_ahead_, 8);
      for (std::uint32_t i = 0; i < count; ++i) prefetch(read<NodeIndex>(ahead_.at));
      listed_ahead_ -= count;
      announced_ += count;
    }
  }

  // Goes on to the next record, or to the receivers of a list; tells whether there is one. Nothing
  // is added to a run afterwards. Receivers of a message to all need no announcement, since they
  // lie side by side.
  bool announce_record(const auto& prefetch) {
    if (ahead_.at == end_) return false;
    if (ahead_.block != newest_ && ahead_.at == ahead_.block->end) go_on(ahead_);
    Form form = read<Form>(ahead_.at);
    if (form == Form::time) {
      ahead_.at += sizeof(Ticks);
      form = read<Form>(ahead_.at);
    }
    if (form == Form::run) {
      prefetch(read<NodeIndex>(ahead_.at));
      const auto length = read<std::uint16_t>(ahead_.at);
      if (ahead_.at == run_) run_to_ = nobody;
      ahead_.at += length;
      ++announced_;
    } else {
      Message ignored;
      ahead_.at = Wire::read(ahead_.at, ignored) + sizeof(NodeIndex);
      listed_ahead_ = read<std::uint32_t>(ahead_.at);
    }
    return true;
  }

  static void go_on(Place& place) { place = {place.block->next, place.block->next->bytes.data()}; }

  // Begins the next record with deliveries; tells whether there is one.
  bool open_record(const auto& prefetch) {
    if (announced_ < lookahead) announce(prefetch);
    if (read_.at == ahead_.at) return false;
    if (read_.block != ahead_.block && read_.at == read_.block->end) {
      spare_.push_back(read_.block);
      go_on(read_);
    }
    Form form = read<Form>(read_.at);
    if (form == Form::time) {
      current_.at = read<Ticks>(read_.at);
      form = read<Form>(read_.at);
    }
    is_run_ = form == Form::run;
    is_run_ ? open_run() : open_list();
    return true;
  }

  void open_run() {
    current_.to = read<NodeIndex>(read_.at);
    left_ = read<std::uint16_t>(read_.at);
    --announced_;
  }

  void open_list() {
    read_.at = Wire::read(read_.at, current_.event.message);
    current_.from = read<NodeIndex>(read_.at);
    const auto listed = read<std::uint32_t>(read_.at);
    left_ = listed * sizeof(NodeIndex);
    is_to_all_ = listed == 0;
    if (!is_to_all_) return;
    left_ = n_ - 1;
    current_.to = current_.from;
  }

  // Takes the next delivery out of the record.
  void take(const auto& prefetch) {
    if (is_run_) {
      const std::uint8_t* const end = Wire::read(read_.at, current_.event.message);
      left_ -= static_cast<std::uint64_t>(end - read_.at) + sizeof(NodeIndex);
      read_.at = end;
      current_.from = read<NodeIndex>(read_.at);
    } else if (!is_to_all_) {
      current_.to = read<NodeIndex>(read_.at);
      left_ -= sizeof(NodeIndex);
      if (--announced_ < lookahead) announce(prefetch);
    } else {
      current_.to = current_.to + 1 == n_ ? 0 : current_.to + 1;
      --left_;
    }
  }

  NodeCount n_;
  std::vector<std::unique_ptr<Block>> blocks_;  // those of the stream, and spare ones
  std::vector<Block*> spare_;

  Block* newest_ = nullptr;
  std::uint8_t* end_ = nullptr;          // of the stream
  const std::uint8_t* limit_ = nullptr;  // at which a new block is begun
  Ticks sent_ = never;                   // when the newest record was
  NodeIndex run_to_ = nobody;            // the receiver of the newest record, if it is a run
  std::uint8_t* run_ = nullptr;          // its first message

  Place read_;                   // the next to be delivered
  Delivery<Message> current_{};  // the last one that was
  std::uint64_t left_ = 0;       // of its record: bytes, or receivers if it goes to all
  bool is_run_ = false;
  bool is_to_all_ = false;

  Place ahead_;                     // the next to be announced
  std::uint32_t listed_ahead_ = 0;  // receivers there
  std::uint32_t announced_ = 0;     // receivers between both
};

}  // namespace conclave::network
