// A queue ordered by time, for items at most one unit ahead: time is cut into buckets, a bucket is
// opened when its time has come, and what still falls into it then waits in a small heap. There are
// so few buckets that their ends stay in the nearest caches; so a large bucket is split into parts
// when it is opened, each of which is sorted when its time has come. Items of equal time leave in
// the order in which they came. O(1) amortized, sequential in memory; an item costs its own size
// and four bytes. At most 2^32 items per bucket. Items are trivially copyable.
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
#include "conclave/base/large_pages.hpp"
#include "conclave/network/adversary.hpp"

namespace conclave::network::detail {

template <class Item>
class Calendar {
 public:
  static constexpr std::uint64_t most_buckets = 256;  // per unit
  static constexpr unsigned marks = 1024;

  struct Due {
    Ticks at = 0;
    Item item{};
  };

  // `crowd`: how many items there may be at once, about; only the speed depends on it.
  explicit Calendar(std::uint64_t crowd) {
    const std::uint64_t buckets =
        std::clamp<std::uint64_t>(std::bit_floor(crowd / part_size + 1), 64, most_buckets);
    shift_ = static_cast<unsigned>(std::countr_zero(unit) - std::countr_zero(buckets));
    offset_mask_ = (Ticks{1} << shift_) - 1;
    tails_.resize(2 * buckets);
    blocks_.resize(2 * buckets);
    is_crowded_ = crowd * sizeof(Entry) > 4 * large_slab * sizeof(Block);
    const std::uint64_t in_large_pages = crowd * sizeof(Entry) / large_page * large_page;
    first_slab_ = std::max<std::size_t>(smallest_slab, in_large_pages / sizeof(Block));
    bucket_mask_ = 2 * buckets - 1;
  }

