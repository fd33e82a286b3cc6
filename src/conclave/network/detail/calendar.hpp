// A queue ordered by time, for items at most one unit ahead: time is cut into buckets, a bucket is
// sorted when its time has come, and what still falls into it then waits in a small heap. Items of
// equal time leave in the order in which they came. O(1) amortized, sequential in memory; an item
// costs its own size and four bytes. At most 2^32 items per bucket. Items are trivially copyable.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/network/adversary.hpp"
#include "conclave/network/detail/large_pages.hpp"

namespace conclave::network::detail {

template <class Item>
class Calendar {
 public:
  static constexpr std::uint64_t most_buckets = std::uint64_t{1} << 10;  // per unit
  static constexpr unsigned marks = 256;

  struct Due {
    Ticks at = 0;
    Item item{};
  };

  // `crowd`: how many items there may be at once, about; only the speed depends on it.
  explicit Calendar(std::uint64_t crowd) {
    const std::uint64_t buckets =
        std::clamp<std::uint64_t>(std::bit_floor(crowd / 256 + 1), 64, most_buckets);
    shift_ = static_cast<unsigned>(std::countr_zero(unit) - std::countr_zero(buckets));
    offset_mask_ = (Ticks{1} << shift_) - 1;
    tails_.resize(2 * buckets);
    blocks_.resize(2 * buckets);
    bucket_mask_ = 2 * buckets - 1;
  }

  // An item that is due after `now` by at most one unit. Time never goes back. Returns a mark that
  // makes it easier to find.
  std::uint8_t add(Ticks now, Ticks at, const Item& item) {
    if (size_++ == 0) open_ = bucket_of(now);
    const std::uint64_t number = bucket_of(at);
    if (number <= open_) {
      add_late(at, item);
      return 0;
    }
    CONCLAVE_CHECK(number - open_ <= bucket_mask_);
    Tail& tail = tails_[number & bucket_mask_];
    if (tail.next == tail.end) add_block(number & bucket_mask_);
    *tail.next++ = {static_cast<std::uint32_t>(at & offset_mask_), std::bit_cast<Bytes>(item)};
    return tail.mark;
  }

  // An item that is due about then will be added soon. Inlined by force: GCC 12 drops calls that
  // only prefetch.
  [[gnu::always_inline]] void expect(Ticks at) const {
    const Entry* const place = tails_[bucket_of(at) & bucket_mask_].next;
    __builtin_prefetch(place, 1);
  }

