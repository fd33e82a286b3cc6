// Numbers 0, 1, 2, ... for keys, in the order in which they are first seen. The keys themselves lie
// with the caller, in the order of their numbers and in whatever form suits it; this table holds
// eight bytes per slot: the number, and half of the key's hash, so that hardly any other key than
// the one sought is compared. Numbers depend on the order of the calls alone, never on the hash,
// which may therefore be any function.
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

// Open addressing with linear probing. Not for several threads.
class KeyIndex {
 public:
  using Number = std::uint32_t;
  static constexpr Number none = ~Number{0};

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
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

  // The number of a key with this hash: the one for which is_key(number) holds, or the next one.
  // hash_of(number) is asked for all older keys when the table grows, to twice its size. Expected
  // O(1), amortized. At most 2^32 - 1 keys.
  template <class IsKey, class HashOf>
  Found find_or_add(std::uint64_t hash, const IsKey& is_key, const HashOf& hash_of) {
    std::size_t place = first_place(hash);
    for (; slots_[place].number != none; place = first_place(place + 1)) {
      const auto [other_tag, number] = slots_[place];
      if (other_tag == tag(hash) && is_key(number)) return {number, false};
    }
    return {add(hash, place, hash_of), true};
  }

  // Fetches the place at which a search for this hash begins.
  void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[first_place(hash)]); }

  // The number that a search for this hash meets first, if it looks like the right one; or `none`.
  Number guess(std::uint64_t hash) const {
    const Slot& slot = slots_[first_place(hash)];
    return slot.tag == tag(hash) ? slot.number : none;
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

  struct Slot {
    std::uint32_t tag = 0;
    Number number = none;
  };

  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }
  std::size_t first_place(std::uint64_t hash) const { return hash & mask_; }

  void clear_slots(std::size_t count) {  // a power of two
    slots_.assign(count, {});
    mask_ = count - 1;
  }

  void place(Number number, std::uint64_t hash) {
    std::size_t at = first_place(hash);
    while (slots_[at].number != none) at = first_place(at + 1);
    slots_[at] = {tag(hash), number};
  }

  // Apart, so that finding a key is short enough to inline.
  template <class HashOf>
  [[gnu::noinline]] Number add(std::uint64_t hash, std::size_t free_place, const HashOf& hash_of) {
    CONCLAVE_CHECK(size_ + 1 < none);
    if (100 * (std::uint64_t{size_} + 1) > most_percent_full_ * slots_.size()) {
      clear_slots(2 * slots_.size());
      for (Number number = 0; number < size_; ++number) place(number, hash_of(number));
      place(size_, hash);
    } else {
      slots_[free_place] = {tag(hash), size_};
    }
    return size_++;
  }

  unsigned most_percent_full_;
  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  Number size_ = 0;
};

}  // namespace conclave