  // An item that is due after `now` by at most one unit. Time never goes back. Returns a mark that
  // makes it easier to find.
  [[gnu::always_inline]] std::uint16_t add(Ticks now, Ticks at, const Item& item) {
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

  // An item that is due about then will be added soon. Where there are few, its place is in a near
  // cache as it is. Inlined by force: GCC 12 drops calls that only prefetch.
  [[gnu::always_inline]] void expect(Ticks at) const {
    if (!is_crowded_) return;
    const Entry* const place = tails_[bucket_of(at) & bucket_mask_].next;
    __builtin_prefetch(place, 1);
  }

  // When the first item leaves, or `never`. Those that come soon are shown to `prefetch`.
  Ticks next(const auto& prefetch) {
    if (next_ == end_ && !go_on(prefetch)) return late_at_;
    return std::min(time_of(*next_), late_at_);
  }

  // Takes out the first item, if there is one that leaves before this time.
  [[gnu::always_inline]] std::optional<Due> take(Ticks until, const auto& prefetch) {
    if (next_ == end_ && !go_on(prefetch)) return take_late(until);
    const Ticks at = time_of(*next_);
    if (late_at_ < at) return take_late(until);
    if (at >= until) return std::nullopt;
    --size_;
    const Entry* const taken = next_++;
    prefetch(taken[lookahead].item());
    return Due{at, taken->item()};
  }

  // The number of the bucket that holds what leaves then. Numbers grow with time, by at most
  // most_buckets per unit.
  std::uint64_t bucket_of(Ticks at) const { return at >> shift_; }

  // When the last of those items of a bucket leaves that `is_it` and were added with the mark
  // `mark`, which `add` has told; 0 if there is none. O(items with that mark), but O(items of a
  // bucket) if it is open.
  [[gnu::noinline]] Ticks last_in(std::uint64_t number, std::uint16_t mark,
                                  const auto& is_it) const {
    Ticks last = 0;
    const auto look = [&](Ticks at, const Item& item) {
      if (is_it(item)) last = std::max(last, at);
    };
    if (number <= open_) {
      for (const Entry* each = next_; each != end_; ++each) look(time_of(*each), each->item());
      for (std::size_t i = part_begin(part_); i < split_.size(); ++i) {
        look(time_of(split_[i]), split_[i].item());
      }
      for (const Late& late : late_) look(late.at, late.item);
    } else if (number - open_ <= bucket_mask_) {
      const std::size_t bucket = number & bucket_mask_;
      for (std::size_t block = mark; block < blocks_[bucket].size(); block += marks) {
        fetch(*blocks_[bucket][block]);
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
           (split_.capacity() + current_.capacity()) * sizeof(Entry) +
           (parts_.capacity() + begins_.capacity()) * sizeof(std::uint32_t) +
           late_.capacity() * sizeof(Late);
  }

 private:
  static constexpr std::ptrdiff_t lookahead = 16;
  static constexpr std::size_t part_size = 1024;   // about
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
  struct Tail {              // of a bucket
    Entry* next = nullptr;   // where the next entry goes
    Entry* end = nullptr;    // of the last block; all blocks before it are full
    std::uint16_t mark = 0;  // the lowest bits of the last block's number
  };
  // Many blocks at once; large ones fill two large pages and no part of a third.
  using Slab = std::vector<Block, LargePages<Block>>;
  static constexpr std::size_t large_slab = 2 * large_page / sizeof(Block);
  static constexpr std::size_t smallest_slab = 8;
  struct Late {
    Ticks at;
    std::uint64_t number;
    Item item;
  };
  static bool later(const Late& left, const Late& right) {
    return left.at != right.at ? left.at > right.at : left.number > right.number;
  }

  Ticks time_of(const Entry& entry) const { return open_ << shift_ | entry.offset; }

  // Rare cases are not inlined, so that `add` stays short.
  [[gnu::noinline]] void add_late(Ticks at, Item item) {
    late_.push_back({at, number_++, item});
    std::push_heap(late_.begin(), late_.end(), later);
    late_at_ = late_.front().at;
  }

  [[gnu::noinline]] std::optional<Due> take_late(Ticks until) {
    if (late_at_ >= until) return std::nullopt;
    std::pop_heap(late_.begin(), late_.end(), later);
    const Due due{late_.back().at, late_.back().item};
    late_.pop_back();
    late_at_ = late_.empty() ? never : late_.front().at;
    --size_;
    return due;
  }

  [[gnu::noinline]] void add_block(std::size_t bucket) {
    if (spare_.empty()) add_slab();
    Block* const block = spare_.back();
    spare_.pop_back();
    blocks_[bucket].push_back(block);
    tails_[bucket] = {block->entries.data(), block->entries.data() + block_size,
                      static_cast<std::uint16_t>((blocks_[bucket].size() - 1) % marks)};
  }

  void add_slab() {
    const std::size_t wanted =
        slabs_.empty() ? first_slab_ : std::max(smallest_slab, blocks_in_slabs_ / 16);
    Slab& slab = slabs_.emplace_back(is_crowded_ ? large_slab : wanted);
    blocks_in_slabs_ += slab.size();
    for (std::size_t i = slab.size(); i-- > 0;) spare_.push_back(&slab[i]);
  }

  // All lines at once, since a processor that meets them one by one waits for each. Inlined by
  // force: GCC 12 drops calls that only prefetch.
  [[gnu::always_inline]] static void fetch(const Block& block) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&block);
    for (std::size_t at = 0; at < sizeof(Block); at += 64) __builtin_prefetch(bytes + at);
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
      if (block + 1 < blocks) fetch(*blocks_[bucket][block + 1]);
      for_each_entry(bucket, block, visit);
    }
  }

  // Goes on to the next part, or to the next bucket if nothing else of the open one is left, until
  // there are items in it; tells whether there are.
  [[gnu::noinline]] bool go_on(const auto& prefetch) {
    while (next_ == end_) {
      if (part_ < parts_.size()) {
        open_part();
      } else if (size_ > 0 && late_.empty()) {
        open_bucket();
      } else {
        return false;
      }
    }
    for (std::ptrdiff_t i = 0; i < lookahead; ++i) prefetch(next_[i].item());
    return true;
  }

  void open_bucket() {
    const std::size_t bucket = ++open_ & bucket_mask_;
    const std::size_t size = size_of(bucket);
    parts_.clear();
    split_.clear();
    part_ = 0;
    const auto all = [&](const auto& visit) { for_each_entry(bucket, visit); };
    if (size <= 4 * part_size) {
      sort(size, shift_, all);
    } else {
      split(size, all);
    }
    spare_.insert(spare_.end(), blocks_[bucket].rbegin(), blocks_[bucket].rend());
    blocks_[bucket].clear();
    tails_[bucket] = {};
  }