  // The first item, or nothing. Those that come soon are shown to `prefetch`.
  std::optional<Due> front(const auto& prefetch) {
    while (next_ == current_.size() && late_.empty()) {
      if (size_ == 0) return std::nullopt;
      open_bucket();
      const std::size_t first_ones = std::min(lookahead, current_.size());
      for (std::size_t i = 0; i < first_ones; ++i) prefetch(current_[i].item());
    }
    if (next_ + lookahead < current_.size()) prefetch(current_[next_ + lookahead].item());
    if (is_late_first()) return Due{late_.front().at, late_.front().item};
    return Due{time_of(current_[next_]), current_[next_].item()};
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

  // The number of the bucket that holds what leaves then. Numbers grow with time, by at most
  // most_buckets per unit.
  std::uint64_t bucket_of(Ticks at) const { return at >> shift_; }

  // When the last of those items of a bucket leaves that `is_it` and were added with the mark
  // `mark`, which `add` has told; 0 if there is none. O(items with that mark), but O(items of a
  // bucket) if it is open.
  [[gnu::noinline]] Ticks last_in(std::uint64_t number, std::uint8_t mark,
                                  const auto& is_it) const {
    Ticks last = 0;
    const auto look = [&](Ticks at, const Item& item) {
      if (is_it(item)) last = std::max(last, at);
    };
    if (number <= open_) {
      for (std::size_t i = next_; i < current_.size(); ++i) {
        look(time_of(current_[i]), current_[i].item());
      }
      for (const Late& late : late_) look(late.at, late.item);
    } else if (number - open_ <= bucket_mask_) {
      const std::size_t bucket = number & bucket_mask_;
      for (std::size_t block = mark; block < blocks_[bucket].size(); block += marks) {
        for_each_entry(bucket, block, [&](const Entry& entry) {
          look(number << shift_ | entry.offset, entry.item());
        });
      }
    }
    return last;
  }

  // Memory needed so far at most.
  std::size_t bytes() const {
    std::size_t blocks = 0;
    for (const Slab& slab : slabs_) blocks += slab.size() * (sizeof(Block) + sizeof(void*));
    return blocks + tails_.size() * (sizeof(Tail) + sizeof(blocks_[0])) +
           current_.capacity() * sizeof(Entry) + begins_.capacity() * sizeof(std::uint32_t) +
           late_.capacity() * sizeof(Late);
  }

 private:
  static constexpr std::size_t lookahead = 16;
  static constexpr std::uint32_t most_alike = 48;  // in a cell that is sorted by insertion

  using Bytes = std::array<std::byte, sizeof(Item)>;  // which need no alignment
  struct Entry {
    std::uint32_t offset;  // of its time from the bucket's
    Bytes bytes;

    Item item() const { return std::bit_cast<Item>(bytes); }
  };
  static constexpr std::size_t block_size = 1008 / sizeof(Entry);
  struct Block {  // of a bucket's entries
    std::array<Entry, block_size> entries;
  };
  struct Tail {             // of a bucket
    Entry* next = nullptr;  // where the next entry goes
    Entry* end = nullptr;   // of the last block; all blocks before it are full
    std::uint8_t mark = 0;  // the lowest bits of the last block's number
  };
  // Many blocks at once; large ones fill two large pages and no part of a third.
  using Slab = std::vector<Block, LargePages<Block>>;
  static constexpr std::size_t large_slab = (std::size_t{4} << 20) / sizeof(Block);
  struct Late {
    Ticks at;
    std::uint64_t number;
    Item item;
  };
  static bool later(const Late& left, const Late& right) {
    return left.at != right.at ? left.at > right.at : left.number > right.number;
  }

  Ticks time_of(const Entry& entry) const { return open_ << shift_ | entry.offset; }

  // Late items have been added after all others of their time.
  bool is_late_first() const {
    if (late_.empty()) return false;
    return next_ == current_.size() || late_.front().at < time_of(current_[next_]);
  }

  // Rare cases are not inlined, so that `add` stays short.
  [[gnu::noinline]] void add_late(Ticks at, const Item& item) {
    late_.push_back({at, number_++, item});
    std::push_heap(late_.begin(), late_.end(), later);
  }

  [[gnu::noinline]] void add_block(std::size_t bucket) {
    if (spare_.empty()) add_slab();
    Block* const block = spare_.back();
    spare_.pop_back();
    blocks_[bucket].push_back(block);
    tails_[bucket] = {block->entries.data(), block->entries.data() + block_size,
                      static_cast<std::uint8_t>((blocks_[bucket].size() - 1) % marks)};
  }

  void add_slab() {
    const std::size_t wanted = std::max<std::size_t>(8, blocks_in_slabs_ / 16);
    Slab& slab = slabs_.emplace_back(wanted < large_slab / 2 ? wanted : large_slab);
    blocks_in_slabs_ += slab.size();
    for (std::size_t i = slab.size(); i-- > 0;) spare_.push_back(&slab[i]);
  }

  // The entries of a block of a bucket, in the order in which they came.
  void for_each_entry(std::size_t bucket, std::size_t block, const auto& visit) const {
    const Entry* entry = blocks_[bucket][block]->entries.data();
    const Entry* const end =
        block + 1 == blocks_[bucket].size() ? tails_[bucket].next : entry + block_size;
    for (; entry != end; ++entry) visit(*entry);
  }
  void for_each_entry(std::size_t bucket, const auto& visit) const {
    const std::size_t blocks = blocks_[bucket].size();
    for (std::size_t block = 0; block < blocks; ++block) {
      if (block + 1 < blocks) __builtin_prefetch(blocks_[bucket][block + 1]);
      for_each_entry(bucket, block, visit);
    }
  }

  // Goes on to the next bucket and sorts it, by distribution into as many cells as there are
  // entries and insertion within them. Both keep the order of arrival among equal times.
  void open_bucket() {
    const std::size_t bucket = ++open_ & bucket_mask_;
    next_ = 0;
    current_.resize(size_of(bucket));
    if (current_.empty()) return;
    const bool has_large_cells = distribute(bucket);
    spare_.insert(spare_.end(), blocks_[bucket].rbegin(), blocks_[bucket].rend());
    blocks_[bucket].clear();
    tails_[bucket] = {};
    if (has_large_cells) {
      std::ranges::stable_sort(current_, {}, &Entry::offset);
    } else {
      sort_by_insertion();
    }
  }

  std::size_t size_of(std::size_t bucket) const {
    if (blocks_[bucket].empty()) return 0;
    const auto in_last = tails_[bucket].next - blocks_[bucket].back()->entries.data();
    return (blocks_[bucket].size() - 1) * block_size + static_cast<std::size_t>(in_last);
  }

  // Moves the bucket's entries to current_, in the order of their cells; tells whether a cell has
  // many of them.
  bool distribute(std::size_t bucket) {
    const auto cell_bits = std::min(shift_, static_cast<unsigned>(std::bit_width(current_.size())));
    const unsigned drop = shift_ - cell_bits;
    begins_.assign(std::size_t{1} << cell_bits, 0);
    for_each_entry(bucket, [&](const Entry& entry) { ++begins_[entry.offset >> drop]; });
    std::uint32_t sum = 0;
    std::uint32_t largest = 0;
    for (std::uint32_t& begin : begins_) {
      largest = std::max(largest, begin);
      sum += std::exchange(begin, sum);
    }
    for_each_entry(bucket,
                   [&](const Entry& entry) { current_[begins_[entry.offset >> drop]++] = entry; });
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
  Ticks offset_mask_ = 0;
  std::uint64_t bucket_mask_ = 0;
  std::vector<Tail> tails_;  // of the buckets, by the bits of their numbers in the mask
  std::vector<std::vector<Block*>> blocks_;  // of the buckets
  std::uint64_t open_ = 0;                   // number of the bucket whose time it is
  std::uint64_t size_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Entry> current_;         // of the open bucket, by time
  std::vector<std::uint32_t> begins_;  // of the cells' free parts, while a bucket is sorted
  std::size_t next_ = 0;
  std::vector<Late> late_;
  std::vector<Slab> slabs_;
  std::size_t blocks_in_slabs_ = 0;
  std::vector<Block*> spare_;
};

}  // namespace conclave::network::detail
