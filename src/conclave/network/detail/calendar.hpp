// A queue ordered by time, for items at most one unit ahead: time is cut into buckets, a bucket is
// sorted when its time has come, and what still falls into it then waits in a small heap. Items of
// equal time leave in the order in which they came. O(1) amortized, sequential in memory; an item
// costs its own size and four bytes. At most 2^32 items per bucket.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/large_pages.hpp"

namespace conclave::network::detail {

template <class Item>
class Calendar {
 public:
  struct Due {
    Ticks at = 0;
    const Item* item = nullptr;  // null: there is none
  };

  // `crowd`: how many items there may be at once, about; only the speed depends on it.
  explicit Calendar(std::uint64_t crowd) {
    const std::uint64_t buckets =
        std::clamp<std::uint64_t>(std::bit_floor(crowd / 256 + 1), 64, most_buckets);
    shift_ = static_cast<unsigned>(std::countr_zero(unit) - std::countr_zero(buckets));
    buckets_.resize(2 * buckets);
  }

  // An item that is due after `now` by at most one unit. Time never goes back.
  void add(Ticks now, Ticks at, const Item& item) {
    if (size_++ == 0) open_ = bucket_of(now);
    const std::uint64_t number = bucket_of(at);
    if (number <= open_) return add_late(at, item);
    CONCLAVE_CHECK(number - open_ < buckets_.size());
    Bucket& bucket = buckets_[number % buckets_.size()];
    if (bucket.next == bucket.end) add_block(bucket);
    *bucket.next++ = {static_cast<std::uint32_t>(at & mask()), item};
  }

  // The first item. Those that come soon are shown to `prefetch`.
  Due front(const auto& prefetch) {
    if (size_ == 0) return {};
    while (next_ == current_.size() && late_.empty()) open_bucket();
    if (next_ + lookahead < current_.size()) prefetch(current_[next_ + lookahead].item);
    if (is_late_first()) return {late_.front().at, &late_.front().item};
    return {time_of(current_[next_]), &current_[next_].item};
  }

  void pop() {
    --size_;
    if (!is_late_first()) {
      ++next_;
      return;
    }
    std::pop_heap(late_.begin(), late_.end(), later);
    late_.pop_back();
  }

  // Memory needed so far at most.
  std::size_t bytes() const {
    std::size_t blocks = 0;
    for (const Slab& slab : slabs_) blocks += slab.size();
    return blocks * sizeof(Block) + buckets_.size() * sizeof(Bucket) +
           current_.capacity() * sizeof(Entry) + ends_.capacity() * sizeof(std::uint32_t) +
           late_.capacity() * sizeof(Late);
  }

 private:
  static constexpr std::uint64_t most_buckets = std::uint64_t{1} << 10;
  static constexpr std::size_t block_size = 62;
  static constexpr std::size_t lookahead = 16;
  static constexpr std::uint32_t most_alike = 48;  // in a cell that is sorted by insertion

  struct Entry {
    std::uint32_t offset;  // of its time from the bucket's
    Item item;
  };
  struct Block {  // of a bucket's entries; the newest block points to the ones before it
    Block* before = nullptr;
    std::uint64_t full_before = 0;  // how many blocks are before it
    std::array<Entry, block_size> entries;
  };
  struct Bucket {
    Block* last = nullptr;  // all blocks before it are full
    Entry* next = nullptr;  // where the next entry goes
    Entry* end = nullptr;   // of the last block
  };
  using Slab = std::vector<Block, LargePages<Block>>;  // many blocks at once
  struct Late {
    Ticks at;
    std::uint64_t number;
    Item item;
  };
  static bool later(const Late& left, const Late& right) {
    return left.at != right.at ? left.at > right.at : left.number > right.number;
  }

  std::uint64_t bucket_of(Ticks at) const { return at >> shift_; }
  Ticks mask() const { return (Ticks{1} << shift_) - 1; }
  Ticks time_of(const Entry& entry) const { return open_ << shift_ | entry.offset; }

