// Numbers 0, 1, 2, ... for keys, in the order in which they are first seen. The keys themselves lie
// with the caller, in the order of their numbers and in whatever form suits it; this table holds
// the numbers alone. They depend on the order of the calls, never on the hash, which may therefore
// be any function.
//
//   const auto [number, is_new] = index.find_or_add(
//       hash(key), [&](auto n) { return keys[n] == key; }, [&](auto n) { return hash(keys[n]); });
//   if (is_new) keys.push_back(key);
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "conclave/base/check.hpp"

namespace conclave {

// A place of the table. For keys that are cheap to compare it holds four bytes, the number.
struct PlainSlot {
  static constexpr std::size_t growth = 4;  // of a full table: room is cheap here
  std::uint32_t number = ~std::uint32_t{0};

  // A slot in use. `may_have`: whether its key can have this hash.
  static PlainSlot of(std::uint32_t number, std::uint64_t) { return {number}; }
  bool may_have(std::uint64_t) const { return true; }
};

// For keys that are far away or long: eight bytes, the number and half of the hash, so that hardly
// any other key than the one sought is looked at.
struct TaggedSlot {
  static constexpr std::size_t growth = 2;
  std::uint32_t number = ~std::uint32_t{0};
  std::uint32_t tag = 0;

  // A slot in use. `may_have`: whether its key can have this hash.
  static TaggedSlot of(std::uint32_t number, std::uint64_t hash) {
    return {number, static_cast<std::uint32_t>(hash >> 32)};
  }
  bool may_have(std::uint64_t hash) const { return tag == static_cast<std::uint32_t>(hash >> 32); }
};

// Open addressing with linear probing. Not for several threads.
template <class Slot>
class KeyIndex {
 public:
  using Number = std::uint32_t;
  static constexpr Number none = Slot{}.number;

  struct Found {
    Number number;
    bool is_new;  // the caller must store the key as the one with this number
  };

  // The table grows when more than this part of its slots is in use: emptier is faster, by a factor
  // of two to three between a quarter and seven tenths, and takes more memory.
  explicit KeyIndex(unsigned most_percent_full) : most_percent_full_(most_percent_full) {
    clear_slots(least_slots);
  }

  std::size_t size() const { return size_; }
  // Memory of the table alone: the keys lie with the caller.
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  // The number of a key with this hash: the one for which is_key(number) holds, or the next one.
  // hash_of(number) is called for all older keys when the table grows. Expected O(1), amortized. At
  // most 2^32 - 1 keys.
  template <class IsKey, class HashOf>
  Found find_or_add(std::uint64_t hash, const IsKey& is_key, const HashOf& hash_of) {
    std::size_t place = first_place(hash);
    for (; slots_[place].number != none; place = first_place(place + 1)) {
      const Slot slot = slots_[place];
      if (slot.may_have(hash) && is_key(slot.number)) return {slot.number, false};
    }
    return {add(hash, place, hash_of), true};
  }

  // Fetches the place at which a search for this hash begins.
  [[gnu::always_inline]] void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&slots_[first_place(hash)]);
  }

  // The number that a search for this hash meets first, if it looks like the right one; or `none`.
  Number guess(std::uint64_t hash) const {
    const Slot& slot = slots_[first_place(hash)];
    return slot.may_have(hash) ? slot.number : none;
  }

  // Forgets everything; from now on the keys 0 ... count-1 are known, with these hashes.
  template <class HashOf>
  void assign(std::size_t count, const HashOf& hash_of) {
    CONCLAVE_CHECK(count < none);
    clear_slots(std::bit_ceil(std::max(least_slots, 200 * count / most_percent_full_)));
    size_ = static_cast<Number>(count);
    for (Number number = 0; number < size_; ++number) place(number, hash_of(number));
  }

 private:
  static constexpr std::size_t least_slots = 256;

  std::size_t first_place(std::uint64_t hash) const { return hash & mask_; }

  void clear_slots(std::size_t count) {  // a power of two
    slots_.assign(count, {});
    mask_ = count - 1;
    most_keys_ = std::min<std::size_t>(count * most_percent_full_ / 100, none - 1);
  }

  void place(Number number, std::uint64_t hash) {
    std::size_t at = first_place(hash);
    while (slots_[at].number != none) at = first_place(at + 1);
    slots_[at] = Slot::of(number, hash);
  }

  template <class HashOf>
  Number add(std::uint64_t hash, std::size_t free_place, const HashOf& hash_of) {
    CONCLAVE_CHECK(size_ < none - 1);
    if (size_ == most_keys_) [[unlikely]] {
      grow(hash_of);
      place(size_, hash);
    } else {
      slots_[free_place] = Slot::of(size_, hash);
    }
    return size_++;
  }

  template <class HashOf>
  [[gnu::noinline]] void grow(const HashOf& hash_of) {
    clear_slots(Slot::growth * slots_.size());
    for (Number number = 0; number < size_; ++number) place(number, hash_of(number));
  }

  unsigned most_percent_full_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t most_keys_ = 0;
  Number size_ = 0;
};

}  // namespace conclave