  void split(std::size_t size, const auto& all) {
    part_bits_ = static_cast<unsigned>(std::bit_width(size / part_size)) - 1;
    split_.resize(size);
    distribute(all, parts_, part_bits_, shift_, split_);
  }

  void open_part() {
    const std::size_t begin = part_begin(part_);
    const std::size_t end = part_begin(++part_);
    sort(end - begin, shift_ - part_bits_, [&](const auto& visit) {
      for (std::size_t i = begin; i < end; ++i) visit(split_[i]);
    });
  }
  // Where a part lies in split_. parts_ has the ends.
  std::size_t part_begin(std::size_t part) const { return part == 0 ? 0 : parts_[part - 1]; }

  std::size_t size_of(std::size_t bucket) const {
    if (blocks_[bucket].empty()) return 0;
    const auto in_last = tails_[bucket].next - blocks_[bucket].back()->entries.data();
    return (blocks_[bucket].size() - 1) * block_size + static_cast<std::size_t>(in_last);
  }

  // Puts so many entries into current_, sorted, by distribution into as many cells as there are
  // entries and insertion within them. Both keep the order of arrival among equal times. The
  // entries agree in all bits of their times but the last `bits`.
  void sort(std::size_t size, unsigned bits, const auto& all) {
    current_.resize(size + lookahead);
    next_ = current_.data();
    end_ = next_ + size;
    if (size == 0) return;
    const auto cell_bits = std::min(bits, static_cast<unsigned>(std::bit_width(size)));
    const std::uint32_t largest = distribute(all, begins_, cell_bits, bits, current_);
    if (largest > most_alike) {
      std::ranges::stable_sort(current_.begin(), current_.end() - lookahead, {}, &Entry::offset);
    } else {
      sort_by_insertion(size);
    }
    std::fill_n(current_.end() - lookahead, lookahead, current_[size - 1]);
  }

  // Moves entries to `out`, in the order of cells that the first `cell_bits` of the last `bits` of
  // their times name; tells how many the largest cell has. The cells' ends remain in `ends`.
  static std::uint32_t distribute(const auto& all, std::vector<std::uint32_t>& ends,
                                  unsigned cell_bits, unsigned bits, std::vector<Entry>& out) {
    const unsigned drop = bits - cell_bits;
    const std::uint32_t mask = (std::uint32_t{1} << cell_bits) - 1;
    ends.assign(std::size_t{mask} + 1, 0);
    all([&](const Entry& entry) { ++ends[entry.offset >> drop & mask]; });
    std::uint32_t sum = 0;
    std::uint32_t largest = 0;
    for (std::uint32_t& begin : ends) {
      largest = std::max(largest, begin);
      sum += std::exchange(begin, sum);
    }
    all([&](const Entry& entry) { out[ends[entry.offset >> drop & mask]++] = entry; });
    return largest;
  }

  void sort_by_insertion(std::size_t size) {
    for (std::size_t i = 1; i < size; ++i) {
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
  std::vector<Entry> split_;          // the open bucket, if it is large, part by part
  std::vector<std::uint32_t> parts_;  // where each of these ends
  unsigned part_bits_ = 0;            // of a time, that tell its part
  std::size_t part_ = 0;              // the next one
  // The open part, or the bucket if it is small, by time. The last one is repeated, so that there
  // is always something to prefetch.
  std::vector<Entry> current_;
  std::vector<std::uint32_t> begins_;  // of the cells' free parts, while it is sorted
  const Entry* next_ = nullptr;        // in current_, up to end_
  const Entry* end_ = nullptr;
  std::vector<Late> late_;
  Ticks late_at_ = never;  // when the first of these leaves
  std::vector<Slab> slabs_;
  std::size_t blocks_in_slabs_ = 0;
  std::size_t first_slab_ = smallest_slab;  // on large pages, if as many items are expected
  bool is_crowded_ = false;  // so many items are expected that they deserve large pages
  std::vector<Block*> spare_;
};

}  // namespace conclave::network::detail
