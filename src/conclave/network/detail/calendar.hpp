// A queue ordered by time, for entries at most one unit ahead: time is cut into buckets, a bucket
// is sorted when its time has come, and what still falls into it then waits in a small heap.
// Entries of equal time leave in the order in which they came. O(1) amortized, sequential in
// memory. At most 2^30 entries per bucket.
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

template <class Entry>  // with a member `at`
class Calendar {
 public:
  // `crowd`: how many entries there may be at once, about; only the speed depends on it.
  explicit Calendar(std::uint64_t crowd) {
    const std::uint64_t buckets =
        std::clamp<std::uint64_t>(std::bit_floor(crowd / 256 + 1), 64, std::uint64_t{1} << 10);
    shift_ = static_cast<unsigned>(std::countr_zero(unit) - std::countr_zero(buckets));
    buckets_.resize(2 * buckets);
  }

  // An entry after `now` by at most one unit. Time never goes back.
  void add(Ticks now, const Entry& entry) {
    if (size_++ == 0) open_ = now >> shift_;
    const std::uint64_t number = entry.at >> shift_;
    if (number <= open_) return add_late(entry);
    CONCLAVE_CHECK(number - open_ < buckets_.size());
    Bucket& bucket = buckets_[number % buckets_.size()];
    if (bucket.next == bucket.end) add_block(bucket);
    *bucket.next++ = entry;
  }

  // The first entry, or nothing. Entries that come soon are shown to prefetch_far, and again to
  // prefetch_near when they come sooner.
  const Entry* front(const auto& prefetch_far, const auto& prefetch_near) {
    if (size_ == 0) return nullptr;
    while (next_ == order_.size() && late_.empty()) open_bucket();
    if (next_ + far + near < order_.size()) __builtin_prefetch(&sorted(next_ + far + near));
    if (next_ + far < order_.size()) prefetch_far(sorted(next_ + far));
    if (next_ + near < order_.size()) prefetch_near(sorted(next_ + near));
    return is_late_first() ? &late_.front().entry : &sorted(next_);
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
           current_.capacity() * (sizeof(Entry) + sizeof(std::uint64_t)) +
           late_.capacity() * sizeof(Late);
  }

 private:
  static constexpr std::size_t block_size = 60;
  static constexpr std::size_t far = 12;
  static constexpr std::size_t near = 6;
  static constexpr unsigned index_bits = 30;

  struct Block {  // of a bucket's entries; the newest block points to the ones before it
    Block* before = nullptr;
    std::array<Entry, block_size> entries;
  };
  struct Bucket {
    Block* last = nullptr;  // all blocks before it are full
    Entry* next = nullptr;  // where the next entry goes
    Entry* end = nullptr;   // of the last block
  };
  using Slab = std::vector<Block, LargePages<Block>>;  // many blocks at once
  struct Late {
    Entry entry;
    std::uint64_t number;
  };
  static bool later(const Late& left, const Late& right) {
    if (left.entry.at != right.entry.at) return left.entry.at > right.entry.at;
    return left.number > right.number;
  }

  const Entry& sorted(std::size_t place) const {
    return current_[order_[place] & ((std::uint64_t{1} << index_bits) - 1)];
  }

  // Late entries have been added after all others of their time.
  bool is_late_first() const {
    if (late_.empty()) return false;
    return next_ == order_.size() || late_.front().entry.at < sorted(next_).at;
  }

  void add_late(const Entry& entry) {
    late_.push_back({entry, number_++});
    std::push_heap(late_.begin(), late_.end(), later);
  }

  void add_block(Bucket& bucket) {
    if (spare_ == nullptr) add_slab();
    Block* const block = std::exchange(spare_, spare_->before);
    block->before = bucket.last;
    bucket = {block, block->entries.data(), block->entries.data() + block_size};
  }

  void add_slab() {
    Slab& slab = slabs_.emplace_back(std::clamp<std::size_t>(slabs_.size() * 16, 8, 1024));
    for (Block& block : slab) block.before = std::exchange(spare_, &block);
  }

  // Goes on to the next bucket and sorts it: keys are the time within the bucket, then the order of
  // arrival. Blocks are chained backwards, so the newest entries come first here.
  void open_bucket() {
    Bucket& bucket = buckets_[++open_ % buckets_.size()];
    current_.clear();
    order_.clear();
    next_ = 0;
    const Entry* end = bucket.next;
    for (Block* block = std::exchange(bucket, {}).last; block != nullptr;) {
      while (end != block->entries.data()) current_.push_back(*--end);
      Block* const emptied = std::exchange(block, block->before);
      emptied->before = std::exchange(spare_, emptied);
      if (block != nullptr) end = block->entries.data() + block_size;
    }
    std::ranges::reverse(current_);
    const Ticks mask = (Ticks{1} << shift_) - 1;
    for (std::size_t i = 0; i < current_.size(); ++i) {
      order_.push_back((current_[i].at & mask) << index_bits | i);
    }
    std::ranges::sort(order_);
  }

  unsigned shift_;
  std::vector<Bucket> buckets_;
  std::uint64_t open_ = 0;  // number of the bucket whose time it is
  std::uint64_t size_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Entry> current_;        // of the open bucket, as they came
  std::vector<std::uint64_t> order_;  // of them, by time
  std::size_t next_ = 0;
  std::vector<Late> late_;
  std::vector<Slab> slabs_;
  Block* spare_ = nullptr;
};

}  // namespace conclave::network::detail
