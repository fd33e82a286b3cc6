// A stretch of the schedule in layers, for several threads that execute it together. Two
// interactions that share no agent may change places, and who interacts does not depend on the
// states. So each interaction gets the layer of its window of the schedule, or, if one of its
// agents has interacted `latency` layers ago or less, the first layer beyond those:
//
//     window      0: 3,9 4,7 9,5      1: 8,6 1,3 ...
//     layer       0: 3,9 4,7          1: 8,6             2: 9,5 1,3 ...
//
// No `latency` layers in a row have an agent in common: a thread may execute its part of a layer
// when all threads have finished the layer `latency` before. The table has one stamp for all agents
// with the same low bits; that makes layers larger, which does no harm.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/meeting_pipeline.hpp"

namespace conclave::population::detail {

// How much of a schedule is arranged at a time. The table must lie in the second cache, and a layer
// must keep all threads busy for a microsecond; the more interactions a window has, the more of
// them wait for another layer: a tenth with up to 8 threads, a quarter with more.
struct LayerSizes {
  std::uint32_t stamps;   // a power of two
  std::uint32_t window;   // interactions
  std::uint32_t stretch;  // words of the schedule; a multiple of `block`

  static constexpr std::uint32_t block = 512;  // words drawn at a time

  static LayerSizes of(AgentCount n, unsigned threads) {
    const std::uint32_t most = threads <= 8 ? 1u << 18 : 1u << 20;
    const std::uint32_t agents_per_pair = threads <= 8 ? 80 : 40;
    const auto stamps = static_cast<std::uint32_t>(std::min<AgentCount>(std::bit_ceil(n), most));
    const auto agents = static_cast<std::uint32_t>(std::min<AgentCount>(n, stamps));
    const std::uint32_t window = std::max(1u, agents / agents_per_pair);
    return {stamps, window, std::clamp(window * 100 / block * block, block, 1u << 17)};
  }
};

// One thread draws and arranges it; after that, several may read.
class ScheduleLayers {
 public:
  static constexpr std::uint32_t latency = 2;

  explicit ScheduleLayers(const LayerSizes& sizes)
      : sizes_(sizes),
        most_layers_(most_layers_of(sizes)),
        room_(sizes.window + sizes.window / 4 + 16),
        stamps_(sizes.stamps),
        pairs_(most_layers_ * room_ + behind),
        numbers_(most_layers_ * room_),
        sizes_of_layers_(most_layers_) {}

  // The next stretch of the source's interactions. False if they do not fit into the layers, where
  // a few agents have a part in most of them.
  template <MeetingSource Source>
  bool draw(Lanes::State& schedule, const Source& source) {
    std::ranges::fill(stamps_, std::uint8_t{0});
    std::ranges::fill(sizes_of_layers_, 0u);
    interactions_ = 0;
    bool fits = true;
    std::array<std::uint64_t, LayerSizes::block> drawn;
    for (std::uint32_t words = 0; words < sizes_.stretch; words += LayerSizes::block) {
      const std::size_t found = source.fill(schedule, drawn.data(), LayerSizes::block);
      fits = fits && arrange({drawn.data(), found});
    }
    for (count_ = most_layers_; count_ > 0 && sizes_of_layers_[count_ - 1] == 0;) --count_;
    return fits;
  }

  // How many there are; O(1).
  std::uint32_t interactions() const { return interactions_; }
  std::uint32_t layers() const { return count_; }
  std::uint32_t size(std::uint32_t layer) const { return sizes_of_layers_[layer]; }
  // The place of the first one of a layer. Its pairs are pairs()[place], and so on; as many more as
  // may be prefetched lie in memory behind the last one.
  std::size_t first(std::uint32_t layer) const { return layer * room_; }
  const std::uint64_t* pairs() const { return pairs_.data(); }
  // The numbers of interactions within the stretch, from 0 on.
  const std::uint32_t* numbers() const { return numbers_.data(); }
  std::size_t places() const { return numbers_.size(); }

 private:
  // Stamps have 8 bits.
  static std::uint32_t most_layers_of(const LayerSizes& sizes) {
    return std::min(250u, sizes.stretch / sizes.window * 3 / 2 + 30);
  }
  static constexpr std::size_t behind = 64;

  // Everything it uses is local: stamps, which are bytes, could be any of it for the compiler.
  bool arrange(std::span<const std::uint64_t> drawn) {
    const std::uint32_t mask = sizes_.stamps - 1;
    const std::uint32_t most = most_layers_;
    const std::size_t room = room_;
    std::uint8_t* const stamps = stamps_.data();
    std::uint32_t* const sizes = sizes_of_layers_.data();
    std::uint64_t* const pairs = pairs_.data();
    std::uint32_t* const numbers = numbers_.data();
    std::uint32_t number = interactions_;
    std::uint32_t window = number / sizes_.window;
    std::uint32_t next_window = (window + 1) * sizes_.window;
    for (const std::uint64_t word : drawn) {
      if (number == next_window) {
        ++window;
        next_window += sizes_.window;
      }
      std::uint8_t& u = stamps[Meeting{word}.initiator() & mask];
      std::uint8_t& v = stamps[Meeting{word}.responder() & mask];
      std::uint32_t layer = std::max<std::uint32_t>(window, std::max(u, v));
      while (layer < most && sizes[layer] == room) ++layer;
      if (layer >= most) return false;
      u = v = static_cast<std::uint8_t>(layer + latency);
      const std::size_t place = layer * room + sizes[layer]++;
      pairs[place] = word;
      numbers[place] = number++;
    }
    interactions_ = number;
    return true;
  }

  LayerSizes sizes_;
  std::uint32_t most_layers_;
  std::size_t room_;  // of a layer
  std::vector<std::uint8_t> stamps_;
  std::vector<std::uint64_t> pairs_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> sizes_of_layers_;
  std::uint32_t count_ = 0;
  std::uint32_t interactions_ = 0;
};

}  // namespace conclave::population::detail