  // Late items have been added after all others of their time.
  bool is_late_first() const {
    if (late_.empty()) return false;
    return next_ == current_.size() || late_.front().at < time_of(current_[next_]);
  }

  void add_late(Ticks at, const Item& item) {
    late_.push_back({at, number_++, item});
    std::push_heap(late_.begin(), late_.end(), later);
  }

  void add_block(Bucket& bucket) {
    if (spare_ == nullptr) add_slab();
    Block* const block = std::exchange(spare_, spare_->before);
    block->full_before = bucket.last == nullptr ? 0 : bucket.last->full_before + 1;
    block->before = bucket.last;
    bucket = {block, block->entries.data(), block->entries.data() + block_size};
  }

  void add_slab() {
    Slab& slab = slabs_.emplace_back(std::clamp<std::size_t>(slabs_.size() * 16, 8, 1024));
    for (Block& block : slab) block.before = std::exchange(spare_, &block);
  }

  // Shows each block's begin and end to visit, the newest first.
  static void for_each_block(const Bucket& bucket, const auto& visit) {
    Entry* end = bucket.next;
    for (Block* block = bucket.last; block != nullptr;) {
      Block* const before = block->before;
      if (before != nullptr) __builtin_prefetch(before);
      visit(*block, block->entries.data(), end);
      block = before;
      if (block != nullptr) end = block->entries.data() + block_size;
    }
  }

  // Goes on to the next bucket and sorts it, by distribution into as many cells as there are
  // entries and insertion within them. Both keep the order of arrival among equal times.
  void open_bucket() {
    const Bucket bucket = std::exchange(buckets_[++open_ % buckets_.size()], {});
    next_ = 0;
    current_.resize(size_of(bucket));
    if (current_.empty()) return;
    const bool has_large_cells = distribute(bucket);
    if (has_large_cells) {
      std::ranges::stable_sort(current_, {}, &Entry::offset);
    } else {
      sort_by_insertion();
    }
  }

  static std::size_t size_of(const Bucket& bucket) {
    if (bucket.last == nullptr) return 0;
    return bucket.last->full_before * block_size +
           static_cast<std::size_t>(bucket.next - bucket.last->entries.data());
  }

  // Moves the bucket's entries to current_, in the order of their cells; tells whether a cell has
  // many of them. The newest entries are met first, so cells are filled from their ends.
  bool distribute(const Bucket& bucket) {
    const auto cell_bits = std::min(shift_, static_cast<unsigned>(std::bit_width(current_.size())));
    const unsigned drop = shift_ - cell_bits;
    ends_.assign(std::size_t{1} << cell_bits, 0);
    for_each_block(bucket, [&](const Block&, const Entry* begin, const Entry* end) {
      for (; begin != end; ++begin) ++ends_[begin->offset >> drop];
    });
    std::uint32_t sum = 0;
    std::uint32_t largest = 0;
    for (std::uint32_t& end : ends_) {
      largest = std::max(largest, end);
      end = sum += end;
    }
    for_each_block(bucket, [&](Block& block, const Entry* begin, const Entry* end) {
      while (end != begin) {
        --end;
        current_[--ends_[end->offset >> drop]] = *end;
      }
      block.before = std::exchange(spare_, &block);
    });
    return largest > most_alike;
  }

  void sort_by_insertion() {
    for (std::size_t i = 1; i < current_.size(); ++i) {
      if (current_[i - 1].offset <= current_[i].offset) continue;
      const Entry moved = current_[i];
      std::size_t place = i;
      for (; place > 0 && current_[place - 1].offset > moved.offset; --place) {
        current_[place] = current_[place - 1];
      }
      current_[place] = moved;
    }
  }

  unsigned shift_;
  std::vector<Bucket> buckets_;
  std::uint64_t open_ = 0;  // number of the bucket whose time it is
  std::uint64_t size_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Entry> current_;       // of the open bucket, by time
  std::vector<std::uint32_t> ends_;  // of the cells, while a bucket is sorted
  std::size_t next_ = 0;
  std::vector<Late> late_;
  std::vector<Slab> slabs_;
  Block* spare_ = nullptr;
};

}  // namespace conclave::network::detail
